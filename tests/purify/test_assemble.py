"""From claims to changes: what is known, what is new, what replaces what."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha1
from typing import Any

import pytest
from msgspec.structs import replace

from memrepo.actions.run.assemble import Assembled, assemble
from memrepo.actions.run.known import Former
from memrepo.core.changes import Create
from memrepo.core.ids import claim_id, text_hash
from memrepo.core.judge import (
    Candidate,
    CanonicalClaim,
    Cluster,
    Scores,
    Wording,
)
from memrepo.core.memory import Memory, Source
from memrepo.core.state import Files, State, apply, read_state
from memrepo.judges.clusters import shared_entities

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def source(text: str, resource: str = "sources/MEMORY.md", captured: str = "2026-02-10") -> Source:
    return Source(
        resource=resource,
        blob=sha1(text.encode()).hexdigest(),  # a line of its own
        lines=(3, 3),
        text_hash=text_hash(text),
        captured=captured,
        captured_from="unit",
    )


def group(name: str, *texts: str, sources: Iterable[Source] = ()) -> Cluster:
    members = tuple(
        Candidate(
            candidate_id=f"cand-{name}-{n}", text=text, sources=tuple(sources) or (source(text),)
        )
        for n, text in enumerate(texts)
    )
    return Cluster(
        cluster_id=f"clust-{name}",
        candidates=members,
        strength=2.5,
        type_hint="fact",
        home_hint="LTMEMORY.md",
    )


def claim(
    name: str, text: str, subject: str = "", predicate: str = "", object_: str = "", **more: Any
) -> CanonicalClaim:
    sure = more.pop("sure", 0.0)
    wording = Wording(text=text, subject=subject, predicate=predicate, object=object_)
    return CanonicalClaim(
        cluster_id=f"clust-{name}",
        type="fact",
        standing="resolved",
        wording=wording,
        home="LTMEMORY.md",
        scores=Scores(confidence=0.8, supersession_confidence=sure),
        **more,
    )


def empty() -> State:
    return State(files=Files({}, {}), memories={})


def taken(state: State, made: Assembled) -> State:
    changes = [Create(memory=m) for m in made.creates]
    after = apply(state, [*changes, *made.rewords, *made.updates])
    return apply(after, [c for step in made.singles for c in step.changes])


def assembled(
    state: State, pairs: list[tuple[Cluster, CanonicalClaim]], former: Former | None = None
) -> Assembled:
    return assemble(state, [g for g, _ in pairs], [c for _, c in pairs], former or Former(), NOW)


def run(state: State, *pairs: tuple[Cluster, CanonicalClaim]) -> State:
    return taken(state, assembled(state, list(pairs)))


def editor(name: str, value: str, **more: Any) -> tuple[Cluster, CanonicalClaim]:
    text = f"Editor: {value}"
    return group(name, text), claim(name, text, "Tools", "Editor", value, **more)


def only(state: State) -> Memory:
    (memory,) = state.memories.values()
    return memory


LONG = "The staging server is called alpha and runs Debian."


def test_a_new_claim_becomes_a_memory_in_the_month_of_its_evidence() -> None:
    memory = only(run(empty(), (group("a", LONG), claim("a", LONG, "Infra"))))
    assert memory.path.startswith("memories/knowledge/2026-02/the-staging-server")
    assert memory.id == claim_id(scope="", subject="Infra", predicate="", object_="", text=LONG)
    assert memory.sources == (replace(source(LONG), blob=""),)
    assert memory.fields["created"] == NOW


def test_the_same_claim_from_another_file_is_more_evidence() -> None:
    once = run(empty(), (group("a", LONG), claim("a", LONG, "Infra")))
    other = source(LONG, "sources/RTMEMORY.md")
    twice = run(once, (group("b", LONG, sources=[other]), claim("b", LONG, "Infra")))
    told = (source(LONG), replace(other, kind="inferred"))
    assert only(twice).sources == tuple(replace(one, blob="") for one in told)


def test_meeting_the_same_evidence_again_changes_nothing() -> None:
    pair = (group("a", LONG), claim("a", LONG, "Infra"))
    once = run(empty(), pair)
    made = assembled(once, [pair])
    assert (made.creates, made.updates, made.rewords, made.singles) == ((), (), (), ())
    assert made.decisions[0].disposition == "reuse_existing"


def test_a_sure_supersession_is_one_step_that_touches_both() -> None:
    before = run(empty(), editor("a", "vim"))
    old = only(before)
    made = assembled(before, [editor("b", "helix", supersedes=(old.id,), sure=0.95)])
    (step,) = made.singles
    assert step.op == "supersede"
    after = taken(before, made)
    new = next(m for m in after.memories.values() if m.id != old.id)
    assert after.memories[old.id].status == "superseded"
    assert after.memories[old.id].texts("superseded_by") == (new.id,)
    assert new.texts("supersedes") == (old.id,)


@pytest.mark.parametrize("sure", [0.0, 0.9])
def test_a_supersession_that_is_not_sure_is_flagged_on_both_sides(sure: float) -> None:
    before = run(empty(), editor("a", "vim"))
    old = only(before)
    after = run(before, editor("b", "helix", supersedes=(old.id,), sure=sure))
    assert {m.standing for m in after.memories.values()} == {"contested"}
    assert {m.status for m in after.memories.values()} == {"active"}


def edited(name: str, old: str) -> Former:
    pair = frozenset({("sources/MEMORY.md", text_hash(old))})
    return Former({f"cand-{name}-0": pair}, lambda _: frozenset())


def test_an_edited_line_rewords_its_memory_and_keeps_the_id() -> None:
    before = run(empty(), (group("a", LONG), claim("a", LONG, "Infra")))
    new = LONG.replace("alpha", "omega")
    made = assembled(before, [(group("b", new), claim("b", new, "Infra"))], edited("b", LONG))
    after = taken(before, made)
    memory = only(after)
    assert memory.id == only(before).id
    assert memory.path == only(before).path
    assert memory.body == new
    assert text_hash(LONG) in memory.texts("aliases")
    assert read_state(dict(after.files), after.layout).memories == after.memories


def test_a_model_s_entities_are_kept_where_the_evidence_holds_them() -> None:
    text = "Mara met Bob in Lisbon"
    said = claim("a", text, entities=("Bob", "Alice", "Mara"))
    (memory,) = assembled(empty(), [(group("a", text), said)]).creates
    assert memory.texts("entities") == ("Bob", "Mara")
    (memory,) = assembled(empty(), [(group("a", text), claim("a", text))]).creates
    assert "entities" not in memory.fields


@pytest.mark.parametrize(
    ("texts", "entities"),
    [
        (["Anna uses Docker on web-1."], ("Anna", "Docker")),
        (["Anna uses Docker.", "At night Docker is restarted"], ("Docker",)),
        (["The Port is 80"], ("Port",)),
        (["Äpfel mag Ölaf", "Ölaf"], ("Ölaf",)),
        (["用户喜欢绿茶"], ()),
        ([], ()),
    ],
)
def test_entities_are_the_names_that_every_text_holds(
    texts: list[str], entities: tuple[str, ...]
) -> None:
    assert shared_entities(texts) == entities
