"""The shipped folders are found in a checkout, an editable install and a wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memrepo.assets
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


@pytest.mark.parametrize(
    ("shipped", "expected"),
    [("package/memrepo/_assets", "package/memrepo/_assets"), ("package/hooks", "package")],
    ids=["wheel", "checkout"],
)
def test_folders_inside_the_package_win_over_those_beside_it(
    tmp_path: Path, shipped: str, expected: str
) -> None:
    package = tmp_path / "package" / "memrepo"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    shutil.copy(memrepo.assets.__file__, package / "assets.py")
    (tmp_path / shipped).mkdir(parents=True)
    code = "from memrepo.assets import asset; print(asset('hooks', 'shim'))"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "package",
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(answer.stdout.strip()) == (tmp_path / expected / "hooks" / "shim").resolve()
