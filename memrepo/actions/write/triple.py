"""What becomes of a memory's triple when a person words it anew."""

from __future__ import annotations

import re
from typing import Any

from memrepo.core.ids import normalise
from memrepo.core.judging import Candidate
from memrepo.core.memory import CLAIM_TYPES, Memory
from memrepo.judges.triples import OBJECT_LENGTH, Triple, read_triple
from memrepo.judges.wording import bare_object, cap

_LEAD = re.compile(r"\s*(?:\*\*)?([^:*\n]{1,80}):(?:\*\*)?\s+(\S.*)", re.DOTALL)


def triple_after(memory: Memory, text: str) -> dict[str, Any]:
    """Return the fields of the triple that a new wording changes; None removes one.

    A shape that the offline reader is sure of is followed. Where it is not, a value that the new
    wording no longer says goes, and its predicate with it. A value that the old wording did not
    say was put there by a person or a model, and stays; no triple is made where there was none.
    """
    if memory.type not in CLAIM_TYPES:
        return {}
    stored = {key: memory.text(key) for key in ("subject", "predicate", "object")}
    value = normalise(stored["object"])
    if not value or value not in normalise(memory.body):
        return {}
    new = _read(memory, text)
    if new.shape == 3:
        gone = value not in normalise(text)
        found = {"predicate": "", "object": ""} if gone else {}
    else:
        subject = new.subject if new.shape == 2 else stored["subject"]
        found = {"subject": subject, "predicate": new.predicate, "object": new.object}
    return {key: said or None for key, said in found.items() if said != stored[key]}


def _read(memory: Memory, text: str) -> Triple:
    lead = _LEAD.fullmatch(text)
    if lead and normalise(lead[1]) == normalise(memory.text("predicate")):
        # The purifier keeps `**Key:** value` without its asterisks.
        value = cap(bare_object(lead[2]), OBJECT_LENGTH)
        return Triple(predicate=memory.text("predicate"), object=value, shape=1)
    return read_triple(Candidate(candidate_id="", text=text))
