"""The shipped folders are found in a checkout, an editable install and a wheel."""

from __future__ import annotations

import pytest

from memrepo.assets import asset


@pytest.mark.parametrize(
    "parts",
    [
        ("hooks", "shim"),
        ("templates", "repo", "memrepo.toml"),
        ("templates", "views", "LTMEMORY.md.j2"),
        ("templates", "demo", "workspace", "MEMORY.md"),
        ("templates", "demo", "later", "MEMORY.md"),
        ("prompts",),
    ],
)
def test_every_shipped_folder_is_found_from_the_running_package(parts: tuple[str, ...]) -> None:
    assert asset(*parts).exists()
