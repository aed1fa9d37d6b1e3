"""What a session begins with: who one is, for whom, by which rules, and what is under way.

The hot cache holds what was of use; what nobody asked for of late stands here all the same, where
it is of a kind that every session needs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory, Source
from memrepo.core.patterns import regex
from memrepo.core.times import EARLIEST
from memrepo.policies.hotcache import FEW, SEEDED, hot_of, is_exempt, matters, may_be_hot
from memrepo.policies.matching import tokens
from memrepo.policies.rules import DecayRules

ALWAYS = {"identity": 3, "relationship": 4, "preference": 4, "constraint": 4}
"""Types of which the surest are told, and how many: the agent, the person, the rules."""
RULES = ("preference", "constraint")
LATEST = {"decision": 3, "milestone": 2, "commitment": 4}
"""Types of which the newest are told: what is under way, and what was promised."""
PROFILES = {"identity": "IDENTITY.md", "relationship": "USER.md"}
"""Files that are about the agent, or about the person, from the name on."""
_ABOUT = ("identity", "relationship", "fact")
"""Types of what such a file says of whom it is about; the rest are wishes, rules and plans."""
_KEPT = frozenset(
    "memory rtmemory user identity tools procedures decisions preferences rules patterns lessons"
    " standinginstructions goals projects people tasks task todo todos".split()
)
"""Pages of these names are kept up to date; any other may be a report or a plan of long ago."""
LISTED = 3
"""So many subjects under the same headings are a list of others, not who one is."""
FEW_OF_ONE = 2
"""So many of what is new or promised are told of one part of a page before others get to speak."""
_KEPT_PROMISE = regex(r"[✅✔☑]|\[x\]|~~", re.IGNORECASE)
_BLANK = regex(
    r"\W*(?:empty|none|nothing|tbd|n/a|leer|keine?|nichts|vac[ií]o|nada|ning[uú]n[oa]?|vide|aucune?"
    r"|rien|vuoto|nessun[oa]?|vazio|nenhum[a]?|пусто|нет|ничего|空|暂无|無|无|なし|없음)"
    r"[^\S\n]*(?:[.,;:!?()—–。、]|-|\n|\Z)",
    re.IGNORECASE,
)
"""What stands in a list that nobody filled in yet."""
_TEMPLATE = regex(r"\[[^\[\]\n]{1,40} [/|] [^\[\]\n]{1,80}\](?!\()")
"""Where one is to choose and nobody did: `[yes / no]`."""
_OVER = regex(
    r"\W*(?:(?:is |all |tasks? |items? )?(?:done|completed|finished|archived?|closed)|erledigt\w*"
    r"|abgeschlossen\w*|archiv|archiviert\w*|archives|hech[oa]s?|completad[oa]s?|terminad[oa]s?|archivad[oa]s?"
    r"|faite?s?|terminée?s?|achevée?s?|archivée?s?|fatt[oaie]|completat[oaie]|archiviat[oaie]"
    r"|feit[oa]s?|concluíd[oa]s?|arquiv\w*|afgerond|gedaan|выполнен\w*|заверш[её]н\w*|сделан\w*"
    r"|архив\w*|已完成|已归档|归档|歸檔|完了|完成済み|アーカイブ|완료|보관)(?!\w)(?!\s+(?:when|if|is)\b)",
    re.IGNORECASE,
)
"""How a heading begins below which nothing is under way any more."""
_NO_WORD = regex(r"[\W_]+")
_PAGE = " – "
"""What stands between the headings of a memory's part of its page."""


def opening(
    memories: Iterable[Memory], accesses: Accesses, now: datetime, decay: DecayRules
) -> list[Memory]:
    """Return what a session is told, what matters most first: of each kind the hot, then others.

    What a person marked critical or pinned stands before all, what is hot of other kinds behind.
    """
    claims = [m for m in memories if may_be_hot(m, accesses, now, decay)]
    hot = [m for m in claims if hot_of(m) is not None]
    rest = claims if len(claims) >= FEW else []
    found = [m for m in hot if is_exempt(m)]
    lists = _lists(claims)
    hot = [m for m in hot if _in_use(m) or is_exempt(m) or not _is_idle(m, lists)]
    rest = [m for m in rest if not _is_idle(m, lists)]
    for type_, most in {**ALWAYS, **LATEST}.items():
        mine = [m for m in hot if _is_of(m, type_)]
        used = [m for m in mine if _in_use(m)]
        others = [m for m in (rest or mine) if not _in_use(m) and _is_of(m, type_)]
        if type_ in ALWAYS:
            others.sort(key=matters)
            if type_ == "relationship":  # one friend of many, before whom else one lives with
                others = _spread(others, 1)
        else:
            others.sort(key=_said, reverse=True)
            others = _spread(others)
        others.sort(key=_depth)
        ordered = sorted([*used, *others], key=lambda m: _line(m, type_))
        found += islice(_new(ordered, found), most)
    return [*found, *(m for m in hot if m not in found)]


def _lists(memories: Iterable[Memory]) -> set[tuple[str, str]]:
    """Return the parts of pages that are a list of others: people of a team, servers of a site.

    Part of a page is what stands under the same headings; each line there has its own subject. A
    folder whose pages are each named as they are titled (`people/ana.md`) is such a list too, where
    somebody is spoken of elsewhere.
    """
    subjects: dict[tuple[str, str], set[str]] = defaultdict(set)
    folders: dict[str, set[str]] = defaultdict(set)
    parts = set[tuple[str, str]]()
    for memory in memories:
        if memory.type in PROFILES:
            page, lead = part = _part(memory)
            parts.add(part)
            subjects[part].add(memory.text("subject"))
            folder, _, name = page.rpartition("/")
            if _plain(lead.split(_PAGE, 1)[0]) == _plain(name.removesuffix(".md")):
                folders[folder].add(page)
    pages = {page for found in folders.values() if len(found) >= LISTED for page in found}
    lists = {part for part, found in subjects.items() if part[1] and len(found) >= LISTED}
    of_others = {part for part in parts if part[0] in pages}
    return lists | of_others if parts - of_others else lists


def _plain(name: str) -> str:
    return _NO_WORD.sub("", name.casefold())


def _part(memory: Memory) -> tuple[str, str]:
    return (memory.sources[0].resource if memory.sources else "", memory.text("lead"))


def _is_idle(memory: Memory, lists: Collection[tuple[str, str]]) -> bool:
    """Tell whether a memory is of a kind in name only: one of a list, a promise kept, a blank."""
    if memory.type in PROFILES:
        return _part(memory) in lists and not _in_profile(memory)
    if memory.type in LATEST and _TEMPLATE.search(memory.said):
        return True
    if memory.type in RULES:
        return _in_a_document(memory)
    return memory.type == "commitment" and (
        _KEPT_PROMISE.search(memory.body) is not None
        or _BLANK.match(memory.said) is not None
        or any(_OVER.match(heading) for heading in memory.text("lead").split(_PAGE))
    )


def _in_a_document(memory: Memory) -> bool:
    """Tell whether a memory is a section of a design or a report: it rules what that is about.

    A page that is kept up to date rules everything, and so does a file that is one memory.
    """
    return (
        "\n" in memory.body.strip()
        and bool(memory.sources)
        and not any(_is_kept(source) or source.lines[0] == 1 for source in memory.sources)
    )


def _is_kept(source: Source) -> bool:
    return _name(source).removesuffix(".md").casefold() in _KEPT


def _in_profile(memory: Memory) -> bool:
    return any(_name(source) in PROFILES.values() for source in memory.sources)


def _spread(memories: Sequence[Memory], few: int = FEW_OF_ONE) -> list[Memory]:
    """Put behind what one part of a page says more often than others get to speak."""
    seen: Counter[tuple[str, str]] = Counter()
    behind: list[bool] = []
    for memory in memories:
        part = _part(memory)
        behind.append(bool(part[1]) and seen[part] >= few)
        seen[part] += 1
    order = sorted(range(len(memories)), key=behind.__getitem__)
    return [memories[n] for n in order]


def _in_use(memory: Memory) -> bool:
    hot = hot_of(memory)
    return hot is not None and hot.reason != SEEDED


def _is_of(memory: Memory, type_: str) -> bool:
    """Tell whether a memory is of a kind: by the profile that it stands in, or by its type."""
    names = {_name(source) for source in memory.sources} if memory.type in _ABOUT else set()
    about = {kind for kind, file in PROFILES.items() if file in names}
    return type_ in about if about else memory.type == type_


def _line(memory: Memory, type_: str) -> tuple[bool, int]:
    """Sort a profile first, from its top: the name stands there, and what else matters most."""
    file = PROFILES.get(type_)
    lines = [source.lines[0] for source in memory.sources if _name(source) == file]
    return (not lines, min(lines, default=0))


def _name(source: Source) -> str:
    return source.resource.rsplit("/", 1)[-1]


def _new(memories: Iterable[Memory], told: Iterable[Memory]) -> Iterator[Memory]:
    """Yield memories that hold a word which those before them do not."""
    known = [tokens(m.body) for m in told]
    for memory in memories:
        words = tokens(memory.body)
        if not any(words <= other for other in known):
            known.append(words)
            yield memory


def _depth(memory: Memory) -> tuple[bool, int]:
    """Sort first what a kept page says, then by how deep the file lies: what is old lies deep."""
    return (
        not any(map(_is_kept, memory.sources)),
        min((s.resource.count("/") for s in memory.sources), default=0),
    )


def _said(memory: Memory) -> tuple[str, datetime, str]:
    """Return when a memory was said: the day its sources tell of, else when it came."""
    day = max((s.captured for s in memory.sources), default="")
    return (day, memory.time("created") or EARLIEST, memory.path)
