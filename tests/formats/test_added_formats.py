"""Another package adds a format by an entry point; a broken one is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from driving import done, memories, memrepo

from memrepo.formats import registry

MODULE = """
from memrepo.formats.records import Format
from memrepo.formats.registry import FORMATS

lines = Format(
    name="{name}",
    what="one memory a line",
    wants=lambda name: name.endswith(".lines"),
    read=FORMATS["{like}"].read,
)
broken = 7
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder of installed packages, which is forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    registry.formats.cache_clear()
    yield folder
    sys.modules.pop("added_lines", None)
    registry.formats.cache_clear()


def install(site: Path, name: str, what: str = "lines", of: str = "lines") -> None:
    """Install a package that adds a format."""
    module = MODULE.format(name=of, like="jsonl")
    (site / "added_lines.py").write_text(module, encoding="utf-8")
    info = site / "added_lines-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: added-lines\nVersion: 1.0\n")
    points = f"[memrepo.formats]\n{name} = added_lines:{what}\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def test_a_format_of_another_package_is_read_by_import(site: Path, tmp_path: Path) -> None:
    done(tmp_path, "init", tmp_path / "repo")
    done(tmp_path / "repo", "add", "Ana keeps bees.")
    out = tmp_path / "out"
    done(tmp_path / "repo", "export", "jsonl", out)
    (out / "memories.jsonl").rename(out / "memories.lines")
    install(site, "lines")
    done(tmp_path, "init", tmp_path / "other")
    assert memrepo(tmp_path / "other", "import", "nothing", out).exit == 2
    assert "lines" in registry.formats()
    done(tmp_path / "other", "import", "lines", out)
    assert [m.body.strip() for m in memories(tmp_path / "other").values()] == ["Ana keeps bees."]


@pytest.mark.parametrize(
    ("name", "what", "of"),
    [("lines", "broken", "lines"), ("lines", "nothing", "lines"), ("okf", "lines", "okf")],
)
def test_a_broken_format_names_its_package(site: Path, name: str, what: str, of: str) -> None:
    install(site, name, what, of)
    with pytest.raises(registry.BrokenFormat, match="added-lines"):
        registry.formats()
