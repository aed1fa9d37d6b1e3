"""What a rejection or a correction matches, as tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memrepo.core import codec
from memrepo.core.ids import text_hash
from memrepo.core.layout import Layout
from memrepo.core.memory import Gist, Memory, Source, Stamp
from memrepo.core.state import State, read_state
from memrepo.merge.tombstones import Tombstones, binds, decided_against, tombstone_of

AT = datetime(2026, 3, 1, tzinfo=UTC)
A, B, C = ("mem-" + digit * 16 for digit in "123")
GREEN, RED = "The gate of the mill is green.", "The barn next to it is red."


def fact(body: str = GREEN, id_: str = A, **fields: Any) -> Memory:
    given = {"id": id_, "type": "fact", **fields}
    return Memory.of(f"memories/knowledge/x-{id_[4:10]}.md", given, body=body)


def rejected(*memories: Memory) -> Tombstones:
    made = [tombstone_of(m, reason="no", by="human:me", at=AT) for m in memories]
    return Tombstones({stone.key: stone for stone in made})


def state(*memories: Memory) -> State:
    return read_state({m.path: codec.encode(m) for m in memories}, Layout())


SOURCES = (Source(resource="sources/a.md", lines=(3, 3)),)


@pytest.mark.parametrize(
    ("memory", "fields", "body"),
    [
        (fact(f"{RED} {GREEN}", B), {}, RED),
        (fact(f"{GREEN}\n\n{RED}", B), {}, RED),
        (fact(f"{GREEN}\n\n{GREEN}", B), {"status": "forgotten"}, None),
        (fact(f"- {GREEN}\n- {GREEN}", B), {"status": "forgotten"}, None),
        (fact(f"{RED} {GREEN}", B, gist=Gist(title="t")), {"gist": None}, RED),
        (
            fact(f"{RED} {GREEN}", B, sources=SOURCES),
            {"sources": fact(f"{RED} {GREEN}", B, sources=SOURCES).sources},
            RED,
        ),
    ],
)
def test_a_memory_loses_its_rejected_statements(
    memory: Memory, fields: dict[str, object], body: str | None
) -> None:
    stones = rejected(fact())
    update = stones.shortening(memory)
    assert update is not None
    assert (update.id, dict(update.fields), update.body) == (B, fields, body)


CACHE = "Turn on the staging cache before the demo at the shop."
TWO = f"{GREEN} {RED}"


@pytest.mark.parametrize(
    ("text", "memory", "is_similar"),
    [
        (GREEN, fact(f"{RED} The gate of this mill is green.", B), True),
        (GREEN, fact(f"{RED} The gate of this mill is green.", B, type="note"), False),
        (GREEN, fact(f"{RED} The mill is old.", B), False),
        (TWO, fact(f"Nobody knew. {RED}", B), False),
        (f"{GREEN} It is red.", fact("It is red. Nobody knew that before.", B), False),
        ("It is red", fact("It is red and it has been for many years by now.", B), False),
        ("Uwe owns a red boat in Kiel.", fact("In Kiel, red boats are owned by Uwe.", B), True),
        ("Uwe owns a red boat in Kiel.", fact("Uwe never owned red boats in Kiel.", B), False),
        (CACHE, fact("For shop demos, turn the staging cache off.", B), False),
        (CACHE, fact(CACHE.replace("Turn on", "Turn off"), B), False),
        (CACHE, fact("Before demos at the shop, the staging cache is turned on.", B), True),
        ("Backups run before deploys.", fact("A backup now runs after each deploy.", B), False),
        ("The old mill has been sold.", fact("The old mill hasn't been sold.", B), False),
        ("Licht vor der Probe aus.", fact("Das Licht ist nach der Probe an.", B), False),
        ("Uwe besitzt ein Boot in Kiel.", fact("In Kiel besitzt Uwe ein Boot.", B), True),
        ("Red old barn door", fact("Nobody knew that at all. Red old big barn door.", B), True),
    ],
)
def test_a_claim_similar_to_a_rejected_text_waits(
    text: str, memory: Memory, is_similar: bool
) -> None:
    assert (rejected(fact(text)).near(memory) is not None) is is_similar


def test_a_new_table_may_share_rows_with_a_rejected_one() -> None:
    head = "| part | price of the part in euros |\n| --- | --- |\n"
    rows = "| the oak door of the mill | 4 |\n| the iron gate of the mill | 5 |\n"
    stones = rejected(fact(f"{head}{rows}| hinge | 6 |"))
    assert stones.near(fact(f"{head}{rows}| window | 7 |\n| lock | 8 |", B)) is None
    assert stones.near(fact(f"{head}{rows}", B)) is not None


def test_a_tombstone_has_hashes_of_what_the_memory_was_read_from() -> None:
    one, other = Source(resource="s", text_hash=f"th-{1:016x}"), Source(resource="t")
    alias = f"th-{2:016x}"
    made = tombstone_of(
        fact(GREEN, sources=(one, other), former=(alias,)), reason="no", by="human:me", at=AT
    )
    assert set(made.units) >= {one.text_hash, alias}
    assert made.text_key == tombstone_of(fact(), reason="", by="", at=AT).text_key


@pytest.mark.parametrize(
    ("stone", "memory", "is_barred"),
    [
        (fact("green", subject="Gate"), fact("green", B), True),
        (fact("green", title="Green gate of the mill"), fact("Green gate of the mill", B), False),
        (fact("status: green", title="Gate"), fact("status: green", B, title="Gate"), True),
        (fact("status: green", title="Gate"), fact("status: green", B, title="Barn"), False),
        (fact(GREEN), fact("So it was in May.", B, title=f"**{GREEN}**"), True),
        (fact(GREEN), fact("So it was in May.", B, title="The gate of the mill"), False),
        (fact("vim"), fact("It is an editor.", B, title="Vim"), False),
        (fact(GREEN), fact("The gate of the mill is not green.", B), False),
        (fact("The code is O1."), fact("The code is 01.", B), False),
        (fact("Café"), fact("Cafe", B), True),
        (fact("Senora Nunez a ete la."), fact("Señora Núñez a été là.", B), True),
        (fact("かき"), fact("がき", B), False),
        (fact("мои"), fact("мой", B), False),
        (fact("**Café** is open"), fact("Cafe is open", B), True),
    ],
)
def test_a_rejected_text_is_known_as_text(stone: Memory, memory: Memory, is_barred: bool) -> None:
    assert any(rejected(stone).barring_whole(memory)) is is_barred


@pytest.mark.parametrize(
    ("body", "names", "is_log", "is_stated"),
    [
        ("status: green", {"title": "Gate"}, False, True),
        ("status: green", {"title": "Barn"}, False, False),
        ("status: green", {"title": "2026"}, False, True),
        ("status: green", {}, False, True),
        ("status: green", {"title": "Barn", "type": "note"}, True, True),
    ],
)
def test_a_pair_is_the_same_statement_under_the_same_heading(
    body: str, names: dict[str, Any], is_log: bool, is_stated: bool
) -> None:
    stones = rejected(fact("status: green", title="Gate"))
    memory = fact(f"{RED}\n\n{body}", B, **names)
    assert bool(stones.stated_in(memory)) is is_stated
    assert memory.is_note is is_log


# -- corrections ----------------------------------------------------------------------------------

OLD = fact(
    GREEN,
    status="superseded",
    superseded_by=(B,),
    superseded_at=AT,
    subject="Gate",
)
NEW = fact(RED, B, supersedes=(A,), sources=(Source(resource="sources/new.md", lines=(1, 1)),))


def test_a_superseded_text_is_barred_from_other_files() -> None:
    corrected = decided_against(state(OLD, NEW))
    stone = corrected.find_barring(fact(GREEN, C))
    assert stone is not None
    assert stone.key == f"{B}:{A}"
    assert (stone.at, stone.memory, stone.units) == (AT, "", ())
    assert corrected.find_barring(fact(RED, C)) is None
    assert corrected
    assert not decided_against(state(NEW))


@pytest.mark.parametrize(
    ("resource", "captured", "whole", "is_bound"),
    [
        ("sources/other.md", "", False, True),
        ("sources/other.md", "2026-03-01", False, True),
        ("sources/other.md", "2026-03-02", False, False),
        ("sources/new.md", "", False, False),
        ("sources/new.md", "", True, True),
        ("sources/new.md", "2026-03-02T10:00:00Z", True, False),
    ],
)
def test_a_correction_binds_older_evidence_of_other_files(
    resource: str, captured: str, whole: bool, is_bound: bool
) -> None:
    corrected = decided_against(state(OLD, NEW))
    stone = corrected.find_barring(fact(GREEN, C))
    assert stone is not None
    assert binds(stone, resource, captured, whole=whole) is is_bound


def test_a_wrong_correction_binds_nothing() -> None:
    wrong = NEW.with_fields({"status": "forgotten"})
    assert decided_against(state(OLD, wrong)).find_barring(fact(GREEN, C)) is None
    one_is_gone = OLD.with_fields({"superseded_by": (B, C)})
    assert decided_against(state(one_is_gone, NEW)).find_barring(fact(GREEN, C)) is not None
    alone = OLD.with_fields({"superseded_by": None})
    stone = decided_against(state(alone)).find_barring(fact(GREEN, C))
    assert stone is not None
    assert stone.key == f":{A}"


def test_a_short_pair_needs_its_subject() -> None:
    old = fact("status: green", status="superseded", superseded_by=(B,), title="Gate")
    corrected = decided_against(state(old, NEW))
    assert corrected.find_barring(fact("status: green", C, title="Gate")) is not None
    assert corrected.find_barring(fact("status: green", C, title="Barn")) is None
    assert corrected.find_barring(fact("status: green", C)) is None


REWORDED = fact(
    RED, former=(text_hash(GREEN),), generated=Stamp(by="human:me", at=AT), sources=SOURCES
)


@pytest.mark.parametrize(
    ("memory", "is_found"),
    [
        (REWORDED, True),
        (REWORDED.with_fields({"generated": Stamp(by="memrepo/1", at=AT)}), False),
        (REWORDED.with_fields({"status": "archived"}), False),
        (REWORDED.with_fields({"former": None}), False),
    ],
)
def test_the_former_wording_of_a_person_s_text_is_found(memory: Memory, is_found: bool) -> None:
    corrected = decided_against(state(memory))
    found = corrected.stated(f"Nobody knew. {GREEN}")
    assert [(one.text, stone.key) for one, stone in found] == [(GREEN, f"{A}:{A}")] * is_found
    assert bool(corrected) is is_found
    assert corrected.stated(GREEN) == []


@pytest.mark.parametrize(
    ("stones", "why", "command"),
    [
        (rejected(fact()), "rejected as ts-", "reject ts-"),
        (decided_against(state(OLD, NEW)), f"corrected by {B}", f"restore {A}"),
        (decided_against(state(REWORDED)), f"corrected by {A}", f"edit {A}"),
    ],
)
def test_a_bar_is_described_with_the_way_to_lift_it(
    stones: Tombstones, why: str, command: str
) -> None:
    (stone,) = stones.found.values()
    described, fix = stone.why
    assert described.startswith(why)
    assert f"`memrepo {command}" in fix
