"""Lines of an index that point to a file which holds one memory: `[tone](feedback_tone.md) — ...`.

Claude Code keeps such an index, `MEMORY.md`, of the files beside it. What its line says is said by
the file; so the line becomes evidence of the file's memory and no memory of its own, unless it says
something else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from posixpath import dirname, join, normpath

from memrepo.core.judge import Candidate, PriorClaim
from memrepo.core.memory import Source
from memrepo.judges.wording import POINTER
from memrepo.policies.matching import tokens

SAID = 0.7
"""The share of a line's words that the file's memory holds where it says what the line says."""


def pointed(candidates: Sequence[Candidate], surviving: Collection[str]) -> dict[str, str]:
    """Return for each line of an index the candidate, among those that survive, of its file."""
    lines = {c.candidate_id: files for c in candidates if (files := files_of(c))}
    if not lines:
        return {}
    whole = {
        f: c for c in candidates if c.candidate_id in surviving for f in memory_files(c.sources)
    }
    by_id = {c.candidate_id: c for c in candidates}
    found = {}
    for key, files in lines.items():
        for file in files:
            if (memory := whole.get(file)) is not None and says(memory.text, by_id[key]):
                found[key] = memory.candidate_id
    return found


def by_file(priors: Iterable[PriorClaim]) -> Mapping[str, PriorClaim]:
    """Return the memories that are a file of their own, by that file."""
    return {file: prior for prior in priors for file in memory_files(prior.sources)}


def files_of(candidate: Candidate) -> tuple[str, ...]:
    """Return the files that a line of an index points to, as seen from each file it stands in."""
    match = POINTER.match(candidate.text)
    if match is None:
        return ()
    beside = (join(dirname(s.resource), match["target"]) for s in candidate.sources)
    return tuple(dict.fromkeys(map(normpath, beside)))


def memory_files(sources: Iterable[Source]) -> list[str]:
    """Return the files that a memory rests on from their first line on."""
    return [s.resource for s in sources if s.lines[0] == 1]


def says(text: str, line: Candidate) -> bool:
    """Tell whether a memory's text says what a line of an index says after its link."""
    match = POINTER.match(line.text)
    words = tokens(match["said"]) if match else frozenset[str]()
    return bool(words) and len(words & tokens(text)) >= SAID * len(words)
