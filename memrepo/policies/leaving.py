"""Taking memories out of the tree so that nothing left behind refers to them.

What a memory replaced, and the chunks that are parts of it, leave with it: a predecessor that
stayed would have no successor. Links of others to it are dropped in the same change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from memrepo.core.changes import Change, Remove, Update
from memrepo.core.memory import Memory
from memrepo.core.references import references

_LISTS = ("supersedes", "superseded_by")
_SINGLE = ("compressed_into", "parent", "duplicate_of")


class Leaving:
    """The memories of a state while some of them leave, one after the other."""

    def __init__(self, memories: Mapping[str, Memory]) -> None:
        self._memories = dict(memories)
        self._users: dict[str, set[str]] = defaultdict(set)
        for id_, memory in memories.items():
            for target in references(memory):
                self._users[target].add(id_)

    def leave(self, id_: str) -> tuple[Change, ...]:
        """Return the changes by which a memory leaves; nothing where it already has.

        Nothing either where something that a person protects would have to go along.
        """
        if id_ not in self._memories:
            return ()
        gone = self._with_parts(id_)
        if any(self._memories[g].flag(f) for g in gone - {id_} for f in ("pinned", "critical")):
            return ()
        updates = list(self._cut(gone))
        for one in gone:
            del self._memories[one]
        return (*updates, *(Remove(id=one) for one in sorted(gone)))

    def _with_parts(self, id_: str) -> set[str]:
        gone, open_ = {id_}, [id_]
        while open_:
            one = open_.pop()
            for user in self._users[one] - gone:
                memory = self._memories.get(user)
                if memory is not None and self._is_part(memory, one, gone):
                    gone.add(user)
                    open_.append(user)
        return gone

    def _is_part(self, memory: Memory, of: str, gone: set[str]) -> bool:
        heirs = set(memory.texts("superseded_by"))
        return memory.text("parent") == of or (of in heirs and not heirs - gone)

    def _cut(self, gone: set[str]) -> Iterable[Update]:
        users = {u for one in gone for u in self._users[one] if u in self._memories} - gone
        for user in sorted(users):
            fields = _without(self._memories[user], gone)
            self._memories[user] = self._memories[user].with_fields(fields)
            yield Update(id=user, fields=fields)


def _without(memory: Memory, gone: set[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    links = memory.fields.get("links", ())
    if any(link.target in gone for link in links):
        fields["links"] = tuple(link for link in links if link.target not in gone) or None
    for key in _LISTS:
        if gone & set(memory.texts(key)):
            fields[key] = tuple(id_ for id_ in memory.texts(key) if id_ not in gone) or None
    fields |= {key: None for key in _SINGLE if memory.text(key) in gone}
    if memory.text("duplicate_of") in gone and memory.standing == "probable_duplicate":
        fields["standing"] = None
    return fields
