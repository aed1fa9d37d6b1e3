"""The files by which others run memrepo: a container, systemd, Kubernetes, and their scripts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import workspaces
import yaml
from cronsim import CronSim
from driving import NOW, done, subjects

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "templates" / "deploy"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SCRIPTS = [
    "hooks/shim",
    ".ci/run",
    "templates/deploy/start",
    *(f"templates/forge/{name}" for name in ("check-pull-request", "nightly")),
]


def ran(*argv: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, argv)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **more},
    )


def tool(name: str) -> str:
    """Return a program of this environment or of the machine; without it the test is left out."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    return found or pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_passes_the_shells_own_checker(name: str) -> None:
    assert ran(tool("shellcheck"), name).stdout == ""


def test_the_container_file_passes_its_checker() -> None:
    checked = ran(tool("hadolint"), "Dockerfile")
    assert (checked.returncode, checked.stdout) == (0, "")


def test_the_container_runs_as_nobody_special_and_says_how_it_is() -> None:
    last = DOCKERFILE.split("\nFROM ")[-1]
    said = dict(re.findall(r"^([A-Z]+) (.+?)(?=\n[A-Z]+ |\Z)", last, re.MULTILINE | re.DOTALL))
    assert said["USER"] == "1000"
    assert said["VOLUME"] == '["/memory"]'
    assert '"status"' in said["HEALTHCHECK"]
    for source in re.findall(r"^COPY (?:--chmod=\S+ )?(templates/\S+)", last, re.MULTILINE):
        assert (ROOT / source).is_file()


def test_the_hours_of_the_container_can_be_read() -> None:
    lines = (DEPLOY / "crontab").read_text().splitlines()
    jobs = [line for line in lines if line and not line.startswith("#")]
    for job in jobs:
        *when, program = job.split()[:6]
        assert CronSim(" ".join(when), datetime(2026, 3, 1, tzinfo=UTC)) is not None
        assert program == "memrepo"
    assert jobs


def test_an_empty_volume_becomes_a_repository_and_a_full_one_stays(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "memrepo"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m memrepo --now {NOW} "$@"\n'
    )
    program.chmod(0o755)
    (tmp_path / "memory").mkdir()
    given = {
        "MEMREPO_FOLDER": str(tmp_path / "memory"),
        "MEMREPO_WORKSPACE": str(workspaces.small(tmp_path / "workspace")),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
    }
    first = ran(DEPLOY / "start", "memrepo", "run", "--report", "summary", **given)
    assert first.returncode == 0, first.stderr
    before = subjects(tmp_path / "memory")
    again = ran(DEPLOY / "start", "memrepo", "status", "-q", **given)
    assert again.returncode == 0
    assert subjects(tmp_path / "memory") == before
    assert done(tmp_path / "memory", "runs")["runs"]


def test_kubernetes_takes_the_cron_job() -> None:
    claim, job = yaml.safe_load_all((DEPLOY / "cronjob.yaml").read_text(encoding="utf-8"))
    assert (claim["kind"], job["kind"]) == ("PersistentVolumeClaim", "CronJob")
    assert job["spec"]["concurrencyPolicy"] == "Forbid", "two runs at once help nobody"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    named = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for c in pod["containers"] for mount in c["volumeMounts"]} == named
    try:
        import kubernetes_validate
    except ImportError:
        pytest.skip("kubernetes-validate carries the schemas; its shape was looked at")
    for found in (claim, job):
        kubernetes_validate.validate(found, "1.30", strict=True)
