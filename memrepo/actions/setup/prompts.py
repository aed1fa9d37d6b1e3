"""The prompts that an operator gives to an agent, filled in for this repository.

There is one prompt per run mode for an agent started by a scheduler, and one for an agent's own
instructions.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from string import Template

import msgspec

from memrepo.actions.work import Work
from memrepo.assets import asset
from memrepo.core.patterns import regex
from memrepo.policies.rules import RunMode
from memrepo.store import crontab

_VERSION = regex(r"^Version (\d+)\.$", re.MULTILINE)


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt with this repository's commands, with its version and the hash of its template."""

    version: int
    hash: str
    prompt: str


def cron_prompt(work: Work, mode: RunMode) -> Prompt:
    """Return the prompt for an agent that a scheduler starts to perform a run."""
    return _filled(work, f"{mode}-cron.md")


def agent_snippet(work: Work) -> Prompt:
    """Return the section about memory for an agent's own instructions."""
    return _filled(work, "agent-snippet.md")


def agent_tools() -> Prompt:
    """Return the section about memory for an agent that uses tools instead of commands."""
    raw = asset("prompts", "agent-tools.md").read_text(encoding="utf-8")
    return _prompt(raw, raw)


def _filled(work: Work, name: str) -> Prompt:
    raw = asset("prompts", name).read_text(encoding="utf-8")
    program = shlex.join([*crontab.program(), "-C", str(work.store.root)])
    return _prompt(raw, Template(raw).substitute(memrepo=" ".join(program.split("\n"))))


def _prompt(raw: str, filled: str) -> Prompt:
    version = _VERSION.search(raw)
    return Prompt(
        version=int(version[1]) if version else 0,
        hash=f"sha256:{hashlib.sha256(raw.encode()).hexdigest()}",
        prompt=filled.strip(),
    )
