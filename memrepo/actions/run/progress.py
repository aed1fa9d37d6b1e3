"""Telling a person that a long run is alive: what is read and judged is counted as it happens.

The pure code knows nothing of it: the reader and the judge that it is handed are watched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memrepo.core.judging import (
    CanonicalClaim,
    CanonicalRequest,
    Finding,
    GistRequest,
    Judge,
    PromotionRequest,
    Summary,
    SummaryRequest,
    Suspicion,
    Usage,
    Verdict,
)
from memrepo.core.memory import Gist

Tick = Callable[[str], None]


class WatchedJudge(msgspec.Struct, frozen=True):
    """A judge whose requests are counted; it answers what the judge answers."""

    judge: Judge
    tick: Tick

    @property
    def name(self) -> str:
        """Return the judge's name."""
        return self.judge.name

    @property
    def batch(self) -> tuple[int, int]:
        """Return the judge's batch sizes."""
        return self.judge.batch

    @property
    def usage(self) -> Usage:
        """Return the judge's usage."""
        return self.judge.usage

    @property
    def prompt_hash(self) -> str:
        """Return the judge's prompt hash."""
        return self.judge.prompt_hash

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Ask for verdicts, and count the request."""
        answers = self.judge.promote(request)
        self.tick("judged, pass 1")
        return answers

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Ask for claims, and count the request."""
        answers = self.judge.canonicalise(request)
        self.tick("judged, pass 2")
        return answers

    def verify(self, suspicion: Suspicion) -> Finding:
        """Ask whether two statements contradict each other, and count it."""
        finding = self.judge.verify(suspicion)
        self.tick("pairs compared")
        return finding

    def gist(self, request: GistRequest) -> Gist:
        """Ask for the gist of a note, and count it."""
        gist = self.judge.gist(request)
        self.tick("notes gisted")
        return gist

    def summarise(self, request: SummaryRequest) -> Summary:
        """Ask for the summary of some memories, and count it."""
        summary = self.judge.summarise(request)
        self.tick("summaries")
        return summary


def watched(read: Callable[[str], bytes], tick: Tick) -> Callable[[str], bytes]:
    """Count what a reader reads."""

    def reading(blob: str) -> bytes:
        tick("sources read")
        return read(blob)

    return reading
