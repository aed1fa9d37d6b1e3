"""What is built holds everything that runs need, and runs from a folder of its own."""

from __future__ import annotations

import os
import re
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
from driving import LONG, done, memrepo

from memrepo import __version__
from memrepo.faces import commands

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("hooks", "plugins/openclaw", "prompts", "templates")
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
    assert {"memrepo/languages/english.toml", "memrepo/languages/figures.toml"} <= names
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
    assert "Supersede: " in done.stdout
    assert "1 superseded" in done.stdout
    assert list(where.iterdir()) == []


@pytest.mark.parametrize("argv", [["memrepo"], ["python", "-m", "memrepo"]], ids=" ".join)
def test_the_version_is_told_by_program_and_module(
    from_wheel: Path, tmp_path: Path, argv: list[str]
) -> None:
    done = run(from_wheel / argv[0], *argv[1:], "--version", where=tmp_path, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"memrepo {__version__}\n")


def test_on_windows_it_says_that_it_cannot_and_ends(tmp_path: Path) -> None:
    code = (
        "import sys; sys.platform = 'win32'; sys.argv = ['memrepo', 'status'];"
        "from memrepo.__main__ import main; sys.exit(main())"
    )
    done = run(sys.executable, "-c", code, where=ROOT, home=tmp_path)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith("memrepo: Windows lacks the file locks")


def test_an_installation_brings_few_packages_and_no_client_of_a_service() -> None:
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    names = re.findall(r"^([a-z0-9.-]+)==", locked, re.MULTILINE)
    assert len(names) <= 23, "is it needed at once? An extra serves who asks for it."
    assert not {"anthropic", "mcp", "pydantic", "numpy", "httpx", "starlette"} & set(names)


@pytest.mark.parametrize(("command", "package"), [("serve", "starlette"), ("mcp", "mcp")])
def test_without_its_extra_a_command_says_in_one_line_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, package: str
) -> None:
    done(tmp_path, "init", "repo")
    monkeypatch.setattr(commands, "find_spec", lambda name: None if name == package else 1)
    answer = memrepo(tmp_path / "repo", command, as_json=False)
    assert answer.exit == 2
    extra = {"serve": "web"}.get(command, command)
    assert f"  try: `pip install '.[{extra}]'` in memrepo's checkout\n" in answer.err


PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NO_REGISTRY = re.compile("No matching|ConnectionError|Max retries|dns", re.IGNORECASE)


def interpreter(version: str) -> str:
    """Return the machine's Python of a version; without one the test is left out."""
    for name in (f"/usr/bin/python{version}", f"python{version}"):
        found = shutil.which(name)
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        if found and ask(found, "-c", code).stdout.strip() == version:
            return found
    pytest.skip(f"no python{version} on this machine")


def ask(*argv: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program that may ask a registry; where none can be reached the test is left out."""
    words = [str(word) for word in argv]
    got = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **more}
    )
    if got.returncode and NO_REGISTRY.search(got.stderr):
        pytest.skip("no registry can be reached")
    return got


def installed_by(tool: str, what: Path, python: str, folder: Path) -> Path:
    """Install memrepo with all it needs, as a person does; return its program."""
    home = {"HOME": str(folder), "UV_PYTHON": python, "UV_PYTHON_DOWNLOADS": "never"}
    home |= {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    home |= {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    steps: list[list[str | Path]]
    if tool == "pip":
        steps = [
            [python, "-m", "venv", folder],
            [folder / "bin" / "python", "-m", "pip", "install", "-q", what],
        ]
    else:
        program = shutil.which(tool) or pytest.skip(f"{tool} is not installed")
        said = {"uv": ["tool", "install"], "pipx": ["install", "--python", python]}[tool]
        steps = [[program, *said, what]]
    for step in steps:
        got = ask(*step, **home)
        assert got.returncode == 0, got.stderr
    return folder / "bin" / "memrepo"


@pytest.mark.skipif(not LONG, reason="asks a registry: make test-long")
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("tool", ["pip", "uv", "pipx"])
def test_it_installs_with_all_it_needs_and_runs(
    built: Built, tmp_path: Path, tool: str, python: str
) -> None:
    program = installed_by(tool, built.wheel, interpreter(python), tmp_path / "place")
    done = run(program, "demo", "--fast", where=tmp_path, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not LONG, reason="asks a registry: make test-long")
def test_uvx_tries_it_without_an_installation(built: Built, tmp_path: Path) -> None:
    uvx = shutil.which("uvx") or pytest.skip("uv is not installed")
    done = ask(
        *(uvx, "--from", built.wheel, "memrepo", "demo", "--fast"),
        HOME=str(tmp_path),
        UV_PYTHON=sys.executable,
        UV_PYTHON_DOWNLOADS="never",
    )
    assert done.returncode == 0, done.stderr
    assert "1 superseded" in done.stdout
