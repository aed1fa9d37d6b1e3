"""The texts that an operator gives to an agent, filled in for this very repository.

One a mode for an agent that a scheduler starts, and one for an agent's own instructions.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from string import Template
from typing import Any

from memrepo.actions.work import Work
from memrepo.assets import asset
from memrepo.core.patterns import regex
from memrepo.policies.rules import RunMode
from memrepo.store import crontab

_VERSION = regex(r"^Version (\d+)\.$", re.MULTILINE)


def cron_prompt(work: Work, mode: RunMode) -> dict[str, Any]:
    """Return the text with this repository's commands, its version, and the hash of its file."""
    return {"mode": mode, **_filled(work, f"{mode}-cron.md")}


def agent_snippet(work: Work) -> dict[str, Any]:
    """Return what an agent's own instructions should say of its memory, as `cron_prompt` does."""
    return _filled(work, "agent-snippet.md")


def _filled(work: Work, name: str) -> dict[str, Any]:
    raw = asset("prompts", name).read_text(encoding="utf-8")
    program = shlex.join([*crontab.program(), "-C", str(work.store.root)])
    version = _VERSION.search(raw)
    return {
        "version": int(version[1]) if version else 0,
        "hash": f"sha256:{hashlib.sha256(raw.encode()).hexdigest()}",
        "prompt": Template(raw).substitute(memrepo=" ".join(program.split("\n"))).strip(),
    }
