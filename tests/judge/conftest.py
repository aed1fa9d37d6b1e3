"""A model service for the tests of judges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import serving
from serving import Act, Service

from memrepo.judge import services


@pytest.fixture(scope="module")
def _service() -> Iterator[Service]:
    with serving.serving() as service:
        yield service


@pytest.fixture
def service(_service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Return a service that the judge `anthropic` asks. It answers well until told otherwise."""
    monkeypatch.setattr(services, "MAX_RETRIES", 0)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", _service.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    _service.script, _service.default, _service.asked = [], Act(), []
    return _service
