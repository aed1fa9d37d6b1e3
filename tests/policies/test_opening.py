"""What a session begins with: by kind, the hot first, what is kept by hand before reports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zlib import crc32

import pytest

from memrepo.core.access import Accesses
from memrepo.core.memory import Hot, Memory, Source
from memrepo.policies.hotcache import SEEDED
from memrepo.policies.opening import ALWAYS, LATEST, opening
from memrepo.policies.rules import DecayRules

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
HOT = Hot(since=T0, reason="3 sessions")


def memory(said: str, type_: str = "fact", source: str = "MEMORY.md", **fields: Any) -> Memory:
    where = Source(resource=f"sources/{source}", captured=fields.pop("day", "2026-02-01"))
    known = {"id": f"mem-{crc32(said.encode()):016x}", "type": type_, "sources": (where,)}
    return Memory(
        path=f"memories/x/{said}.md", fields={**known, "created": T0, **fields}, body=said
    )


def at(line: int, said: str, source: str = "IDENTITY.md", **fields: Any) -> Memory:
    where = Source(resource=f"sources/{source}", captured="2026-02-01", lines=(line, line))
    return memory(said, fields.pop("type_", "identity"), sources=(where,), **fields)


def told(*memories: Memory) -> list[str]:
    others = [memory(f"Filler {word}.") for word in "abcdefghij"]
    return [m.body for m in opening([*memories, *others], Accesses(), T0, DecayRules())]


def test_each_kind_in_its_order_and_nothing_else() -> None:
    kinds = {**ALWAYS, **LATEST}
    given = [memory(f"It is {type_}.", type_) for type_ in kinds]
    assert told(*reversed(given)) == [f"It is {type_}." for type_ in kinds]


@pytest.mark.parametrize(("type_", "most"), [*ALWAYS.items(), *LATEST.items()])
def test_of_each_kind_so_many_and_no_more(type_: str, most: int) -> None:
    names = "red blue green white black brown".split()
    assert len(told(*(memory(f"The door is {n}.", type_) for n in names))) == most


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (memory("Critical.", critical=True, hot=HOT), memory("Me.", "identity", hot=HOT)),
        (memory("Hot.", "constraint", hot=HOT), memory("Cold.", "constraint")),
        (memory("Kept.", "constraint"), memory("Noted.", "constraint", "memory/2026-02-01.md")),
        (memory("New.", "commitment", day="2026-02-09"), memory("Old.", "commitment")),
        (memory("A person.", source="USER.md"), memory("A wish.", "preference")),
        (memory("A rule.", "constraint"), memory("A fact in use.", hot=HOT)),
        # A profile comes first and from its top, whatever is in use and however it was typed.
        (at(3, "Agent: Ix."), memory("Some agent elsewhere.", "identity", "plan.md", hot=HOT)),
        (at(3, "Agent: Ix.", type_="identity"), at(5, "Ix: dry.", hot=HOT)),
        (at(9, "Ix: dry."), at(2, "User: Ana.", "USER.md", type_="identity")),
        (at(9, "Ix: dry."), at(2, "Ana lives in Cebu.", "USER.md", type_="fact")),
        (at(9, "Who reads here.", "memory/persona.md"), at(2, "Ana.", "memory/human.md")),
        (at(9, "Ana.", "USER.md"), at(2, "Bo.", "agents/ix/USER.md")),
        (
            memory("Told.", "commitment", "memory/2026-02-01.md"),
            memory("Planned.", "commitment", "plan.md"),
        ),
        (
            memory("Move it.", "commitment", "memory/2026-02-01.md", lead="Monday – Next steps"),
            memory(
                "It moves.", "commitment", "memory/2026-02-03.md", lead="Tuesday", day="2026-02-03"
            ),
        ),
        (memory("Call Bo.", "commitment"), memory("Read this.", "commitment", "BOOT.md")),
        (memory("Sell it.", "decision"), memory("We married.", "decision", "USER.md")),
        (
            memory("Decided.", "decision", "memory/decisions.md"),
            memory("Planned.", "decision", "plan.md", day="2026-02-09"),
        ),
    ],
)
def test_what_comes_before_what(first: Memory, then: Memory) -> None:
    assert told(then, first) == [first.body, then.body]


@pytest.mark.parametrize(
    "over",
    [{"valid_until": "2026-02-27"}, {"standing": "retire_candidate"}, {"status": "superseded"}],
)
def test_what_is_over_is_not_told(over: dict[str, Any]) -> None:
    assert told(memory("The order is due.", "commitment", **over)) == []


@pytest.mark.parametrize(
    ("page", "is_told"),
    [
        ("product-requirements-v1.0.md", False),
        ("memory/research/findings.md", False),
        ("processes.md", False),
        ("plans/design-session.md", False),
        ("plans/session-7.md", True),
        ("kitchen-log.md", True),
        ("memory/bread.md", True),
        ("house-rules.md", True),
        ("memory/reglas.md", True),
        ("memory/feedback_tone.md", True),
        ("memory/2026-02-01-kitchen.md", True),
        ("conversations/ana.md", True),
    ],
)
def test_the_rules_of_a_product_are_not_the_persons(page: str, is_told: bool) -> None:
    rule = memory("Every order must hold a number.", "constraint", page)
    assert (told(rule) != []) is is_told
    assert told(memory(rule.body, "constraint", page, hot=HOT)) == [rule.body]
    no_kept = [memory(f"Paper {word}.", source="papers/on-x.md") for word in "abcdefghijkl"]
    found = opening([rule, *no_kept], Accesses(), T0, DecayRules())
    assert [m.body for m in found] == [rule.body], "nothing else says by which rules"


def test_what_was_put_on_the_page_and_never_used_is_told_by_its_kind_alone() -> None:
    seed = Hot(since=T0, reason=SEEDED)
    assert told(memory("A fact.", hot=seed)) == []
    assert told(memory("A fact.", hot=seed, pinned=True)) == ["A fact."]


@pytest.mark.parametrize("said", ["Avatar: avatars/ix.png", "Site: https://example.org/ix"])
def test_an_address_alone_is_not_who_one_is(said: str) -> None:
    assert told(at(3, said)) == []
    assert told(at(3, "Timezone: Europe/Lisbon"), at(4, f"{said} by Bo")) != []


def test_what_says_nothing_new_is_not_told_twice() -> None:
    again = memory("Ana likes tea", "preference", "memory/day.md")
    assert told(memory("Ana likes green tea.", "preference"), again) == ["Ana likes green tea."]


def test_a_session_is_told_what_there_is_however_few() -> None:
    few = [memory("Me.", "identity"), memory("You.", "relationship", hot=HOT)]
    assert [m.body for m in opening(few, Accesses(), T0, DecayRules())] == ["Me.", "You."]


def part(said: str, subject: str, type_: str = "identity", lead: str = "Team") -> Memory:
    return memory(f"{lead} – {said}", type_, subject=subject, lead=lead)


def test_a_list_of_others_is_not_who_one_is() -> None:
    team = [part(f"{name}: mail {name}@example.org", name) for name in ("Ana", "Bo", "Cy")]
    me = part("I keep the books.", "I", lead="Me")
    assert told(*team, me) == ["Me – I keep the books."]
    assert len(told(*team[:2], me)) == 3
    rows = [part(f"{name}: mails", name, "fact") for name in ("Di", "Ed")]
    assert told(team[0], *rows, me) == [me.body], "a row of a table, however it was typed"
    used = part("Di: mail di@example.org", "Di")
    hot = memory(used.body, "identity", subject="Di", lead="Team", hot=HOT)
    assert hot.body in told(*team, hot)
    profile = [
        memory(f"Name {n}", "identity", "IDENTITY.md", subject=f"{n}", lead="Agent")
        for n in range(3)
    ]
    assert len(told(*profile)) == 3


def test_a_folder_of_pages_about_others_is_not_who_one_is() -> None:
    others = [
        memory(
            f"{name.title()} writes poems {n}.", "identity", f"agents/{name}.md", lead=name.title()
        )
        for n, name in enumerate(("ana_may", "bo", "cy"))
    ]
    others[0] = memory("Ana May writes.", "identity", "agents/ana-may.md", lead="Ana May – Work")
    me = memory("I keep the books.", "identity", "memory/persona.md", lead="Dora")
    assert told(*others, me) == ["I keep the books."]
    assert told(*others) == [], "a paper on somebody does not tell who the agent is"
    logs = [memory(f"I am {m.body}", "identity", f"chats/{m.text('lead')}.md") for m in others]
    assert len(told(*logs)) == 3, "where somebody talks, it may be the agent"


def test_one_friend_does_not_stand_before_whom_one_lives_with() -> None:
    friends = [
        memory(f"Friend {n}.", "relationship", lead="Team – Friends", confidence=0.9)
        for n in "abcde"
    ]
    wife = memory("Emil: married to Ana.", "relationship", lead="Team – Family", confidence=0.6)
    assert wife.body in told(*friends, wife)
    assert len(told(*friends, wife)) == ALWAYS["relationship"]


@pytest.mark.parametrize(
    ("lead", "is_over"),
    [
        ("My tasks – Archive", True),
        ("Tasks – ✅ Done", True),
        ("Completed tasks", True),
        ("Aufgaben – Erledigt", True),
        ("Мои задачи – Архив выполненных задач", True),
        ("Tareas – Completadas", True),
        ("任务 – 已完成", True),
        ("Three bugs found and fixed", True),
        ("Tasks – Bug fix", True),
        ("Next steps until it is done", False),
        ("Tasks – Done when", False),
        ("Tasks – To be done", False),
        ("Tâches – À faire", False),
        ("任务 – 未完成", False),
        ("Archivists", False),
        ("Donegal trip", False),
    ],
)
def test_below_a_heading_of_what_is_over_nothing_is_promised(lead: str, is_over: bool) -> None:
    assert (told(memory("Move the lathe.", "commitment", lead=lead)) == []) is is_over


def test_a_template_that_nobody_chose_in_is_not_told() -> None:
    blank = "Context: why; ratified by: [user / consensus / default]"
    assert told(memory(blank, "decision")) == []
    assert told(memory("We chose it.", "decision", lead="Decisions – Decision template")) == []
    assert told(memory("It is [user / team](roles.md) that decides.", "decision")) != []


@pytest.mark.parametrize(
    "said",
    ["✅ Moved the lathe.", "[x] Moved the lathe.", "~~Move the lathe~~", "None.", "Пусто — позже"],
)
def test_a_promise_kept_or_never_made_is_not_told(said: str) -> None:
    assert told(memory(said, "commitment")) == []
    assert told(memory("None of the beds is dug yet.", "commitment")) != []


def test_one_part_of_a_page_does_not_speak_for_all_that_was_promised() -> None:
    steps = [part(f"Buy part {n}.", "Radio", "commitment", "Next") for n in "abcd"]
    other = memory("Move the lathe.", "commitment", day="2026-01-01")
    assert len(told(*steps, other)) == LATEST["commitment"]
    assert other.body in told(*steps, other)
