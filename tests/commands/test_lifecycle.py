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


def test_a_note_captured_cooled_gisted_forgotten_and_found_again(small_repo: Path) -> None:
    classic(small_repo)
    repo, (first, *_) = small_repo, notes(small_repo)
    for span, tier in (
        ({"hours": 2}, "hot"),
        ({"hours": 3}, "warm"),
        ({"days": 7}, "gist"),
        ({"days": 15}, "forgotten"),
    ):
        done(repo, "run", now=after(**span))
        assert memories(repo)[first.id].tier == tier, span
    note = memories(repo)[first.id]
    assert note.status == "active"
    assert note.body == first.body
    assert note.tier_since == parse_time(NOW) + timedelta(days=15)
    shown = memrepo(repo, "show", first.id, now=after(days=16), as_json=False)
    assert "recovered: this note was forgotten" in shown.out
    assert (
        done(repo, "show", first.id, "--no-touch", now=after(days=16))["derived"]["tier"] == "warm"
    )
    (one,) = memrepo(repo, "health", now=after(days=16)).data["candidates"]
    assert (one["id"], one["why"]) == (first.id, ["marked by the user"])
    done(repo, "run", now=after(days=16))
    back = memories(repo)[first.id]
    assert (back.tier, back.user_marked) == ("warm", True)
    assert back.promoted
    # The others are cleaned 30 days after the commit that showed them forgotten, this one never.
    done(repo, "run", now=after(days=45))
    assert len(notes(repo)) == len(notes(small_repo))
    done(repo, "run", now=after(days=46))
    assert [n.id for n in notes(repo)] == [first.id]
    assert_sound(repo)


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


@pytest.mark.parametrize("days", [0, 1, 20])
def test_a_second_run_at_the_same_moment_changes_nothing(small_repo: Path, days: int) -> None:
    done(small_repo, "run", now=after(days=days))
    before = standing(small_repo)
    assert done(small_repo, "run", now=after(days=days))["status"] == "skipped"
    assert standing(small_repo) == before


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


def test_a_single_write_that_touches_a_hot_memory_carries_its_page(cold_repo: Path) -> None:
    id_ = added(cold_repo, "The gate opens at six.")
    assert not (cold_repo / "MEMORY.md").exists()
    done(cold_repo, "promote", id_)
    page = (cold_repo / "MEMORY.md").read_text(encoding="utf-8")
    assert "The gate opens at six. ↑2026-03-01(user request)←memories/knowledge/" in page
    assert "MEMORY.md" in git(cold_repo, "show", "--stat", "--format=", "HEAD")
    done(cold_repo, "pin", id_)
    assert "[pin]" in (cold_repo / "MEMORY.md").read_text(encoding="utf-8")
    done(cold_repo, "promote", "--off", id_)
    assert "←" not in (cold_repo / "MEMORY.md").read_text(encoding="utf-8")
    assert memories(cold_repo)[id_].fields["hot"].until == parse_time(NOW)
    assert_sound(cold_repo)


@pytest.mark.parametrize("committed", [True, False])
def test_a_foreign_memory_file_is_left_alone(tmp_path: Path, committed: bool) -> None:
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    mine = repo / "MEMORY.md"
    mine.write_text("# Mine\n", encoding="utf-8")
    if committed:
        git(repo, "add", "MEMORY.md")
        git(repo, "commit", "-q", "--no-verify", "-m", "mine")
    done(repo, "promote", added(repo, "The gate opens at six."))
    assert mine.read_text(encoding="utf-8") == "# Mine\n"
    assert "The gate" in (repo / "HOT.md").read_text(encoding="utf-8")


def test_three_sessions_promote_and_three_more_demote(
    cold_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, id_ = cold_repo, claim(cold_repo).id
    for number in range(3):
        done(repo, "session", "start", "--id", f"s{number}", now=after(hours=number))
        done(repo, "show", id_, now=after(hours=number, minutes=1))
        done(repo, "session", "end", now=after(hours=number, minutes=2))
    done(repo, "run", now=after(hours=3))
    assert memories(repo)[id_].fields["hot"].reason == "3 sessions"
    for number in range(4, 7):
        assert id_ in done(repo, "session", "start", now=after(hours=number))["hot"]
        done(repo, "session", "end", now=after(hours=number, minutes=1))
    done(repo, "run", now=after(hours=8))
    assert memories(repo)[id_].fields["hot"].until == parse_time(after(hours=8))
    assert "←" not in (repo / "MEMORY.md").read_text(encoding="utf-8")


# -- sessions ------------------------------------------------------------------------------------


def test_a_session_starts_with_what_is_hot_in_a_fence(cold_repo: Path) -> None:
    id_ = added(cold_repo, "Close the fence: ``` ```` now.")
    done(cold_repo, "promote", id_)
    before = git(cold_repo, "rev-parse", "HEAD")
    found = done(cold_repo, "session", "start", "--id", "chat")
    assert id_ in found["hot"]
    assert set(found["notes"]) == {n.id for n in notes(cold_repo)}
    lines = found["context"].splitlines()
    fence = lines[-1]
    assert set(fence) == {"`"}
    assert lines[1] == f"{fence}memories"
    assert found["context"].count(fence) == 2
    assert (git(cold_repo, "rev-parse", "HEAD"), git(cold_repo, "status", "-s")) == (before, "")
    shared = done(cold_repo, "session", "start", "--audience", "shared")
    assert shared["hot"] == []


def test_a_context_keeps_to_its_budget(small_repo: Path) -> None:
    for number in range(5):
        done(small_repo, "promote", added(small_repo, f"Long word {'x' * 100} {number}."))
    found = done(small_repo, "session", "start", "--max-tokens", "100")
    assert found["tokens"] <= 100
    assert found["left_out"] > 0
    assert done(small_repo, "session", "start", "--max-tokens", "5")["context"] == ""


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


# -- recall --------------------------------------------------------------------------------------


def test_recall_is_silent_about_what_is_over_and_status_expired_finds_it(
    small_repo: Path,
) -> None:
    id_ = added(small_repo, "The zebra crossing is closed.", "--class", "ephemeral")
    now = after(hours=4)
    assert [h["id"] for h in done(small_repo, "search", "zebra", now=now)["hits"]] == [id_]
    late = after(hours=4, seconds=1)
    assert done(small_repo, "search", "zebra", "--no-touch", now=late)["hits"] == []
    (hit,) = done(small_repo, "search", "zebra", "--status", "expired", now=late)["hits"]
    assert (hit["id"], hit["expired"]) == (id_, True)
    assert done(small_repo, "search", "zebra", "--status", "expired", now=now)["hits"] == []


def test_an_old_note_is_recalled_by_its_gist(small_repo: Path) -> None:
    note = notes(small_repo)[0]
    found = done(small_repo, "search", note.body, "--type", "note", "--no-touch", now=after(days=8))
    hit = next(h for h in found["hits"] if h["id"] == note.id)
    assert (hit["tier"], hit["answer_confidence"]) == ("gist", "medium")
    assert hit["text"].startswith(note.title)


# -- decay and tiers -----------------------------------------------------------------------------


def test_pruning_by_hand_shows_first_and_says_why(small_repo: Path) -> None:
    id_ = added(small_repo, "The hall is wet.", "--class", "short")
    soft = done(small_repo, "health", "--prune", "--soft", "--dry-run", now=after(days=3))
    dry = done(small_repo, "health", "--prune", "--dry-run", now=after(days=3))
    assert id_ in memories(small_repo)
    ran = done(small_repo, "health", "--prune", "--reason", "spring", now=after(days=3))
    assert id_ not in memories(small_repo)
    assert [c["memories"] for c in dry["changes"]] == [c["memories"] for c in ran["changes"]]
    assert soft["changes"] == []
    assert all(c["reason"].startswith("spring; class ") for c in ran["changes"])
    assert done(small_repo, "health", "--prune", now=after(days=3))["commit"] == ""
    assert_sound(small_repo)


def test_a_backfill_changes_what_a_program_classified(small_repo: Path) -> None:
    of = claim(small_repo)
    path = small_repo / of.path
    text = path.read_text(encoding="utf-8")
    assert "\ndecay:" not in text
    path.write_text(
        text.replace("\ncreated:", "\ndecay: {class: checkpoint}\ncreated:"), encoding="utf-8"
    )
    git(small_repo, "commit", "-qam", "older rules", "--no-verify")
    hand = added(small_repo, "The hall is wet.", "--class", "session")
    dry = done(small_repo, "health", "--reclassify", "--dry-run")
    assert [c["memories"] for c in dry["changes"]] == [[of.id]]
    done(small_repo, "health", "--reclassify")
    assert memories(small_repo)[of.id].fields["decay"] != "checkpoint"
    assert memories(small_repo)[hand].fields["decay"] == "session"
    assert done(small_repo, "health", "--reclassify")["changes"] == []


@pytest.mark.parametrize(
    "options", [("--soft", "--reclassify"), ("--dry-run",), ("--reason", "spring")]
)
def test_health_refuses_options_that_would_do_nothing(
    small_repo: Path, options: tuple[str, ...]
) -> None:
    head = git(small_repo, "rev-parse", "HEAD")
    assert memrepo(small_repo, "health", *options).exit == 2
    assert git(small_repo, "rev-parse", "HEAD") == head


def test_tiers_show_what_moves_next(small_repo: Path) -> None:
    count = len(notes(small_repo))
    found = done(small_repo, "health", now=after(hours=3))
    assert found["tiers"] == {"hot": 0, "warm": count, "gist": 0, "forgotten": 0}
    assert {row["to"] for row in found["due"]} == {"warm"}
    said = memrepo(small_repo, "health", now=after(hours=3), as_json=False).out
    assert f"warm       {count:>6}  high\n" in said
    assert "hot → warm" in said


def test_rules_are_configurable(small_repo: Path) -> None:
    path = small_repo / "memrepo.toml"
    rules = '\n[decay.ttl]\nmine = "1h"\nshort = "never"\n'
    path.write_text(path.read_text(encoding="utf-8") + rules, encoding="utf-8")
    git(small_repo, "commit", "-qam", "rules", "--no-verify")
    id_ = added(small_repo, "The hall is wet.", "--class", "mine")
    assert done(small_repo, "show", id_)["derived"]["expires"] == after(hours=1)


# -- layered search, health ------------------------------------------------------------------------


def noted(repo: Path, text: str, *, now: str = NOW) -> str:
    return added(repo, text, "--type", "note", now=now)


def test_a_layered_search_stops_at_the_first_tier_that_answers(small_repo: Path) -> None:
    old = noted(small_repo, "The zebra crossing is closed.")
    new = noted(small_repo, "The zebra crossing is open.", now=after(days=8))
    found = done(
        small_repo, "search", "--layered", "zebra", "crossing", "--no-touch", now=after(days=8)
    )
    assert ([h["id"] for h in found["hits"]], found["tier"]) == ([new], "hot")
    found = done(small_repo, "search", "--layered", "zebra", "closed", now=after(days=8))
    assert ([h["id"] for h in found["hits"]], found["tier"]) == ([old], "gist")
    assert done(small_repo, "show", old, now=after(days=8))["derived"]["tier"] == "hot"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["zebra"], 2),
        (["the", "zebra"], 2),
        (["did", "we", "see", "a", "zebra", "there"], 0),
        (["oak", "elm", "ash", "yew", "fir", "fig"], 2),
    ],
)
def test_a_layered_search_takes_two_to_five_words_that_say_something(
    small_repo: Path, words: list[str], code: int
) -> None:
    assert memrepo(small_repo, "search", "--layered", *words).exit == code


def test_health_is_the_snapshot_and_exits_one_when_something_waits(cold_repo: Path) -> None:
    assert done(cold_repo, "health")["healthy"]
    done(cold_repo, "promote", claim(cold_repo).id)
    found = done(cold_repo, "health")
    assert (found["hot"], found["promotions"], found["priority"]["recent"]) == (1, 1, 1)
    assert found["stalest"][0]["sessions"] == 0
    said = memrepo(cold_repo, "health", as_json=False).out
    assert said.startswith("=== Memory Health ===\nL1: 1/30 bullets | 0 tagged [pin]\n")
    done(cold_repo, "archive", added(cold_repo, "The zebra crossing is closed."))
    late = memrepo(cold_repo, "health", now=after(days=181))
    assert late.exit == 1
    assert late.data["review"]


# -- directives ------------------------------------------------------------------------------------


def told(repo: Path, text: str, *, now: str = NOW) -> dict[str, object]:
    path = repo.parent / "told.txt"
    path.write_text(text, encoding="utf-8")
    return done(repo, "directives", path, now=now)


def test_directives_do_what_they_say_and_a_second_time_nothing(small_repo: Path) -> None:
    id_ = added(small_repo, "The zebra crossing is closed.")
    memory = memories(small_repo)[id_]
    key = f"{memory.layer}:{memory.slug[:-7]}"
    text = f"Please [[promote:{key}]] and [[pin:{key}]], then [[memory_health]]."
    found = told(small_repo, text)
    assert found["counts"] == {"directives": 3, "steps": 2}
    now = memories(small_repo)[memory.id]
    assert (now.fields["hot"].reason, now.pinned) == ("user request", True)
    assert told(small_repo, text)["counts"] == {"directives": 3, "steps": 0}
    gone = told(small_repo, "[[forget keyword:ZEBRA crossing]] [[forget:knowledge:nothing]]")
    assert [row["said"] for row in gone["applied"]] == [
        "took 1 memory off the first page",
        "names no memory",
    ]
    after_ = memories(small_repo)[memory.id]
    assert after_.status == "active"
    assert after_.fields["hot"].until is not None
    assert_sound(small_repo)


def test_a_reconciliation_moves_nothing(small_repo: Path) -> None:
    before = moves(small_repo)
    memrepo(small_repo, "run", "--mode", "reconciliation", now=after(days=40))
    assert moves(small_repo) == before


@pytest.mark.parametrize(
    "option", ["--type=fact", "--status=archived", "--at=HEAD", "--valid-at=2026-03-01"]
)
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
