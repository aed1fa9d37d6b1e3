"""Where things lie, with and without a prefix."""

from __future__ import annotations

import pytest

from memrepo.core.layout import ADOPTED_PREFIX, AREAS, Layout


@pytest.mark.parametrize("prefix", ["", ADOPTED_PREFIX])
def test_a_prefix_moves_every_path(prefix: str) -> None:
    layout = Layout(prefix)
    assert layout.config == f"{prefix}memrepo.toml"
    assert layout.area("views") == f"{prefix}views/"
    assert layout.view("A.md") == f"{prefix}views/A.md"
    assert layout.source("memory/a.md") == f"{prefix}sources/memory/a.md"
    assert layout.source_name(layout.source("inbox/a.md")) == "inbox/a.md"
    assert layout.manifest("20260301T090000Z-0a1b2c3d") == (
        f"{prefix}runs/2026-03/20260301T090000Z-0a1b2c3d.json"
    )
    assert all(layout.owns(layout.area(area) + "x") for area in AREAS)


@pytest.mark.parametrize(
    ("path", "memory"),
    [
        ("memories/knowledge/2026-01/a-3f9a1c.md", True),
        ("memories/x/a.md", True),
        ("memories/a.md", True),
        ("memories/x/a.txt", False),
        ("memories/x/index.md", False),
        ("memories/x/log.md", False),
        ("memories/x/catalog.md", True),
        ("views/x/a.md", False),
        ("memories/x/.md", True),
    ],
)
def test_a_memory_is_markdown_in_a_layer(path: str, memory: bool) -> None:
    assert Layout().is_memory(path) is memory
    assert Layout(ADOPTED_PREFIX).is_memory(ADOPTED_PREFIX + path) is memory


def test_what_is_too_much_for_one_folder_is_spread_over_others() -> None:
    flat, dated = "memories/knowledge/a-3f9a1c.md", "memories/knowledge/2026-02/a-3f9a1c.md"
    assert Layout().spread(flat) == "memories/knowledge/undated/3f/a-3f9a1c.md"
    assert Layout().spread(dated) == dated
    assert Layout("memrepo/").spread(f"memrepo/{flat}") == (
        "memrepo/memories/knowledge/undated/3f/a-3f9a1c.md"
    )
