"""What holds on of a memory that is replaced in part: a memory of its own, on the same evidence."""

from __future__ import annotations

from msgspec.structs import replace

from memrepo.core.ids import claim_id
from memrepo.core.memory import OWN_ACTOR, Memory, Stamp
from memrepo.core.places import COUNT
from memrepo.policies.entities import held
from memrepo.policies.matching import tokens
from memrepo.purify.grounding import Grounds, foreign
from memrepo.purify.known import Known, free_path, storable

_PART = 3
"""Words that a part must have to stand as a statement."""


def holds_on(old: Memory, still: str) -> bool:
    """Tell whether a part of a memory may stand by itself: it says what the memory says, and less.

    It must name what it is about, and leave something out: else nothing was replaced.
    """
    said, whole = tokens(still), tokens(old.body)
    if len(still.split()) < _PART or not (said and said < whole):
        return False
    subject = tokens(old.text("subject"))
    if subject and not subject & said:
        return False
    grounds = Grounds(evidence=(old.body,), context=(old.text("subject"), old.text("lead")))
    return not any(foreign([("still", still)], grounds))


def remainder_of(known: Known, old: Memory, still: str) -> Memory | None:
    """Return the memory of what holds on of one that is replaced in part; None where none is.

    It rests on the same evidence. What is known already is not made a second time.
    """
    text = " ".join(still.split())
    if not text or not holds_on(old, text):
        return None
    id_ = claim_id(scope="", subject="", predicate="", object_="", text=text)
    if known.memory(id_) is not None:
        return None
    kept = ("type", "subject", "home", "tags", COUNT, "origin")
    names = held(old.texts("entities"), [text])
    fields = {name: old.fields[name] for name in kept if name in old.fields}
    fields |= {"id": id_, "created": known.now, "generated": Stamp(by=OWN_ACTOR, at=known.now)}
    fields |= {"entities": names} if names else {}
    fields |= {"sources": old.sources} if old.sources else {}
    dated = [s.captured[:10] for s in old.sources if s.captured and s.captured_from != "commit"]
    path = known.state.layout.memory(
        id_=id_, type_=old.type, text=text, captured=max(dated, default="")
    )
    made = known.bounded(Memory(path=path, fields=fields, body=text))
    made = replace(made, path=free_path(known.state, known.paths, made))
    if storable(made):
        return None
    known.paths.add(made.path)
    known.edited[id_] = made
    return made
