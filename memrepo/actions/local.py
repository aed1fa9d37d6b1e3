"""Settings that no repository may carry: programs, hosts and folders of this clone or person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from memrepo.actions.work import Work
from memrepo.config import OUTSIDE, ConfigError, git_name, parse_outside
from memrepo.store import settings
from memrepo.store.gitenv import user_config


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """An outside setting's value and where it comes from."""

    value: Any
    origin: str


def outside(work: Work) -> Mapping[str, Setting]:
    """Return the settings that no repository may carry: this clone's first, then the person's."""
    found: dict[str, Setting] = {}
    path = user_config()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(0, "", f"cannot be read: {error}", place=str(path)) from error
    for name, value in parse_outside(text, str(path)).items():
        found[name] = Setting(value=value, origin=str(path))
    here = settings.some(work.store.repo, [f"memrepo.{git_name(name)}" for name in OUTSIDE])
    for name in OUTSIDE:
        if value := here.get(f"memrepo.{git_name(name)}"):
            found[name] = Setting(value=value, origin=".git/config")
    return found
