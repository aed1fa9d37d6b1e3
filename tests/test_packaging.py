"""What is built holds everything that runs need, and runs from a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from driving import LONG

from memrepo import __version__

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("hooks", "prompts", "templates")
LEFT_OUT = shutil.ignore_patterns(
    ".*cache*", ".venv", ".git", ".hypothesis", "__pycache__", "dist", "build"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One build of the project."""

    wheel: Path
    sdist: Path


def assets() -> set[str]:
    """Return every file in the folders that are shipped."""
    return {
        path.relative_to(ROOT).as_posix()
        for top in SHIPPED
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run(*argv: str | Path, where: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with nothing in its environment but PATH and HOME."""
    return subprocess.run(
        [str(word) for word in argv],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, so that no build writes into it."""
    copy = tmp_path_factory.mktemp("checkout") / "memrepo"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    return copy


@pytest.fixture(scope="module")
def built(checkout: Path) -> Built:
    """Build source archive and wheel, offline, with the backend that is installed."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", "dist"],
        cwd=checkout,
        check=True,
        capture_output=True,
    )
    (wheel,) = (checkout / "dist").glob("*.whl")
    (sdist,) = (checkout / "dist").glob("*.tar.gz")
    return Built(wheel=wheel, sdist=sdist)


def fresh_venv(folder: Path, what: Path, *options: str) -> Path:
    """Make an environment that holds memrepo and, by reference, the packages it needs."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    found = sysconfig.get_path("purelib")
    # A path file adds a folder without reading the path files in it: an editable memrepo in the
    # environment that runs the tests stays out of sight.
    (site / "dependencies.pth").write_text(f"{found}\n", encoding="utf-8")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(folder / "bin" / "python"),
            "install",
            "-q",
            "--ignore-installed",
            "--no-deps",
            "--no-index",
            "--no-build-isolation",
            "--disable-pip-version-check",
            *options,
            str(what),
        ],
        check=True,
        capture_output=True,
    )
    return folder / "bin"


@pytest.fixture(scope="module")
def from_wheel(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program folder of an environment with the wheel in it."""
    return fresh_venv(tmp_path_factory.mktemp("wheel") / "venv", built.wheel)


@pytest.fixture(scope="module")
def from_checkout(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program folder of an environment with an editable checkout in it."""
    return fresh_venv(tmp_path_factory.mktemp("editable") / "venv", checkout, "--editable")


def test_the_wheel_holds_every_asset_and_nothing_beside_the_package(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = set(archive.namelist())
    assert {f"memrepo/_assets/{name}" for name in assets()} <= names
    assert {"memrepo/languages/en.toml", "memrepo/languages/de.toml"} <= names
    assert {name.split("/")[0] for name in names} == {"memrepo", f"memrepo-{__version__}.dist-info"}


def test_the_source_archive_holds_every_asset_the_tests_and_the_documentation(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert assets() <= names
    assert {"LICENSE", "README.md", "docs/cli.md", "tests/conftest.py", "Makefile"} <= names
    assert not {name for name in names if "__pycache__" in name or name.startswith(".venv")}


@pytest.mark.parametrize("installed", ["from_wheel", *(["from_checkout"] if LONG else [])])
def test_the_demo_runs_from_an_installation_in_an_empty_folder(
    installed: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    programs: Path = request.getfixturevalue(installed)
    where, home = tmp_path / "empty", tmp_path / "home"
    where.mkdir()
    home.mkdir()
    done = run(programs / "memrepo", "demo", "--fast", where=where, home=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "supersede: editor-vim-" in done.stdout
    assert "1 superseded" in done.stdout
    assert list(where.iterdir()) == []


def test_the_wheel_runs_from_its_own_folder(from_wheel: Path, tmp_path: Path) -> None:
    code = "import memrepo; print(memrepo.__file__)"
    done = run(from_wheel / "python", "-c", code, where=tmp_path, home=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(from_wheel.parent)


@pytest.mark.parametrize("argv", [["memrepo"], ["python", "-m", "memrepo"]], ids=" ".join)
def test_the_version_is_told_by_program_and_module(
    from_wheel: Path, tmp_path: Path, argv: list[str]
) -> None:
    done = run(from_wheel / argv[0], *argv[1:], "--version", where=tmp_path, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"memrepo {__version__}\n")
