"""What a form asks for, as the verb that does it: a commit each, and the words for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

import msgspec
from starlette.datastructures import FormData

from memrepo.actions.request import checked
from memrepo.actions.review import accept, discard, resolve
from memrepo.actions.review.screens import Said, Words, session_of, words_of
from memrepo.actions.takeback import reject, revert
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.actions.write import confirm, edit, forget, pin
from memrepo.core.errors import MemrepoError
from memrepo.core.secrets import concealed
from memrepo.faces.text import text_of


def do(work: Work, form: FormData) -> list[str]:
    """Do what a form asks for; return what came of it, a line or more for each verb."""
    given = {name: str(value) for name, value in form.items()}
    told = []
    try:
        for words in _words(work, given):
            work.refresh()
            answer = perform(work, words.verb, checked(words.request))
            line = f"memrepo {words.verb} {shlex.join(words.line)}".rstrip()
            told.append(f"{line}\n{text_of(words.verb, words.request, answer)}")
    except MemrepoError as error:
        told.append(f"not done: {error.message}" + (f"\n{error.fix}" if error.fix else ""))
    return list(concealed(told or ["nothing was to be done"]))


def _words(work: Work, given: Mapping[str, str]) -> tuple[Words, ...]:
    deed = given.get("deed", "")
    if deed == "decide":
        return _decided(work, given)
    if deed not in _DEEDS:
        return ()
    return (_DEEDS[deed](given),)


def _decided(work: Work, given: Mapping[str, str]) -> tuple[Words, ...]:
    """Return the verbs for what a form of the morning says of each decision."""
    session = session_of(work, given.get("run", ""))
    for screen in session.screens:
        text = given.get(f"text-{screen.mark}", "").replace("\r\n", "\n").strip()
        match given.get(f"does-{screen.mark}"):
            case "accept" if text and text != screen.target.body:
                session.said[screen.mark] = Said(does="edit", texts=(text,))
            case "accept":
                session.said[screen.mark] = Said(does="accept")
            case "reject":
                session.said[screen.mark] = Said(does="reject", reason=given.get("reason", ""))
            case _:
                session.said.pop(screen.mark, None)
    return words_of(session)


def _one(verb: str, request: msgspec.Struct, *line: str) -> Words:
    return Words(verb, request, line)


def _reason(given: Mapping[str, str]) -> tuple[str, ...]:
    return ("--reason", given["reason"]) if given.get("reason") else ()


def _accept(g: Mapping[str, str]) -> Words:
    return _one("accept", accept.Request(run=g.get("run", "")), g.get("run", ""))


def _discard(g: Mapping[str, str]) -> Words:
    request = discard.Request(run=g.get("run", ""), reason=g.get("reason", ""))
    return _one("discard", request, g.get("run", ""), *_reason(g))


def _revert(g: Mapping[str, str]) -> Words:
    request = revert.Request(target=g.get("target", ""), reason=g.get("reason", ""))
    return _one("revert", request, g.get("target", ""), *_reason(g))


def _edit(g: Mapping[str, str]) -> Words:
    text = g.get("text", "").replace("\r\n", "\n")
    request = edit.Request(id=g.get("id", ""), text=text, reason=g.get("reason", ""))
    return _one("edit", request, g.get("id", ""), "--text", text, *_reason(g))


def _pin(g: Mapping[str, str]) -> Words:
    off = g.get("off") == "1"
    more = ("--off",) if off else ()
    return _one("pin", pin.Request(id=g.get("id", ""), off=off), g.get("id", ""), *more)


def _forget(g: Mapping[str, str]) -> Words:
    request = forget.Request(id=g.get("id", ""), reason=g.get("reason", ""))
    return _one("forget", request, g.get("id", ""), *_reason(g))


def _reject(g: Mapping[str, str]) -> Words:
    request = reject.Request(id=g.get("id", ""), reason=g.get("reason", ""))
    return _one("reject", request, g.get("id", ""), *_reason(g))


def _confirm(g: Mapping[str, str]) -> Words:
    return _one("confirm", confirm.Request(id=g.get("id", "")), g.get("id", ""))


def _resolve(g: Mapping[str, str]) -> Words:
    id_, keep = g.get("id", ""), g.get("keep", "")
    if keep:
        return _one("resolve", resolve.Request(id=id_, keep=keep), id_, "--keep", keep)
    return _one("resolve", resolve.Request(id=id_, both=True), id_, "--both")


_DEEDS: Mapping[str, Callable[[Mapping[str, str]], Words]] = {
    "accept": _accept,
    "discard": _discard,
    "revert": _revert,
    "edit": _edit,
    "pin": _pin,
    "forget": _forget,
    "reject": _reject,
    "confirm": _confirm,
    "resolve": _resolve,
}
"""What pages offer beside the decisions of a run; nothing else can be asked for."""
