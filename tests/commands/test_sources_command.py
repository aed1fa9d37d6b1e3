"""`memrepo sources`: what each file is taken for, and how a person says better."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.driving import configure, done, memrepo

FILES = {
    "USER.md": "# USER.md\n\n- **Name:** Nela Orsini\n- **Timezone:** CET\n",
    "MEMORY.md": "# Memory\n\n## Rules\n\n- Never publish on a Sunday.\n- Always ask Nela first.\n",
    "notes/ideas.md": "# Ideas\n\n- Paint the boat.\n- Never sail without a chart.\n",
    "memory/2026-02-01.md": "# 2026-02-01\n\n- Sanded the deck.\n",
    "archive/memory/old.md": "# Old\n\n- The mast was red.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Lay out a workspace of several kinds of files, and a repository of it."""
    for name, text in FILES.items():
        path = tmp_path / "agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done(tmp_path, "init", "repo", "--from", "agent")
    repo = tmp_path / "repo"
    configure(repo, "sources.claims", '["**/*.md"]')
    configure(repo, "sources.deny", "[]")
    configure(repo, "run.shelf", "normal")
    return repo


def kinds(repo: Path) -> dict[str, str]:
    return {file["path"]: file["kind"] for file in memrepo(repo, "sources").data["files"]}


def test_each_file_has_a_kind_a_reason_its_thoughts_and_its_memories(workspace: Path) -> None:
    done(workspace, "run")
    data = memrepo(workspace, "sources").data
    by_path = {file["path"]: file for file in data["files"]}
    assert by_path["USER.md"]["kind"] == "profile"
    assert by_path["USER.md"]["reason"] == "is named USER.md"
    assert by_path["MEMORY.md"]["claims"] == 2
    assert by_path["notes/ideas.md"]["kind"] == "plan"
    assert by_path["archive/memory/old.md"]["share"] == 0
    assert data["shelf"] == round(50 + 2 * len(FILES) ** 0.5)
    assert data["claims"] == sum(file["claims"] for file in data["files"])


def test_a_line_of_the_configuration_gives_a_file_another_kind(workspace: Path) -> None:
    configure(workspace, "sources.kinds", '["notes/*.md = rules"]')
    done(workspace, "run")
    assert kinds(workspace)["notes/ideas.md"] == "rules"
    (file,) = [f for f in memrepo(workspace, "sources").data["files"] if f["kind"] == "rules"]
    assert (file["claims"], file["reason"]) == (1, "set in memrepo.toml")
    assert memrepo(workspace, "run", as_json=False).err == ""


def test_an_unknown_kind_is_refused_with_a_suggestion(workspace: Path) -> None:
    configure(workspace, "sources.kinds", '["notes/*.md = rule"]')
    error = memrepo(workspace, "sources").error
    assert error["exit"] == 2
    assert "sources.kinds" in error["message"]
    assert "notes/*.md = rules" in error["fix"]


def test_the_text_says_how_to_change_a_kind(workspace: Path) -> None:
    out = memrepo(workspace, "sources", as_json=False).out
    assert "MEMORY.md  (is named MEMORY.md)" in out
    assert 'kinds = ["PATTERN = KIND"]' in out
    assert "memrepo run --mode reconciliation" in out
