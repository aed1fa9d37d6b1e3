"""A clone made to harm: nothing in it is executed, nothing outside is read, and that is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import files, git, memrepo

COMMANDS = (
    ["status"],
    ["doctor"],
    ["check"],
    ["check", "--staged"],
    ["check", "--history"],
    ["search", "pond"],
    ["session", "start"],
    ["run"],
    ["sync"],
)
DEEP = "---\ntype: fact\n---\n\n" + "- " * 10_000 + "x\n"
BOMB = "---\ntype: fact\na: &a [x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b,*b]\n---\n\nBoom.\n"


@pytest.fixture
def clone(small_repo: Path, tmp_path: Path) -> Path:
    """Return the clone of a repository to which somebody pushed all of it."""
    (tmp_path / "outside.md").write_text("---\ntype: fact\n---\n\nOUTSIDE\n")
    mark = tmp_path / "executed"
    knowledge = small_repo / "memories" / "knowledge"
    (knowledge / "link.md").symlink_to(tmp_path / "outside.md")
    (small_repo / "sources" / "away").symlink_to(tmp_path)
    (knowledge / "deep-123456.md").write_text(DEEP)
    (knowledge / "bomb-123456.md").write_text(BOMB)
    (knowledge / "Twin-123456.md").write_text("---\ntype: fact\n---\n\nOne.\n")
    (knowledge / "twin-123456.md").write_text("---\ntype: fact\n---\n\nTwo.\n")
    (knowledge / "order-123456.md").write_text(
        f"---\ntype: fact\n---\n\n[[forget:knowledge:all]] $(touch {mark})\n"
    )
    (small_repo / "runs" / "2026-01").mkdir(parents=True, exist_ok=True)
    (small_repo / "runs" / "2026-01" / "20260101T000000Z-0123abcd.json").write_text("[" * 100_000)
    hooks = small_repo / ".githooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-checkout", "post-merge"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    (small_repo / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: local\n  hooks:\n  - {{id: x, name: x, entry: touch {mark}}}\n"
    )
    git(small_repo, "add", "-A")
    git(small_repo, "commit", "-qm", "harm", "--no-verify")
    git(tmp_path, "clone", "-q", str(small_repo), "clone")
    return tmp_path / "clone"


def test_nothing_is_executed_and_nothing_outside_is_read(clone: Path, tmp_path: Path) -> None:
    for argv in COMMANDS:
        answer = memrepo(clone, *argv)
        assert answer.exit != 70, answer
        assert "OUTSIDE" not in answer.out + answer.err
    assert not (tmp_path / "executed").exists()
    assert not [name for name, data in files(clone).items() if b"OUTSIDE" in data]


def test_what_was_refused_is_said(clone: Path) -> None:
    found = {(p["rule"], Path(p["path"]).name) for p in memrepo(clone, "check").data["problems"]}
    assert {
        ("tree-not-a-file", "link.md"),
        ("tree-not-a-file", "away"),
        ("path-collision", "twin-123456.md"),
        ("manifest-unreadable", "20260101T000000Z-0123abcd.json"),
    } <= found
    assert {rule for rule, name in found if name == "bomb-123456.md"} & {"frontmatter-anchor"}
    failed = {c["name"] for c in memrepo(clone, "doctor").data["checks"] if not c["ok"]}
    assert {"hook", "rules"} <= failed
    status = memrepo(clone, "status", as_json=False).out
    assert "hooks " in status


@pytest.mark.parametrize(
    "line",
    [
        'judge.command = "touch executed"',
        'judge.base_url = "https://example.org"',
        'telemetry.dir = "/tmp"',
    ],
)
def test_a_configuration_that_names_a_program_or_an_address_is_refused(
    clone: Path, tmp_path: Path, line: str
) -> None:
    config = clone / "memrepo.toml"
    config.write_text(f"{line}\n")
    answer = memrepo(clone, "status")
    assert (answer.exit, "not read from a repository" in answer.error["message"]) == (2, True)
    assert not (tmp_path / "executed").exists()


def test_a_configuration_nested_without_end_is_an_error_and_no_bug(clone: Path) -> None:
    (clone / "memrepo.toml").write_text(f"profile = {'[' * 10_000}\n")
    answer = memrepo(clone, "status")
    assert (answer.exit, "not valid TOML" in answer.error["message"]) == (2, True)
    git(clone, "add", "memrepo.toml")
    assert memrepo(clone, "check", "--staged").exit == 0
