"""Pages in this process: a repository in which a run waits, and a browser that was let in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mornings import BASE, MORNING, PORT, TOKEN, copied, waiting

from memrepo.actions.work import Call
from memrepo.core.times import parse_time

pytest.importorskip("httpx2", reason="the test client needs it")
from starlette.testclient import TestClient

from memrepo.faces.web import Site, application


@pytest.fixture(scope="session")
def _web_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return waiting(tmp_path_factory.mktemp("web"))


@pytest.fixture
def repo(_web_base: Path, tmp_path: Path) -> Path:
    return copied(_web_base, tmp_path / "base")


@pytest.fixture
def client_of() -> Callable[..., TestClient]:
    """Return a maker of clients of a repository, let in or not."""

    def made(repo: Path, *, let_in: bool = True, read_only: bool = False) -> TestClient:
        call = Call(where=repo, now=parse_time(MORNING))
        site = Site(call=call, root=repo, port=PORT, token=TOKEN, read_only=read_only)
        client = TestClient(application(site), base_url=BASE, follow_redirects=True)
        if let_in:
            assert client.get("/", params={"token": TOKEN}).status_code == 200
        return client

    return made


@pytest.fixture
def client(repo: Path, client_of: Callable[..., TestClient]) -> TestClient:
    return client_of(repo)
