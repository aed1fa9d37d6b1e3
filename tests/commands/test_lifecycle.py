"""The lifecycle in runs and commands: what moves, what is committed, what recall hands over."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from driving import (
    NOW,
    assert_sound,
    classic,
    done,
    git,
    memories,
    memrepo,
    operations,
    standing,
    subjects,
)

from memrepo.core.memory import Memory
from memrepo.core.times import format_time, parse_time
from memrepo.text.sentences import token_count


def after(**span: int) -> str:
    return format_time(parse_time(NOW) + timedelta(**span))


def moves(repo: Path, count: int = 40) -> list[str]:
    ops = ("tier", "prune", "archive", "promote", "demote")
    return [op for op in operations(repo, f"-{count}") if op in ops]


def notes(repo: Path) -> list[Memory]:
    return [m for m in memories(repo).values() if m.is_note]


def claim(repo: Path) -> Memory:
    return min((m for m in memories(repo).values() if not m.is_note), key=lambda m: m.id)


def added(repo: Path, text: str, *options: str, now: str = NOW) -> str:
    return str(done(repo, "add", text, *options, now=now)["id"])


def test_moves_of_one_cause_share_a_commit_that_says_why(small_repo: Path) -> None:
    count = len(notes(small_repo))
    read = notes(small_repo)[0]
    done(small_repo, "show", read.id, now=after(hours=1))
    ran = done(small_repo, "run", now=after(days=8))
    assert ran["counts"]["tier_moves"] == count
    moved = subjects(small_repo, "-8", "--grep=Memrepo-Op: tier")
    assert moved == [f"Move {count} notes to gist"]
    body = git(small_repo, "log", "--format=%B", "-8")
    why = (
        "by the time since creation or the last retrieval:"
        " warm after 3h, gist after 7d, forgotten after 14d"
    )
    assert body.count(f"Memrepo-Reason: {why}") == 1
    assert all(body.count(f"Memrepo-Memory: {note.id}") == 1 for note in notes(small_repo))
    gist = {note.id: note.tier_since for note in notes(small_repo)}
    assert gist.pop(read.id) == parse_time(after(days=7, hours=1))
    assert set(gist.values()) == {parse_time(after(days=7))}
    newest = max((small_repo / "runs").rglob("*.json"))
    assert read.id in newest.read_text()


def test_a_dry_run_counts_what_the_run_then_does_and_keeps_no_ledger(small_repo: Path) -> None:
    classic(small_repo)
    done(small_repo, "show", claim(small_repo).id)
    before = standing(small_repo)
    dry = done(small_repo, "run", "--dry-run", now=after(days=31))
    assert standing(small_repo) == before
    assert dry["counts"] == done(small_repo, "run", now=after(days=31))["counts"]
    assert dry["counts"]["archived"] > 0


def test_a_prune_that_a_person_took_back_is_not_done_again(small_repo: Path) -> None:
    id_ = added(small_repo, "The hall is painted this week.", "--class", "short")
    done(small_repo, "run", now=after(days=3))
    assert id_ not in memories(small_repo)
    (commit,) = git(
        small_repo,
        "log",
        "--format=%H",
        f"--grep=^Memrepo-Memory: {id_}",
        "--grep=^Memrepo-Op: prune",
        "--all-match",
    ).split()
    done(small_repo, "revert", commit, now=after(days=3))
    assert id_ in memories(small_repo)
    done(small_repo, "run", now=after(days=4))
    assert id_ in memories(small_repo)


# -- hot cache -----------------------------------------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
def test_a_foreign_memory_file_is_left_alone(repo: Path, committed: bool) -> None:
    mine = repo / "MEMORY.md"
    mine.write_text("# Mine\n", encoding="utf-8")
    if committed:
        git(repo, "add", "MEMORY.md")
        git(repo, "commit", "-q", "--no-verify", "-m", "mine")
    done(repo, "promote", added(repo, "The gate opens at six."))
    assert mine.read_text(encoding="utf-8") == "# Mine\n"
    assert "The gate" in (repo / "HOT.md").read_text(encoding="utf-8")


# -- sessions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [5, 30, 41, 60, 97, 200])
def test_all_that_a_session_s_start_prints_is_within_its_budget(
    small_repo: Path, limit: int
) -> None:
    # A sign of a script without blanks is a token, not a quarter of one.
    said = "備份在凌晨三點四十分運行。", "プリンターは三階にあります。", "The ``` gate ```` opens."
    for text in said:
        done(small_repo, "promote", added(small_repo, text))
    argv = ("session", "start", "--max-tokens", str(limit))
    printed = memrepo(small_repo, *argv, as_json=False).out.rstrip("\n")
    found = done(small_repo, *argv)
    assert max(token_count(printed), found["tokens"]) <= limit
    assert ("did not fit" in printed) == bool(found["left_out"])


@pytest.mark.parametrize(
    "options", [("--soft", "--reclassify"), ("--dry-run",), ("--reason", "spring")]
)
def test_health_refuses_options_that_would_do_nothing(
    small_repo: Path, options: tuple[str, ...]
) -> None:
    head = git(small_repo, "rev-parse", "HEAD")
    assert memrepo(small_repo, "health", *options).exit == 2
    assert git(small_repo, "rev-parse", "HEAD") == head


# -- decay and tiers -----------------------------------------------------------------------------


# -- directives ------------------------------------------------------------------------------------


def test_a_reconciliation_moves_nothing(small_repo: Path) -> None:
    before = moves(small_repo)
    memrepo(small_repo, "run", "--mode", "reconciliation", now=after(days=40))
    assert moves(small_repo) == before


@pytest.mark.parametrize("option", ["--type=fact", "--status=archived", "--at=HEAD"])
def test_what_a_layered_search_cannot_heed_is_refused(small_repo: Path, option: str) -> None:
    refused = memrepo(small_repo, "search", "--layered", "zebra", "crossing", option)
    assert refused.exit == 2
    assert option.partition("=")[0] in refused.error["message"]


def test_our_own_page_is_never_ingested(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    repo = tmp_path / "agent"
    (repo / "PROCEDURES.md").write_text("# P\n\n## Pump\n\n1. Open the valve.\n", encoding="utf-8")
    done(repo, "init")
    done(repo, "run")
    done(repo, "promote", claim(repo).id)
    assert (repo / "MEMORY.md").exists()
    assert done(repo, "run", now=after(minutes=1))["status"] == "skipped"
    assert not (repo / "sources" / "MEMORY.md").exists()


# Notes that were looked for again and again are judged by a run, once, and become memories.


SAID = "The backup of the wiki runs at 03:40 and writes to the second disk in the cellar."


def noted(repo: Path, text: str) -> str:
    return str(done(repo, "add", text, "--type", "note")["id"])


def looked_for(repo: Path, id_: str, times: int = 3) -> None:
    for hour in range(times):
        done(repo, "show", id_, now=after(hours=hour))


def promoted(repo: Path) -> list[Memory]:
    return [m for m in memories(repo).values() if m.origin == "promotion"]


def test_a_nominated_note_makes_no_memory_twice(tmp_path: Path) -> None:
    said = "Never open the kiln before it has cooled for nine hours."
    log = tmp_path / "workspace" / "memory" / "2026-03-01.md"
    log.parent.mkdir(parents=True)
    log.write_text(
        f"# 2026-03-01\n\n## 09:10 Kiln\n\n- {said}\n- We decided to fire recipe 14 hotter.\n"
    )
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = tmp_path / "repo"
    done(repo, "run")
    (note,) = [m for m in memories(repo).values() if m.type == "note"]
    claims = {i for i, m in memories(repo).items() if m.type != "note"}
    looked_for(repo, note.id)
    done(repo, "run", now=after(days=1))
    assert len(claims) == 2
    assert {i for i, m in memories(repo).items() if m.type != "note"} == claims
    assert memories(repo)[note.id].promoted
    assert_sound(repo)


def test_a_nomination_that_a_person_took_back_is_not_made_again(repo: Path) -> None:
    id_ = noted(repo, SAID)
    looked_for(repo, id_)
    run = done(repo, "run", now=after(days=1))["run"]
    done(repo, "revert", run, now=after(days=1))
    assert (promoted(repo), memories(repo)[id_].promoted) == ([], False)
    done(repo, "run", now=after(days=2))
    assert (promoted(repo), memories(repo)[id_].promoted) == ([], False)


# Compression as a stage of runs: paced, shown first, one commit a summary, taken back for good.


FIRST = "2026-03-01T09:00:00Z"


def configured(repo: Path, *lines: str) -> Path:
    path = repo / "memrepo.toml"
    path.write_text("\n".join([path.read_text(), "[compression]", *lines, ""]))
    git(repo, "commit", "-qam", "configure", "--no-verify")
    return repo


def summaries(repo: Path) -> list[Memory]:
    return [m for m in memories(repo).values() if m.type == "summary"]


def test_a_run_does_not_compress_what_it_made(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    lines = "".join(f"- Holt keeps key {n} of the shed below shelf {n}.\n" for n in range(60))
    (tmp_path / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n## Keys\n\n{lines}")
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = configured(tmp_path / "repo", "enabled = true", "trigger = 5", "keep = 0", "below = 1.0")
    done(repo, "run", now=FIRST)
    assert len(memories(repo)) > 20
    assert not summaries(repo)
    done(repo, "run", now="2026-03-05T10:00:00Z")
    assert summaries(repo)


def test_a_gist_without_the_words_asked_for_gives_way_to_the_note_s_sentences(
    small_repo: Path,
) -> None:
    gate = "The gate stays open until 14 May."
    rest = "The dispatcher Wanda goes on parental leave. He wants the crates before noon."
    asked = "The orchard moved its harvest from 3 March to 9 March."
    id_ = added(small_repo, f"- {rest} {asked}\n- {gate}", "--type=note")
    done(small_repo, "run", now=after(days=8))
    gist = memories(small_repo)[id_].gist
    assert gist is not None
    assert asked not in gist.summary

    def text(*words: str) -> str:
        hits = done(small_repo, "search", *words, "--no-touch", now=after(days=8))["hits"]
        return str(next(hit["text"] for hit in hits if hit["id"] == id_))

    assert asked in text("orchard", "harvest")
    assert asked not in text("gate", "open")
