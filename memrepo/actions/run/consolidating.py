"""The consolidation stage of a run: what the memories that stand have to do with each other.

It comes after what time and use ask for and before the views. A reconciliation has none: that is
reviewed as a whole. Equal states, moments and answers give equal steps, and on the state that they
lead to there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import msgspec

from memrepo import __version__
from memrepo.actions.lifecycle.lifecycle import played
from memrepo.actions.run.compressing import Pressing, compression
from memrepo.actions.run.offering import Offered
from memrepo.actions.work import Work
from memrepo.core.ids import digest
from memrepo.core.judging import Judge
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.keys import links_of
from memrepo.policies.importance import score_of
from memrepo.policies.linking import link_step
from memrepo.purify.among import among
from memrepo.purify.manifest import LOGIC_VERSION, Recorded


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What every part is given beside the state.

    `judge` is None where no model is to be asked: a dry run, or one whose judge gave up on what is
    new. `never` holds the fingerprints of what a person took back or refused, `compared` the prints
    of pairs of memories that a model let stand before; `room` bounds how many memories may leave
    recall for a summary. `before` is what the there's commit holds, `manifests` those of its runs.
    """

    work: Work
    now: datetime
    judge: Judge | None
    never: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()
    room: int = 0
    before: State
    manifests: Sequence[Recorded] = ()


Part = Callable[[State, Setting], Offered]


def contradictions(state: State, setting: Setting) -> Offered:
    """Look at pairs of memories that may contradict each other; unsure ones wait for a person."""
    if setting.judge is None:
        return Offered()
    before = setting.judge.usage
    comparer = _comparer(setting.judge)
    changed = _changed(state, setting, comparer)
    found = among(state, setting.judge, setting.now, setting.never, setting.compared, changed)
    why = found.asked.stopped
    problems = (
        (
            Problem(
                path=setting.work.tree.layout.area("corrections"),
                rule="pairs-not-compared",
                severity="warning",
                fix="nothing: the next run compares them",
                message=f"pairs of memories that may contradict each other were left: {why}",
            ),
        )
        if why
        else ()
    )
    return Offered(
        steps=found.steps,
        problems=problems,
        usage=setting.judge.usage.since(before),
        failures=tuple(found.asked.failures),
        compared=found.harmless,
        comparer=comparer if found.whole else "",
    )


def _comparer(judge: Judge) -> str:
    """Return the print of what decides about a pair beside its two memories."""
    return digest([judge.name, judge.prompt_hash, __version__, LOGIC_VERSION])[:16]


def _changed(state: State, setting: Setting, comparer: str) -> frozenset[str] | None:
    """Return the memories that changed since every pair was compared; None means all."""
    layout = setting.work.tree.layout
    written, left = _written(setting, comparer)
    if written is None or layout.config in written:
        return None
    gone = {path for path, blob in written.items() if not blob}
    if any(path.startswith((layout.area("corrections"), layout.area("runs"))) for path in gone):
        return None  # what somebody said of a pair is taken back, and it does not say of which
    cases = state.corrections
    doubted = (cases.cases[id_] for id_, path in cases.paths.items() if path in written)
    known = setting.before.memories
    return frozenset(
        (
            *left,
            *(id_ for case in doubted for id_ in case.memories),
            *(m.id for m in state.active if m.path in written or known.get(m.id) is not m),
        )
    )


def _written(setting: Setting, comparer: str) -> tuple[Mapping[str, str] | None, Sequence[str]]:
    """Return what was written since every pair was compared, and the ids that were left then.

    Where this machine does not know of a commit that was compared, it is the base of a run: that
    compared its own work, too, but for what it did last, and so its work is looked at once more.
    """
    files = setting.work.tree.files
    upto = setting.work.store.trees.records.compared.get(comparer)
    if upto is not None and (written := files.changed_since(upto.commit)) is not None:
        return written, upto.left
    whole = [m.base for m in setting.manifests if m.comparer == comparer and m.base]
    return files.changed_since(whole[-1]) if whole else None, ()


def summaries(state: State, setting: Setting) -> Offered:
    """Put old memories of low importance together."""
    config = setting.work.config
    lexicon = config.lexicon  # made anew whenever it is asked for
    how = Pressing(
        rules=config.compression,
        now=setting.now,
        judge=setting.judge,
        never=setting.never,
        room=setting.room,
        score=lambda m: score_of(m, lexicon),
    )
    return compression(state, how)


def links(state: State, setting: Setting) -> Offered:
    """Link claims that mention the same names, in one commit: those that are left."""
    config = setting.work.config
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
