"""What a stage of a run offers beside the purifier: steps, what to tell of them, what they cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from memrepo.core.changes import Step
from memrepo.core.judging import Usage
from memrepo.core.problems import Problem
from memrepo.purify.asking import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """Steps with what to tell of them, what a model was paid for them, and its vain answers.

    `compared` holds the prints of pairs of memories that a model let stand.
    """

    steps: tuple[Step, ...] = ()
    problems: tuple[Problem, ...] = ()
    usage: Usage = field(default_factory=Usage)
    failures: tuple[Failure, ...] = ()
    compared: frozenset[str] = frozenset()

    def __add__(self, later: Offered) -> Offered:
        return Offered(
            steps=self.steps + later.steps, problems=self.problems + later.problems,
            usage=self.usage + later.usage, failures=self.failures + later.failures,
            compared=self.compared | later.compared,
        )  # fmt: skip
