"""What code stops of false operations, and what it must let through.

The lines and wordings are invented: `grounding_false.txt` and `grounding_true.txt`. A row is the
kind of falsehood, the line, its wording, and what the line stands under, or other fields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from memrepo.core.memory import Memory, Source
from memrepo.judge.checks import (
    Cited,
    check,
    cite,
    later_lines,
    leftovers,
    needs_second_question,
    verbatim,
    with_days,
    with_near_lines,
)
from memrepo.judge.documents import Batch, Document, compare, kind_of_name, pack
from memrepo.judge.interface import MAX_TEXT, Operation
from memrepo.judge.questions import Proposed, fence_rows, verify_question

Row = tuple[str, str, str, tuple[str, ...]]
TABLES = Path(__file__).parent


def rows(name: str) -> list[Row]:
    """Return the rows of a table."""
    text = (TABLES / f"grounding_{name}.txt").read_text(encoding="utf-8")
    cells = (line.split("|") for line in text.splitlines())
    return [(c[0], c[1], c[2], tuple(part for part in c[3:] if part)) for c in cells]


FALSE, TRUE = rows("false"), rows("true")
EXACT = {"number", "date", "time", "name", "identifier", "quotation"}
"""Kinds of falsehood that code can see; the others are for the second question."""
FIELDS = ("title", "subject", "object", "tags", "lead", "entities")


def faults(row: Row) -> list[str]:
    """Return the faults that code finds in the wording of a row."""
    _, line, text, more = row
    fields = dict(part.split(": ", 1) for part in more if part.split(":")[0] in FIELDS)
    above = tuple(part for part in more if part.split(":")[0] not in FIELDS)
    cited = Cited(own=(line,), above=above, days=("2026-06-10",))
    op = Operation(op="add", lines="F1:1", text=text, subject=fields.get("subject", ""))
    return check(op, cited, {}, ())


def test_code_stops_what_is_exact_and_lets_honest_wordings_pass() -> None:
    exact = [row for row in FALSE if row[0] in EXACT]
    missed = [row for row in exact if not faults(row)]
    refused = [(row, faults(row)) for row in TRUE if faults(row)]
    assert len(missed) <= len(exact) // 20, missed
    assert len(refused) <= 3, refused


def test_what_code_cannot_see_is_asked_a_second_time() -> None:
    """Only wordings that are a whole line stand without a second question."""
    missed = []
    for row in FALSE:
        _, line, text, more = row
        cited = Cited(own=(line,), above=more)
        op = Operation(op="add", lines="F1:1", text=text)
        if text not in line and not faults(row) and not needs_second_question(op, cited):
            missed.append(row)
    assert missed == []
    quoted = Operation(op="add", lines="F1:1", text="Rick likes ferns.", subject="Rick")
    assert not needs_second_question(quoted, Cited(own=("- Rick likes ferns.",)))
    assert needs_second_question(msgspec.structs.replace(quoted, op="replace", id="m1"), Cited())


PAGE = """\
# Solveig

## Rates

- Brandt charges 90 euros an hour, not for winter storage in the shed.
- [ ] Order the new mast from Holt
- The yard of Brandt is in Horten, see https://brandt.example/yard
""".splitlines()


def batch(lines: list[str] = PAGE, **fields: Any) -> Batch:
    """Return the only question about one page."""
    new = frozenset(fields.pop("new", range(1, len(lines) + 1)))
    document = Document(
        resource="sources/rates.md",
        name="rates.md",
        kind="page",
        lines=tuple(lines),
        new=new,
        since="2026-03-01",
        **fields,
    )
    (found,) = pack([document], 12000)
    return found


def memory(text: str, **fields: Any) -> Memory:
    """Return a memory with a text."""
    return Memory.of("memories/one.md", {"id": "mem-" + "0" * 16, **fields}, body=text)


KNOWN = {
    "m1": memory("Brandt charges 80 euros an hour; see https://brandt.example/yard"),
    "m3": memory(
        "Brandt charges 95 euros an hour.",
        sources=(Source(resource="sources/a.md", captured="2026-04-01", captured_from="file"),),
    ),
}
WRONG: dict[str, tuple[Operation, str]] = {
    "no lines": (Operation(op="add", lines="", text="Brandt charges 90 euros."), "none given"),
    "no file": (Operation(op="add", lines="F2:5", text="Brandt charges 90 euros."), "no F2"),
    "no line": (Operation(op="add", lines="F1:9", text="Brandt charges 90 euros."), "has 7 lines"),
    "blank line": (Operation(op="add", lines="F1:2", text="Brandt charges 90."), "not shown"),
    "short": (Operation(op="add", lines="F1:5", text="90 euros"), "8 characters"),
    "long": (Operation(op="add", lines="F1:5", text="Brandt " * 60), "characters"),
    "two lines": (Operation(op="add", lines="F1:5", text="Brandt charges\n90."), "one line"),
    "number": (Operation(op="add", lines="F1:5", text="Brandt charges 95 euros."), "number"),
    "name": (Operation(op="add", lines="F1:5", text="In Horten Vidar charges 90."), "name"),
    "add with id": (Operation(op="add", lines="F1:5", id="m1", text="Brandt charges 90."), "add"),
    "unknown id": (Operation(op="same", lines="F1:5", id="m7"), "no memory m7"),
    "close": (Operation(op="close", lines="F1:6", id="m2"), "no memory m2"),
    "secret": (
        Operation(op="add", lines="F1:5", text="Brandt uses ghp_" + "a1B2" * 9 + " to log in."),
        "secret",
    ),
    "day": (Operation(op="add", lines="F1:5", text="Brandt charges 90.", until="soon"), "no date"),
    "over before": (
        Operation(
            op="add",
            lines="F1:5",
            text="Brandt charges 90.",
            as_of="2026-02-02",
            until="2026-01-01",
        ),
        "before as_of",
    ),
    "older lines": (
        Operation(op="close", lines="F1:5", id="m3"),
        "m3 is of 2026-04-01, later than the lines",
    ),
    "lost link": (
        Operation(op="replace", lines="F1:5", id="m1", text="Brandt charges 90 euros an hour."),
        "still",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_operation_that_its_lines_do_not_bear_is_refused(name: str) -> None:
    op, words = WRONG[name]
    found = check(op, cite(op.lines, batch()), KNOWN, ("Ines",))
    assert any(words in fault for fault in found), found


@pytest.mark.parametrize(
    "op",
    [
        Operation(
            op="add",
            lines="F1:5",
            text="Brandt charges 90 euros an hour, not for winter storage in the shed.",
        ),
        Operation(op="add", lines="F1:6", text="The new mast still has to be ordered from Holt."),
        Operation(op="add", lines="F1:7", text="For Ines: Brandt's yard is in Horten."),
        Operation(op="same", lines="F1:5", id="m1"),
        Operation(op="replace", lines="F1:7", id="m1", text="The yard of Brandt is in Horten."),
        Operation(
            op="replace",
            lines="F1:5",
            id="m1",
            text="Brandt charges 90 euros an hour, not for winter storage in the shed.",
            still="Brandt's yard: https://brandt.example/yard",
            until="2026-12-31",
        ),
    ],
)
def test_an_honest_operation_stands(op: Operation) -> None:
    assert check(op, cite(op.lines, batch()), KNOWN, ("Ines",)) == []


def test_names_of_the_head_of_a_file_and_accepted_subjects_are_grounds() -> None:
    page = ["# Brevik", "Keeper: Solveig Holt", "", "## Rates", "", "- The berth costs 90 euros"]
    cited = cite("F1:6", batch(page))
    op = Operation(op="add", lines="F1:6", text="The berth that Solveig Holt keeps costs 90 euros.")
    assert check(op, cited, KNOWN, ()) == []
    named = Operation(op="add", lines="F1:6", text="For Vidar the berth costs 90 euros.")
    assert check(named, cited, KNOWN, ())
    assert check(named, cited, KNOWN, ("Vidar",)) == []


def test_any_heading_of_the_file_may_name_the_subject_but_not_what_a_text_says() -> None:
    page = ["# Boats", "", "- The berth costs 90 euros", *"- ab - cd - ef - gh".split(" - ")]
    cited = cite("F1:3", batch([*page, "## Sea Otter", "- has two sails"]))
    op = Operation(op="add", lines="F1:3", text="The berth costs 90 euros.", subject="Sea Otter")
    assert check(op, cited, KNOWN, ()) == []
    (fault,) = check(msgspec.structs.replace(op, subject="Blue Whale Inn"), cited, KNOWN, ())
    assert fault.startswith("subject: a name")
    text = "Of Otter the berth costs 90 euros."
    assert check(msgspec.structs.replace(op, text=text), cited, KNOWN, ()) == []
    (fault,) = check(msgspec.structs.replace(op, text=text, subject="Boats"), cited, KNOWN, ())
    assert fault.startswith("text: a name")


@pytest.mark.parametrize(
    ("text", "is_accepted"),
    [
        ("Post on SailTube on Fridays.", True),  # ST, which another line of the file spells
        ("Post on RowTube on Fridays.", False),
        ("Tingle is asked for a name before Fridays.", True),  # Tingling
        ("Tinsel is asked for a name before Fridays.", False),
    ],
)
def test_a_name_may_be_spelled_in_full_or_end_otherwise(text: str, is_accepted: bool) -> None:
    lines = ["# Posts", "- Post on ST on Fridays, Tingling a name before", *"abcdef"]
    page = batch([*lines, "- SailTube pays by the view"])
    op = Operation(op="add", lines="F1:2", text=f"As a rule, {text}")
    assert (check(op, cite("F1:2", page), KNOWN, ()) == []) is is_accepted


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Kari viaja sin su hermano a Bergen", "Kari viaja a Bergen."),
        ("The boat is not ready for guests", "The boat is ready for guests."),
        ("Den Server nicht neu starten. Rick anrufen.", "Rick anrufen."),
        ("Uploads are at most 5 MB", "Uploads are 5 MB."),
        ("The tank takes 40 litres", "The tank takes 40 gallons."),
        ("The ferry leaves at 3:52", "The crossing takes 3 h 52 min."),
        ("The yard is open on Tuesdays", "The yard is open on Thursdays."),
        ("Brandt painted the gate yesterday", "Brandt painted the gate on 2026-06-07."),
    ],
)
def test_negations_limits_units_and_near_days_are_for_the_second_question(
    line: str, text: str
) -> None:
    op = Operation(op="add", lines="F1:1", text=text)
    cited = Cited(own=(line,), days=("2026-06-10",))
    assert check(op, cited, {}, ()) == []
    assert needs_second_question(op, cited)


@pytest.mark.parametrize(
    ("lines", "text", "day", "later"),
    [
        ("F1:1", "The harbour fees of Brevik are 30 euros", "", ["F2:3", "F2:4"]),
        ("F1:1", "The harbour fees of Brevik are 30 euros", "2026-06-09", []),
        ("F1:2", "The oars are in the shed", "", []),
        ("F2:3", "Ines paid the harbour fees of Brevik", "", []),  # in the same section
        ("F2:4", "Harbour fees of Brevik: 40 euros now", "", []),
    ],
)
def test_later_lines_about_the_same_are_shown_to_the_second_question(
    lines: str, text: str, day: str, later: list[str]
) -> None:
    log = "# Log\n\n- Ines paid the harbour fees of Brevik\n- Harbour fees of Brevik: 40 euros now"
    log += "\n- A buoy was lost near the light"
    page = "- The harbour fees of Brevik are 30 euros\n- The oars are in the shed"
    documents = [
        Document(
            resource=name,
            name=name,
            kind=kind_of_name(name),
            lines=tuple(rows.split("\n")),
            new=frozenset(range(1, 9)),
            as_of="" if kind_of_name(name) == "log" else day,
        )
        for name, rows in {"boats.md": page, "memory/2026-06-08.md": log}.items()
    ]
    (asked,) = pack(documents, 12_000)
    op = Operation(op="add", lines=lines, text=text)
    found = later_lines(op, cite(lines, asked), asked)
    assert [line.split(" ")[0] for line in found] == later
    assert needs_second_question(op, cite(lines, asked), None, asked) is bool(later)


def test_all_logs_may_overtake_a_page_without_a_day_in_other_forms_of_its_words() -> None:
    files = {
        "boats.md": "- Crate fee: 30 euros",
        "memory/2026-06-08.md": "- crates are 40 from now on\n- The light was repaired",
        "memory/2026-06-09.md": "- Nothing new",
    }
    documents = [
        Document(
            resource=name,
            name=name,
            kind=kind_of_name(name),
            lines=tuple(rows.split("\n")),
            new=frozenset((1, 2)),
        )
        for name, rows in files.items()
    ]
    (asked,) = pack(documents, 12_000)
    op = Operation(op="add", lines="F1:1", text=files["boats.md"][2:])
    found = later_lines(op, cite("F1:1", asked), asked)
    assert found == ["F2:1 - crates are 40 from now on"]


def test_a_later_line_of_the_same_section_or_without_news_is_not_shown() -> None:
    fees = "- The harbour fees of Brevik are 30 euros"
    for log, later in {
        f"# Log\n## Fees\n{fees}\n## Evening\n- Harbour fees of Brevik: 40 euros": ["F1:5"],
        f"# Log\n## Fees\n{fees}\n- Harbour fees of Brevik: 40 euros": ["F1:4"],
        f"# Log\n{fees}\n- Harbour fees of Brevik: 40 euros": ["F1:3"],
        f"# Log\n## Fees\n{fees}\n- Ines paid in Brevik with coins": [],
        f"# Log\n## Fees\n{fees}\n## Evening\n{fees}": [],
    }.items():
        lines = tuple(log.split("\n"))
        name = "memory/2026-06-08.md"
        new = frozenset(range(1, len(lines) + 1))
        day = Document(resource=name, name=name, kind="log", lines=lines, new=new)
        (asked,) = pack([day], 12_000)
        at = f"F1:{lines.index(fees) + 1}"
        op = Operation(op="add", lines=at, text=fees[2:])
        found = later_lines(op, cite(at, asked), asked)
        assert [line.split(" ")[0] for line in found] == later


def test_of_a_long_later_line_whole_sentences_about_the_same_are_shown() -> None:
    fees, news = "The harbour fees of Brevik are 30 euros", "Harbour fees of Brevik: 40 euros now."
    lines = (f"- {fees}", f"- {'It rained. ' * 30}{news} {'Nobody came. ' * 9}")
    name = "memory/2026-06-08.md"
    day = Document(resource=name, name=name, kind="log", lines=lines, new=frozenset((1, 2)))
    (asked,) = pack([day], 12_000)
    op = Operation(op="add", lines="F1:1", text=fees)
    assert later_lines(op, cite("F1:1", asked), asked) == [f"F1:2 {news}"]


def test_neighbours_that_a_wording_has_pieces_of_are_its_evidence() -> None:
    lines = ["# Yard", "- Gate: shut at night", "- Key: with Vidar Holt", "- Crane: 4 tons"]
    text = "The gate is shut at night; Vidar Holt has the key."
    op, cited = with_near_lines(
        Operation(op="add", lines="F1:2", text=text), batch(lines), None, ("Ines",)
    )
    assert (op.lines, cited.own) == ("F1:2, F1:3", (lines[1], lines[2]))
    assert check(op, cited, {}, ("Ines",)) == []
    plain = Operation(op="add", lines="F1:2", text="The gate is shut at night.")
    assert with_near_lines(plain, batch(lines), None, ())[0] == plain


@pytest.mark.parametrize(
    ("line", "text", "is_accepted"),
    [
        ("Bürozeit: Di und Do ab 9", "Office hours: Tue and Thu from 9.", True),
        ("Vidar le escribe en alemán", "Vidar writes to her in German.", True),
        ("Vidar le escribe en alemán", "Vidar writes to her in French.", False),
    ],
)
def test_weekdays_and_languages_may_be_translated(line: str, text: str, is_accepted: bool) -> None:
    op = Operation(op="add", lines="F1:1", text=text)
    assert (check(op, Cited(own=(line,)), {}, ()) == []) is is_accepted


def test_a_word_of_secrecy_hides_no_other_value_of_a_row() -> None:
    line = "openpyxl is missing (no pip, sudo without password) - plain zipfile/xml"
    data = fence_rows("items", [{"lines": [line], "under": ["Offers analyser (23:40-23:53)"]}])
    assert "Offers analyser (23:40-23:53)" in data
    hidden = fence_rows("items", [{"lines": ["password: hunter-Oak-42x"], "under": ["Oak"]}])
    assert "hunter-Oak-42x" not in hidden


def test_the_second_question_shows_near_lines_with_days_or_missing_words() -> None:
    page = ["# Night", "", "Until: 2026-04-30", "- Watch: Vidar", "- The lamps burn all night"]
    asked = batch(page)
    for text, near in (("The lamps burn all night", 1), ("Vidar: the lamps burn all night", 2)):
        op = Operation(op="add", lines="F1:5", text=text)
        found = verify_question([Proposed(id="1", op=op, cited=cite("F1:5", asked))], ()).data
        assert ["Until: 2026-04-30" in found, "Watch" in found] == [True, near > 1]
    far = batch(["# Night", "", "- Watch: Vidar", "", *"abcd", "- The lamps burn all night"])
    cited = cite("F1:9", far)
    op = Operation(op="add", lines="F1:9", text="Vidar: the lamps burn all night")
    assert "Watch" in verify_question([Proposed(id="1", op=op, cited=cited)], ()).data


@pytest.mark.parametrize(
    ("line", "as_of", "is_accepted"),
    [
        ("In March 2026 Holt lit the kiln", "2026-03", True),
        ("2026-03: Holt lit the kiln", "2026-03-01", True),
        ("Holt zündete den Ofen im März 2026", "2026-03", True),
        ("Holt encendió el horno en marzo de 2026", "2026-03", True),
        ("2026年3月 Holt点燃了窑炉", "2026-03", True),
        ("Holt lit the kiln in April 2026", "2026-03", False),
        ("In March 2026 Holt lit the kiln", "2026-03-12", False),
    ],
)
def test_a_month_that_the_lines_name_is_the_day_of_a_statement(
    line: str, as_of: str, is_accepted: bool
) -> None:
    op = with_days(Operation(op="add", lines="F1:1", text=line, as_of=as_of, until="2028-02"))
    assert (op.as_of[:8], op.until) == ("2026-03-", "2028-02-29")
    assert (check(op, Cited(own=(line,), days=("2026-02-01",)), {}, ()) == []) == is_accepted


def test_headings_give_days_and_names_to_the_lines_below_them() -> None:
    page = Document(
        resource="sources/people.md",
        name="people.md",
        kind="page",
        lines=("# People", "## Said in the car, 4 June", "- Asta keeps the key", "- Rent: 31-7"),
        new=frozenset(range(1, 5)),
    )
    log = msgspec.structs.replace(
        page,
        resource="sources/memory/2026-06-08.md",
        name="memory/2026-06-08.md",
        kind="log",
        lines=("# Sea Otter", "- Asta back from Holt Island, a fine day"),
    )
    (asked,) = pack([page, log], 12_000)
    cases = {
        Operation(op="add", lines="F1:3", text="Asta keeps the key.", as_of="2026-06-04"): True,
        Operation(op="add", lines="F1:3", text="Asta keeps the key.", as_of="2026-06-10"): False,
        Operation(op="add", lines="F1:4", text="The rent is due on 31 July 2026."): True,
        Operation(op="add", lines="F1:3", text="Asta keeps the key.", subject="Sea Otter"): True,
        Operation(op="add", lines="F1:3", text="Asta keeps the key.", subject="Red Fox"): False,
    }
    for op, is_accepted in cases.items():
        assert (check(op, cite(op.lines, asked), {}, ()) == []) is is_accepted, op


def test_a_task_told_as_a_fact_is_left_to_the_second_question() -> None:
    rows = ("- [ ] The shed stays locked at night",)
    op = Operation(op="add", lines="F1:1", text="The shed stays locked at night.")
    cited = Cited(own=rows)
    assert check(op, cited, {}, ()) == []
    assert needs_second_question(op, cited)
    assert not needs_second_question(msgspec.structs.replace(op, type="commitment"), cited)


def test_a_memory_that_grows_keeps_what_it_stated() -> None:
    known = {"m1": memory("Brandt never works on Sundays in the yard.")}
    cited = Cited(own=("Brandt takes 90 euros an hour.",))
    whole = "Brandt never works on Sundays in the yard. Brandt takes 90 euros an hour."
    op = Operation(op="same", lines="F1:5", id="m1", text=whole)
    assert check(op, cited, known, ()) == []
    more = msgspec.structs.replace(op, text="Brandt works on Sundays in Bergen.")
    assert any("Bergen" in fault for fault in check(more, cited, known, ()))
    assert needs_second_question(more, cited, known["m1"])


def test_a_copy_of_a_known_or_earlier_text_is_refused() -> None:
    text = "Brandt charges 90 euros an hour, not for winter storage in the shed."
    op = Operation(op="add", lines="F1:5", text=text)
    cited = cite("F1:5", batch())
    assert "m4 states this already" in check(op, cited, {"m4": memory(text)}, ())[0]
    assert "an earlier operation" in check(op, cited, {}, (), (text,))[0]


def test_a_value_that_an_edit_removed_may_not_survive_in_another_memory() -> None:
    old = [line.replace("brandt.example", "old.example") for line in PAGE]
    new, removed = compare(old, PAGE)
    found = batch(new=new, removed=removed)
    assert "- - The yard of Brandt is in Horten, see https://old.example/yard" in found.text
    known = {"m1": memory("Yard: https://old.example/yard"), "m2": memory("Brandt is in Horten")}
    assert [*leftovers(found, known, ())] == [("m1", "https://old.example/yard", "F1:7")]
    assert [*leftovers(found, known, ("m1",))] == []


def test_a_wording_refused_twice_becomes_the_lines() -> None:
    op = Operation(op="replace", lines="F1:5", id="m1", text="Brandt charges 99.", type="decision")
    op = msgspec.structs.replace(op, subject="Brandt", as_of="2026-06-08")
    found = verbatim(op, cite(op.lines, batch()), ["text: a number", "as_of: a date"])
    assert (found.op, found.text, found.type) == ("add", PAGE[4][2:], "decision")
    assert (found.id, found.subject, found.as_of) == ("", "Brandt", "")
    assert (
        verbatim(msgspec.structs.replace(op, subject="Vidar"), cite(op.lines, batch()), []) is None
    )
    doors = " ".join(f"door {one} of {two}" for one in "abcdefg" for two in "hijklm")
    rows = ["The yard opens so:", "- first the gate", f"- then {doors}"]
    cases = {
        "F1:1-2": "The yard opens so: first the gate",
        "F1:1-3": "",  # too long
        "F1:2, F2:2": "",  # of two files
        "F2:2": "(2026-06-08) Vidar left yesterday, Ines leaves tomorrow.",
        "F2:3": "(2026-06-08) The gate stays shut until the 9th",
        "F2:4": "(2026-06-08) On Monday Ines mends the gate",
        "F2:7": "(2026-06-08) The gate is painted in 3 weeks",
        "F2:8": "(2026-06-08) The gate was painted on 2026-05-04",
    }
    log = ["# Log", "- Vidar left yesterday, Ines leaves tomorrow."]
    log += ["- The gate stays shut until the 9th", "- On Monday Ines mends the gate"]
    log += ["- Brandt trabaja por la mañana", "- 以后天天锁门 for the gate"]
    log += ["- The gate is painted in 3 weeks", "- The gate was painted on 2026-05-04"]
    page, day = (
        Document(
            resource=name,
            name=name,
            kind=kind_of_name(name),
            lines=tuple(lines),
            new=frozenset(range(1, 9)),
        )
        for name, lines in {"yard.md": rows, "memory/2026-06-08.md": log}.items()
    )
    (asked,) = pack([page, day], 12_000)
    for lines, text in cases.items():
        quoted = verbatim(msgspec.structs.replace(op, subject=""), cite(lines, asked), [])
        assert (quoted.text if quoted is not None else "") == text, lines


def test_a_text_may_be_a_little_longer_than_a_model_was_told() -> None:
    line = "The yard is tidy " + "and the shed " * 30
    for length in (MAX_TEXT + 20, MAX_TEXT + 40):
        op = Operation(op="add", lines="F1:1", text=line[:length])
        assert bool(check(op, Cited(own=(line,)), {}, ())) is (length > MAX_TEXT + 30)


@pytest.mark.parametrize(
    ("line", "text", "fault"),
    [
        ("The shed is in Horten", "The shed is in Horten, see src/Rates/v2.", "identifier"),
        ("Deploy 4.12.3 went well (15-11-2026)", "4.12.3 was deployed on 15 November 2026.", ""),
        ("Deploy 4.12.3 went well", "Deploy 4.12.4 went well.", "identifier"),
        ("Deploy on 15-11", "The deploy is on 15-11-2027.", "date"),
        ("Rick keeps cats and dogs", "Rick keeps two kinds of animals: cats and dogs.", ""),
        ("Holt has two children", "Holt has three children.", "number"),
        ("Holt runs 6 servers", "Holt runs six servers.", ""),
        ("Holt runs four servers", "Holt runs six servers.", "number"),
        ("The budget is set", "The budget of 2026 is set.", ""),
        ("The budget is set", "The budget is for 2028.", "number"),
        ("The budget is set for next year", "The budget is set for 2027.", ""),
        ("Das Budget gilt ab nächstem Jahr", "Das Budget gilt ab 2027.", ""),
        ("The budget is set for May", "The budget for May 2027 is set.", "date"),
        ("The budget counts from March on", "The budget of 2027 counts from March on.", ""),
        ("Uploads are at most 5 MB", "Uploads have a limit of at most 5 MB.", ""),
        ("A quiz with 5 questions", "It is a 5-question quiz.", ""),
        ("指数数据（MA10/20/60）", "复盘内容包含指数数据（MA10/20/60）。", ""),
        ("指数数据（MA10/20/60）", "复盘内容包含指数数据（MA10/20/90）。", "name"),
        ("- Berth: R$39,90/day", "The berth costs R$39,90 a day.", ""),
        ("- Berth: R$39,90/day", "The berth costs R$39 a day.", "number"),
        ("- Berth: R$39,90/day", "The berth costs R$39,80 a day.", "number"),
        ("A quiz with 5 questions", "It is a 6-question quiz.", "number"),
        ("Order: 016B52-CC5865-3BDA82", "The order is 016B52-CC5865-3BDA82.", ""),
        ("Order: 016B52-CC5865-3BDA82", "The order is 016B52-CC5865-3BDA83.", "identifier"),
        ("The crossing took 3h 52m", "The crossing took 3 hours 52 min.", ""),
        ("The crossing took 3h 52m", "The crossing took 3h 25m.", "number"),
        ("The crossing took 52m", "The crossing took 52 minutes.", ""),
        ("The crossing took 3h52m", "The crossing took 3 hours 52 min.", ""),
        ("The crossing took 3:52 h", "The crossing took 3 h 52 min.", ""),
        ("The crossing took 3h52m", "The crossing took 3 hours 25 min.", "number"),
        ("The regatta is on 25 Sept", "The regatta is on 25 September.", ""),
        ("The regatta is on 25 Sept", "The regatta is on 26 September.", "date"),
        ("Regatta am 3. Okt.", "Die Regatta ist am 3. Oktober.", ""),
        ("Regatta am 3. Okt.", "Die Regatta ist am 13. Oktober.", "date"),
        ("La regata es el 3 dic", "La regata es el 3 de diciembre.", ""),
        ("Ends: 31. Dez 2026, says the lease", "The lease ends on 31 December 2026.", ""),
        ("Ab Oktober 85 Euro Miete", "Ab Oktober 2026 kostet die Miete 85 Euro.", ""),
        ("3 out of 14 oars broke", "Of 14 oars, 3 broke.", ""),
        ("Thuyền trưởng: Holt", "Thuyền trưởng của tàu tên là Holt.", ""),  # "ten" is no number
        ("Mai họp với Holt lúc 09:00", "Họp với Holt lúc 09:00 ngày 2026-06-11.", ""),
        ("Mai họp với Holt lúc 09:00", "Họp với Holt lúc 09:00 ngày 2026-08-11.", "date"),
        ("The meeting with Holt is at 09:00", "Holt meets us on 2026-08-11 at 09:00.", "date"),
    ],
)
def test_figures_and_identifiers_are_compared_whole(line: str, text: str, fault: str) -> None:
    op = Operation(op="add", lines="F1:1", text=text)
    found = check(op, Cited(own=(line,), days=("2026-06-10",)), {}, ())
    assert fault in found[0] if fault else not found, found


@pytest.mark.parametrize(
    ("line", "is_accepted"),
    [
        ("The yard closes in winter. Brandt then takes:", True),
        ("- Solveig rows every week! Her boats:", True),
        ("院子冬天不开门。船只如下：", True),
        ("    (a) the lock was ours: no timeout, and a mail in a transaction", True),
        ("Before each launch Brandt asks Solveig:", True),
        ("Brandt takes:", False),
        ("2. Boats of Brandt:", False),
        ("## The yard closes in winter. Boats:", False),
    ],
)
def test_a_line_that_is_no_heading_and_no_lead_in_states_something(
    line: str, is_accepted: bool
) -> None:
    found = cite("F1:1", batch([line, "- the skiff"], stating=frozenset({2})))
    assert not found.fault if is_accepted else "states nothing" in found.fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Sarah's calendar is e6ca4d5e-6e26-4e6c-a185-6e2698a24ca5.", []),
        ("Sarah's calendar is e6ca4d5e-6e26-4e6c-a185-6e2698a24ca6.", ["identifier"]),
    ],
)
def test_a_uuid_is_one_identifier_and_no_number(text: str, fault: list[str]) -> None:
    line = "calendar of Sarah: e6ca4d5e-6e26-4e6c-a185-6e2698a24ca5"
    found = faults(("", line, text, ()))
    assert [any(word in one for one in found) for word in fault] == [True] * len(found)


def test_a_lead_in_that_is_cited_beside_its_list_is_grounds() -> None:
    lines = ["Ines keeps three boats, all on the Lagan:", "- the skiff", "- the punt"]
    found = cite("F1:1, F1:2-3", batch(lines, stating=frozenset({2, 3})))
    assert not found.fault
    assert found.own == ("- the skiff", "- the punt")
    assert lines[0] in found.above
    assert [(place.first, place.last) for place in found.places] == [(2, 3)]
