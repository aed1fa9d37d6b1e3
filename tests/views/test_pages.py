"""Which files views may write and delete."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.ids import text_hash
from memrepo.core.memory import Hot, Memory, Source
from memrepo.core.state import Delete, Files, State, Write
from memrepo.policies.rules import HotRules
from memrepo.read.documents import NoteHeader
from memrepo.read.kinds import subject_of
from memrepo.views import pages
from memrepo.views.hot import condensed, hot_page
from memrepo.views.report import shown


def state(tags: list[str], files: dict[str, bytes] | None = None) -> State:
    memories = {
        f"mem-{n:016x}": Memory.of(
            path=f"memories/knowledge/m-{n:06x}.md",
            body=f"fact {n}",
            fields={"id": f"mem-{n:016x}", "type": "fact", "tags": (tag,)},
        )
        for n, tag in enumerate(tags)
    }
    return State(files=Files(files or {}, {}), memories=memories)


def written(of: State) -> dict[str, bytes]:
    changes = pages.render_views(of)
    found = [(c.path, c.data) for c in changes if isinstance(c, Write)]
    assert len({path for path, _ in found}) == len(found)
    return dict(found)


def test_only_pages_that_were_written_here_are_deleted() -> None:
    one = written(state(["a"]))
    mine = b"# My thoughts\n\non long-term memory\n"
    foreign = {"views/LTMEMORY-thoughts.md": mine, "views/other.md": one["views/LTMEMORY.md"]}
    stale = {"views/LTMEMORY-old.md": one["views/LTMEMORY.md"]}
    changes = pages.render_views(state(["a"], {**one, **foreign, **stale}))
    assert set(changes) == {Delete(path=path) for path in stale}


def claim(number: int, body: str, **fields: object) -> Memory:
    id_ = f"mem-{number:06x}0000000000"
    given = {"id": id_, "type": "fact", **fields}
    return Memory.of(path=f"memories/knowledge/m-{number:06x}.md", body=body, fields=given)


def page_of(*claims: Memory) -> str:
    found = written(State(files=Files({}, {}), memories={m.id: m for m in claims}))
    return found["views/LTMEMORY.md"].decode()


def test_what_shares_a_subject_stands_under_it_and_says_it_once() -> None:
    text = page_of(
        claim(1, "runs Python", subject="Atlas"),
        claim(2, "runs Postgres", subject="Atlas"),
        claim(3, "Rui: likes tea", subject="Rui"),
        claim(4, "The Atlas team meets on Monday", subject="Atlas"),
        claim(5, "nobody in particular"),
    )
    facts = text.partition("## Facts\n")[2]
    assert facts == (
        "\n- nobody in particular `000005`\n- Rui: likes tea `000003`\n"
        "\n### Atlas\n"
        "\n- runs Python `000001`\n- runs Postgres `000002`\n"
        "- The Atlas team meets on Monday `000004`\n"
    )


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("2026 was good", "2026 was good"),
        ("2. second", "2\\. second"),
        ("# 7 is the room", "\\# 7 is the room"),
        ("#7 is the room", "#7 is the room"),
        ("- a dash", "\\- a dash"),
        ("*never* on Monday", "*never* on Monday"),
        ("> 80 % full", "\\> 80 % full"),
        ("[x]: not a link", "\\[x]: not a link"),
        ("***", "\\***"),
        ("a <b>bold</b> claim", "a \\<b>bold\\</b> claim"),
    ],
)
def test_a_text_begins_nothing_on_its_line(body: str, line: str) -> None:
    assert f"\n- {line} `000001`\n" in page_of(claim(1, body))


NOW = datetime(2026, 3, 2, tzinfo=UTC)


def memory(body: str, number: int = 1, **fields: object) -> Memory:
    """Return a memory that stands on the page."""
    id_ = f"mem-{number:016x}"
    base = {"id": id_, "type": "fact", "created": NOW, "hot": Hot(since=NOW, reason="new layer")}
    return Memory.of(
        path=f"memories/knowledge/m-{id_[-6:]}.md", fields={**base, **fields}, body=body
    )


@pytest.mark.parametrize(
    ("body", "line"),
    [
        pytest.param("Boats are red. They float.", "Boats are red. They float.", id="sentences"),
        pytest.param(
            "Harbour – Boats\n\n- **Ada**: red\n- Ben: blue",
            "Harbour – Boats: Ada: red · Ben: blue",
            id="a-list",
        ),
        pytest.param(
            f"Boats {'red ' * 30}{'blue ' * 50}",
            f"Boats {'red ' * 30}{'blue ' * 37}blue…",
            id="a-long-one-is-cut-between-words",
        ),
        pytest.param(
            "Start <hut> only by hand.", "Start \\<hut> only by hand.", id="a-blank-to-fill"
        ),
        pytest.param("Use `a` ↑2026←x", "Use `a` ^2026\\<-x", id="no-markup-no-tag-of-its-own"),
    ],
)
def test_a_memory_is_condensed_to_one_line_that_keeps_its_parts_apart(body: str, line: str) -> None:
    assert condensed(memory(body)) == line


def test_a_rule_and_a_list_are_never_cut_and_a_long_heading_labels_by_its_first_part() -> None:
    rule = f"Never lend the boat {'to guests or friends ' * 15}without a word from Ada."
    assert condensed(memory(rule, type="constraint")) == rule
    rows = "\n".join(f"- hull {n} of the yard is painted red" for n in range(9))
    assert condensed(memory(rows)).count("hull") == 9
    sources = (Source(resource="sources/MEMORY.md", lines=(5, 5)),)
    heading = "Winter storage — everything about sheds and tents (2026)"
    context = f"MEMORY › Harbour log › {heading}"
    said = condensed(memory("Hulls dry for a week.", context=context, sources=sources))
    assert said == "Winter storage: Hulls dry for a week."
    days = ("2026-05-02", "2026-05-09", "2026-05-04")
    logs = tuple(Source(resource=f"sources/{day}.md", lines=(5, 5)) for day in days)
    newest = condensed(memory("Hulls dry for a week.", subject="Hulls", sources=logs))
    assert newest == "Hulls dry for a week. (2026-05-09)"


@pytest.mark.parametrize(
    ("subject", "label"),
    [("Hulls", ""), ("Yard", ""), ("", "Winter: ")],
)
def test_a_text_with_a_subject_that_a_judge_worded_is_understood_alone(
    subject: str, label: str
) -> None:
    place = Source(resource="sources/MEMORY.md", lines=(5, 5), text_hash=text_hash("a week"))
    more = {"subject": subject} if subject else {}
    one = memory("Hulls dry for a week.", context="MEMORY › Winter", sources=(place,), **more)
    assert condensed(one) == f"{label}Hulls dry for a week."


@pytest.mark.parametrize(
    ("file", "context", "label"),
    [
        ("Projects/Red Sloop.md", "Red Sloop › Decisions", "Red Sloop: "),
        ("projects/red-sloop.md", "red-sloop › Decisions", "Red Sloop: "),
        ("People/Ada Holm.md", "Ada Holm › Preferences", "Ada Holm: "),
        ("projects/projects.md", "projects › Decisions", ""),
        ("Projects/2026-05-09.md", "2026-05-09 › Decisions", ""),
    ],
)
def test_a_line_below_a_common_heading_begins_with_the_one_thing_of_its_page(
    file: str, context: str, label: str
) -> None:
    place = Source(resource=f"sources/{file}", lines=(5, 5))
    found = subject_of(file, NoteHeader(), ("Decisions",))
    more = {"subject": found} if found else {}
    said = condensed(memory("Hulls dry for a week.", context=context, sources=(place,), **more))
    assert said.partition("Hulls")[0] == label


def test_what_a_profile_says_stands_under_whom_it_is_about_in_the_order_of_the_file() -> None:
    def said(number: int, body: str, file: str, line: int) -> Memory:
        return memory(
            body, number, sources=(Source(resource=f"sources/{file}", lines=(line, line)),)
        )

    found = [
        said(1, "Lives in Kiel.", "USER.md", 5),
        said(2, "Ada is the person.", "USER.md", 2),
        said(3, "The agent is Ben.", "IDENTITY.md", 1),
        said(4, "Boats are red.", "MEMORY.md", 1),
    ]
    names = {1: "Ada", 2: "Ada", 3: "Ben", 5: "Ada"}
    log = Source(resource="sources/memory/2026-05-04.md", lines=(2, 2))
    moved = memory("Ada moves to Kiel.", 5, type="identity", sources=(log,))
    moved = Memory.of("memories/identity/m-5.md", dict(moved.fields), body=moved.body)
    found = [m.with_fields({"subject": names.get(n, "")}) for n, m in enumerate((*found, moved), 1)]
    page = hot_page(State(memories={m.id: m for m in found}, files=Files({}, {})), HotRules())
    assert page is not None
    lines = [line.partition(" ←")[0] for line in page.decode().splitlines()]
    assert [line for line in lines if line.startswith(("- ", "## "))] == [
        *("## User", "- Ada is the person.", "- Lives in Kiel."),
        *("- Ada moves to Kiel. (2026-05-04)", "## Identity", "- The agent is Ben."),
        *("## Knowledge", "- Boats are red."),
    ]


TAG = '<span class="hid" title="TAG LATIN CAPITAL LETTER A">U+E0041</span>'


@given(st.text(max_size=30))
def test_no_text_becomes_markup(text: str) -> None:
    html = str(shown(text))
    tags = re.findall(r"<[^>]*>", html)
    assert all(re.fullmatch(r'<span class="hid"(?: title="[^"<>&]*")?>|</span>', t) for t in tags)
    bare = re.sub(r"<[^>]*>", "", html)
    assert not set(bare) & set("<>\"'\u202e\u2066\u200b\x00")
    html.encode()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\u202eb", 'a<span class="hid" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>b'),
        ("👩\u200d👧", "👩\u200d👧"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("pass\u200dword", 'pass<span class="hid" title="ZERO WIDTH JOINER">U+200D</span>word'),
        ("heart ❤\ufe0f", "heart ❤\ufe0f"),
        ("a\nb\tc", "a\nb\tc"),
        ("x" + "\U000e0041" * 9, f'x{TAG}<span class="hid">and 8 more that are not seen</span>'),
    ],
)
def test_only_what_hides_is_spelled_out(text: str, told: str) -> None:
    assert str(shown(text)) == told
