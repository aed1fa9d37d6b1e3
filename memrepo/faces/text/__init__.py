"""Results as a person reads them; the command line prints these texts and tools quote them."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword
from typing import Any

from memrepo.actions.result import Result
from memrepo.actions.verbs import VERBS
from memrepo.actions.work import Answer


def text_of(name: str, request: Any, result: Result | Answer, *, colour: bool = False) -> str:
    """Return the text of what a verb answered, by the function of its name in its group's module.

    Each is `NAME(request, result, *, colour) -> str`, the hyphens of a verb's name being `_`.
    """
    if isinstance(result, Answer):
        return result.text
    group = VERBS[name].module.split(".")[-2]
    word = name.replace("-", "_")
    texts = import_module(f"memrepo.faces.text.{group}")
    wording = getattr(texts, f"{word}_" if iskeyword(word) else word)
    return str(wording(request, result, colour=colour))
