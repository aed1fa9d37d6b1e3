"""Text output for people. The command line prints it, and tools include it in their replies."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword

from memrepo.actions.result import Result
from memrepo.actions.verbs import VERBS

_SHARED = {"takeback": "review", "purge": "review", "exchange": "sync"}
"""Groups of verbs whose text functions are in the module of another group."""


def text_of(name: str, request: object, result: Result, *, colour: bool = False) -> str:
    """Return the text of a verb's result."""
    return str(wording(name)(request, result, colour=colour))


def wording(name: str) -> Callable[..., str]:
    """Return the function that formats the result of a verb or command.

    Its signature is `NAME(request, result, *, colour) -> str`, with `_` for each hyphen of the
    name.
    """
    group = VERBS[name].module.split(".")[-2] if name in VERBS else "cli"
    word = name.replace("-", "_")
    texts = import_module(f"memrepo.faces.text.{_SHARED.get(group, group)}")
    found: Callable[..., str] = getattr(texts, f"{word}_" if iskeyword(word) else word)
    return found
