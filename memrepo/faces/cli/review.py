"""`memrepo review`: review a pending run, or else the last run, one decision at a time.

Each answer is read as a line, so reviews work over ssh, without colours and from a script. Texts
are edited in the user's editor. Answers are stored until they take effect.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.review.session import (
    REASON,
    Neighbours,
    ReviewAnswer,
    ReviewSession,
    Words,
    session_of,
    words_of,
)
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import counted, cut
from memrepo.core.secrets import concealed
from memrepo.faces.cli.screen import fitted
from memrepo.faces.text.review import bold, card_lines, change_lines
from memrepo.views.report import in_words, judged_in_words
from memrepo.views.review import Decision, ReviewGroup

WIDTH = 78
ON_CARD = 5
"""Maximum memories listed on a card. `look` shows the rest."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `review`."""

    run: Annotated[
        str,
        option("a pending or landed run (default: the pending run, else the last)", metavar="RUN"),
    ] = ""


class DoneVerb(msgspec.Struct, frozen=True, kw_only=True):
    """A performed command line, with its commit or its error."""

    line: str
    commit: str = ""
    error: str = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The result of a review: numbers of decisions and answers, and the performed commands."""

    run: str
    waits: bool
    decisions: int
    said: int
    open: int
    done: tuple[DoneVerb, ...] = ()


class ReviewKey(NamedTuple):
    """A key that answers the prompt: its letter, its word and its effect."""

    letter: str
    word: str
    says: str


KEYS = (
    ReviewKey("y", "accept", "accept it: it takes effect"),
    ReviewKey("n", "reject", "reject it: it is not proposed again"),
    ReviewKey("e", "edit", "accept it with your wording; your editor opens"),
    ReviewKey("s", "split", "split it, one memory per paragraph; your editor opens"),
    ReviewKey("m", "merge", "merge it with a similar memory; your editor opens"),
    ReviewKey("c", "choose", "choose between two contradictory memories"),
    ReviewKey("k", "skip", "decide later: it is offered again"),
    ReviewKey("w", "why", "show the full text and all evidence"),
    ReviewKey("l", "look", "decide the changes on this card one by one"),
    ReviewKey("a", "all", "give one answer for all under this heading"),
    ReviewKey("u", "undo", "undo the last answer"),
    ReviewKey("d", "done", "apply your answers; the rest is offered again"),
    ReviewKey("q", "quit", "quit; your answers are stored but not applied yet"),
    ReviewKey("?", "help", "show the keys"),
)
_BY_WORD = {word: key.word for key in KEYS for word in (key.letter, key.word)}


def do(work: Work, request: Request) -> Result:
    """Ask the user about each decision, and apply the answers if the user confirms."""
    return _Talk(work, session_of(work, request.run)).go()


class _Talk:
    """A review session at a terminal.

    `items` are the questions in order. Each is one decision, or all decisions of a card.
    """

    def __init__(self, work: Work, session: ReviewSession) -> None:
        self.work = work
        self.session = session
        self.items: list[tuple[ReviewGroup, Sequence[Decision]]] = []
        for group in session.review.groups:
            if group.is_card:
                self.items.append((group, group.decisions))
            else:
                self.items += [(group, [decision]) for decision in group.decisions]
        self.history: list[tuple[int, list[Decision]]] = []
        """The position and decisions of each answer in this session, for undo."""
        self.neighbours: Neighbours | None = None

    def go(self) -> Result:
        """Ask about each open item in order, then apply the confirmed answers."""
        session, say = self.session, self._say
        what = "is pending" if session.waits else "is in effect"
        count = counted(len(session.review.decisions), "decision", "decisions")
        say(f"{session.run} {what}: {count}")
        if session.answers:
            say(f"you answered {len(session.answers)} already; {_open(session)}")
        at = 0
        while at >= 0 and (open_ := [n for n in range(len(self.items)) if self._open_in(n)]):
            at = self._ask(next((n for n in open_ if n >= at), open_[0]))
        if at == _QUIT:
            return self._leave()
        return self._finish()

    def _open_in(self, place: int) -> list[Decision]:
        return [d for d in self.items[place][1] if d.mark not in self.session.answers]

    def _ask(self, place: int) -> int:
        """Show the item at a position, and store the answer. Return the next position or a code.

        The codes are `_QUIT` and `_DONE`.
        """
        group, decisions = self.items[place]
        self._show(place)
        is_card = len(decisions) > 1
        prompt = (
            "[y]es [n]o [l]ook inside s[k]ip [q]uit"
            if is_card
            else "[y]es [n]o [e]dit s[k]ip [q]uit"
        )
        while True:
            typed = self._line(f"{prompt}, [?] all keys: ")
            word = "quit" if typed is None else _BY_WORD.get(typed.lower(), "help")
            if is_card and word in (*_WITH_TEXT, "why"):
                self._say("look inside first: [l]")
                continue
            match word:
                case "accept" | "skip":
                    return self._answer(place, self._open_in(place), ReviewAnswer(does=word))
                case "reject":
                    answer = ReviewAnswer(does="reject", reason=self._reason())
                    return self._answer(place, self._open_in(place), answer)
                case "edit" | "split" | "merge" | "choose":
                    if answer_ := _WITH_TEXT[word](self, decisions[0]):
                        return self._answer(place, decisions, answer_)
                case "look" if is_card:
                    self.items[place : place + 1] = [(group, [one]) for one in decisions]
                    return place
                case "why" | "look":
                    self._why(decisions[0])
                case "all":
                    under = [
                        d
                        for n, item in enumerate(self.items)
                        if item[0] is group
                        for d in self._open_in(n)
                    ]
                    if all_ := self._all(group, len(under)):
                        return self._answer(place, under, all_)
                case "undo":
                    if self.history:
                        back, answered = self.history.pop()
                        for decision in answered:
                            self.session.answer(decision, None)
                        return back
                    self._say("no answer to undo in this session")
                case "done":
                    return _DONE
                case "quit":
                    return _QUIT
                case _:
                    self._say(
                        "\n".join(f"  {key.letter}  {key.word:<7} {key.says}" for key in KEYS)
                    )

    def _show(self, place: int) -> None:
        group, decisions = self.items[place]
        before = sum(len(found) for _, found in self.items[:place]) + 1
        last = before + len(decisions) - 1
        number = str(before) if last == before else f"{before}-{last}"
        total, colour = len(self.session.review.decisions), self.work.call.colour
        lines = ["", bold(f"{number} of {total}  {visible(group.heading)}", colour)]
        if len(decisions) > 1:
            lines += card_lines([c for d in decisions for c in d.changes], ON_CARD)
        else:
            (decision,) = decisions
            if len(decision.shown) > ON_CARD:
                lines += card_lines(decision.shown)
            for change in decision.shown if len(decision.shown) <= ON_CARD else ():
                lines += ["", *change_lines(change, colour=colour, width=WIDTH, quote=True)]
            for n, memory in enumerate(self._near(decision), start=1):
                lines.append(f"    near {n}: {cut(memory.body, WIDTH - 12)}")
        self._say(fitted("\n".join(lines), WIDTH))

    def _near(self, decision: Decision) -> Sequence[Memory]:
        if self.neighbours is None:
            self.neighbours = Neighbours(self.session.after)
        return self.neighbours.of(decision.target, decision.ids)

    def _answer(self, place: int, decisions: Sequence[Decision], answer: ReviewAnswer) -> int:
        for decision in decisions:
            self.session.answer(decision, answer)
        self.history.append((place, [*decisions]))
        return place + 1

    def _all(self, group: ReviewGroup, count: int) -> ReviewAnswer | None:
        """Ask for one common answer to all open decisions under a heading.

        Return None if the user gives no valid answer.
        """
        heading = visible(group.heading)
        typed = self._line(f"all {count} under “{heading}”: [y] accept, [n] reject, s[k]ip: ")
        match _BY_WORD.get((typed or "").lower()):
            case "accept" | "skip" as does:
                return ReviewAnswer(does=does)
            case "reject":
                return ReviewAnswer(does="reject", reason=self._reason())
        return None

    def _reason(self) -> str:
        """Ask for the reason of a rejection. Reasons are stored in plain text, secrets included."""
        return self._line(f"why? (enter: {REASON}) ") or REASON

    def _edit(self, decision: Decision) -> ReviewAnswer | None:
        text = self._text(decision.target.body)
        return ReviewAnswer(does="edit", texts=(text,)) if text else None

    def _split(self, decision: Decision) -> ReviewAnswer | None:
        text = self._text(f"{decision.target.body}\n")
        parts = [" ".join(part.split()) for part in (text or "").split("\n\n") if part.strip()]
        if len(parts) < 2:
            self._say("nothing to split: put an empty line between the parts")
            return None
        return ReviewAnswer(does="split", texts=tuple(parts))

    def _merge(self, decision: Decision) -> ReviewAnswer | None:
        near = tuple({m.id: m for m in (*self._near(decision), *decision.against)}.values())
        if not near:
            self._say("no similar memory to merge it with")
            return None
        for n, memory in enumerate(near, start=1):
            self._say(f"  {n}  {visible(memory.body)[:70]}")
        answer = self._line("with which number? ") or ""
        if not (answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(near)):
            return None
        other = near[int(answer) - 1]
        text = self._text(f"{decision.target.body}\n{other.body}\n")
        return ReviewAnswer(does="merge", texts=(text,), other=other.id) if text else None

    def _choose(self, decision: Decision) -> ReviewAnswer | None:
        if not decision.against:
            self._say("it contradicts nothing")
            return None
        mine, other = decision.target, decision.against[0]
        self._say(f"  1  {visible(mine.body)[:70]}\n  2  {visible(other.body)[:70]}")
        match self._line("which is true? [1] [2] [b]oth: "):
            case "1":
                return ReviewAnswer(does="keep", other=mine.id)
            case "2":
                return ReviewAnswer(does="keep", other=other.id)
            case "b" | "both":
                return ReviewAnswer(does="both")
        return None

    def _text(self, text: str) -> str | None:
        """Let the user edit a text. Return the new text, or None if it is empty or unchanged."""
        new = self.work.call.edit(text)
        if new is None:
            new = self._line("no editor available; type the text on one line: ")
        new = (new or "").strip()
        return new if new and new != text.strip() else None

    def _why(self, decision: Decision) -> None:
        say = self._say
        for change in decision.changes:
            say(f"\n{change.difference.memory.id}\n{visible(change.difference.memory.body)}")
            for one in change.decisions:
                say(f"  {one.op} by {one.actor}: {visible(in_words(one.reason))}")
            if judged := judged_in_words(change.judged):
                say(f"  the judge: {visible(judged)}")
            for piece in change.evidence:
                source = piece.source
                say(f"  {source.resource}:{source.lines[0]} {source.captured} {piece.mark}")
                for number, line in piece.text:
                    say(f"    {number:>4} {visible(line)}")

    def _say(self, text: str) -> None:
        """Print a text, with each secret replaced by the name of its kind."""
        self.work.call.say(concealed([text])[0])

    def _line(self, prompt: str) -> str | None:
        """Read one line of input. Return None at the end of input."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            self._say("")
            return None
        return line.strip()

    # -- applying the answers ---------------------------------------------------------------------

    def _finish(self) -> Result:
        say, words = self._say, words_of(self.session)
        if not words:
            if self.session.waits:
                say("no decision made: the run is still pending review")
            return self._result()
        say("\nyour answers as commands:")
        for one in words:
            say(f"  {as_command(one)}")
        answer = self._line("apply them? [y]es, [n]o (stored for later): ")
        if (answer or "").lower() not in ("y", "yes"):
            return self._leave()
        done = tuple(map(self._do, words))
        if not all(one.error for one in done):
            self.session.settle()
        return self._result(done)

    def _leave(self) -> Result:
        if self.session.answers:
            self._say(f"stored; {_open(self.session)}: `memrepo review` continues")
        return self._result()

    def _do(self, words: Words) -> DoneVerb:
        """Perform one command, and print its result or its error."""
        from memrepo.faces.text import text_of

        line = as_command(words)
        try:
            self.work.refresh()
            answer = perform(self.work, words.verb, words.request)
        except MemrepoError as error:
            self._say(f"{line}\n  not done: {error.message}")
            return DoneVerb(line=line, error=error.message)
        self._say(text_of(words.verb, words.request, answer))
        data = answer.as_json()
        commits = data.get("commits") or [data.get("commit", "")]
        return DoneVerb(line=line, commit=commits[0])

    def _result(self, done: tuple[DoneVerb, ...] = ()) -> Result:
        failed = any(one.error for one in done)
        return Result(
            run=self.session.run,
            waits=self.session.waits,
            decisions=len(self.session.review.decisions),
            said=len(self.session.answers),
            open=len(self.session.open),
            done=done,
            exit=Exit.DECIDE if failed else Exit.DONE,
        )


_QUIT, _DONE = -2, -1
_WITH_TEXT: dict[str, Callable[[_Talk, Decision], ReviewAnswer | None]] = {
    "edit": _Talk._edit,  # noqa: SLF001 - a method of this module
    "split": _Talk._split,  # noqa: SLF001
    "merge": _Talk._merge,  # noqa: SLF001
    "choose": _Talk._choose,  # noqa: SLF001
}


def _open(session: ReviewSession) -> str:
    return f"{counted(len(session.open), 'decision is', 'decisions are')} open"


def as_command(words: Words) -> str:
    """Format a verb and its arguments as a command line."""
    return f"memrepo {words.verb} {visible(shlex.join(words.line))}"
