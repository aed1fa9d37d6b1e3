"""Format results as text. The command line prints the text, and tools put it in replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from keyword import iskeyword

from memrepo.actions.verbs import VERBS
from memrepo.actions.work import VerbResult
from memrepo.core.patterns import regex

_OF_REPOSITORY = """
init status sources doctor config agent schedule check hooks sync purge export import
completion demo
""".split()
"""The verbs and commands whose texts are in `faces.text.repository`."""

_SILENT = ("merge-driver", "mcp", "serve")
"""Commands whose output went to git, to a client or to a browser already."""


def rows(pairs: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield one line per label and value. A pair without a value is left out."""
    return (f"{f'{label}:':<15}{value}" for label, value in pairs if value)


_TICKS = regex("`+")


def fenced_markdown(title: str, text: str, most: int) -> str:
    """Return a markdown section with a text in a code block, which the text cannot close.

    Whole lines are left out from the end if the text is longer than `most` characters.
    """
    end = text.rfind("\n", 0, most) if len(text) > most else len(text)
    cut = "" if end == len(text) else "\n\nThe rest is omitted; the command prints all of it."
    text = text[: end if end > 0 else most]
    fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(text)), 3)
    return f"## {title}\n\n{fence}text\n{text}\n{fence}{cut}"


def text_of(name: str, request: object, result: VerbResult, *, colour: bool = False) -> str:
    """Format the result of a verb or command as text."""
    return wording(name)(request, result, colour=colour)


def wording(name: str) -> Callable[..., str]:
    """Return the function of this package that formats the results of a verb or command.

    Its signature is `NAME(request, result, *, colour) -> str`, with `_` for each hyphen of the
    name.
    """
    if name in _SILENT:
        return lambda *_, **__: ""
    word = name.replace("-", "_")
    module = "repository" if name in _OF_REPOSITORY else "changes"
    if name in VERBS and VERBS[name].module.startswith("memrepo.actions.recall"):
        module = "recall"
    texts = import_module(f"memrepo.faces.text.{module}")
    found: Callable[..., str] = getattr(texts, f"{word}_" if iskeyword(word) else word)
    return found
