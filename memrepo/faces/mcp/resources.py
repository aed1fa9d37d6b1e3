"""Resources: a memory, now or at a commit, the hot cache, a run, and where things stand."""

from __future__ import annotations

import json
from urllib.parse import unquote

from memrepo.actions.pending import all_waiting
from memrepo.actions.review.comparison import review_of, span_of
from memrepo.actions.scopes import refuse_verb
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.faces.mcp import read_tools
from memrepo.faces.mcp.calls import ToolCall
from memrepo.faces.mcp.read_tools import get, status
from memrepo.views.context import HEAD, fenced
from memrepo.views.review_text import review_text

SCHEME = "memrepo://"
FIXED = {
    "hot": ("Hot cache", "What an agent knows by heart when a session begins."),
    "status": ("Status", "Counts, newest commit, what waits for a person."),
}
TEMPLATES = {
    "memory/{id}": ("Memory", "One memory with its evidence."),
    "memory/{id}@{commit}": ("Memory at a commit", "One memory as it was at a commit or date."),
    "run/{id}": ("Run", "What a run changes or changed, told in memories."),
}
LONGEST = 40_000
"""Characters that a run is told in at most."""
_MEMORY = regex(r"memory/([\w:-]{1,100})(?:@([0-9A-Za-z:+-]{1,40}))?")
_RUN = regex(r"run/([\w-]{1,100})")


class NoSuchResource(MemrepoError):
    """A URI that names nothing here."""

    exit_code = Exit.USAGE

    def __init__(self, uri: str) -> None:
        known = ", ".join(SCHEME + name for name in (*FIXED, *TEMPLATES))
        super().__init__(f"found no resource {uri[:200]!r}", fix=f"there are {known}")


def read(work: Work, uri: str) -> str:
    """Return the text behind a URI; raises NoSuchResource, and what the commands raise."""
    name = unquote(uri.removeprefix(SCHEME)) if uri.startswith(SCHEME) else ""
    if name == "hot":
        return hot(work)
    if name == "status":
        return json.dumps(status(ToolCall(work=work, arguments={})).data)
    if found := _MEMORY.fullmatch(name):
        wanted = {"id": found[1], "at": found[2] or "", "max_tokens": 20000}
        return get(ToolCall(work=work, arguments=wanted)).text
    if found := _RUN.fullmatch(name):
        return run(work, found[1])
    raise NoSuchResource(uri)


def run(work: Work, name: str) -> str:
    """Return what a run changes or changed, or the beginning of it where that is very long."""
    refuse_verb(work.call.scope, "diff")
    told = without_secrets(review_text(review_of(work, span_of(work, [name]), quote=False)))
    cut = "" if len(told) <= LONGEST else "\ncut: `memrepo diff` shows all of it"
    return f"{HEAD}\n{fenced(told[:LONGEST])}{cut}"


def hot(work: Work) -> str:
    """Return the context that a session begins with."""
    return read_tools.hot(ToolCall(work=work, arguments={})).text


def completions(work: Work, name: str, begun: str) -> list[str]:
    """Return what may stand for an argument of a prompt or a template that begins so."""
    match name:
        case "id":
            memories = sorted(work.tree.state().active, key=lambda m: m.id)
            # A slug says what a memory is of; an id alone does not.
            known = [*(m.slug for m in memories), *(m.id for m in memories)]
        case "run":
            known = [w.run for w in all_waiting(work)]
            known += [landing.run for landing in work.landed() if landing.run]
        case "commit":
            known = [landing.entry.commit for landing in work.landed()]
        case _:
            known = []
    return [one for one in dict.fromkeys(known) if one.startswith(begun)]
