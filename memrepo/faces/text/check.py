"""What `memrepo.actions.check` answers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.core.messages import counted

if TYPE_CHECKING:
    from memrepo.actions.check import check as checking
    from memrepo.actions.check import check_message as message
    from memrepo.actions.check.leaks import Baseline, Past, Pushed

SHOWN = 200
"""How many findings are printed; --json has them all."""


def check(request: object, result: checking.Result | Past | Baseline, *, colour: bool) -> str:
    """List what was found, or say that it was nothing."""
    from memrepo.actions.check.check import Result

    del request, colour
    if isinstance(result, Result):
        return looked(result)
    from memrepo.actions.check.leaks import Past

    return _past(result) if isinstance(result, Past) else _baseline(result)


def looked(result: checking.Result) -> str:
    """List what was mended and what is wrong, or say that it is nothing."""
    lines = [f"fixed {name}" for name in result.fixed]
    lines += [f"{n}: not a file of memrepo's, scanned for secrets only" for n in result.foreign]
    lines += [str(p) for p in result.problems[:SHOWN]]
    if len(result.problems) > SHOWN:
        lines.append(f"and {len(result.problems) - SHOWN} more (--json lists all)")
    return "\n".join(lines) or f"{counted(result.files, 'file', 'files')}: nothing found"


def _past(result: Past) -> str:
    if not result.problems:
        return "no secret was ever committed"
    known = "a secret in history is known to whoever has a clone: change it where it is used"
    return "\n".join([*map(str, result.problems), known])


def _baseline(result: Baseline) -> str:
    said = counted(result.findings, "finding", "findings")
    if result.dry_run:
        return f"dry run: {result.path} would let {said} stand; nothing was written"
    return f"{result.path} lets {said} stand; it counts once it is added to the index"


def check_message(request: object, result: message.Result, *, colour: bool) -> str:
    """List what is wrong with the message."""
    del request, colour
    return listed(result)


def listed(result: message.Result) -> str:
    """List what is wrong with a message, one a line."""
    return "\n".join(map(str, result.problems))


def pushed(result: Pushed) -> str:
    """List the secrets that keep git from pushing."""
    if not result.problems:
        return ""
    stopped = "memrepo: nothing was pushed; a secret that others have seen must be changed"
    return "\n".join([*map(str, result.problems), stopped])
