"""A repository whose judge is the real SDK, against a service on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driving import done, git
from serving import Act, Service, serving
from workspaces import growing


@pytest.fixture(scope="module")
def _running() -> Iterator[Service]:
    with serving() as service:
        yield service


@pytest.fixture
def service(_running: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", _running.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    _running.script = []
    _running.default = Act()
    _running.asked = []
    _running.headers = []
    _running.counted = 0
    return _running


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", "repo", "--from", growing(tmp_path / "workspace", 0))
    path = tmp_path / "repo" / "memrepo.toml"
    judge = ["[judge]", "timeout_s = 10", "max_retries = 1", "max_tokens = 1000"]
    text = path.read_text().split("\n[judge]")[0].replace("[run]", '[run]\nshelf = "all"')
    path.write_text("\n".join([text, *judge, ""]))
    git(tmp_path / "repo", "commit", "-qam", "configure", "--no-verify")
    return tmp_path / "repo"
