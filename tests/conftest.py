"""What every test stands on: no git configuration, home or time zone of the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import settings

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
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
