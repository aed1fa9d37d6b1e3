"""Runs that wait: what is shown of them, how they are refused, and what makes a run wait."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, assert_sound, done, git, memories, memrepo, runs, standing

MUCH_LATER = "2026-03-01T11:10:00Z"
NAMES = "ash birch cedar elm fir hazel larch maple oak pine rowan spruce willow yew".split()
TOWNS = "Rome Oslo Turin Bern Lyon Porto Ghent Delft Essen York Cork Graz Brno Riga".split()
LINES = [
    f"- The server {n} in {t} keeps the archive of {n} {t}."
    for n, t in zip(NAMES, TOWNS, strict=True)
]


def write(workspace: Path, name: str, lines: list[str]) -> None:
    workspace.mkdir(exist_ok=True)
    (workspace / name).write_text("# Servers\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    write(tmp_path / "workspace", "MEMORY.md", LINES)
    write(tmp_path / "workspace", "USER.md", ["- The operator lives in Lisbon since 2019."])
    done(tmp_path, "init", "repo", "--from", "workspace")
    done(tmp_path / "repo", "run")
    return tmp_path / "repo"


def waiting(ran: dict[str, Any]) -> str:
    """Return the run that waits after a run."""
    return str(ran["branch"]).removeprefix("run/")


def run(repo: Path, *options: str, now: str = LATER) -> tuple[int, dict[str, Any]]:
    answer = memrepo(repo, "run", *options, now=now)
    return answer.exit, answer.data


def test_a_source_without_a_hash_is_not_followed(servers: Path) -> None:
    own = servers / "memories/facts/archive.md"
    own.parent.mkdir(exist_ok=True, parents=True)
    own.write_text("---\ntype: fact\nsources:\n  - MEMORY.md:4\n---\n\nBirch is in Oslo.\n")
    memrepo(servers, "check", "--fix", own.relative_to(servers).as_posix())
    git(servers, "add", "-A")
    git(servers, "commit", "-q", "--no-verify", "-m", "by hand")
    lines = [line for line in LINES if "birch" not in line]
    write(servers.parent / "workspace", "MEMORY.md", lines)
    assert run(servers)[1]["counts"]["memories_retired"] == 1
    found = {m.body: m for m in memories(servers).values()}
    assert found["Birch is in Oslo."].standing != "retire_candidate"
    assert [s.text_hash for s in found["Birch is in Oslo."].sources] == [""]


def test_a_removed_line_retires_its_memory_with_the_reason(servers: Path) -> None:
    write(servers.parent / "workspace", "MEMORY.md", LINES[1:])
    code, data = run(servers)
    assert (code, data["counts"]["memories_retired"]) == (0, 1)
    (gone,) = [m for m in memories(servers).values() if m.standing == "retire_candidate"]
    assert "server ash " in gone.body
    (retired,) = gone.fields["retired"]
    assert retired.run == data["run"]
    assert retired.reason == "text_removed: sources/MEMORY.md"
    assert gone.status == "archived"
    assert "\n\nline removed from sources/MEMORY.md\n" in git(servers, "log", "--format=%B", "-9")
    assert "server ash " not in (servers / "views" / "LTMEMORY.md").read_text()
    assert run(servers, now=MUCH_LATER)[1]["status"] == "skipped"


def test_a_line_that_returns_is_believed_again_under_its_old_id(servers: Path) -> None:
    before = set(memories(servers))
    write(servers.parent / "workspace", "MEMORY.md", LINES[1:])
    run(servers)
    write(servers.parent / "workspace", "MEMORY.md", LINES)
    run(servers, now=MUCH_LATER)
    found = memories(servers)
    assert set(found) == before
    assert {m.standing for m in found.values()} <= {"resolved", "unresolved"}
    assert {m.status for m in found.values()} == {"active"}
    assert_sound(servers)


def test_what_a_person_stands_behind_outlives_its_line_and_is_marked(servers: Path) -> None:
    ids = {m.body.partition("server ")[2].split(" ")[0]: m.id for m in memories(servers).values()}
    done(servers, "confirm", ids["birch"])
    done(servers, "pin", ids["cedar"])
    write(servers.parent / "workspace", "MEMORY.md", LINES[3:])
    ran = run(servers)[1]["run"]
    found = memories(servers)
    gone = [found[ids[n]] for n in ("ash", "birch", "cedar")]
    assert {m.standing for m in gone} == {"retire_candidate"}
    assert [m.status for m in gone] == ["archived", "active", "active"]
    done(servers, "revert", ran)
    assert {memories(servers)[i].status for i in ids.values()} == {"active"}


def test_a_new_waiting_run_replaces_the_old_and_keeps_its_commits(servers: Path) -> None:
    write(servers.parent / "workspace", "MEMORY.md", LINES[:10])
    first = run(servers, "--mode", "reconciliation")[1]
    write(servers.parent / "workspace", "MEMORY.md", LINES[:4])
    second = run(servers, "--mode", "reconciliation", now=MUCH_LATER)[1]
    branches = git(servers, "branch", "--format=%(refname:short)").split()
    assert branches == ["main", second["branch"]]
    kept = git(servers, "for-each-ref", "--format=%(refname)", "refs/memrepo/decided").split()
    assert kept == [f"refs/memrepo/decided/{waiting(first)}"]


def test_a_discarded_run_is_not_proposed_again_and_its_commits_stay(servers: Path) -> None:
    write(servers.parent / "workspace", "MEMORY.md", [*LINES[:10], "- A new fact of the archive."])
    held = run(servers, "--mode", "reconciliation")[1]
    before = memories(servers)
    answer = done(servers, "discard", now=MUCH_LATER)
    assert answer["run"] == waiting(held)
    assert memories(servers) == before
    assert git(servers, "branch", "--format=%(refname:short)").split() == ["main"]
    ref = f"refs/memrepo/decided/{waiting(held)}"
    assert git(servers, "for-each-ref", "--format=%(refname)", ref).strip() == ref
    assert run(servers, now="2026-03-01T11:20:00Z")[1]["status"] == "skipped"
    again = run(servers, "--mode", "reconciliation", now="2026-03-01T11:40:00Z")
    assert (again[0], again[1]["status"]) == (0, "skipped")
    assert_sound(servers)


@pytest.mark.parametrize(
    ("verb", "later"),
    [("accept", "proposes again is left out"), ("discard", "proposes its changes")],
)
def test_an_undone_decision_says_that_the_run_does_not_wait_again(
    servers: Path, verb: str, later: str
) -> None:
    write(servers.parent / "workspace", "MEMORY.md", [*LINES[:10], "- A new fact of the archive."])
    run(servers, "--mode", "reconciliation")
    done(servers, verb, now=MUCH_LATER)
    shown = memrepo(servers, "undo", now=MUCH_LATER, as_json=False)
    assert "the run does not wait again" in shown.out
    assert later in shown.out
    status, again = run(servers, "--mode", "reconciliation", now="2026-03-01T11:40:00Z")
    assert (status == 3) is (verb == "discard"), again
    assert done(servers, "pin", next(iter(memories(servers))), now=MUCH_LATER)
    assert "does not wait" not in memrepo(servers, "undo", now=MUCH_LATER, as_json=False).out


def test_a_reconciliation_that_would_change_something_waits(servers: Path) -> None:
    id_ = next(i for i, m in memories(servers).items() if "Lisbon" in m.body)
    done(servers, "edit", id_, "--text", "The operator lives in Porto.")
    done(servers, "add", "Nothing says this but a person.")
    write(servers.parent / "workspace", "USER.md", ["- The operator lives in Faro since 2024."])
    code, data = run(servers, "--mode", "reconciliation")
    assert (code, data["mode"]) == (3, "reconciliation")
    assert "reviewed" in data["why"]


def test_what_a_person_added_is_never_retired_for_want_of_a_source(servers: Path) -> None:
    id_ = done(servers, "add", "Nothing says this but a person.")["id"]
    run(servers, "--mode", "reconciliation")
    assert memories(servers)[id_].standing == "resolved"


def forge(repo: Path, **fields: object) -> None:
    (path,) = (repo / "runs").rglob("*.json")
    record = json.loads(path.read_text())
    record.update(fields)
    for key in [k for k, v in fields.items() if v is None]:
        del record[key]
    path.write_text(json.dumps(record))
    git(repo, "commit", "-qam", "forged", "--no-verify")


@pytest.mark.parametrize("fields", [{"logic_version": 0}, {"logic_version": None}])
def test_an_older_logic_refuses_runs_until_it_is_acknowledged(
    servers: Path, fields: dict[str, object]
) -> None:
    forge(servers, **fields)
    before = standing(servers)
    answer = memrepo(servers, "run", now=LATER)
    assert answer.exit == 3
    assert "upgrade required" in answer.error["message"]
    assert standing(servers) == before
    code, data = run(servers, "--acknowledge-upgrade")
    assert (code, data["mode"]) == (0, "reconciliation")
    assert run(servers, now=MUCH_LATER)[1]["status"] == "skipped"


def test_a_newer_repository_refuses_writes_and_allows_reads(servers: Path) -> None:
    forge(servers, logic_version=99)
    assert memrepo(servers, "run", now=LATER).exit == 3
    assert done(servers, "search", "archive")["hits"]


@pytest.mark.parametrize("command", ["discard", "accept"])
def test_where_nothing_waits_nothing_is_decided(small_repo: Path, command: str) -> None:
    answer = memrepo(small_repo, command)
    assert answer.exit == 2
    assert "no run is pending review" in answer.error["message"]


def held(servers: Path) -> dict[str, Any]:
    lines = [
        LINES[0].replace("archive", "backups"),
        *LINES[1:11],
        "- A new fact of the archive is that it moves.",
        "- **Editor:** helix since this year.",
    ]
    write(servers.parent / "workspace", "MEMORY.md", lines)
    code, data = run(servers, "--mode", "reconciliation")
    assert code == 3
    return data


MARKS = ("+++", "---")


def test_accepting_a_waiting_run_gives_the_tree_that_was_shown(servers: Path) -> None:
    waits = held(servers)
    shown = git(servers, "rev-parse", f"{waits['branch']}:memories").strip()
    answer = done(servers, "accept", now=MUCH_LATER)
    assert (answer["conflicts"], answer["left_out"]) == ([], [])
    differing = git(servers, "diff", "-U0", shown, "HEAD:memories").splitlines()
    told = [line for line in differing if line.startswith(("+", "-")) and line[:3] not in MARKS]
    assert all(line.startswith("+hot: ") for line in told), "all but the first page"
    assert git(servers, "branch", "--format=%(refname:short)").split() == ["main"]
    assert run(servers, now="2026-03-01T11:20:00Z")[1]["status"] == "skipped"
    assert done(servers, "log")["entries"][0]["run"] == waits["run"]
    assert_sound(servers)


def test_what_a_person_did_meanwhile_stays(servers: Path) -> None:
    waits = held(servers)
    reworded = next(c for c in done(servers, "diff")["changes"] if c["op"] == "reworded")
    other = next(i for i, m in memories(servers).items() if "Lisbon" in m.body)
    done(servers, "pin", reworded["id"])
    done(servers, "edit", other, "--text", "The operator lives in Porto.")
    done(servers, "accept", now=MUCH_LATER)
    found = memories(servers)
    assert found[reworded["id"]].pinned
    assert "backups" in found[reworded["id"]].body
    assert found[other].body == "The operator lives in Porto."
    assert waits["run"] in runs(servers)
    assert_sound(servers)


def test_what_was_rejected_while_a_run_waited_leaves_no_file(servers: Path) -> None:
    waits = held(servers)
    new = next(c for c in done(servers, "diff")["changes"] if "moves" in str(c["after"]))
    done(servers, "reject", new["id"], "--reason", "it does not move", now=LATER)
    answer = done(servers, "accept", now=MUCH_LATER)
    assert answer["left_out"] == [new["id"]]
    assert new["id"] not in memories(servers)
    subject = git(servers, "log", "-1", "--format=%s").strip()
    assert subject == f"Run {waits['run']}: 5 of 6 memories changed as proposed"
    stones = done(servers, "reject", "--list")["rejected"]
    assert [s["changes"] for s in stones if s["changes"]] == [[new["id"]]]
    assert_sound(servers)


def test_what_a_rejected_memory_would_have_replaced_stays_active(servers: Path) -> None:
    for editor, options in (("nano", ()), ("helix", ("--mode", "reconciliation"))):
        row = f"- **Editor:** {editor}"
        write(servers.parent / "workspace", "MEMORY.md", [*LINES, row])
        run(servers, *options)
    changes = done(servers, "diff")["changes"]
    (old,) = (c["id"] for c in changes if c["op"] == "superseded")
    (new,) = (c["id"] for c in changes if c["supersedes"] == [old])
    done(servers, "reject", new, "--reason", "nobody uses it", now=MUCH_LATER)
    answer = done(servers, "accept", now=MUCH_LATER)
    assert answer["left_out"] == sorted((old, new))
    found = memories(servers)
    assert (found[old].status, found[old].superseded_by, new in found) == ("active", (), False)
    assert_sound(servers)


def test_what_a_person_edited_before_a_program_touched_it_is_a_conflict(servers: Path) -> None:
    other = next(m for m in memories(servers).values() if "Lisbon" in m.body)
    write(servers.parent / "workspace", "MEMORY.md", [*LINES, "- A new fact of the archive."])
    branch = run(servers, "--mode", "reconciliation")[1]["branch"]
    git(servers, "switch", "-q", branch)
    git(servers, "rm", "-q", other.path)
    git(servers, "commit", "-qm", "gone", "--no-verify")
    git(servers, "switch", "-q", "main")
    done(servers, "edit", other.id, "--text", "The operator lives in Porto.")
    path = servers / other.path
    path.write_text(path.read_text().replace("Porto", "Porto now"))
    said = "by a program\n\nMemrepo-Op: tier\nMemrepo-Actor: memrepo/1"
    git(servers, "commit", "-qam", said, "--no-verify")
    answer = memrepo(servers, "accept", now=MUCH_LATER)
    assert (answer.exit, answer.data["left_out"]) == (3, [other.id])
    assert memories(servers)[other.id].body == "The operator lives in Porto now."


def test_a_branch_named_run_is_refused_before_anything_is_judged(servers: Path) -> None:
    git(servers, "branch", "run")
    write(servers.parent / "workspace", "MEMORY.md", LINES[:10])
    before = standing(servers)
    answer = memrepo(servers, "run", "--mode", "reconciliation", now=LATER)
    assert answer.exit == 5
    assert "git branch -m run" in answer.error["fix"]
    assert standing(servers) == before


def test_where_nothing_waits_the_last_run_is_shown(small_repo: Path, tmp_path: Path) -> None:
    shown = done(small_repo, "diff")
    assert shown["state"] == "landed"
    assert shown["run"] == runs(small_repo)[0]
    done(tmp_path, "init", "empty")
    assert memrepo(tmp_path / "empty", "diff").exit == 2
