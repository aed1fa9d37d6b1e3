"""The Python API: the same records, refusals and history as the command line."""

from __future__ import annotations

import doctest
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from docs_parts import ROOT
from driving import NOW, assert_sound, done, git, memories, standing, subjects

from memrepo import Entry, MemrepoError, OpenRepository, Source, open_repository
from memrepo.core.errors import Exit
from memrepo.core.times import parse_time

AT = parse_time(NOW)
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def memory(repo: Path) -> Iterator[OpenRepository]:
    with open_repository(repo, clock=lambda: AT) as opened:
        yield opened


def test_the_page_about_python_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done(tmp_path, "init", "memory")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(page, {}, "python.md", None, 0)
    told: list[str] = []
    result = doctest.DocTestRunner().run(test, out=told.append)
    assert result.attempted > 5
    assert (result.failed, told) == (0, [])


def test_hits_are_those_of_the_command_line(repo: Path, memory: OpenRepository) -> None:
    memory.add_all(
        [
            Entry(
                text="Ana keeps bees.",
                subject="Ana",
                tags=("bees",),
                source=Source(resource="sources/chat.md", lines=(2, 2), captured="2026-02-03"),
            ),
            Entry(text="Bees need water in summer.", type="lesson"),
        ]
    )
    told = done(repo, "search", "--no-touch", "bees")
    for hit, row in zip(memory.search("bees", no_touch=True), told["hits"], strict=True):
        found = json.loads(msgspec.json.encode(hit))
        found.pop("sources")
        assert found == {name: value for name, value in row.items() if name != "sources"}
        assert [(s.resource, list(s.lines), s.captured) for s in hit.sources] == [
            (s["resource"], s["lines"], s["captured"]) for s in row["sources"]
        ]
        assert hit.commit == told["commit"]


def test_many_entries_are_one_commit_by_a_program(repo: Path, memory: OpenRepository) -> None:
    before = len(subjects(repo))
    ids = memory.add_all([Entry(text=f"Line {n} closes at noon.") for n in range(30)])
    assert len(set(ids)) == 30
    assert set(ids) == set(memories(repo))
    assert subjects(repo)[0] == "Add 30 memories"
    assert len(subjects(repo)) == before + 1
    assert "Memrepo-Actor: process:python\n" in git(repo, "log", "-1", "--format=%B")
    assert_sound(repo)


@pytest.mark.parametrize(
    ("second", "same"),
    [
        (Entry(text="yes, gladly", subject="Ana"), True),
        (Entry(text="- Yes, gladly", subject="ANA"), True),
        (Entry(text="Yes, gladly"), True),
        (Entry(text="Yes, gladly", subject="Ben"), False),
        (Entry(text="Yes, gladly", subject="Ana", scope="project:x"), False),
        (Entry(text="Yes, gladly", subject="Ana", type="note"), False),
    ],
)
def test_an_equal_text_is_one_memory_where_subject_and_scope_agree(
    memory: OpenRepository, second: Entry, same: bool
) -> None:
    first = Entry(text="Yes, gladly", subject="Ana")
    a, b = memory.add_all([first, second])
    assert (a == b) is same
    assert memory.add_all([second, first]) == [b, a]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (Entry(text=f"The token is {TOKEN}"), Exit.USAGE),
        (Entry(text="The host is up.", subject=f"key {TOKEN}"), Exit.USAGE),
        (Entry(text="The host is up.", source=Source(resource=f"s/{TOKEN}.md")), Exit.USAGE),
        (Entry(text=" \n"), Exit.USAGE),
        (Entry(text="A part.", type="chunk"), Exit.USAGE),
        (Entry(text="A part.", type="rumour"), Exit.USAGE),
        (Entry(text="A part.", layer="cellar"), Exit.USAGE),
        (Entry(text="A part.", cls="eternal"), Exit.USAGE),
        (Entry(text="A part.", valid_from="soon"), Exit.USAGE),
        (Entry(text="A part.", source=Source(resource="a", captured="soon")), Exit.USAGE),
        (Entry(text="The moon is cheese."), Exit.DECIDE),
    ],
)
def test_one_refused_entry_refuses_all(
    repo: Path, memory: OpenRepository, entry: Entry, code: Exit
) -> None:
    done(repo, "reject", memory.add("The moon is cheese."), "--reason", "it is rock")
    before = standing(repo)
    with pytest.raises(MemrepoError) as caught:
        memory.add_all([Entry(text="The moon is far."), entry])
    assert caught.value.exit_code == code
    assert standing(repo) == before


def test_an_entry_with_a_secret_may_be_skipped(memory: OpenRepository) -> None:
    entries = [Entry(text=f"The key is {TOKEN}"), Entry(text="The moon is far.")]
    none, moon = memory.add_all(entries, skip_secrets=True)
    assert none == ""
    assert [hit.id for hit in memory.search("moon key")] == [moon]


def test_a_source_of_the_repository_is_quoted_from_its_version(repo: Path) -> None:
    (repo / "sources" / "inbox" / "chat.md").write_text("# Chat\n\nAna keeps bees.\n")
    done(repo, "ingest")
    (path,) = [p for p in git(repo, "ls-files", "sources").split() if p.endswith("chat.md")]
    with open_repository(repo, clock=lambda: AT) as memory:
        id_ = memory.add("Ana has bees.", source=Source(resource=path, lines=(3, 3)))
        shown = memory.show(id_)
    (piece,) = shown.evidence
    assert (piece.quote, piece.resolved) == ("Ana keeps bees.", "exact")
    assert piece.blob == git(repo, "rev-parse", f"HEAD:{path}").strip()


def test_a_wrong_question_and_a_folder_of_no_repository_are_refused(
    memory: OpenRepository, tmp_path: Path
) -> None:
    with pytest.raises(MemrepoError) as caught:
        memory.search("bees", types=["rumour"])
    assert caught.value.exit_code == Exit.USAGE
    for where in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(MemrepoError), open_repository(where, clock=lambda: AT):
            pass
