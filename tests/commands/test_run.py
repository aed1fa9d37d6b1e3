"""Runs end to end: what lands, what does not, and what a second run must leave alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import hostile_files
import pytest
import ugly_files
import workspaces
from driving import (
    LATER,
    MEMORY_ID,
    NOW,
    assert_sound,
    begin,
    done,
    git,
    memories,
    memrepo,
    standing,
)
from large_files import COUNT

from memrepo.core.memory import Memory

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def test_statements_of_one_list_that_differ_in_a_word_are_all_kept(tmp_path: Path) -> None:
    things = ("apples", "bolts", "candles", "dates", "eggs", "figs", "gloves", "hooks", "ink")
    lines = [f"- The crate of {thing} is kept in the hall and needs a lid.\n" for thing in things]
    data = ("# Stock\n\n" + "".join(lines)).encode()
    repo = begin(tmp_path, workspaces.write(tmp_path / "ws", {"MEMORY.md": data}))
    assert len(memories(repo)) == 9


# -- what a run of an ugly workspace leaves ------------------------------------------------------


def test_what_is_not_read_is_named_and_the_rest_lands(ugly_repo: Path) -> None:
    (path,) = (ugly_repo / "runs").rglob("*.json")
    manifest = json.loads(path.read_text())
    named = {(w["path"], w["rule"]) for w in manifest["warnings"]}
    assert {
        ("memory/code.md", "source-unclosed"),
        ("memory/long.md", "unit-cut"),
    } <= named
    refused = memrepo(ugly_repo, "ingest", "--dry-run").data["refused"]
    assert {(p["path"], p["rule"]) for p in refused} == {
        ("episodes/2026-01-09.md", "source-not-a-file"),
        ("inbox/secret.md", "source-secret"),
        ("memory/2026-01-15.md", "source-secret-redacted"),
        ("memory/folder/", "source-not-a-file"),
        ("memory/keys.md", "source-secret-redacted"),
        ("memory/latin1.md", "source-not-utf8"),
        ("memory/linked.md", "source-not-a-file"),
        ("memory/new\\n# line.md", "source-name"),
        ("memory/nul.md", "source-binary"),
    }
    assert len(memories(ugly_repo)) > COUNT


@pytest.mark.parametrize("now", [NOW, LATER])
def test_a_second_run_changes_nothing_at_the_same_time_and_later(ugly_repo: Path, now: str) -> None:
    before = standing(ugly_repo)
    answer = done(ugly_repo, "run", now=now)
    assert (answer["status"], answer["commits"], answer["run"]) == ("skipped", [], "")
    assert standing(ugly_repo) == before


def test_every_source_resolves_to_lines_that_hold_the_words(ugly_repo: Path) -> None:
    listed = git(ugly_repo, "ls-tree", "-r", "-z", "HEAD", "sources/").split("\0")
    blobs = {path: head.split()[2] for head, _, path in (e.partition("\t") for e in listed if e)}
    lines = {
        path: (ugly_repo / path).read_bytes().decode().replace("\r\n", "\n").split("\n")
        for path in blobs
    }
    for memory in memories(ugly_repo).values():
        assert memory.sources
        for source in memory.sources:
            assert source.resource in blobs
            first, last = source.lines
            assert 1 <= first <= last <= len(lines[source.resource])
            quote = "\n".join(lines[source.resource][first - 1 : last])
            row = quote.lstrip().startswith("|")
            # A unit is cut after 20,000 characters, even in a word.
            cut = source.resource.endswith("/long.md")
            body = memory.body.rsplit(None, 1)[0] if cut else memory.body
            small, large = (quote, body) if row else (body, quote)
            assert words(small) <= words(large) or source.kind == "merged", (source, memory)


def test_nothing_is_distilled_from_headers_or_other_programs_and_code_stays_with_its_text(
    ugly_repo: Path,
) -> None:
    pattern = "|".join(ugly_files.NEVER_DISTILLED)
    where = ("memories", "candidates", "views", "runs")
    assert git(ugly_repo, "grep", "-lE", pattern, "HEAD", "--", *where, check=False) == ""
    coded = [m.body for m in memories(ugly_repo).values() if "zqfence" in m.body]
    assert coded
    assert all(text.startswith("Before the fence: ") for text in coded)


def test_nothing_forbidden_and_no_secret_is_in_any_object_of_the_history(ugly_repo: Path) -> None:
    listed = git(ugly_repo, "cat-file", "--batch-check", "--batch-all-objects").splitlines()
    assert len(listed) > COUNT
    dump = git(ugly_repo, "cat-file", "--batch", "--batch-all-objects", "--unordered")
    for word in (*hostile_files.SECRETS, hostile_files.INBOX_SECRET, *ugly_files.NEVER_TAKEN):
        assert word not in dump
    tracked = git(ugly_repo, "ls-tree", "-r", "-z", "HEAD").split("\0")
    assert {entry[:6] for entry in tracked if entry} == {"100644"}


def test_subjects_are_bounded_and_trailers_cannot_be_forged(ugly_repo: Path) -> None:
    trailers = "%(trailers:only)%x01%(trailers:key=Memrepo-Run,valueonly)"
    log = git(ugly_repo, "log", "-z", f"--format=%s%x01{trailers}")
    known = memories(ugly_repo)
    for record in filter(None, log.split("\0")):
        subject, body, runs = record.split("\x01")
        assert all(line.startswith("Memrepo-") for line in body.splitlines())
        assert len(subject) <= 72
        assert subject.isprintable()
        assert "deadbeef" not in body
        assert len(runs.split()) <= 1
        assert set(MEMORY_ID.findall(body)) <= known.keys()


LINE_ID = re.compile(r"^- (?:.*)`([0-9a-f]{6})`(?: \d{4}-\d\d-\d\d)?$", re.MULTILINE)
"""The beginning of the id of each line of a page."""


# -- views -------------------------------------------------------------------------------------


def test_views_print_every_active_claim_exactly_once(ugly_repo: Path) -> None:
    printed = [
        id_
        for path in (ugly_repo / "views").glob("*.md")
        for id_ in LINE_ID.findall(path.read_text())
    ]
    claims = [m for m in memories(ugly_repo).values() if not m.is_note and m.status == "active"]
    assert sorted(printed) == sorted(m.id[4:10] for m in claims)
    assert done(ugly_repo, "show", printed[0])["memory"]["id"] in {m.id for m in claims}


def kinds_below(blocks: list[dict[str, object]]) -> set[object]:
    """Return the kinds of tokens in a parsed page, at any depth."""
    found: set[object] = set()
    for block in blocks:
        found |= {block["type"], *kinds_below(block.get("children", []))}  # type: ignore[arg-type]
    return found


def test_no_line_of_a_memory_or_source_name_becomes_markup_of_a_view(ugly_repo: Path) -> None:
    import mistune

    read = mistune.create_markdown(renderer="ast")
    for path in (ugly_repo / "views").glob("*.md"):
        stamp, _, text = path.read_text(encoding="utf-8").partition("\n")
        assert re.fullmatch(r"<!-- memrepo:view [0-9a-f]+ -->", stamp)
        blocks = read(text)
        kinds = {b["type"] for b in blocks}
        assert kinds <= {"heading", "paragraph", "block_quote", "blank_line", "list"}
        assert not kinds_below(blocks) & {"block_html", "inline_html"}
        levels = [b["attrs"]["level"] for b in blocks if b["type"] == "heading"]
        assert (levels[0], levels.count(1), set(levels) <= {1, 2, 3}) == (1, 1, True)
        assert len([b for b in blocks if b["type"] == "paragraph"]) <= 3
        items = [i for b in blocks if b["type"] == "list" for i in b["children"]]
        assert {i["type"] for i in items} <= {"list_item", "task_list_item"}
        below = {b["type"] for i in items for b in i["children"]}
        assert below <= {"block_text", "block_quote", "blank_line", "paragraph", "list"}
        if path.name not in ("TOPICS.md", "LTMEMORY.md"):
            assert len(items) == len(LINE_ID.findall(text))
        assert not any(ord(ch) < 32 and ch not in "\n\t" for ch in text)


# -- growth ------------------------------------------------------------------------------------


def grow(repo: Path, day: int) -> dict[str, object]:
    """Let the workspace be as it is on a day, and run."""
    workspaces.growing(repo.parent / "workspace", day)
    return done(repo, "run", now=f"2026-03-01T09:{day}0:00Z")


def written(repo: Path, revisions: str = "HEAD^1..HEAD") -> dict[str, str]:
    """Return what differs between two commits under memories/: status letter by path."""
    raw = git(repo, "diff", "--no-renames", "--name-status", revisions, "--", "memories")
    return {path: letter for letter, path in (line.split("\t") for line in raw.splitlines())}


def by_text(repo: Path, part: str) -> Memory:
    """Return the note of a log or, where no note says it, the one claim."""
    found = [m for m in memories(repo).values() if part in m.body]
    (one,) = [m for m in found if m.is_note] or found
    return one


def test_an_appended_bullet_is_one_new_memory_and_a_new_log_one_new_note(small_repo: Path) -> None:
    answer = grow(small_repo, 1)
    assert answer["counts"]["memories_new"] == 1
    assert answer["counts"]["notes_new"] == 1
    new = [m for m in memories(small_repo).values() if "14 deg" in m.body or "new pump" in m.body]
    assert written(small_repo) == dict.fromkeys((m.path for m in new), "A")


def test_a_newer_value_supersedes_the_old_one_in_one_commit_of_both_files(small_repo: Path) -> None:
    old = by_text(small_repo, "every 3 days")
    grow(small_repo, 3)
    new = by_text(small_repo, "every 5 days")
    was = memories(small_repo)[old.id]
    assert (was.status, was.superseded_by, was.body) == ("superseded", (new.id,), old.body)
    assert new.supersedes == (old.id,)
    (commit,) = done(small_repo, "log", "--op", "supersede")["entries"]
    assert set(commit["memories"]) == {old.id, new.id}
    assert written(small_repo, f"{commit['commit']}^..{commit['commit']}") == {
        old.path: "M",
        new.path: "M",
    }
    assert old.id not in (small_repo / "views/LTMEMORY.md").read_text()


def test_a_renamed_source_makes_no_second_memory(small_repo: Path) -> None:
    grow(small_repo, 4)
    hoe, count = by_text(small_repo, "rotary hoe"), len(memories(small_repo))
    answer = grow(small_repo, 5)
    assert answer["ingest"]["added"] == ["sources/memory/tools-and-sheds.md"]
    assert answer["ingest"]["removed"] == ["sources/memory/tools.md"]
    assert len(memories(small_repo)) == count
    assert written(small_repo) == {hoe.path: "M"}
    now = memories(small_repo)[hoe.id]
    assert "sources/memory/tools-and-sheds.md" in {s.resource for s in now.sources}
    assert (now.body, now.status) == (hoe.body, "active")


def test_the_memories_of_a_deleted_source_are_marked_until_a_person_decides(
    small_repo: Path,
) -> None:
    (small_repo.parent / "workspace/memory/tools.md").unlink()
    before = {i: m.status for i, m in memories(small_repo).items()}
    answer = memrepo(small_repo, "run", now=LATER)
    assert answer.exit == 0
    marked = {i for i, m in memories(small_repo).items() if m.standing == "retire_candidate"}
    assert marked == set(answer.data["marked"]) != set()
    assert {i: m.status for i, m in memories(small_repo).items()} == before
    again = memrepo(small_repo, "run", now="2026-03-01T11:30:00Z")
    assert (again.exit, again.data["marked"]) == (0, [])
    assert_sound(small_repo)


def edit(repo: Path, old: str, new: str) -> dict[str, object]:
    """Replace text in the workspace's MEMORY.md, and run."""
    path = repo.parent / "workspace" / "MEMORY.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return done(repo, "run", now=LATER)


def test_an_edited_sentence_rewords_its_memory_and_keeps_the_id(small_repo: Path) -> None:
    old = by_text(small_repo, "heirloom tomatoes")
    edit(small_repo, "only heirloom tomatoes from", "only heirloom tomatoes and beans from")
    new = by_text(small_repo, "tomatoes and beans")
    assert (new.id, new.path) == (old.id, old.path)
    assert old.sources[0].text_hash in new.former
    assert written(small_repo) == {old.path: "M"}


# -- dry run, no workspace ---------------------------------------------------------------------


def test_without_a_workspace_the_sources_folder_is_the_input(repo: Path) -> None:
    assert done(repo, "run")["status"] in ("ok", "skipped")
    (repo / "sources" / "inbox" / "note.md").write_text(
        "- The shed must always be locked at six.\n"
    )
    assert done(repo, "run")["counts"]["memories_new"] == 1
    assert_sound(repo)


def test_a_deleted_log_leaves_sources_and_its_notes_stay(small_repo: Path) -> None:
    grow(small_repo, 3)
    answer = grow(small_repo, 4)
    assert answer["ingest"]["removed"] == ["sources/memory/2026-02-01.md"]
    assert not (small_repo / "sources/memory/2026-02-01.md").exists()
    evidence = done(small_repo, "show", by_text(small_repo, "Hail broke").id)["evidence"]
    assert [(e["resolved"], "Hail broke" in e["quote"]) for e in evidence] == [("lost", True)]
    assert_sound(small_repo)
