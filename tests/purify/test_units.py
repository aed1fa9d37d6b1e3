from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.ids import text_hash
from memrepo.purify.leads import bold_lead
from memrepo.read.thoughts import MAX_TEXT, Unit, scan


def units(text: str, resource: str = "MEMORY.md") -> tuple[Unit, ...]:
    return scan(resource, text.encode()).units


def test_a_unit_knows_its_place() -> None:
    text = (
        "# People\n\n## Bob 2026-02-07\n\n"
        "- **Job:** baker in Rome\n  since spring\n  - [ ] ask him about nights\n- [x] call him\n"
    )
    first, nested, task = units(text)
    assert first.lines == (5, 6)
    assert first.text == "**Job:** baker in Rome\nsince spring"
    assert (first.key, first.value) == ("Job", "baker in Rome\nsince spring")
    assert first.headings == ("People", "Bob 2026-02-07")
    assert (first.captured, first.captured_from) == ("2026-02-07", "heading")
    assert first.text_hash == text_hash(first.text)
    assert nested.parents == (first.text,)
    assert nested.headings == first.headings
    assert (task.text, task.task, task.kind) == ("call him", "done", "bullet")


def test_a_sibling_heading_closes_the_one_before() -> None:
    found = units("# T\n## A\n### A1\none text\n## B\ntwo text\n# U\nthree\n")
    assert [u.headings for u in found] == [("T", "A", "A1"), ("T", "B"), ("U",)]


@pytest.mark.parametrize(
    ("opening", "first", "talk"),
    [
        ("# Session: 2026-02-07 10:00", "user: how do we", "Conversation Summary"),
        ("# Session 2026-02-07", "assistant: it can be done so", "Chat"),
    ],
)
def test_a_heading_in_a_turn_stands_under_the_talk(opening: str, first: str, talk: str) -> None:
    turn = f"{opening}\n\n## {talk}\n\n{first} grease the mill?\n\n"
    said = units(f"{turn}## What I would do\n\n- Take the goose fat of the barn\n")[-1]
    assert said.headings == (opening[2:], talk, "What I would do")
    after = units(f"{turn}## Advice\n\n{opening}\n\n- The barn is empty again\n")[-1]
    assert after.headings == (opening[2:],)


@pytest.mark.parametrize(
    "opening",
    ["# Session: 2026-02-07\n\n## Conversation Summary\n\nWe agreed.", "# Mill\n\nuser: Ana"],
)
def test_a_heading_below_no_turn_closes_the_one_before(opening: str) -> None:
    said = units(f"{opening}\n\n## Advice\n\n- Take the goose fat of the barn\n")[-1]
    assert said.headings == (opening.splitlines()[0][2:], "Advice")


def test_identity_is_words_and_file_not_place() -> None:
    one = units("# A\n\n- 2026-02-07: Bob moved to Rome\n")[0]
    two = units("new line\n\n# B\n\n* [ ] bob  moved to ROME\n")[-1]
    other = units("- Bob moved to Rome\n", "memory/bob.md")[0]
    assert one.hash == two.hash != other.hash
    assert re.fullmatch(r"un-[0-9a-f]{16}", one.hash)
    assert one.text_hash == two.text_hash == other.text_hash


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Key:** value", ("Key", "value")),
        ("**Key**: value", ("Key", "value")),
        ("__Key:__ value", ("Key", "value")),
        ("**键:** 值", ("键", "值")),
        ("[2026-02-07] **Key:** a\nb", ("Key", "a\nb")),
        ("**Key:**", ("Key", "")),
        ("**Ann** (12): hello", ("", "")),
        ("**bold** start", ("", "")),
        ("Key: value", ("", "")),
    ],
)
def test_a_bold_lead_is_key_and_value(text: str, expected: tuple[str, str]) -> None:
    assert bold_lead(text) == expected


def test_an_item_that_only_introduces_is_context_and_no_unit() -> None:
    found = units("- Reasons for moving:\n  - cheaper rent\n- Alone it stays:\n")
    assert [(u.text, u.parents) for u in found] == [
        ("cheaper rent", ("Reasons for moving:",)),
        ("Alone it stays:", ()),
    ]


def test_a_line_that_introduces_a_list_is_its_context() -> None:
    found = units("**Key people:**\n\n- Bob the baker\n\nOther text here\n- Ann the smith\n")
    assert [(u.text, u.parents) for u in found] == [
        ("Bob the baker", ("**Key people:**",)),
        ("Other text here", ()),
        ("Ann the smith", ()),
    ]


def test_a_paragraph_of_bold_leads_is_one_unit_a_lead() -> None:
    found = units("**Name:** Bob  \n**Town:** Rome,\nItaly\n")
    assert [(u.lines, u.key, u.value) for u in found] == [
        ((1, 1), "Name", "Bob"),
        ((2, 3), "Town", "Rome,\nItaly"),
    ]


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ("- tea\n", 0, 1),
        ("# Likes\n- tea\n", 1, 0),
        ("- **a:** b\n", 1, 0),
        ("- likes green tea\n", 1, 0),
        ("# X\n- 🎉\n- ??\n", 0, 2),
        ("喜欢绿茶和咖啡以及红茶\n", 1, 0),
        ("", 0, 0),
        (" \n\n\t\n", 0, 0),
    ],
)
def test_texts_without_meaning_are_counted(text: str, kept: int, dropped: int) -> None:
    found = scan("a.md", text.encode())
    assert (len(found.units), found.dropped) == (kept, dropped)


def test_lines_of_other_programs_are_counted_not_taken() -> None:
    text = (
        "- my own words\n"
        "<!-- x:start -->\n- theirs\n<!-- x:end -->\n"
        "<!-- openclaw-memory-promotion:memory:memory/2026-02-07.md:3:4 -->\n"
        "- promoted words [score=0.81 recalls=3 avg=0.70 source=memory/2026-02-07.md:3-4]\n"
        "- two lines\n  of one [score=0.81 recalls=3 avg=0.70 source=memory/2026-02-07.md:5-6]\n"
        "- Ann likes tea ↑2026-04-22(sync)←memories/user/x.md\n"
    )
    found = scan("MEMORY.md", text.encode())
    assert [u.text for u in found.units] == ["my own words", "promoted words", "two lines\nof one"]
    assert found.managed == 4


def test_machine_logs_stay_for_the_judge() -> None:
    assert [u.text for u in units("# Log\n- HEARTBEAT_OK\n- NO_REPLY\n")] == [
        "HEARTBEAT_OK",
        "NO_REPLY",
    ]


def test_procedures_are_one_unit_a_section() -> None:
    text = (
        "# How\n\nintro text here\n\n## Deploy\n\n### First\n\n- build it\n\n"
        "```\n## no heading\n```\n\n## Empty\n\n## Back up\n\ncopy all files\n"
        "\n# Other\n\nloose text here\n"
    )
    found = scan("PROCEDURES.md", text.encode())
    assert [(u.kind, u.lines, u.headings) for u in found.units] == [
        ("paragraph", (3, 3), ("How",)),
        ("section", (5, 13), ("How",)),
        ("section", (17, 19), ("How",)),
        ("paragraph", (23, 23), ("Other",)),
    ]
    assert found.units[1].text.startswith("## Deploy\n\n### First\n\n- build it\n\n```\n## no")
    assert found.dropped == 1


def test_procedures_without_sections_are_read_as_usual() -> None:
    found = units("# How\n\n- build it first\n", "sources/PROCEDURES.md")
    assert [u.kind for u in found] == ["bullet"]


def test_an_episode_is_one_unit() -> None:
    text = (
        "---\ntype: episode\n---\n<!-- made by x -->\n# Trip 2026-02-07\n\n"
        "We left on 2025-01-01.\n\n- It rained\n\n> a quote\n"
    )
    (unit,) = units(text, "episodes/trip.md")
    assert unit.kind == "document"
    assert unit.lines == (1, 11)
    assert unit.text == "We left on 2025-01-01.\n\n- It rained\n\n> a quote"
    assert unit.headings == ("Trip 2026-02-07",)
    assert (unit.captured, unit.captured_from) == ("2026-02-07", "heading")


@pytest.mark.parametrize("text", ["", "# Only a title\n", "---\na: b\n---\n"])
def test_an_episode_without_words_is_no_unit(text: str) -> None:
    assert units(text, "episodes/trip.md") == ()


def test_a_long_text_is_cut_and_told() -> None:
    found = scan("a.md", b"# T\n\n" + b"word " * 9000)
    assert len(found.units[0].text) == MAX_TEXT
    assert [(p.rule, p.line, p.severity) for p in found.problems] == [("unit-cut", 3, "warning")]


def test_a_file_that_cannot_be_read_has_no_units_and_an_error() -> None:
    found = scan("a.md", b"- text \xff here\n")
    assert found.units == ()
    assert [p.rule for p in found.problems] == ["source-not-utf8"]


# --- laws over generated documents ---------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """Lines, each with whether a unit must cover it."""

    lines: tuple[tuple[str, bool], ...]


WORDS = st.lists(st.sampled_from(["Bob", "likes", "green", "tea", "Rome"]), min_size=2)


@st.composite
def piece(draw: st.DrawFn) -> Piece:
    words = st.builds(" ".join, WORDS)
    kind = draw(st.sampled_from(sorted(SHAPES)))
    lines: list[tuple[str, bool]] = []
    for shape, covered in SHAPES[kind]:
        lines.append((shape.replace("@", draw(words)), covered))
    return Piece(tuple(lines))


SHAPES: dict[str, list[tuple[str, bool]]] = {
    "paragraph": [("@", True), ("@", True)],
    "bold": [("**Key:** @", True), ("**Other:** @", True)],
    "list": [("- @", True), ("  @", True), ("  - @", True), ("    1. @", True), ("- @", True)],
    "loose": [("* @", True), ("", False), ("  @", True), ("", False), ("* @", True)],
    "late": [("-", False), ("  @", True), ("- [ ] @", True)],
    "numbers": [("1. @", True), ("2. @", True), ("   - @", True)],
    "tabs": [("- @", True), ("\t- @", True), ("\t\t- @", True)],
    "table": [("| a | b |", False), ("|---|---|", False), ("| @ | @ |", True)],
    "heading": [("## @", False)],
    "rule": [("***", False)],
    "fence": [("```", False), ("- HIDDEN @", False), ("# HIDDEN", False), ("```", False)],
    "quote": [("> HIDDEN @", False), ("> - HIDDEN", False)],
    "comment": [("<!-- HIDDEN", False), ("- HIDDEN @ -->", False)],
    "managed": [("<!-- x:start -->", False), ("- HIDDEN @", False), ("<!-- x:end -->", False)],
    "link": [("[x]: @", True)],
}


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, list[bool], list[str]]:
    """Return bytes with mixed line ends, whether each line must be covered, and the lines."""
    lines: list[tuple[str, bool]] = []
    for one in draw(st.lists(piece(), max_size=8)):
        lines += one.lines
        if draw(st.booleans()):
            lines.append(("", False))
    numbered: list[str] = []
    for number, (line, _) in enumerate(lines, start=1):
        words = iter(range(9))
        numbered.append(
            re.sub(
                r"Bob|likes|green|tea|Rome",
                lambda m, n=number, w=words: f"{m[0]}q{n}q{next(w, 9)}",
                line,
            )
        )
    ends = draw(st.lists(st.sampled_from(["\n", "\r\n"]), min_size=len(lines), max_size=len(lines)))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    text = bom + "".join(map("".join, zip(numbered, ends, strict=True)))
    return text.encode(), [covered for _, covered in lines], numbered


@given(documents())
def test_no_line_of_the_author_is_lost(document: tuple[bytes, list[bool], list[str]]) -> None:
    data, covered, _ = document
    found = scan("memory/x.md", data)
    spans = {n for u in found.units for n in range(u.lines[0], u.lines[1] + 1)}
    assert {n for n, must in enumerate(covered, start=1) if must} <= spans
    assert found.dropped == 0
    assert found.lines == len(covered)


@given(documents())
def test_what_is_not_the_authors_is_never_a_unit(
    document: tuple[bytes, list[bool], list[str]],
) -> None:
    found = scan("memory/x.md", document[0])
    assert not any("HIDDEN" in u.text for u in found.units)


@given(documents())
def test_a_unit_stands_on_the_lines_its_words_stand_on(
    document: tuple[bytes, list[bool], list[str]],
) -> None:
    for unit in scan("memory/x.md", document[0]).units:
        numbers = [int(n) for n in re.findall(r"q(\d+)q", unit.text)]
        if numbers:
            bare = document[2][unit.lines[0] - 1] == "-"
            assert numbers[0] == unit.lines[0] + bare
            assert numbers[-1] == unit.lines[1]


MARKS = st.text(alphabet="ab1 \t\r\n-*+>#`~|:<!=.)[]_x•・①\ufeff\u200b年", max_size=150)
NAMES = st.sampled_from(["MEMORY.md", "PROCEDURES.md", "episodes/a.md", "memory/2026-02-07.md"])


@given(NAMES, MARKS)
def test_any_text_can_be_scanned(resource: str, text: str) -> None:
    found = scan(resource, text.encode())
    for unit in found.units:
        assert 1 <= unit.lines[0] <= unit.lines[1] <= found.lines
        assert unit.text.strip() == unit.text


@given(NAMES, st.binary(max_size=200))
def test_any_bytes_can_be_scanned(resource: str, data: bytes) -> None:
    found = scan(resource, data)
    assert found.units == () or not any(p.severity == "error" for p in found.problems)


def test_what_stands_below_an_item_goes_on_with_it() -> None:
    only = units(
        "# T\n\n- Deploys go through the old gate\n  - on Fridays never\n  - `gate open`\n"
    )
    assert [(u.kind, u.lines, u.detail) for u in only] == [
        ("bullet", (3, 5), "- on Fridays never\n- `gate open`")
    ]
    assert only[0].text == "Deploys go through the old gate\n- on Fridays never\n- `gate open`"


def test_a_key_keeps_its_value_apart_from_what_stands_below() -> None:
    (only,) = units("# T\n\n- **Gate:** opens at nine in May\n  - closed on Fridays\n")
    assert (only.key, only.value, only.detail) == (
        "Gate",
        "opens at nine in May",
        "- closed on Fridays",
    )


def test_boxes_below_an_item_stay_apart() -> None:
    found = units("# T\n\n- Deploys go through the old gate\n  - [ ] oil the hinges of it\n")
    assert [u.text for u in found] == ["Deploys go through the old gate", "oil the hinges of it"]


def test_a_table_is_one_unit_headed_by_its_first_column() -> None:
    text = "# Ports\n\n| Host | Port | Why |\n|---|---|---|\n| ada | 80 | web |\n| bob | 22 | |\n"
    assert [u.kind for u in units(text, "MEMORY.md")] == ["row", "row"]
    (only,) = units(text, "memory/ports.md")
    assert (only.kind, only.lines) == ("table", (5, 6))
    assert only.text == only.detail == "- ada – Port: 80; Why: web\n- bob – Port: 22"


def test_rows_that_are_statements_stay_apart() -> None:
    long = "because the old one leaks and nobody has found where " * 6
    text = f"# T\n\n| What | Why |\n|---|---|\n| one | {long} |\n| two | {long} |\n"
    assert [u.kind for u in units(text, "memory/t.md")] == ["row", "row"]


def test_a_long_table_is_as_few_units_as_hold_it() -> None:
    rows = "".join(f"| host{n} | {'x' * 90} |\n" for n in range(30))
    found = units(f"# Hosts\n\n| Host | Key |\n|---|---|\n{rows}")
    assert 2 <= len(found) <= 5
    assert sum(u.text.count("host") for u in found) == 30


def test_a_list_of_parts_is_one_unit_and_one_of_statements_several() -> None:
    parts = "- reads the tags of the file\n- writes a table of who owns what in the building\n"
    said = (
        "- Ada moved to the harbour office in May.\n- Bob keeps the spare key of the boat house.\n"
    )
    assert [u.kind for u in units(f"# T\n\n## Box\n\n{parts}", "memory/box.md")] == ["list"]
    assert [u.kind for u in units(f"# T\n\n## Box\n\n{said}", "memory/box.md")] == ["bullet"] * 2


def test_the_sections_of_a_profile_stay_line_by_line() -> None:
    parts = "- reads the tags of the file\n- writes a table of who owns what in the building\n"
    assert len(units(f"# T\n\n## Box\n\n{parts}", "MEMORY.md")) == 2
    assert len(units(f"# T\n\n## Box\n\n### Ada\n\n{parts}", "MEMORY.md")) == 1


def test_a_paragraph_owns_the_list_that_ends_its_sentence() -> None:
    start = (
        "To count as an answer a reply holds one of the things below" + ", whoever asks" * 5 + ":"
    )
    (only,) = units(f"# T\n\n{start}\n\n- a name and a day\n- a file with its path\n")
    assert (only.kind, only.lines) == ("paragraph", (3, 6))
    assert only.detail == "- a name and a day\n- a file with its path"


def test_open_boxes_are_steps_only_where_a_heading_says_so() -> None:
    boxes = "- [ ] read the diary of yesterday\n- [ ] count the boats in the harbour\n"
    assert [u.kind for u in units(f"# Morning checklist\n\n{boxes}")] == ["steps"]
    assert [u.kind for u in units(f"# Harbour\n\n{boxes}")] == ["bullet", "bullet"]


def test_neighbours_that_differ_in_a_word_are_one_unit_and_sentences_are_not() -> None:
    keys = "- `BOAT_ONE` is the key of boat one\n- `BOAT_TWO` is the key of boat two\n"
    far = f"- {'the harbour office keeps a list of all who have ever rented a boat ' * 3}\n"
    found = units(f"# T\n\n## Keys\n\n{keys}{far}", "memory/keys.md")
    assert [u.lines for u in found] == [(5, 6), (7, 7)]
    moved = "- Ada lives in the old town of Oslo.\n- Ada lives in the old town of Bergen.\n"
    assert len(units(f"# T\n\n## Ada\n\n{moved}", "memory/ada.md")) == 2
    assert len(units(f"# T\n\n## Keys\n\n{keys}{far}", "MEMORY.md")) == 3


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "- The gate is painted red\n- This was agreed with Vera\n- Oats are cheap\n",
            [(5, 6), (7, 7)],
        ),
        (
            "- The gate is painted red every year.\n- This week it rains on the oats.\n",
            [(5, 5), (6, 6)],
        ),
        (
            "The gate is painted red.\n\nThis was agreed with Vera.\n\nOats are cheap.\n",
            [(5, 7), (9, 9)],
        ),
        ("- Oats\n- Hay\n\nThis is enough for a winter of the two horses.\n", [(5, 8)]),
        ("O portão é vermelho.\n\nIsso foi combinado com Vera.\n", [(5, 7)]),
        ("门是红色的，夏天刷的。\n\n这是和小满商量好的。\n", [(5, 7)]),
    ],
)
def test_what_refers_to_the_line_before_goes_with_it(
    text: str, lines: list[tuple[int, int]]
) -> None:
    assert [u.lines for u in units(f"# T\n\n## Yard\n\n{text}")] == lines


KEYED = "- Pier one: rebuilt of oak in spring.\n- Pier two: rebuilt of oak in spring.\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(KEYED, [(3, 4), (5, 5)], id="sentences-of-two-keys"),
        pytest.param(KEYED.replace("two", "one"), [(3, 3), (4, 4), (5, 5)], id="one-key-twice"),
        pytest.param(KEYED.replace(".", ""), [(3, 4), (5, 5)], id="no-sentences"),
    ],
)
def test_sentences_that_differ_in_their_key_are_one_unit_right_under_a_title(
    text: str, lines: list[tuple[int, int]]
) -> None:
    found = units(f"# Harbour\n\n{text}{LONG}", "memory/harbour.md")
    assert [u.lines for u in found] == lines


UNDER = "# T\n\n## Ferry office\n\n### What the winter timetable brings for the harbour\n\n"
LONG = f"- {'the office asks all who rent a boat for their papers before they sail out ' * 3}\n"


@pytest.mark.parametrize(
    ("resource", "items", "expected"),
    [
        pytest.param("memory/ferry.md", "- fewer boats\n- fewer days\n", 2, id="less-than-above"),
        pytest.param("memory/ferry.md", "- fewer boats.\n- fewer days.\n", 3, id="sentences"),
        pytest.param("memory/ferry.md", "- [ ] fewer boats\n- fewer days\n", 3, id="a-task"),
        pytest.param("MEMORY.md", "- fewer boats\n- fewer days\n", 3, id="a-profile"),
        pytest.param(
            "memory/ferry.md",
            "- fewer boats\n- on sundays the ice breaker goes ahead of each large vessel\n",
            3,
            id="one-says-more-than-what-is-above",
        ),
    ],
)
def test_neighbours_that_say_less_than_what_they_stand_under_are_one_unit(
    resource: str, items: str, expected: int
) -> None:
    assert len(units(f"{UNDER}{items}{LONG}", resource)) == expected


CARD = """\
# Suppliers

## Northern Seeds

- **Contact:** through the form on their site, answers within two working days
- **Terms:** thirty days, and two percent less when paid within the first ten
- **Why them:** the only ones near us who sell untreated seed in small bags
"""


def test_a_card_of_several_keys_is_one_unit_and_repeated_keys_are_several() -> None:
    [unit] = scan("memory/suppliers.md", CARD.encode()).units
    assert (unit.kind, unit.headings, unit.lines) == (
        "list",
        ("Suppliers", "Northern Seeds"),
        (5, 7),
    )
    bare = CARD.replace("**", "")
    assert [u.kind for u in scan("memory/suppliers.md", bare.encode()).units] == ["list"]
    links = bare.replace("Contact: through", "https://seeds.example/contact through")
    assert len(scan("memory/suppliers.md", links.encode()).units) == 3
    tips = CARD.replace("Contact", "Tip").replace("Terms", "Tip").replace("Why them", "Tip")
    assert [u.kind for u in scan("memory/suppliers.md", tips.encode()).units] == ["bullet"] * 3
    assert len(scan("MEMORY.md", CARD.encode()).units) == 3


ESSAY = """# Bees on the roof

A plan for the yard, written in spring.

## Why

Hives need sun in the morning.

- wind from the west
- water nearby

### Who says so

The beekeepers of the valley.

## What it costs

### Hives

Two hives at first.

- wood: 80
- frames: 40

### Tools

Run this once:

```sh
order --list
```

## How it goes on

{long}

**Later:**

- a third hive
- a shed
"""


def test_a_section_of_an_essay_is_one_unit() -> None:
    text = ESSAY.format(long="\n\n".join(["A year of work. " * 50] * 3)) + "\n### End\n\nDone.\n"
    found = scan("memory/bees.md", text.encode()).units
    assert [(u.kind, u.headings[-1], u.lines) for u in found] == [
        ("paragraph", "Bees on the roof", (3, 3)),
        ("section", "Why", (7, 14)),
        ("section", "What it costs", (18, 23)),
        ("paragraph", "How it goes on", (35, 35)),
        ("paragraph", "How it goes on", (37, 37)),
        ("section", "How it goes on", (39, 44)),
        ("paragraph", "End", (48, 48)),
    ]
    assert found[1].text == (
        "Hives need sun in the morning.\n- wind from the west\n- water nearby\n"
        "**Who says so**\nThe beekeepers of the valley."
    )
    assert found[1].detail == found[1].text.partition("\n")[2]


def test_an_essay_below_one_heading_is_read_by_its_sections() -> None:
    inner = (
        ESSAY.format(long="A year of work. " * 60).replace("\n#", "\n##") + "\n#### End\n\nDone.\n"
    )
    wrapped = inner.replace("\n### Why", "\n## All of it\n\n### Why")
    found = [u for u in scan("memory/bees.md", wrapped.encode()).units if u.kind == "section"]
    assert [u.headings[-1] for u in found] == ["Why", "What it costs", "How it goes on"]
    assert {u.headings[:2] for u in found} == {("Bees on the roof", "All of it")}


@pytest.mark.parametrize("resource", ["MEMORY.md", "memory/2026-05-02.md", "memory/short.md"])
def test_what_is_no_essay_is_read_line_by_line(resource: str) -> None:
    text = ESSAY.format(long="A year.")
    text = text if resource != "memory/short.md" else text.replace("### Tools", "Tools")
    assert "section" not in {u.kind for u in scan(resource, text.encode()).units}


CODE = "- `pier-one.example`\n- `pier-two.example`\n"
FILES = "| File | Read by |\n|---|---|\n| LOG.md | `ada` |\n| DAY.md | `ada` |\n"
PEOPLE = "| Who | Lives in |\n|---|---|\n| Ada | the old town |\n| Ben | the old town |\n"
STEPS = "- **Recovery procedure**:\n  1. Stop `pumpd` on both\n  2. Start `pumpd` on one\n"


@pytest.mark.parametrize(
    ("items", "lines"),
    [
        pytest.param(CODE, [(5, 6)], id="nothing-but-code"),
        pytest.param(CODE.replace("`\n", "` is old\n"), [(5, 5), (6, 6)], id="more-than-code"),
        pytest.param(FILES, [(7, 8)], id="a-table-of-files"),
        pytest.param(PEOPLE, [(7, 7), (8, 8)], id="a-table-of-people"),
        pytest.param(STEPS, [(6, 7)], id="steps-below-an-item"),
    ],
)
def test_lines_of_a_profile_join_only_where_none_is_a_statement(
    items: str, lines: list[tuple[int, int]]
) -> None:
    found = units(f"# T\n\n## What the harbour of the old town reads\n\n{items}", "MEMORY.md")
    assert [u.lines for u in found] == lines


@pytest.mark.parametrize(
    ("items", "count"),
    [
        pytest.param(
            "- `PIER_S03` - berth of the third boat\n- `PIER_S04` - berth of the fourth boat\n",
            1,
            id="a-number",
        ),
        pytest.param("- ✅ `| boat | rope |`\n- ❌ `|boat|rope|`\n", 1, id="only-a-mark"),
        pytest.param("- `one`: oak rebuilt it.\n- `two`: oak rebuilt it.\n", 1, id="keys-of-code"),
        pytest.param("- moored at pier 3.\n- moored at pier 4.\n", 2, id="sentences"),
    ],
)
def test_neighbours_that_differ_in_a_number_or_a_mark_are_one_unit(items: str, count: int) -> None:
    assert len(units(f"# T\n\n## Piers\n\n{items}{LONG}", "memory/piers.md")) == count + 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("# Bees\n\nThe hive is full.\n\n---\n\n*Good night, Vera.*\n", ["The hive is full."]),
        ("# Bees\n\nThe hive is full.\n\n_Written at dusk._\n", ["The hive is full."]),
        ("# Bees\n\nThe hive is full.\n\n---\n\n_So far so good._\n\n---\n", ["The hive is full."]),
        ("# Bees\n\n*The hive is full.*\n", ["*The hive is full.*"]),
        ("*The hive is full.*\n", ["*The hive is full.*"]),
        ("# Bees\n\n---\n\n*The hive* is full, *they* say.\n", ["*The hive* is full, *they* say."]),
        (
            "# Bees\n\nVera keeps them.\n\n*The hive is full.*\n\n# Wax\n",
            ["Vera keeps them.", "*The hive is full.*"],
        ),
    ],
)
def test_words_in_italics_that_close_a_file_are_no_unit(text: str, kept: list[str]) -> None:
    assert [unit.text for unit in scan("memory/bees.md", text.encode()).units] == kept


DONE = (
    "- Built the barn beside the old mill\n- Rewrote the ledger of the grain. It has prices now.\n"
)


@pytest.mark.parametrize(
    ("heading", "resource", "count"),
    [
        ("Completed", "memory/progress.md", 1),
        ("✅ Done (2026)", "memory/progress.md", 1),
        ("Recent progress\n\n### 2026-02-07", "memory/progress.md", 1),
        ("Concluídos", "memory/progress.md", 1),
        ("Hecho", "memory/progress.md", 1),
        ("Erledigt", "memory/progress.md", 1),
        ("Terminé", "memory/progress.md", 1),
        ("Сделано", "memory/progress.md", 1),
        ("已完成", "memory/progress.md", 1),
        ("完了したこと", "memory/progress.md", 1),
        ("Completed", "MEMORY.md", 2),
        ("Completed", "memory/2026-02-07.md", 2),
        ("What we learned of timelines", "memory/progress.md", 2),
    ],
)
def test_a_list_of_what_is_done_is_one_unit(heading: str, resource: str, count: int) -> None:
    found = units(f"# Mill\n\n## {heading}\n\n{DONE}", resource)
    assert len(found) == count
    many = "".join(f"- Oiled wheel {n} of the mill. {'It was dry. ' * 8}\n" for n in range(20))
    if count == 1:
        rows = units(f"# Mill\n\n## {heading}\n\n{many}", resource)
        assert max(len(u.text) for u in rows) <= 1000
        assert "".join(u.text for u in rows).count("Oiled") == 20


@pytest.mark.parametrize(
    ("resource", "lines"),
    [
        ("memory/timeline.md", [(3, 4), (5, 5)]),
        ("MEMORY.md", [(3, 3), (4, 4), (5, 5)]),
        ("memory/2026-02-08.md", [(3, 3), (4, 4), (5, 5)]),
    ],
)
def test_the_entries_of_one_day_of_a_timeline_are_one_unit(
    resource: str, lines: list[tuple[int, int]]
) -> None:
    text = (
        "# Timeline of the mill\n\n"
        f"**2026-02-07** — The wheel turns again, {'and again, ' * 12}on oak.\n"
        "**2026-02-07** — The belt is greased with goose fat of the barn.\n"
        "**2026-02-08** — The old stone is sold to the miller of Lund.\n"
    )
    assert [u.lines for u in units(text, resource)] == lines


@pytest.mark.parametrize(
    ("intro", "count"),
    [
        ("The belt slips when it rains. Two causes:", 1),
        ("Der Riemen rutscht bei Regen. Zwei Ursachen:", 1),
        ("雨の日はベルトが滑りやすくなる。原因:", 1),
        ("Two causes of the slipping belt:", 2),
    ],
)
def test_a_sentence_and_the_list_that_it_goes_on_with_are_one_unit(intro: str, count: int) -> None:
    text = (
        f"# Mill\n\n## Belt\n\n{intro}\n\n- The cover of the shed has had a hole since the storm"
        " of the last winter, so water drips on it\n- Nobody greases it before the rain comes.\n"
    )
    assert len(units(text, "memory/2026-02-07.md")) == count
    assert len(units(text)) == 2


def test_the_last_sentence_before_a_list_owns_it_and_the_rest_stands_alone() -> None:
    failed = (
        "**Important**: the pump failed twice, in March and in April, and the cellar was flooded."
    )
    wait = "wait for the hiss, look at the gauge and write down what it shows, " * 4
    steps = "".join(f"{n}. Close valve {n}, {wait}then go on\n" for n in range(1, 4))
    paragraph, list_ = units(
        f"# Steps in the cellar\n\n{failed} Before every start of the season:\n{steps}"
    )
    assert (paragraph.text, paragraph.lines) == (failed, (3, 3))
    assert list_.parents == ("Before every start of the season:",)
    (short,) = units(f"# Steps in the cellar\n\nIt is old. Before every start:\n{steps}")
    assert short.parents == ("It is old. Before every start:",)


def test_what_was_struck_out_is_no_unit() -> None:
    text = "# Doors\n\n- ~~The cellar opens with 4711~~\n- The yard opens with ~~1111~~ 2222\n"
    (left,) = units(text)
    assert (left.text, left.lines) == ("The yard opens with 2222", (4, 4))
    assert left.text_hash == text_hash(left.text)


@pytest.mark.parametrize(
    ("paragraph", "texts"),
    [
        (
            "Likes tea at noon. No sugar.\nSings on Mondays!\n_(what else?)_",
            ["Likes tea at noon. No sugar.", "Sings on Mondays!", "_(what else?)_"],
        ),
        ("Mag Tee.\nÜbt montags.", ["Mag Tee.", "Übt montags."]),
        # What is wrapped goes on in the next line.
        (
            "Likes tea at noon, and\nSings on Mondays.",
            ["Likes tea at noon, and\nSings on Mondays."],
        ),
        ("Likes tea at noon.\nand coffee at six.", ["Likes tea at noon.\nand coffee at six."]),
    ],
)
def test_a_profile_says_a_sentence_a_line(paragraph: str, texts: list[str]) -> None:
    found = units(f"# Ruth\n\n## Habits\n\n{paragraph}\n", "USER.md")
    assert [u.text for u in found] == texts
    assert found[-1].lines == (4 + len(texts[:-1]) + 1, 5 + paragraph.count("\n"))
