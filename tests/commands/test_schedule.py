"""The schedule: crontab entries that start runs when they are due, launchers, missed runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from driving import Done, done, git, memrepo

import memrepo as package

FOREIGN = "MAILTO=me@example.org\n*/5 * * * * /usr/bin/true\n"
SATURDAY = "2026-02-28T00:00:00Z"  # 08:00 in Manila


def configure(repo: Path, text: str) -> None:
    """Add sections to `memrepo.toml`, in place of those of the same name."""
    path = repo / "memrepo.toml"
    old = path.read_text(encoding="utf-8")
    for heading in re.findall(r"(?m)^\[\w+\]$", text):
        old = re.sub(rf"(?ms)^{re.escape(heading)}$.*?(?=^\[|\Z)", "", old)
    path.write_text(f"{old}\n{text}\n", encoding="utf-8")


def entries(table: Path) -> list[str]:
    """Return the lines of a crontab that start something of ours."""
    return [row for row in table.read_text().splitlines() if " run --scheduled" in row]


def schedule(repo: Path, *argv: str, now: str = SATURDAY) -> Done:
    return memrepo(repo, "schedule", *argv, now=now)


def test_entries_are_written_once_beside_foreign_lines_and_go_without_a_trace(
    small_repo: Path, fake_crontab: Path
) -> None:
    fake_crontab.write_text(FOREIGN)
    assert schedule(small_repo, "install").exit == 0
    table = fake_crontab.read_text()
    assert table.startswith(FOREIGN)
    assert [row[:12] for row in entries(fake_crontab)] == ["*/5 * * * * "]
    assert schedule(small_repo, "install").data["changed"] is False
    assert fake_crontab.read_text() == table
    assert done(small_repo, "schedule", "remove")["changed"] is True
    assert fake_crontab.read_text() == FOREIGN
    assert done(small_repo, "schedule", "remove")["changed"] is False
    assert "memrepo.schedule" not in git(small_repo, "config", "--list", "--local")


def test_a_changed_cadence_is_out_of_step_until_it_is_installed(
    small_repo: Path, fake_crontab: Path
) -> None:
    schedule(small_repo, "install")
    assert schedule(small_repo, "show").data["state"] == "scheduled by the crontab:"
    configure(small_repo, '[schedule]\nincremental = ["*/30 9-17 * * mon-fri"]\ntimeout_s = 60')
    answer = memrepo(small_repo, "doctor", now=SATURDAY)
    assert answer.exit == 1
    (found,) = (c for c in answer.data["checks"] if c["name"] == "schedule")
    assert "different from the configuration" in found["message"]
    assert memrepo(small_repo, "doctor", "--fix", now=SATURDAY).exit == 0
    assert "-k 60 60 " in fake_crontab.read_text()
    configure(small_repo, "[schedule]\nincremental = []\nreconciliation = []")
    schedule(small_repo, "install")
    assert not fake_crontab.exists()


@pytest.mark.parametrize(
    ("now", "mode"),
    [
        ("2026-03-02T09:15:03Z", "incremental"),  # 17:15 in Manila
        ("2026-03-02T09:14:59Z", ""),
        ("2026-03-02T09:20:00Z", ""),
        ("2026-03-03T21:15:00Z", "reconciliation"),  # Wednesday 05:15 in Manila
    ],
)
def test_a_scheduled_run_is_made_only_if_one_is_due(small_repo: Path, now: str, mode: str) -> None:
    log = small_repo / ".memrepo" / "last-run.json"
    before = log.read_bytes()
    assert memrepo(small_repo, "run", "--scheduled", now=now).exit == 0
    made = done(small_repo, "report")["last"]["mode"] if log.read_bytes() != before else ""
    assert made == mode


def test_the_notes_of_the_day_land_before_a_scheduled_reconciliation_waits(
    small_repo: Path,
) -> None:
    log = small_repo.parent / "workspace/memory/2026-03-03.md"
    log.write_text("# 2026-03-03\n\n- Vera decided to sell the red pump.\n", encoding="utf-8")
    memory = small_repo.parent / "workspace/MEMORY.md"
    memory.write_text("# Memory\n\n- Vera keeps bees.\n", encoding="utf-8")
    memrepo(small_repo, "run", "--scheduled", now="2026-03-03T21:15:00Z")
    assert "red pump" in git(small_repo, "grep", "-h", "red pump", "HEAD", "--", "memories")
    assert done(small_repo, "report")["last"]["mode"] == "reconciliation"


@pytest.mark.parametrize("option", [("--mode", "incremental"), ("--estimate",)])
def test_the_schedule_alone_chooses_a_scheduled_run(
    small_repo: Path, option: tuple[str, ...]
) -> None:
    answer = memrepo(small_repo, "run", "--scheduled", *option, now="2026-03-02T09:20:00Z")
    assert answer.exit == 2
    assert "leave out --mode and --estimate" in answer.error["fix"]


def test_an_entry_really_runs_from_an_empty_environment(
    small_repo: Path, fake_crontab: Path, tmp_path: Path
) -> None:
    there = tmp_path / "100% mine; it's"
    small_repo.rename(there)
    configure(there, '[schedule]\nincremental = ["* * * * *"]\nreconciliation = []')
    schedule(there, "install")
    (row,) = entries(fake_crontab)
    command = row.removeprefix("*/5 * * * * ").replace(r"\%", "%")
    assert re.sub(r"\\%", "", row).count("%") == 0
    root = Path(package.__file__).resolve().parent
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(root)}
    subprocess.run(["/bin/sh", "-c", command], check=False, env=env, cwd="/")
    log = (there / ".memrepo" / "log" / "cron.log").read_text()
    assert log.startswith(("nothing new", "run ", "sources copied")), log
    assert git(there, "status", "--porcelain").split() == ["M", "memrepo.toml"]


def test_a_crontab_that_cannot_be_read_is_not_overwritten(
    small_repo: Path, fake_crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_crontab.write_text(FOREIGN)
    monkeypatch.setenv("FAKE_CRONTAB_FAILS", "permission denied")
    answer = schedule(small_repo, "install")
    assert answer.exit == 5
    assert "permission denied" in answer.error["message"]
    assert fake_crontab.read_text() == FOREIGN


def test_a_machine_without_crontab_is_shown_what_would_be_written(
    small_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrepo.store.settings.shutil.which", lambda _: None)
    assert schedule(small_repo, "install").exit != 0
    shown = done(small_repo, "schedule", "install", "--dry-run", now=SATURDAY)
    assert shown["changed"]
    assert "run --scheduled" in shown["crontab"][0]


# -- an agent's own cron ---------------------------------------------------------------------------


def test_status_promises_no_run_of_a_cron_that_it_cannot_see(small_repo: Path) -> None:
    schedule(small_repo, "install", "--launcher")
    said = memrepo(small_repo, "status", now=SATURDAY, as_json=False).out
    assert re.search(r"schedule +next run .*, if your agent's cron has the jobs", said)


@pytest.mark.parametrize(
    ("text", "announce", "warned"),
    [
        ("[reporting]\nenabled = true\n[announce]\nchannel = 'chat'\nto = 'me'", True, ""),
        ("[reporting]\nenabled = true\n[announce]\nchannel = 'chat'", False, "announce.to"),
        ("[reporting]\nenabled = true", False, "announce.channel"),
    ],
)
def test_reports_are_announced_only_when_enabled_and_addressed(
    small_repo: Path, text: str, announce: bool, warned: str
) -> None:
    configure(small_repo, text)
    rows = schedule(small_repo, "show", "--launcher").data["entries"]
    assert {row["announce"] for row in rows} == {announce}
    assert {row["to"] for row in rows} == {"me" if announce else None}
    said = memrepo(small_repo, "schedule", "show", "--launcher", now=SATURDAY, as_json=False)
    assert (warned in said.err) if warned else said.err == ""
    assert ("announce to chat me" in said.out) is announce


# -- what was missed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "count"),
    [
        ("2026-02-28T09:14:00Z", 0),
        ("2026-02-28T09:16:00Z", 0),
        ("2026-02-28T21:16:00Z", 2),
        ("2026-03-07T00:00:00Z", 14),
    ],
)
def test_runs_that_did_not_happen_are_counted_from_the_installation_on(
    fresh_repo: Path, fake_crontab: Path, now: str, count: int
) -> None:
    assert done(fresh_repo, "status", now=now)["schedule"]["missed"] == 0
    schedule(fresh_repo, "install")
    assert done(fresh_repo, "status", now=now)["schedule"]["missed"] == count
    answer = memrepo(fresh_repo, "status", now=now, as_json=False)
    assert (f"missed {count} scheduled runs" in answer.out) is bool(count)
    assert answer.exit == 0
    checks = {c["name"]: c for c in memrepo(fresh_repo, "doctor", now=now).data["checks"]}
    assert checks["schedule"]["ok"] is not bool(count)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[schedule]\nreconciliation = ["15 5 * *\\n* x"]', "one line"),
        ("[reporting]\nmode = 'loud'", "silent, summary, full"),
        ("[telemetry]\ndir = '/tmp'", "git config memrepo.telemetry.dir"),
        ("[telemetry]\npreset = 'openclaw'", "git config memrepo.telemetry.preset"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(small_repo: Path, text: str, said: str) -> None:
    configure(small_repo, text)
    answer = memrepo(small_repo, "status")
    assert answer.exit == 2
    assert said in answer.error["message"] + answer.error["fix"]
