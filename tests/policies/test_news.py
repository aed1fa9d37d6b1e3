"""The lines of the newest logs on the first page: what they say of how things are, with its day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memrepo.core.memory import Hot, Memory, Source, Stamp
from memrepo.core.state import Files, State
from memrepo.policies.first_page import _words_of, overtakes
from memrepo.policies.latest import latest
from memrepo.text.dates import due_day

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
MILLS = ("Anvil", "Birch", "Copper", "Delta", "Ember")
TOLD = (
    "Lea paints every window green in spring",
    "the choir rents our cellar on Fridays",
    "salt comes from a mine near Wieliczka",
    "Eve counts the till before lunch",
    "Gus writes invoices by hand",
)
MIXER = "Jona decided to rent the mixer by the month"
SHELVES = "".join(f"  - Shelf {n} is full now.\n" for n in range(7))


def note(number: int, day: str, body: str, name: str = "", title: str = "") -> Memory:
    """Return the note of a whole log."""
    source = Source(
        resource=f"sources/memory/{name or day}.md",
        lines=(3, 40),
        captured=day,
        captured_from="file",
    )
    fields = {"id": f"mem-{number:016x}", "type": "note", "created": NOW, "sources": (source,)}
    return Memory.of(f"memories/notes/{number}.md", {**fields, "title": title or day}, body=body)


def lately(*notes: Memory, shown: tuple[Memory, ...] = (), most: int = 8) -> list[str]:
    """Return the lines of notes, without the marks of their headings."""
    memories = {memory.id: memory for memory in (*notes, *shown)}
    state = State(memories=memories, files=Files({}, {}))
    return [line.body.removeprefix("# ") for line in latest(state, notes, shown, most)]


@pytest.mark.parametrize(
    ("day", "body", "line"),
    [
        ("2026-02-27", f"- {MIXER}.", f"{MIXER}."),
        ("2026-02-27", "## Oven\n\n- Status: the new door works since noon.", "Oven"),
        ("2026-02-27", "## Oven\n\n- Next: Nils Orr brings the second door by Easter.", "Nils Orr"),
        ("2026-02-27", "- Rye dough rests for eleven hours.", ""),
        ("2026-02-12", f"- {MIXER}.", ""),
        ("2026-02-14", f"- {MIXER}.", f"{MIXER}."),
        ("2026-02-14", "## Oven door\n\n- Still waiting for the second door.", ""),
        ("2026-03-09", f"- {MIXER}.", ""),
        ("2026-02-27", f"user: hello\nassistant: done\n\n- {MIXER}.", ""),
        ("2026-02-27", f"- {MIXER}, password: Kiln-7!rye-Salt", ""),
        ("2026-02-27", f"## Rejected\n\n- {MIXER}.", ""),
        ("2026-02-27", f"## Archived\n\n- {MIXER}.", ""),
        ("2026-02-27", f"- What if {MIXER}?", ""),
        ("2026-02-27", f"- {MIXER}:\n{SHELVES}", ""),
        ("2026-02-27", f"- {MIXER}:\n  - Shelf 1 is full now.\n", f"{MIXER}:"),
        ("2026-02-27", f"**{MIXER}:**\n| Part | State |\n| --- | --- |\n| bowl | new |\n", ""),
        ("2026-02-27", "- Lea finished the shop hours in MEMORY.md and TOOLS.md.", ""),
    ],
)
def test_a_line_says_what_was_decided_or_how_things_are(day: str, body: str, line: str) -> None:
    last = note(1, "2026-02-28", "- Ash is kept for soap.")
    found = lately(last, note(2, day, body))
    assert [line in one for one in found] == ([True] if line else [])


def test_each_subject_has_its_newest_line_and_no_day_takes_all() -> None:
    days = [
        note(n, f"2026-02-{20 + n}", f"## Kiln repair\n\n- Kiln {n} was fixed and tested by Lea.")
        for n in range(3)
    ]
    many = "".join(f"## {word} mill\n\n- Decided: {TOLD[n]}.\n\n" for n, word in enumerate(MILLS))
    found = lately(*days, note(9, "2026-02-28", many))
    assert sum("Kiln" in line for line in found) == 1
    assert "Kiln 2 was fixed" in found[-1], "the newest line about it, behind newer days"
    assert len(found) == 5, "at most four of one day"


@pytest.mark.parametrize(
    ("line", "is_due"),
    [
        ("Deadline for the oven papers: 12 March 2026", True),
        ("Rent of the barn is due March 1: 300 crowns", True),
        ("Oven papers to Nils by March 20", True),
        ("烤炉文件截止日期: 3月20日", True),
        ("Deadline for the oven papers: 12 May 2026", False),
        ("Deadline for the oven papers: 20 February 2026", False),
        ("The market is on 12 March 2026", True),
        ("Nils Orr: tooth at 16:20 on 9 March", True),
        ("Oven papers: avant le vendredi 20 mars", True),
        ("The barn has new locks from 12 March on", False),
        ("**Thursday, 12 March**", False),
        ("Is the deadline for the papers 12 March 2026?", False),
        ("Rent is due every month, next on 12 March 2026", False),
    ],
)
def test_what_is_due_soon_is_a_line_until_its_day_and_comes_first(line: str, is_due: bool) -> None:
    log = note(1, "2026-02-01", f"## Kiln yard\n\n- Salt is white.\n- {line}\n")
    found = lately(log, note(2, "2026-02-28", f"- {MIXER}."))
    assert found == [*([f"Kiln yard\n{line}"] if is_due else []), f"{MIXER}."]


def test_what_was_due_and_is_done_or_said_again_is_no_second_line() -> None:
    said = "- Deadline for the oven papers of Nils Orr: 12 March 2026"
    logs = [note(n, f"2026-02-2{n}", f"{said}\n- Tea number {n} is green.") for n in (1, 2)]
    assert len(lately(*logs)) == 1
    sent = note(3, "2026-02-27", "- Sent the oven papers of Nils Orr before the deadline.")
    assert not any("12 March" in line for line in lately(*logs, sent))


@pytest.mark.parametrize(
    ("line", "due"),
    [
        ("The oven fair moves from 7 March to Friday 20 March", "2026-03-20"),
        ("The oven fair is on 10 March, not on 12 March", "2026-03-10"),
        ("The oven fair is on 10 March instead of 12 March", "2026-03-10"),
        ("Lea pays 0.15 from 1 April 2026, contract to sign by 18 March", "2026-03-18"),
        ("The oven fair, once 7 March, is on 20 March", "2026-03-20"),
    ],
)
def test_of_two_days_the_one_that_holds_is_due(line: str, due: str) -> None:
    log = note(1, "2026-02-27", f"- {line}.")
    state = State(memories={log.id: log}, files=Files({}, {}))
    assert [one.valid_until for one in latest(state, [log], (), 8)][:1] == [due]


@pytest.mark.parametrize(
    ("newer", "is_over"),
    [
        ("Corrected: the oven fair moves from 14 March to 12 March, because of the rain", True),
        ("The oven fair of Nils Orr is on 19 March", True),
        ("The oven fair of Nils Orr may be on 19 March, but Lea keeps 14 March", False),
        ("The oven fair of Lea Brandt is on 19 March", False),
        ("Salt from 14 March on comes from Lea", False),
    ],
)
def test_what_moved_leaves_its_old_day(newer: str, *, is_over: bool) -> None:
    older = note(1, "2026-02-20", "- The oven fair of Nils Orr: 14 March, at the barn.")
    found = lately(older, note(2, "2026-02-27", f"- {newer}."))
    assert ("The oven fair of Nils Orr: 14 March, at the barn." in found) != is_over


def test_a_log_moves_or_ends_what_a_page_calls_due() -> None:
    source = Source(
        resource="MEMORY.md", lines=(3, 3), captured="2026-02-01", captured_from="commit"
    )
    fields = {"id": f"mem-{7:016x}", "type": "fact", "sources": (source,)}
    claim = Memory.of("memories/a.md", fields, body="Oven papers to Nils by 9 March.")
    told = {
        "The oven papers go to Nils on 20 March, not on 9 March": True,
        "Sent the oven papers to Nils": True,
        "Painted the barn for Lea": False,
    }
    for text, is_over in told.items():
        log = note(1, "2026-02-27", f"- {text}.")
        line = log.with_fields({"valid_until": due_day(text, "2026-02-27")}, text)
        assert overtakes(line, _words_of(line), claim, _words_of(claim)) == is_over, text


@pytest.mark.parametrize(
    ("text", "day", "is_over"),
    [
        ("The Nadler mill pays its invoices within 14 days.", "2026-02-27", True),
        ("The Nadler mill pays its invoices within 14 days.", "2026-01-12", False),
        ("The Nadler mill pays its invoices of 14 euros within 30 days.", "2026-02-27", False),
    ],
)
def test_a_later_amount_in_the_same_unit_replaces_an_undated_one(
    text: str, day: str, *, is_over: bool
) -> None:
    source = Source(
        resource="MEMORY.md", lines=(3, 3), captured="2026-02-01", captured_from="commit"
    )
    fields = {"id": f"mem-{7:016x}", "type": "fact", "sources": (source,)}
    claim = Memory.of(
        "memories/a.md", fields, body="The Nadler mill pays its invoices within 30 days."
    )
    line = note(1, day, text)
    assert overtakes(line, _words_of(line), claim, _words_of(claim)) == is_over


def test_what_the_page_says_and_what_a_person_took_off_is_no_line() -> None:
    log = note(1, "2026-02-28", f"- {MIXER}.\n- Decided that Kim locks both gates at midnight.")
    gates = "Kim locks both gates at midnight"
    assert len(lately(log)) == 2
    claim = Memory.of(
        "memories/a.md", {"id": f"mem-{7:016x}", "type": "decision"}, body=f"{MIXER}."
    )
    assert [gates in line for line in lately(log, shown=(claim,))] == [True]
    own = Source(resource="sources/memory/2026-02-28.md", text_hash=claim.own_hash)
    gone = claim.with_fields({"sources": (own,), "status": "archived"})
    state = State(memories={log.id: log, gone.id: gone}, files=Files({}, {}))
    assert [gates in line.body for line in latest(state, [log], (), 8)] == [True]
    judged = claim.with_fields({"hot": Hot(since=NOW, reason="judge 1")})
    assert lately(log, shown=(judged,)) == [], "a model chose the page"


WORK = """\
## In progress

- The oven door of the bakery is with the smith in Orrin.

## Current state

- The second chimney of the bakery is blocked by nests of jackdaws.

## Waiting on

- Nils Orr sends the drawings of the second chimney.
- [x] Whitewash the north wall of the bakery before frost
- [ ] Ask the coast for eleven bags of burnt lime

## Done

- The lease of the barn was signed by both sisters.

## Setup

- The shop runs on an old laptop below the counter.
"""


def state_of_work(day: str, body: str = WORK, read: datetime = NOW) -> Memory:
    """Return the note of a file about current work."""
    source = Source(
        resource="sources/SESSION.md", lines=(3, 40), captured=day, captured_from="unit"
    )
    fields = {"id": f"mem-{77:016x}", "type": "note", "created": read, "sources": (source,)}
    return Memory.of("memories/notes/77.md", {**fields, "title": "Desk"}, body=body)


def test_what_waits_in_a_file_about_work_comes_in_its_order_and_before_its_state() -> None:
    log = note(1, "2026-02-28", f"- {MIXER}.")
    found = lately(log, state_of_work("2026-02-20"))
    assert found == [
        f"{MIXER}.",
        "In progress\nThe oven door of the bakery is with the smith in Orrin.",
        "Waiting on\nNils Orr sends the drawings of the second chimney.",
        "Waiting on\nAsk the coast for eleven bags of burnt lime",
        "Current state\nThe second chimney of the bakery is blocked by nests of jackdaws.",
    ]
    assert lately(log, state_of_work("2026-02-28"), most=1) == found[1:2]


def test_a_file_about_work_counts_from_its_own_day_to_that_of_the_newest_log() -> None:
    log = note(1, "2026-02-28", f"- {MIXER}.")
    assert lately(log, state_of_work("2026-02-12")) == [f"{MIXER}."], "older than the logs"
    stamp = Stamp(by="memrepo/1", at=datetime(2026, 3, 5, 9, tzinfo=UTC))
    again = state_of_work("2026-03-05").with_fields({"generated": stamp})
    assert lately(again)[0].startswith("In progress"), "a later run read its text"


def test_logs_read_long_after_their_day_are_the_newest_still() -> None:
    log = note(1, "2026-01-02", f"- {MIXER}.")
    assert lately(log) == [f"{MIXER}."]


def test_a_line_names_what_its_headings_say_it_is_about() -> None:
    log = note(
        1,
        "2026-02-28",
        f"## Pending: dispute with the mill\n\n### Notes\n\n- {MIXER}.\n\n"
        "## Old cellar of the choir (as of 2026-02-20)\n\n- Nils Orr promised to paint the door.\n",
    )
    assert lately(log) == [
        f"Pending: dispute with the mill\n{MIXER}.",
        "Old cellar of the choir\nNils Orr promised to paint the door.",
    ]
    work = "## The second bakery\n\n### Pending\n\n- The smith brings rails of seven steel mills.\n"
    assert lately(state_of_work("2026-02-28", f"{work}- [ ] Ask for lime\n")) == [
        "The second bakery › Pending\nThe smith brings rails of seven steel mills.",
    ]


@pytest.mark.parametrize(
    ("file", "is_news"),
    [("SESSION.md", False), ("memory/a.md", False), ("2026-02-27.md", False), ("mills.csv", True)],
)
def test_what_was_done_to_a_file_of_the_memory_is_no_news(file: str, *, is_news: bool) -> None:
    log = note(1, "2026-02-28", f"- Decided that {file} lists all mills of the coast.")
    assert bool(lately(log)) == is_news


def test_logs_below_the_folder_of_the_daily_logs_are_feeds_and_no_news() -> None:
    log = note(1, "2026-02-27", f"- {MIXER}.")
    feed = note(2, "2026-02-28", "- Decided to dream of seven mills.", name="dreams/2026-02-28")
    assert lately(log, feed) == [f"{MIXER}."]
    assert lately(feed) == ["Decided to dream of seven mills."], "its logs are the only ones"
    month = note(3, "2026-02-28", "- Decided to buy seven mills.", name="2026/02/2026-02-28")
    assert lately(log, month) == ["Decided to buy seven mills.", f"{MIXER}."]
