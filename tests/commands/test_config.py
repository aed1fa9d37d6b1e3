"""The configuration is set in its file, and `memrepo config` explains it."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import done, git, memrepo


def test_a_key_is_explained_with_what_it_may_be_and_where_it_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(tmp_path, "init", "repo", "--tz", "UTC")
    repo = tmp_path / "repo"
    answer = memrepo(repo, "config", "run.judge", as_json=False).out
    assert "one of offline, anthropic, claude, openclaw, openai, command" in answer
    assert "(memrepo.toml:" in answer
    assert "[run], judge = ..." in answer
    assert max(map(len, answer.splitlines())) <= 80
    error = memrepo(repo, "config", "run.max_usdd").error
    assert (error["exit"], error["fix"]) == (2, "did you mean run.max_usd?")
    user = tmp_path / "gitconfig"
    user.write_text('[memrepo "judge"]\n\tcommand = mine\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user))
    (row,) = done(repo, "config", "judge.command")["keys"]
    assert (row["value"], row["from"]) == ("mine", "git's global settings")
    git(repo, "config", "memrepo.judge.command", "claude")
    (row,) = done(repo, "config", "judge.command")["keys"]
    assert (row["value"], row["from"]) == ("claude", ".git/config")
    assert "telemetry.dir" not in {row["key"] for row in done(repo, "config")["keys"]}
