"""Pairs of statements, written by hand: what the rules replace, flag, and let stand.

The older statement is known when the newer one is read, then both are compared among what stands.
`replaces` is the only answer that takes a statement out of recall without a person.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Literal

import pytest
from msgspec.structs import replace
from test_assemble import NOW, empty, taken
from test_contradictions import YES, Scripted, asking

from memrepo.actions.run.contradictions import among, verified
from memrepo.actions.run.known import Former, prior_of
from memrepo.core.changes import Step
from memrepo.core.ids import text_hash
from memrepo.core.judge import Candidate, CanonicalRequest, Cluster, Judge
from memrepo.core.memory import Source
from memrepo.core.state import State, apply
from memrepo.judges.offline import OfflineJudge

Outcome = Literal["replaces", "flags", "stands"]
OLD, NEW = "2026-01-10", "2026-02-10"
PAIRS: dict[str, list[tuple[str, str, Outcome]]] = {
    "a preference that turned": [
        ("Mara loves dark mode in editors.", "Mara hates dark mode in editors.", "replaces"),
        ("Mara likes meetings before noon.", "Mara dislikes meetings before noon.", "replaces"),
        ("Mara enjoys long video calls.", "Mara hates long video calls.", "replaces"),
        ("Sie mag dunkle Farben im Editor.", "Sie hasst dunkle Farben im Editor.", "replaces"),
        ("She prefers tabs over spaces in Go.", "She avoids tabs over spaces in Go.", "stands"),
        ("**Editor:** vim", "**Editor:** helix", "replaces"),
        ("**Shell:** bash", "**Shell:** fish", "replaces"),
        ("She wants weekly status mails.", "She refuses weekly status mails.", "stands"),
    ],
    "a value that changed": [
        ("**Timezone:** Europe/Berlin", "**Timezone:** Europe/Lisbon", "replaces"),
        ("**Port:** 8080", "**Port:** 9090", "replaces"),
        ("**Email:** mara@old.example", "**Email:** mara@new.example", "replaces"),
        ("**Employer:** Harbour Ltd", "**Employer:** Orchard Ltd", "replaces"),
        ("**Deadline:** 2026-03-01", "**Deadline:** 2026-04-01", "replaces"),
        ("**Database:** PostgreSQL", "**Database:** SQLite", "replaces"),
        ("Mara lives in Berlin.", "Mara lives in Lisbon.", "replaces"),
        ("Mara works at Harbour Ltd.", "Mara works at Orchard Ltd.", "replaces"),
        ("**时区:** 亚洲/上海", "**时区:** 亚洲/东京", "replaces"),
    ],
    "the opposite": [
        ("The gate is always open at night.", "The gate is never open at night.", "replaces"),
        ("Backups run on the old server.", "Backups do not run on the old server.", "replaces"),
        (
            "The beta flag is enabled for all users.",
            "The beta flag is disabled for all users.",
            "replaces",
        ),
        (
            "Uploads by guests are allowed here.",
            "Uploads by guests are forbidden here.",
            "replaces",
        ),
        (
            "The main repository of the team is public.",
            "The main repository of the team is private.",
            "replaces",
        ),
        ("Der Zugang ist für Gäste erlaubt.", "Der Zugang ist für Gäste verboten.", "replaces"),
        ("The night build may push to main.", "The night build may not push to main.", "replaces"),
        ("Deploys start early on Friday.", "Deploys start late on Friday.", "replaces"),
    ],
    "a retraction that names nothing new": [
        ("Mara eats meat on most days.", "Mara no longer eats meat on most days.", "replaces"),
        ("The crane in bay four works.", "The crane in bay four does not work.", "replaces"),
        ("The team uses Slack for alerts.", "The team does not use Slack for alerts.", "replaces"),
        ("Tom owns the billing service.", "Tom no longer owns the billing service.", "replaces"),
        ("Mara plays chess on Sundays.", "Mara stopped playing chess on Sundays.", "replaces"),
        ("Mara drives a red car to work.", "Forget what was said about the red car.", "stands"),
        ("Invoices go out by mail.", "Invoices do not go out by mail any more.", "replaces"),
    ],
    "likes and values that stand beside each other": [
        ("Mara likes TypeScript.", "Mara likes Python.", "stands"),
        ("Mara likes green tea at breakfast.", "Mara likes black tea at breakfast.", "stands"),
        ("Mara speaks German.", "Mara speaks Portuguese.", "stands"),
        ("She likes hiking in the Alps in May.", "She likes hiking in the Alps in June.", "stands"),
        ("**Hobby:** chess", "**Hobby:** rowing", "stands"),
        ("**Likes:** green tea", "**Likes:** black coffee", "stands"),
        ("**Pet:** a cat", "**Pet:** a dog", "stands"),
        ("She never eats meat at work.", "She never eats fish at work.", "stands"),
        ("The mill has a red gate.", "The mill has a blue door.", "stands"),
        ("Mara reads Le Guin before sleep.", "Mara reads Lem before sleep.", "stands"),
        ("她喜欢绿茶。", "她喜欢红茶。", "stands"),
        ("**Editor:** vim at work", "**Editor:** helix at home", "stands"),
        ("**Language:** German with family", "**Language:** English at work", "stands"),
    ],
    "other subjects": [
        ("Mara lives in Berlin.", "Tom lives in Lisbon.", "stands"),
        ("The port of alpha is 8080.", "The port of beta is 9090.", "stands"),
        ("Mara loves dark mode in editors.", "Tom hates dark mode in editors.", "stands"),
        ("The staging server runs Debian 12.", "The build server runs Debian 13.", "stands"),
        ("Alpha is always open at night.", "Beta is never open at night.", "stands"),
        ("Tom owns the billing service.", "Vera owns the search service.", "stands"),
        ("Mara's birthday is 3 May.", "Tom's birthday is 4 June.", "stands"),
        ("**Port of alpha:** 8080", "**Port of beta:** 9090", "stands"),
        ("**Mara's editor:** vim", "**Tom's editor:** helix", "stands"),
    ],
    "bound to a time": [
        ("**Location:** Porto until March", "**Location:** Lisbon", "stands"),
        ("**Location:** Porto", "**Location:** Lisbon from April", "stands"),
        ("**Status:** on leave until Monday", "**Status:** at work from Tuesday", "stands"),
        ("In 2024 the office was in Porto.", "In 2025 the office was in Lisbon.", "stands"),
        ("Until March the gate is closed.", "From April the gate is open.", "stands"),
        ("In winter Mara lives in Lisbon.", "In summer Mara lives in Berlin.", "stands"),
        ("Last week the build was green.", "This week the build was red.", "stands"),
        ("On Mondays the shop is open.", "On Sundays the shop is closed.", "stands"),
        ("**Owner:** Tom during the trial", "**Owner:** Vera after the trial", "stands"),
        ("The 2024 plan had 3 phases.", "The 2025 plan had 4 phases.", "stands"),
        ("**Model:** large before noon", "**Model:** small after noon", "stands"),
    ],
}
ALL = [(kind, *pair) for kind, pairs in PAIRS.items() for pair in pairs]


def cluster(text: str, day: str, context: tuple[str, ...]) -> Cluster:
    source = Source(
        resource="sources/MEMORY.md",
        blob=hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(),
        lines=(3, 3),
        text_hash=text_hash(text),
        captured=day,
        captured_from="unit",
    )
    candidate = Candidate(
        candidate_id=f"cand-{text_hash(text)}", text=text, context=context, sources=(source,)
    )
    return Cluster(
        cluster_id=f"clust-{text_hash(text)}",
        candidates=(candidate,),
        strength=2.5,
        type_hint="fact",
        home_hint="LTMEMORY.md",
    )


def read(
    state: State, text: str, day: str, judge: Judge, context: tuple[str, ...] = ("Mara",)
) -> tuple[State, tuple[Step, ...]]:
    """Take in one statement as a run does: worded by the rules, its pairs verified by the judge."""
    groups = (cluster(text, day, context),)
    request = CanonicalRequest(
        profile="personal",
        now=NOW,
        clusters=groups,
        priors=tuple(prior_of(m) for m in state.active),
    )
    claims = tuple(OfflineJudge().canonicalise(request))
    made = verified(state, groups, claims, Former(), asking(judge)).made
    return taken(state, made), made.singles


def compared(older: str, newer: str, judge: Judge, days: tuple[str, str] = (OLD, NEW)) -> State:
    """Read two statements, in the order of the days or against it, and compare what stands."""
    state = empty()
    for text, day in sorted(zip((older, newer), days, strict=True), key=lambda said: said[1]):
        state, _ = read(state, text, day, judge)
    return settled(state, judge)


def settled(state: State, judge: Judge) -> State:
    steps = among(state, judge, NOW, (), ()).steps
    return apply(state, [change for step in steps for change in step.changes])


def outcome(state: State) -> Outcome:
    if any(m.status == "superseded" for m in state.memories.values()):
        return "replaces"
    return "flags" if any(m.standing == "contested" for m in state.active) else "stands"


def test_there_are_enough_pairs_of_every_kind() -> None:
    assert len(ALL) >= 60
    assert min(Counter(kind for kind, *_ in ALL).values()) >= 7


@pytest.mark.parametrize(("kind", "older", "newer", "expected"), ALL)
def test_the_rules_replace_nothing_that_is_not_plainly_replaced(
    kind: str, older: str, newer: str, expected: Outcome
) -> None:
    state = compared(older, newer, OfflineJudge())
    assert outcome(state) == expected, kind
    if expected == "replaces":
        (lost,) = (m for m in state.memories.values() if m.status == "superseded")
        (kept,) = state.active
        assert lost.sources[0].captured == OLD
        assert kept.texts("supersedes") == (lost.id,)
    assert settled(state, OfflineJudge()) == state


def claims_apart(older: str, newer: str) -> State:
    """Return two statements that no judge has compared yet, worded by the rules."""
    state = empty()
    for text, day in ((older, OLD), (newer, NEW)):
        alone, _ = read(empty(), text, day, OfflineJudge())
        (memory,) = alone.memories.values()
        state = State(
            layout=state.layout,
            files=state.files.edited(dict(alone.files)),
            memories={**state.memories, memory.id: memory},
        )
    return state


SUSPECTED = [
    (older, newer)
    for _, older, newer, _ in ALL
    if "said" not in newer  # what is told of somebody waits for a person
    and (judge := Scripted([replace(YES, is_contradiction=False)]))
    and (among(claims_apart(older, newer), judge, NOW, (), ()), judge.asked)[1]
]


def test_a_model_is_asked_about_many_of_them() -> None:
    assert len(SUSPECTED) >= 30
