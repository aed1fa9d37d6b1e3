from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import LATER, done, git, memories, memrepo
from hypothesis import given
from hypothesis import strategies as st

from memrepo.actions.run.settle import requests
from memrepo.core.ids import text_hash
from memrepo.core.manifest import Consumed, Manifest
from memrepo.policies.standing import RETIRED
from memrepo.read.intake import cursors, revise
from memrepo.read.notes import NoteUnit, scan_notes
from memrepo.read.thoughts import scan

LOG = "memory/2026-02-07.md"


def notes(text: str, resource: str = LOG) -> tuple[NoteUnit, ...]:
    return scan_notes(resource, text.encode())[0]


def short(text: str, resource: str = LOG) -> list[tuple[str, tuple[int, int], str]]:
    return [(n.title, n.lines, n.text) for n in notes(text, resource)]


def test_a_note_knows_its_place_and_time() -> None:
    (note,) = notes("# 2026-02-06\n\n## 3:31 pm call\n\n- Bob said yes\n\n### Detail\n\nmore  \n")
    assert note.title == "3:31 pm call"
    assert note.headings == ("2026-02-06", "3:31 pm call")
    assert note.lines == (3, 9)
    assert note.text == "- Bob said yes\n\n### Detail\n\nmore"
    assert (note.captured, note.captured_from, note.clock) == ("2026-02-06", "heading", "15:31")
    assert note.text_hash == text_hash(note.text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words\n", [("2026-02-07", (1, 1), "plain words")]),
        ("# Log\n\nplain words\n", [("Log", (3, 3), "plain words")]),
        ("# Log\n\n## A\none\n## B\ntwo\n", [("Log", (3, 6), "## A\none\n## B\ntwo")]),
        (
            "# Log\nfirst\n## 10:00\none\n## 11:00 b\ntwo\n",
            [("Log", (2, 2), "first"), ("10:00", (3, 4), "one"), ("11:00 b", (5, 6), "two")],
        ),
        (
            "# 2026-02-07\none\n# 2026-02-08\ntwo\n",
            [("2026-02-07", (1, 2), "one"), ("2026-02-08", (3, 4), "two")],
        ),
        ("## 10:00\none\n### 10:30\ntwo\n", [("10:00", (1, 4), "one\n### 10:30\ntwo")]),
        (
            "# Session 10:00\none\n## 10:30\ntwo\n",
            [("Session 10:00", (2, 2), "one"), ("10:30", (3, 4), "two")],
        ),
        ("# Log\n## 10:00\n## 11:00\none\n", [("11:00", (3, 4), "one")]),
        ("# Log\n## 10:00\none\n## Todo\ntwo\n", [("10:00", (2, 5), "one\n## Todo\ntwo")]),
        (
            "# Log\n## Work\nzero\n### 10:00\none\n## Home\ntwo\n### 11:00\nthree\n",
            [
                ("Work", (2, 3), "zero"),
                ("10:00", (4, 5), "one"),
                ("Home", (6, 7), "two"),
                ("11:00", (8, 9), "three"),
            ],
        ),
        (
            "```\n## 10:00\n```\n## 11:00\none\n",
            [("2026-02-07", (1, 3), "```\n## 10:00\n```"), ("11:00", (4, 5), "one")],
        ),
        (
            "---\ntitle: x\n---\n<!-- made by y -->\n\nwords\n",
            [("2026-02-07", (4, 6), "<!-- made by y -->\n\nwords")],
        ),
        (
            "## 10:00\n<!-- x:start -->\n- theirs\n<!-- x:end -->\n- mine\n",
            [("10:00", (1, 5), "- mine")],
        ),
        ("# 2026-02-07\n<!-- made by y -->\n", []),
        ("", []),
        ("\n \n", []),
    ],
)
def test_a_log_is_cut_at_dated_headings(
    text: str, expected: list[tuple[str, tuple[int, int], str]]
) -> None:
    assert short(text) == expected
    assert short(text.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize(
    ("text", "resource", "expected"),
    [
        ("# L\n## 2026-01-01 10:00\non 2025-01-01\n", LOG, ("2026-01-01", "heading")),
        ("# L\n## 10:00\non 2025-01-01\n", LOG, ("2026-02-07", "file")),
        ("# L\n## 10:00\non 2025-01-01\n", "memory/log.md", ("2025-01-01", "unit")),
        ("# L\n## 10:00\nwords\n", "memory/log.md", ("", "")),
    ],
)
def test_a_note_is_dated_by_headings_then_file_then_text(
    text: str, resource: str, expected: tuple[str, str]
) -> None:
    (note,) = notes(text, resource)
    assert (note.captured, note.captured_from) == expected


LINES = st.sampled_from(
    [
        *("# 2026-02-07", "## 10:00", "## Work", "### 11:00 call", "w words", "- w item"),
        *("> w quote", ""),
    ]
)


@given(st.lists(LINES))
def test_every_line_of_a_log_is_in_exactly_one_note(lines: list[str]) -> None:
    numbered = [line.replace("w ", f"w{n} ") for n, line in enumerate(lines, start=1)]
    text = "\n".join(n.text for n in notes("\n".join(numbered)))
    told = [line for line in text.split("\n") if line.strip(">- ").startswith("w")]
    assert told == [line for line in numbered if line.strip(">- ").startswith("w")]


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    found, problems = scan_notes(LOG, data)
    assert found == () or not any(p.severity == "error" for p in problems)


# -- the cursor: up to which version the runs in effect consumed a source --------------------------


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (["-a"], "aa"),
        (["-a", "a-b", "b-c"], "cc"),
        (["-a", "a-"], ""),
        (["a-b"], "b"),  # the first run was reverted
        (["-a", "b-c"], "ac"),  # the second run was reverted
        (["-a", "b-c", "a-d"], "dd"),  # and read again
        (["-a", "a-b", "a-c"], "bc"),  # two clones read at one time
        (["a-b", "-b"], "bb"),
    ],
)
def test_a_source_is_read_on_from_where_an_unbroken_chain_of_runs_ends(
    spans: list[str], expected: str
) -> None:
    entries = [Consumed(resource="s", from_=a, to=b) for a, b in (s.split("-") for s in spans)]
    runs = [Manifest(run=str(number), consumed=(one,)) for number, one in enumerate(entries)]
    assert "".join(cursors(runs)["s"]) == expected


def test_what_a_later_run_read_is_read_again_after_a_revert_and_changes_nothing(
    tmp_path: Path,
) -> None:
    log = tmp_path / "workspace" / LOG
    log.parent.mkdir(parents=True)
    texts = ("## 09:00\n\n- Ana calls.\n", "## 10:00\n\n- Bea bakes rye.\n", "- Ben came late.\n")
    log.write_text(texts[0])
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo, days = tmp_path / "repo", [f"2026-03-0{n}T09:00:00Z" for n in range(1, 6)]
    done(repo, "run", now=days[0])
    log.write_text(f"{texts[0]}\n{texts[1]}")
    second = done(repo, "run", now=days[1])["run"]
    log.write_text(f"{texts[0]}\n{texts[1]}{texts[2]}\n## 11:00\n\n- Cleo sings.\n")
    done(repo, "run", now=days[2])
    done(repo, "revert", second, now=days[3])
    before = {id_: memory.body for id_, memory in memories(repo).items() if memory.is_note}
    done(repo, "run", now=days[4])
    assert before == {id_: m.body for id_, m in memories(repo).items() if m.is_note}
    assert git(repo, "log", "--format=%s").count("Extend note") == 1


OWNED = (
    *zip(("mill", "inn", "quay", "barn", "kiln", "tower", "boat"), range(11, 18), strict=True),
)


@pytest.mark.parametrize("then", ["as before", "without", "edited", "no file"])
def test_a_line_that_left_after_an_earlier_run_was_reverted_is_gone(
    tmp_path: Path, then: str
) -> None:
    source = tmp_path / "workspace" / "MEMORY.md"
    source.parent.mkdir()
    rows = [f"- The {thing} belongs to Mara since 20{year}.\n" for thing, year in OWNED]
    first, second, third = "".join(rows[:5]), rows[5], rows[6]
    source.write_text(first)
    (source.parent / "RTMEMORY.md").write_text("- Ola repairs the oven in the old bakery.\n")
    if then == "no file":
        source.unlink()
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo, days = tmp_path / "repo", [f"2026-03-0{n}T09:00:00Z" for n in range(1, 7)]
    done(repo, "run", now=days[0])
    source.write_text(first + second)
    reverted = done(repo, "run", now=days[1])["run"]
    source.write_text(first + second + third)
    done(repo, "run", now=days[2])
    done(repo, "revert", reverted, now=days[3])
    edited = third.replace("2017", "2020")
    rest = {"as before": first, "without": first + second, "edited": first + second + edited}
    source.write_text(rest[then]) if then in rest else source.unlink()
    done(repo, "run", now=days[4])
    found = {m.body: m.standing for m in memories(repo).values() if m.status == "active"}
    assert found.get(third[2:-1], RETIRED) == RETIRED
    assert (edited[2:-1] in found) is (then == "edited")
    assert memrepo(repo, "run", now=days[5]).data["status"] == "skipped"


# -- lines at one place: an edit, or an end and a beginning ----------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "is_edit"),
    [
        ("- The car is a VW Golf Variant from 2017", "- The car is a Skoda Enyaq from 2026", True),
        ("- Das Auto ist ein Golf von 2017.", "- Das Auto gehört seit Mai der Nachbarin.", True),
        ("- El coche es un Seat de 2015.", "- El coche nuevo lo conduce Eva.", True),
        ("- Машина у нас Лада 2010 года.", "- Машина теперь стоит у Ани.", True),
        ("- 车是大众高尔夫。", "- 车在修理厂里。", True),
        ("- サーバーは東京にあります。", "- サーバーの管理者は健です。", True),
        ("- 자동차는 2017년식 골프입니다.", "- 자동차를 이웃에게 팔았어요.", True),
        ("- Bea likes tea", "- The server runs Debian", False),
        ("- Bea likes tea", "- Uwe likes coffee", False),
        ("- The rent is due on the 5 of each month.", "- The backup takes 5 hours.", False),
        ("- Die Katze heißt Mina.", "- Die Miete beträgt 900 Euro.", False),
        ("- Bea ama il tè.", "- Luca porta il cane.", False),
        ("- Кот спит на диване.", "- Сервер стоит на полке.", False),
        ("- 小王的猫是黑色的。", "- 房租是每月付的。", False),
        ("- 猫は黒いです。", "- 家賃は月曜に払うです。", False),
        ("- 고양이는 검은색입니다.", "- 서버는 데비안입니다.", False),
        ("- แมวนอนบนโซฟา", "- เซิร์ฟเวอร์อยู่บนชั้น", False),
        # in one block of lines: below another heading, or not as many
        ("- The car is a Golf", "## B\n\n- Eva drives our new car to Rome", False),
        ("- The car is a Golf", "- Our car runs on gas\n- No parking here", False),
    ],
)
def test_a_line_is_an_edit_of_the_line_at_its_place_that_names_the_same(
    old: str, new: str, is_edit: bool
) -> None:
    kept = "- Ana lives in Turin.\n- Tim is the plumber.\n"
    before, after = (
        scan("MEMORY.md", f"# M\n\n## A\n\n{kept}{t}\n".encode()).units for t in (old, new)
    )
    assert len(before) == 3
    assert len(revise(before, after).edited) == is_edit


# -- what a text asks of the memory is told to a person with the command that does it, never -------


@pytest.mark.parametrize(
    ("text", "asks", "fix"),
    [
        (
            "Please [[pin:knowledge:shed]] now",
            "asks [[pin:knowledge:shed]]",
            "`echo '[[pin:knowledge:shed]]' | memrepo directives`",
        ),
        (
            "[[forget keyword:a b]]",
            "asks [[forget keyword:a b]]",
            "`echo '[[forget keyword:a b]]' | memrepo directives`",
        ),
        (
            "[[memory_health]]",
            "asks [[memory_health]]",
            "`echo '[[memory_health]]' | memrepo directives`",
        ),
    ],
)
def test_a_request_is_told_with_its_command(text: str, asks: str, fix: str) -> None:
    (found,) = requests("sources/MEMORY.md", 3, text)
    assert found.message == f"{asks}: nothing was done, a person decides"
    assert (found.fix, found.line, found.severity) == (fix, 3, "warning")


@pytest.mark.parametrize("text", ["[[link]]", "Remember this: the pump leaks"])
def test_other_words_ask_nothing(text: str) -> None:
    assert list(requests("a.md", 1, text)) == []


def test_the_words_of_a_request_cannot_break_out_of_the_command() -> None:
    text = "[[forget keyword:x'; rm -rf /; echo ']]"
    (found,) = requests("a.md", 1, text)
    assert found.fix.startswith("`echo '[[forget keyword:x'\"'\"'; rm")


def test_a_run_lists_what_it_read_once_and_does_nothing_of_it(tmp_path: Path) -> None:
    workspace = workspaces.growing(tmp_path / "workspace", 0)
    with (workspace / "MEMORY.md").open("a") as page:
        page.write("- [[promote:knowledge:anything]] said the mail of the seed shop.\n")
    done(tmp_path, "init", "repo", "--from", workspace)
    repo = tmp_path / "repo"
    ran = done(repo, "run")
    asked = [w for w in ran["warnings"] if w["rule"] == "request-in-text"]
    assert len(asked) == 1
    asking = [m for m in memories(repo).values() if "[[" in m.body]
    assert asking
    assert all("hot" not in m.fields for m in asking)
    assert len(done(repo, "status")["requests"]) == 1
    shown = memrepo(repo, "status", as_json=False).out
    assert "nothing was done, a person decides" in shown
    began = done(repo, "session", "start")
    assert "1 request waits for a person (`memrepo status`)" in began["warnings"]
    with (workspace / "MEMORY.md").open("a") as page:
        page.write("- The hose is ten metres long and green.\n")
    again = done(repo, "run", now=LATER)
    assert [w for w in again["warnings"] if w["rule"] == "request-in-text"] == []
