"""The consolidation stage of a run: what the memories that stand have to do with each other.

It comes after what time and use ask for and before the views. A reconciliation has none: that is
reviewed as a whole. Equal states, moments and answers give equal steps, and on the state that they
lead to there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memrepo.commands.compressing import Pressing, compression
from memrepo.commands.lifecycle import played
from memrepo.commands.offering import Offered
from memrepo.commands.session import Desk
from memrepo.core.judging import Judge
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.keys import links_of
from memrepo.policies.importance import importance_of
from memrepo.policies.linking import link_step
from memrepo.purify.among import among


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What every part is given beside the state.

    `judge` is None where no model is to be asked: a dry run, or one whose judge gave up on what is
    new. `never` holds the fingerprints of what a person took back or refused, `compared` the prints
    of pairs of memories that a model let stand before; `room` bounds how many memories may leave
    recall for a summary.
    """

    desk: Desk
    now: datetime
    judge: Judge | None
    never: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()
    room: int = 0


Part = Callable[[State, Setting], Offered]


def contradictions(state: State, setting: Setting) -> Offered:
    """Look at pairs of memories that may contradict each other; unsure ones wait for a person."""
    if setting.judge is None:
        return Offered()
    before = setting.judge.usage
    found = among(state, setting.judge, setting.now, setting.never, setting.compared)
    why = found.asked.stopped
    problems = (
        Problem(
            path=setting.desk.tree.layout.area("corrections"), rule="pairs-not-compared",
            severity="warning", fix="nothing: the next run compares them",
            message=f"pairs of memories that may contradict each other were left: {why}",
        ),
    ) if why else ()  # fmt: skip
    return Offered(
        steps=found.steps, problems=problems, usage=setting.judge.usage.since(before),
        failures=tuple(found.asked.failures), compared=found.harmless,
    )  # fmt: skip


def summaries(state: State, setting: Setting) -> Offered:
    """Put old memories of low importance together."""
    config = setting.desk.config
    how = Pressing(
        rules=config.compression, now=setting.now, judge=setting.judge, never=setting.never,
        room=setting.room, score=lambda m: importance_of(m, config.lexicon).importance.score,
    )  # fmt: skip
    return compression(state, how)


def links(state: State, setting: Setting) -> Offered:
    """Link claims that mention the same names, in one commit: those that are left."""
    config = setting.desk.config
    rules = links_of(config.get)
    if not rules.expand:
        return Offered()
    aliases = config.get("entities.aliases")
    step = link_step(state.active, aliases, rules, setting.never)
    return Offered(steps=(step,) if step else ())


PARTS: tuple[Part, ...] = (contradictions, summaries, links)
"""What consolidation consists of, in order: each part sees what the one before it left."""


def consolidated(state: State, setting: Setting) -> Offered:
    """Return what all parts offer on a state."""
    offered = Offered()
    for part in PARTS:
        found = part(state, setting)
        state = played(state, found.steps)
        offered += found
    return offered
