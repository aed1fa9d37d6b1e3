"""`memrepo review`: go through what waits, or through the last run, one decision a screen.

A line is read for each decision, so it works over ssh, without colours and from a script; texts are
written in the person's editor. What was said is kept until it is done.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.review.screens import (
    REASON,
    Said,
    Screen,
    Session,
    Words,
    session_of,
    words_of,
)
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.secrets import concealed
from memrepo.views.review import SUMMARIES, UNTOLD, Change, Evidence, place_of, spelled
from memrepo.views.wording import in_words, judged_in_words

WIDTH = 78
LINES = 6
"""Lines of a text that are shown; `why` shows the rest."""
_LABEL = 13
_BOLD, _RED, _GREEN, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m"


def screen_text(
    changes: Sequence[Change],
    near: Sequence[Memory],
    *,
    place: str,
    said: str = "",
    colour: bool = False,
) -> str:
    """Return one screen; `place` says which of how many it is, `said` what was decided of it."""
    first = changes[0]
    heading, meaning = SUMMARIES[first.difference.kind]
    head = f"{place}  {heading}: {meaning}"
    lines = [f"{_BOLD}{head}{_PLAIN}" if colour else head]
    for change in changes:
        # A new memory beside the one that it replaces is shown there.
        if change is first or not change.replaces:
            lines += ["", *_change(change, colour)]
    for n, memory in enumerate(near, start=1):
        lines += _labelled(f"near {n}", memory.body, most=1)
    if first.why:
        lines += _labelled("because", in_words(first.why))
    if said:
        lines += _labelled("you said", said)
    return "\n".join(lines)


def _change(change: Change, colour: bool) -> Iterator[str]:
    found, memory = change.difference, change.difference.memory
    before = found.before.body if found.before else ""
    yield f"{memory.id}  {memory.type}"
    if change.successors:
        yield from _wording("was", memory.body, _RED, colour)
        for heir in change.successors:
            yield from _wording("becomes", heir.body, _GREEN, colour)
    elif found.before is None:
        yield from _wording("new", memory.body, _GREEN, colour)
    elif "reworded" in found.kinds:
        yield from _wording("was", before, _RED, colour)
        yield from _wording("becomes", memory.body, _GREEN, colour)
    else:
        leaves = found.kind in ("retired", "removed", "forgotten", "archived")
        yield from _wording("goes" if leaves else "says", memory.body, _RED, colour and leaves)
    for other in change.against:
        yield from _labelled(f"but {other.id[:8]}", other.body)
    if found.before is not None and found.after is not None and not change.successors:
        for name in found.fields:
            if name not in UNTOLD:
                old, new = spelled(found, name)
                yield from _labelled(name.replace("_", " "), f"{old or 'none'} -> {new or 'none'}")
    for piece in change.evidence[:3]:
        yield from _evidence(piece)
    if len(change.evidence) > 3:
        yield f"{'':{_LABEL}}and {counted(len(change.evidence) - 3, 'more source', 'more sources')}"


def _evidence(piece: Evidence) -> Iterator[str]:
    label = {"new": "rests on", "gone": "no longer on", "kept": "rests on"}[piece.mark]
    dated = f" ({piece.source.captured})" if piece.source.captured else ""
    yield from _labelled(label, place_of(piece.source) + dated)
    for _, line in piece.text[:3]:
        yield from (f"{'':{_LABEL}}| {row}" for row in _rows(line, WIDTH - _LABEL - 2)[:2])


def _wording(label: str, text: str, paint: str, colour: bool) -> Iterator[str]:
    rows = list(_labelled(label, text))
    yield from (f"{paint}{row}{_PLAIN}" for row in rows) if colour else rows


def _labelled(label: str, text: str, most: int = LINES) -> list[str]:
    rows = _rows(text, WIDTH - _LABEL) or [""]
    if len(rows) > most:
        last = rows[most - 1]
        rows = [*rows[: most - 1], last[: WIDTH - _LABEL - 2] + " …"]
    return [f"{label if n == 0 else '':<{_LABEL}}{row}" for n, row in enumerate(rows)]


def _rows(text: str, width: int) -> list[str]:
    """Wrap a text; no word that fits is broken, and no control character is left in it."""
    said = " ".join(visible(text).split())
    return textwrap.wrap(said, width, break_on_hyphens=False)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `review`."""

    run: Annotated[
        str,
        option("a waiting or landed run; what waits when left out, else the last", metavar="RUN"),
    ] = ""


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """One verb that was done, as it is typed, with its commit; or what kept it from being done."""

    line: str
    commit: str = ""
    error: str = ""


class Result(result.Result, frozen=True, kw_only=True):
    """How many decisions there are, of how many something was said, and what was done."""

    run: str
    waits: bool
    decisions: int
    said: int
    open: int
    done: tuple[Done, ...] = ()


class Key(NamedTuple):
    """A key: its word, and what it does for a person."""

    letter: str
    word: str
    says: str


KEYS = (
    Key("y", "accept", "let it take effect"),
    Key("n", "reject", "refuse it for good: it is not proposed again"),
    Key("e", "edit", "accept it in other words; your editor opens"),
    Key("s", "split", "make several of it, one a paragraph; your editor opens"),
    Key("m", "merge", "make one of it and a neighbour; your editor opens"),
    Key("c", "choose", "of two that contradict each other, say which holds"),
    Key("k", "skip", "say nothing now: it is offered again"),
    Key("w", "why", "show all of it, with all of its evidence"),
    Key("a", "all", "say the same of all of this kind from here on"),
    Key("u", "undo", "take the last answer back"),
    Key("d", "done", "do what was said now; the rest is offered again"),
    Key("q", "quit", "leave; what was said is kept, and nothing is done yet"),
    Key("?", "help", "show the keys"),
)
_BY_WORD = {word: key.word for key in KEYS for word in (key.letter, key.word)}


def do(work: Work, request: Request) -> Result:
    """Go through the screens, then do what was said if the person wants it."""
    session = session_of(work, request.run)
    return _Talk(work, session).go()


class _Talk:
    """One review at a terminal."""

    def __init__(self, work: Work, session: Session) -> None:
        self.work = work
        self.session = session
        self.order: list[list[Screen]] = []
        """The screens of each answer in this sitting, for undo."""

    def go(self) -> Result:
        """Ask of each open screen in turn."""
        session, say = self.session, self._say
        what = "waits" if session.state == "waits" else "is in effect"
        say(f"{session.run} {what}: {counted(len(session.screens), 'decision', 'decisions')}")
        if session.said:
            say(f"you said something of {len(session.said)} already; {_open(session)}")
        at = 0
        while (there := [n for n in session.open if n >= at] or session.open) and at >= 0:
            at = self._ask(there[0])
        if at == _QUIT:
            return self._left()
        return self._finish()

    def _ask(self, place: int) -> int:
        """Show one screen and take its answer; return where to go on, or a stop."""
        screen = self.session.screens[place]
        self._show(place)
        while True:
            answer = self._line("[y]es [n]o [e]dit s[k]ip [q]uit, [?] all keys: ")
            if answer is None:
                return _QUIT
            match _BY_WORD.get(answer.lower()):
                case "accept":
                    return self._said(place, Said(does="accept"))
                case "skip":
                    return self._said(place, Said(does="skip"))
                case "reject":
                    return self._said(place, Said(does="reject", reason=self._reason()))
                case "edit" | "split" | "merge" | "choose" as word:
                    said = _WITH_TEXT[word](self, screen)
                    if said is not None:
                        return self._said(place, said)
                case "why":
                    self._why(screen)
                case "all":
                    if (at := self._all(place)) is not None:
                        return at
                case "undo":
                    if self.order:
                        return self._undo()
                    self._say("nothing was said in this sitting yet")
                case "done":
                    return _DONE
                case "quit":
                    return _QUIT
                case _:
                    self._say(
                        "\n".join(f"  {key.letter}  {key.word:<7} {key.says}" for key in KEYS)
                    )

    def _show(self, place: int) -> None:
        screen, every = self.session.screens[place], len(self.session.screens)
        text = screen_text(
            screen.changes,
            screen.near,
            place=f"{place + 1} of {every}",
            colour=self.work.call.colour,
        )
        self._say(f"\n{text}")

    def _said(self, place: int, said: Said) -> int:
        screen = self.session.screens[place]
        self.session.says(screen, said)
        self.order.append([screen])
        return place + 1

    def _undo(self) -> int:
        screens = self.order.pop()
        for screen in screens:
            self.session.says(screen, None)
        return self.session.screens.index(screens[0])

    def _all(self, place: int) -> int | None:
        """Say one thing of all open screens of a kind."""
        kind = self.session.screens[place].kind
        every = [s for n in self.session.open if (s := self.session.screens[n]).kind == kind]
        answer = self._line(f"all {len(every)} of kind {kind}: [y] accept, [n] reject, s[k]ip: ")
        does = _BY_WORD.get((answer or "").lower())
        if does not in ("accept", "reject", "skip"):
            return None
        said = Said(does=does, reason=self._reason() if does == "reject" else "")  # type: ignore[arg-type]
        for screen in every:
            self.session.says(screen, said)
        self.order.append(every)
        return place

    def _reason(self) -> str:
        """Ask why; it is kept in clear, so the value itself is better left out."""
        return self._line(f"why? (enter: {REASON}) ") or REASON

    def _edit(self, screen: Screen) -> Said | None:
        text = self._text(screen.target.body)
        return Said(does="edit", texts=(text,)) if text else None

    def _split(self, screen: Screen) -> Said | None:
        text = self._text(f"{screen.target.body}\n")
        parts = [" ".join(part.split()) for part in (text or "").split("\n\n") if part.strip()]
        if len(parts) < 2:
            self._say("nothing to split: put an empty line between the parts")
            return None
        return Said(does="split", texts=tuple(parts))

    def _merge(self, screen: Screen) -> Said | None:
        near = (*screen.near, *(m for m in screen.against if m not in screen.near))
        if not near:
            self._say("no neighbour is known to merge it with")
            return None
        for n, memory in enumerate(near, start=1):
            self._say(f"  {n}  {visible(memory.body)[:70]}")
        answer = self._line("with which number? ") or ""
        if not (answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(near)):
            return None
        other = near[int(answer) - 1]
        text = self._text(f"{screen.target.body}\n{other.body}\n")
        return Said(does="merge", texts=(text,), other=other.id) if text else None

    def _choose(self, screen: Screen) -> Said | None:
        if not screen.against:
            self._say("it contradicts nothing")
            return None
        mine, other = screen.target, screen.against[0]
        self._say(f"  1  {visible(mine.body)[:70]}\n  2  {visible(other.body)[:70]}")
        match self._line("which holds? [1] [2] [b]oth: "):
            case "1":
                return Said(does="keep", other=mine.id)
            case "2":
                return Said(does="keep", other=other.id)
            case "b" | "both":
                return Said(does="both")
        return None

    def _text(self, text: str) -> str | None:
        """Return what the person makes of a text; None where there is no editor or nothing new."""
        new = self.work.call.edit(text)
        if new is None:
            new = self._line("no editor here; the text on one line: ")
        new = (new or "").strip()
        return new if new and new != text.strip() else None

    def _why(self, screen: Screen) -> None:
        say = self._say
        for change in screen.changes:
            say(f"\n{change.difference.memory.id}\n{visible(change.difference.memory.body)}")
            for decision in change.decisions:
                why = visible(in_words(decision.reason))
                say(f"  {decision.op} by {decision.actor}: {why}")
            if judged := judged_in_words(change.judged):
                say(f"  the judge: {visible(judged)}")
            for piece in change.evidence:
                source = piece.source
                say(f"  {source.resource}:{source.lines[0]} {source.captured} {piece.mark}")
                for number, line in piece.text:
                    say(f"    {number:>4} {visible(line)}")

    def _say(self, text: str) -> None:
        """Print a text; of a secret that stands in it, its kind."""
        self.work.call.say(concealed([text])[0])

    def _line(self, prompt: str) -> str | None:
        """Read one answer; None at the end of input."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            self._say("")
            return None
        return line.strip()

    # -- taking effect -----------------------------------------------------------------------------

    def _left(self) -> Result:
        if self.session.said:
            self._say(f"kept; {_open(self.session)}: `memrepo review` goes on")
        return self._told()

    def _finish(self) -> Result:
        say, words = self._say, words_of(self.session)
        if not words:
            if self.session.state == "waits":
                say("nothing was accepted or refused: it waits on")
            return self._told()
        say("\nthis is what was said:")
        for one in words:
            say(f"  {as_command(one)}")
        answer = self._line("do it? [y]es, [n]o (kept for later): ")
        if (answer or "").lower() not in ("y", "yes"):
            return self._left()
        done = tuple(map(self._do, words))
        if not all(one.error for one in done):
            self.session.settle()
        return self._told(done)

    def _do(self, words: Words) -> Done:
        """Do one verb as the command line does; what is refused is told, and the rest goes on."""
        from memrepo.faces.text import text_of

        line = as_command(words)
        try:
            self.work.refresh()
            answer = perform(self.work, words.verb, words.request)
        except MemrepoError as error:
            self._say(f"{line}\n  not done: {error.message}")
            return Done(line=line, error=error.message)
        self._say(text_of(words.verb, words.request, answer))
        told = answer.as_json()
        commits = told.get("commits") or [told.get("commit", "")]
        return Done(line=line, commit=commits[0])

    def _told(self, done: tuple[Done, ...] = ()) -> Result:
        failed = any(one.error for one in done)
        return Result(
            run=self.session.run,
            waits=self.session.state == "waits",
            decisions=len(self.session.screens),
            said=len(self.session.said),
            open=len(self.session.open),
            done=done,
            exit=Exit.DECIDE if failed else Exit.DONE,
        )


_QUIT, _DONE = -2, -1
_WITH_TEXT: dict[str, Callable[[_Talk, Screen], Said | None]] = {
    "edit": _Talk._edit,  # noqa: SLF001 - its own
    "split": _Talk._split,  # noqa: SLF001
    "merge": _Talk._merge,  # noqa: SLF001
    "choose": _Talk._choose,  # noqa: SLF001
}


def _open(session: Session) -> str:
    return f"{counted(len(session.open), 'decision is', 'decisions are')} open"


def as_command(words: Words) -> str:
    """Spell a verb as a person types it."""
    return f"memrepo {words.verb} {visible(shlex.join(words.line))}"
