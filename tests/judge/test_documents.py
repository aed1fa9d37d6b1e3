"""What of the sources a question shows, and in which order."""

from __future__ import annotations

import msgspec
import pytest

from memrepo.core.memory import Memory
from memrepo.judge.documents import (
    Batch,
    Document,
    blocks_of,
    compare,
    kind_of_name,
    pack,
    related,
    tokens_of,
)


def document(name: str, text: str, old: str | None = None) -> Document:
    """Return a file, new or edited."""
    lines = tuple(text.splitlines())
    new, removed = compare([] if old is None else old.splitlines(), lines)
    kind = kind_of_name(name)
    return Document(
        resource=f"sources/{name}",
        name=name,
        kind=kind,
        lines=lines,
        new=frozenset(new),
        removed=removed,
        since="2026-03-01",
    )


def packed(*documents: Document, limit: int = 12000) -> tuple[Batch, ...]:
    return pack(documents, limit)


def test_profiles_come_first_then_pages_then_logs_from_oldest_to_newest() -> None:
    names = ("memory/2026-03-02.md", "zebra.md", "MEMORY.md", "memory/2026-03-01.md", "USER.md")
    (found,) = packed(*(document(name, f"- The text of {name}\n") for name in names))
    order = [one.name for one in found.files.values()]
    assert order == ["USER.md", "MEMORY.md", "zebra.md", *sorted((names[0], names[3]))]
    assert "=== F2 MEMORY.md (profile)\n1 - The text of MEMORY.md" in found.text


def test_the_logs_of_one_day_stand_in_the_order_of_their_times() -> None:
    sessions = {"b": "13:46:02 UTC", "a": "16:48:10 UTC", "c": "9:05"}
    logs = [
        document(
            f"memory/2026-03-10-{name}.md", f"# Session: 2026-03-10 {time}\n\n- Line {name}.\n"
        )
        for name, time in sessions.items()
    ]
    (found,) = packed(*logs)
    assert [one.name[-4] for one in found.files.values()] == ["c", "b", "a"]


def test_a_question_stays_below_its_limit_and_a_large_file_is_read_alone() -> None:
    page = "\n".join(
        f"- Berth {n} is let to family number {n * 7} of the town." for n in range(400)
    )
    small = [document(f"{name}.md", f"- A line about {name}.\n") for name in "abz"]
    found = packed(*small, document("big.md", page), limit=2000)
    assert [tokens_of(one.text) <= 2100 for one in found] == [True] * len(found)
    of_big = [n for n, one in enumerate(found) if "sources/big.md" in one.resources]
    assert len(of_big) > 2
    assert all(len(found[n].files) == 1 for n in of_big)
    shown = sorted(line for n in of_big for line in found[n].shown["F1"])
    assert shown == [*range(1, 401)]


def test_reading_goes_on_with_the_same_questions_where_it_stopped() -> None:
    """The questions about the files that are left are those of the uncut run."""
    names = [f"{name}.md" for name in "abcdef"]
    text = "\n".join(f"- {word} the {n}th" for n, word in enumerate(["Mast", "Keel", "Oar"] * 30))
    every = [document(name, text.replace("the", name)) for name in names]
    whole = packed(*every, limit=900)
    assert len(whole) > 2
    read = set(whole[0].resources)
    rest = [
        one
        if one.resource not in read
        else document(one.name, "\n".join(one.lines), "\n".join(one.lines))
        for one in every
    ]
    assert [one.text for one in packed(*rest, limit=900)] == [one.text for one in whole[1:]]


def test_repeats_of_earlier_files_are_hidden_and_counted() -> None:
    passage = "\n".join(
        f"- Rule {n}: the crew keeps the deck dry and the log in order" for n in "ABCD"
    )
    first, second = (
        document("MEMORY.md", passage),
        document("copy.md", f"# Own\n\n{passage}\n- New line here"),
    )
    (found,) = packed(first, second)
    assert "(3-6: 4 lines repeat earlier ones)" in found.text
    assert found.text.count("Rule B") == 1
    (alone,) = packed(document("MEMORY.md", passage, passage), second)
    assert "Rule B" not in alone.text  # an earlier run has read it in MEMORY.md


def test_an_edited_page_shows_what_changed_with_its_headings_and_two_lines_around() -> None:
    rows = [
        "# Boats",
        "",
        "## Rates",
        "",
        *(f"- Berth {n} costs {n}0 euros" for n in range(9)),
        "",
        "## End",
    ]
    old = "\n".join(rows)
    new = old.replace("- Berth 4 costs 40 euros", "- Berth 4 costs 45 euros")
    (found,) = packed(document("page.md", new, old))
    assert found.text.splitlines() == [
        "=== F1 page.md (page, edited, changed 2026-03-01)",
        "1 # Boats",
        "...",
        "3 ## Rates",
        "...",
        "7 - Berth 2 costs 20 euros",
        "8 - Berth 3 costs 30 euros",
        "- - Berth 4 costs 40 euros",
        "9 + - Berth 4 costs 45 euros",
        "10 - Berth 5 costs 50 euros",
        "11 - Berth 6 costs 60 euros",
    ]


def test_a_grown_log_shows_its_new_lines_below_their_headings() -> None:
    old = "# 2026-03-01\n\n## Morning\n\n- Tea with Ines\n"
    (found,) = packed(document("memory/2026-03-01.md", old + "- Sold the dinghy to Brandt\n", old))
    assert "Tea" not in found.text
    assert "6 + - Sold the dinghy to Brandt" in found.text
    assert "3 ## Morning" in found.text
    assert any("Sold the dinghy" in block for block in blocks_of(found))


def test_lines_that_nobody_may_see_and_files_without_news_are_left_out() -> None:
    one = document("MEMORY.md", "- A rejected line\n- Another line\n")
    hidden = document("USER.md", "- Known already\n", "- Known already\n")
    (found,) = packed(msgspec.structs.replace(one, hidden=frozenset((1,))), hidden)
    assert "rejected" not in found.text
    assert "USER.md" not in found.text


def test_a_page_of_short_lines_is_no_template() -> None:
    page = document("\u5468.md", "- \u5468\u4e94\u4e0d\u8981\u90e8\u7f72")
    (found,) = pack([page], 12_000)
    assert "1 - \u5468\u4e94" in found.text


def test_a_label_of_a_template_is_shown_with_the_value_below_it() -> None:
    shipped = "# IDENTITY.md - Who Am I?\n\n- **Name:**\n{}- **Creature:**\n- **Emoji:**\n"
    (found,) = pack([document("IDENTITY.md", shipped.format("  Otter\n"))], 12_000)
    assert "3 - **Name:**\n4   Otter" in found.text
    assert "Who Am I" not in found.text


def test_files_in_a_line_are_left_out_and_counted() -> None:
    kept = [
        "- The gateway answers at https://gateway.example/a/very/long/path/that/goes/on/and/on/for/ever",
        "- On HARBOUR-20260312-NORTH-PIER-CRANE-4-INSPECTION-v1, to repeat in May",
    ]
    (found,) = packed(document("log.md", "\n".join(["# Log", "QmFzZTY0" * 40, *kept])))
    assert "(2-2: 1 encoded lines are left out)" in found.text
    assert [row.split(" ", 1)[1] for row in found.text.splitlines()[3:]] == kept


def test_the_head_of_a_page_says_of_which_day_it_is() -> None:
    page = document("boats.md", "- Two sails\n")
    stated = {"as_of": "2026-05-05", "since": "2026-05-12", "is_dated": True}
    (found,) = packed(msgspec.structs.replace(page, **stated))
    assert found.text.splitlines()[0] == "=== F1 boats.md (page, as of 2026-05-05)"


def test_what_introduces_a_line_is_its_own_list_and_no_code() -> None:
    page = document(
        "boats.md",
        "# Boats\n\n**Sea Otter:**\n- two sails\n\n```sh\n# Check the sails:\nmake sails\n```\n\n"
        "**Blue Whale:**\n- Crew:\n  - Ines\n- no engine\n\nBoth are moored in Brevik.\n",
    )
    above = {line.strip(): page.headings(n) for n, line in enumerate(page.lines, start=1)}
    assert above["- two sails"] == ["**Sea Otter:**", "# Boats"]
    assert above["- Ines"] == ["- Crew:", "**Blue Whale:**", "# Boats"]
    assert above["- no engine"] == ["**Blue Whale:**", "# Boats"]
    assert above["**Blue Whale:**"] == above["Both are moored in Brevik."] == ["# Boats"]


def test_memories_about_what_headings_and_lines_name_are_shown() -> None:
    page = "# Boats\n\n## Sea Otter\n\n- Two new sails came on Monday\n- Paid by Ines Moe\n"

    def about(subject: str, number: int) -> Memory:
        fields = {"id": f"mem-{subject}-{number}", "subject": subject}
        return Memory.of("", fields, body=f"Entry {number} on quite other things: {subject}")

    subjects = ("Sea Otter", "Ines Moe", "Vidar", "Boats")
    known = [about(subject, number) for subject in subjects for number in range(40)]
    (found,) = packed(document("boats.md", page))
    shown = [m.subject for m in related(known, found).values()]
    assert {*shown} == {"Sea Otter", "Ines Moe", "Boats"}
    assert len(shown) <= 3 * 10
    ends = [about("Oslo", n).with_fields({"type": "open_question"}) for n in range(9)]
    valued = Memory.of("", {"id": "mem-valued"}, body="The alarm is called on PC-4711 at night.")
    page += "- The pump hangs on PC-4711 too, behind the sail loft and the long east quay\n" * 4
    (longer,) = packed(document("boats.md", page))
    shown = [m.id for m in related([*ends, valued], longer).values()]
    assert "mem-valued" in shown  # a value of the text
    assert len(shown) == 1 + 5  # what is open may be over by what the text states
    known.append(about("Vidar", 40).with_fields({"type": "identity"}))  # the texts say "he"
    shown = [m.id for m in related(known, found, (), ("owner Vidar Holt",)).values()]
    assert [id_ for id_ in shown if "Vidar" in id_] == ["mem-Vidar-40"]


def test_a_fence_inside_a_list_item_is_code_and_ends_with_its_item() -> None:
    """Outside of it, a line that begins with `#` is a heading, and an item introduces again."""
    page = document(
        "kiln.md",
        "# Kiln\n\n- Light it:\n\n  ```sh\n  # Burner\n  - open:\n  light\n  ```\n  - Then wait:\n"
        "    - one hour\n\n1. Vent:\n   ~~~\n   ## Gas\n   ~~~\n   - slowly\n",
    )
    assert page.headings(page.lines.index("    - one hour") + 1) == [
        "  - Then wait:",
        "- Light it:",
        "# Kiln",
    ]
    assert page.headings(page.lines.index("   - slowly") + 1) == ["1. Vent:", "# Kiln"]


def test_near_equal_memories_are_shown_and_unrelated_ones_are_not() -> None:
    near = "The fuel dock in Brevik takes cash only."
    others = [f"The boat {name} of the harbour is moored at the quay." for name in "ABCDEFGH"]
    known = [
        Memory.of("memories/one.md", {"id": f"mem-{n:016}", "type": "fact"}, body=text)
        for n, text in enumerate([near, *others])
    ]
    filler = [f"- Note {n} about wind and weather of the harbour" for n in range(20)]
    row = "- The fuel dock at Brevik still takes no cards, cash only"
    (found,) = packed(document("log.md", "\n".join(["# Log", *filler, row])))
    assert [m.body for m in related(known, found).values()] == [near]


@pytest.mark.parametrize(
    ("text", "above"),
    [
        ("# Yard\n- Gate: shut\n - Crane: 4 tons", ["# Yard"]),  # a sibling
        ("# Yard\n- Gate: shut\n  - at night", ["- Gate: shut", "# Yard"]),
        ("# Yard\n1. Gate\n2. Crane\n   It lifts 4 tons.", ["2. Crane", "# Yard"]),
        ("# Yard\n**Gate:**\n- shut\n\n**Crane:**\n- 4 tons", ["**Crane:**", "# Yard"]),
        ("# Yard\nGate:\n- shut\n\nThe crane lifts 4 tons.", ["# Yard"]),
    ],
)
def test_what_is_above_a_line_are_its_parents_and_not_its_siblings(
    text: str, above: list[str]
) -> None:
    page = document("yard.md", text)
    assert page.headings(len(page.lines)) == above
