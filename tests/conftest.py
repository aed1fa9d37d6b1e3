"""What every test stands on: no git configuration, home or time zone of the machine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from driving import copy_of, done
from hypothesis import settings

from memrepo import config

settings.register_profile("memrepo", deadline=None)
settings.register_profile("memrepo-ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("long", deadline=None, max_examples=10_000)
_DEFAULT = "memrepo-ci" if os.environ.get("CI") else "memrepo"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or _DEFAULT)

GIT_CONFIG = """\
[user]
\tname = Test Person
\temail = person@example.org
[init]
\tdefaultBranch = main
"""


def pytest_configure() -> None:
    """Stop if the program is not installed next to the interpreter: hooks of tests start it."""
    if not Path(sys.executable).with_name("memrepo").exists():
        pytest.exit("memrepo is not installed in this environment; try: make test", 2)


@pytest.fixture(scope="session", autouse=True)
def isolated_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the machine: one session-wide patch, so that hypothesis tests may run under it."""
    home = tmp_path_factory.mktemp("home")
    config = home / "gitconfig"
    config.write_text(GIT_CONFIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("GIT_", "MEMREPO_", "XDG_")):
                patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", str(config))
        patch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
        patch.setenv("HOME", str(home))
        patch.setenv("TZ", "Asia/Manila")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="session", autouse=True)
def everything_is_remembered() -> Iterator[None]:
    """Let runs take all that is not noise: most tests are about what becomes of a memory.

    Those of the shelf set `run.shelf` themselves.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(config.DEFAULTS, "run.shelf", "all")
        yield


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository without a workspace; test files that need more have their own."""
    copy_of(lambda folder: done(folder, "init", "repo"), tmp_path)
    return tmp_path / "repo"


CRONTAB = """\
#!/bin/sh
# A person's crontab in one file, with the options and words of Debian's.
[ -n "$FAKE_CRONTAB_FAILS" ] && { echo "$FAKE_CRONTAB_FAILS" >&2; exit 1; }
case "$1" in
  -l) [ -f "$FAKE_CRONTAB" ] || { echo "no crontab for someone" >&2; exit 1; }
      cat "$FAKE_CRONTAB";;
  -r) rm "$FAKE_CRONTAB";;
  -) cat > "$FAKE_CRONTAB"
     [ -z "$FAKE_CRONTAB_ADDS" ] || echo "$FAKE_CRONTAB_ADDS" >> "$FAKE_CRONTAB";;
  *) exit 2;;
esac
"""


@pytest.fixture
def fake_crontab(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a small real `crontab` on the PATH; return the file that holds its table."""
    folder = tmp_path_factory.mktemp("cron")
    program = folder / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(CRONTAB, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_CRONTAB", str(folder / "table"))
    return folder / "table"
