"""What a session begins with: who one is, for whom, by which rules, and what is under way.

The hot cache holds what was of use; what nobody asked for of late stands here all the same, where
it is of a kind that every session needs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory, each, having, of_types, only
from memrepo.core.patterns import regex
from memrepo.core.times import EARLIEST, format_time
from memrepo.policies.hotcache import SEEDED, hot_of, is_exempt, matters, that_may_be_hot
from memrepo.policies.matching import tokens
from memrepo.policies.rules import DecayRules

ALWAYS = {"identity": 3, "relationship": 6, "preference": 4, "constraint": 4}
"""Types of which the surest are told, and how many: the agent, the person, the rules."""
LATEST = {"decision": 3, "milestone": 2, "commitment": 4}
"""Types of which the newest are told: what is under way, and what was promised."""
_TOLD = frozenset((*ALWAYS, *LATEST))
PROFILES = {"identity.md": "identity", "persona.md": "identity"}
PROFILES |= {"user.md": "relationship", "human.md": "relationship"}
"""Files that are about the agent, or about the person, from the name on."""
_WHO = frozenset(PROFILES.values())
_ABOUT = ("identity", "relationship", "fact")
"""Types of what such a file says of whom it is about; the rest are wishes, rules and plans."""
_KEPT = frozenset(
    "memory rtmemory user human identity persona tools procedures decisions preferences rules"
    " patterns lessons standinginstructions bootstrap goals projects people tasks task todo todos"
    " pending".split()
)
"""Pages of these names are kept up to date; any other may be a report or a plan of long ago."""
_OF_RULES = frozenset(
    "rules conventions guidelines instructions preferences regeln vorlieben reglas normas"
    " preferencias règles consignes préférences regole preferenze regras preferências regels"
    " voorkeuren правила предпочтения 规则 规范 偏好 ルール 好み 규칙 선호".split()
)
"""How the name of a page of rules ends, whatever it is about (`house-rules.md`)."""
_OF_MEMORY = frozenset("feedback user".split())
"""How a file of Claude Code's begins that holds what the person wants (`feedback_tone.md`)."""
_TALK = frozenset(
    "session sessions chat chats conversation conversations transcript transcripts dialog log logs"
    " journal diary daily inbox note notes".split()
)
"""What names a page or a folder that tells what was said or done, as a page of a day does."""
_SITTINGS = frozenset(("session", "sessions"))
_ROUTINES = frozenset("boot bootstrap heartbeat identity persona user human feedback".split())
"""How pages begin that nothing is promised or decided on: what is done at every start, a story."""
_WORDS = regex(r"[^\W\d_]+")
_DAY = regex(r"(?<!\d)(?:19|20)\d\d([-._]?)[01]\d\1[0-3]\d(?!\d)")
LISTED = 3
"""So many subjects under the same headings are a list of others, not who one is."""
FEW_OF_ONE = 2
"""So many of what is new or promised are told of one part of a page before others get to speak."""
FEW_OF_WHO = {"relationship": 1, "preference": 2}
"""So many of one part of a page of those one lives with (one friend of many), of what is liked."""
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
_FORM = regex(
    r"\b(?:template|vorlage|plantilla|modèle|modelo|modello|sjabloon|шаблон)\b"
    r"|模板|範本|テンプレート|템플릿",
    re.IGNORECASE,
)
"""A heading of a form to fill in."""
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
_OVER_AT_END = regex(
    r"(?<!\bbe )(?<!\bnot )\b(?:fixed|bug ?fix(?:es)?|actions? taken|completed?|done|shipped"
    r"|resolved|merged|closed|erledigt|abgeschlossen|completad[oa]s?"
    r"|terminad[oa]s?|terminée?s?|concluíd[oa]s?|completat[oaie]|afgerond|выполнен\w*|заверш[её]н\w*"
    r"|готово)\W*\Z|(?:完了|完成|完成済み|완료)\W*\Z",
    re.IGNORECASE,
)
"""How a heading ends below which nothing is under way any more (`Three bugs found and fixed`)."""
_OPEN = regex(
    r"\b(?:next steps?|to-?dos?|to do|pending|open|tasks?|action items?|follow-?ups?|objectives|due"
    r"|deadlines?|aufgaben|nächste schritte|offen\w*|pendientes?|próximos pasos|tareas|pendentes?"
    r"|pendências|próximos passos|tarefas|à faire|en attente|prochaines étapes|tâches|da fare"
    r"|in sospeso|prossimi passi|te doen|openstaand|taken|задач\w*|дальнейшие шаги"
    r"|следующие шаги)\b"
    r"|待办|下一步|任务|未完成|次のステップ|課題|タスク|やること|할 일|다음 단계|과제",
    re.IGNORECASE,
)
"""A heading that says that what stands below it is open."""
_ADDRESS = regex(r"[^\n:]{1,30}: (?:https?://\S+|[\w./~-]+\.[a-z][a-z0-9]{1,4})", re.IGNORECASE)
"""A line of a profile that names a file or a page alone: a picture, a link."""
_PAGE = " – "
"""What stands between the headings of a memory's part of its page."""


def opening(
    memories: Sequence[Memory], accesses: Accesses, now: datetime, decay: DecayRules
) -> list[Memory]:
    """Return what a session is told, what matters most first: of each kind the hot, then others.

    What a person marked critical or pinned stands before all, what is hot of other kinds behind.
    """
    return opening_of(that_may_be_hot(memories, accesses, now, decay))


def opening_of(claims: Sequence[Memory]) -> list[Memory]:
    """Return what a session is told of memories that hold and are not over, as `opening` does."""
    hot = [m for m in having(claims, ("hot",)) if hot_of(m) is not None]
    found = [m for m in hot if is_exempt(m)]
    files = each(claims, "files")
    pages = {*files}
    lists, kept = _lists(claims), any(_best(page) == KEPT for page in pages)
    hot = [m for m in hot if _in_use(m) or is_exempt(m) or not _is_idle(m, lists, kept)]
    kinds: dict[str, list[Memory]] = defaultdict(list)
    profiles = {page for page in pages if any(map(_profile, page))}
    told = zip(each(claims, "type"), files, strict=True)
    may = [type_ in _TOLD or (type_ in _ABOUT and page in profiles) for type_, page in told]
    for memory in only(claims, may):
        if (kind := _kinds(memory)) and not (_in_use(memory) or _is_idle(memory, lists, kept)):
            for type_ in kind:
                kinds[type_].append(memory)
    for type_, most in {**ALWAYS, **LATEST}.items():
        used = [m for m in hot if type_ in _kinds(m) and _in_use(m)]
        others = kinds[type_]
        if type_ in ALWAYS:
            others.sort(key=matters)
            if few := FEW_OF_WHO.get(type_):
                others = _spread(others, few)
        else:
            others.sort(key=_said, reverse=True)
            others = _spread(others)
        others.sort(key=lambda m: _depth(m, type_))
        ordered = sorted([*used, *others], key=lambda m: _line(m, type_))
        found += islice(_new(ordered, found), most)
    return [*found, *(m for m in hot if m not in found and (_in_use(m) or is_exempt(m)))]


def _lists(memories: Sequence[Memory]) -> set[tuple[str, str]]:
    """Return the parts of pages that are a list of others: people of a team, servers of a site.

    Part of a page is what stands under the same headings; each line there has its own subject. A
    folder whose pages are each named as they are titled (`people/ana.md`) is such a list too, where
    somebody is spoken of elsewhere.
    """
    folders: dict[str, set[str]] = defaultdict(set)
    subjects: dict[tuple[str, str], set[str]] = {}
    for part in map(_part, of_types(memories, _WHO)):
        subjects[part] = set()
        page, lead = part
        folder, _, name = page.rpartition("/")
        if _plain(lead.split(_PAGE, 1)[0]) == _plain(name.removesuffix(".md")):
            folders[folder].add(page)
    if not subjects:  # nothing else is asked for
        return set()
    told = zip(*(each(memories, name) for name in ("first", "lead", "subject")), strict=True)
    for (page, _), lead, subject in told:
        if (others := subjects.get((page, lead))) is not None:
            others.add(subject)
    pages = {page for found in folders.values() if len(found) >= LISTED for page in found}
    lists = {part for part, found in subjects.items() if part[1] and len(found) >= LISTED}
    of_others = {part for part in subjects if part[0] in pages}
    return lists | of_others if subjects.keys() - of_others else lists


def _plain(name: str) -> str:
    return _NO_WORD.sub("", name.casefold())


def _part(memory: Memory) -> tuple[str, str]:
    return (memory.first[0], memory.text("lead"))


def _is_idle(memory: Memory, lists: Collection[tuple[str, str]], kept: bool) -> bool:
    """Tell whether a memory is of a kind in name only: one of a list, a promise kept, a blank.

    Where pages are kept of who one is and by which rules, what a product's paper says is no rule.
    """
    if _in_profile(memory):
        return _ADDRESS.fullmatch(memory.said) is not None
    least = TOLD if memory.type in _WHO else TOPIC
    if memory.type in ALWAYS and kept and _standing(memory) > least:
        return True
    if memory.type in _WHO:
        return _part(memory) in lists
    if memory.type in LATEST and (
        _TEMPLATE.search(memory.said) or _FORM.search(memory.text("lead").rsplit(_PAGE, 1)[-1])
    ):
        return True
    return memory.type == "commitment" and (
        _KEPT_PROMISE.search(memory.body) is not None
        or _BLANK.match(memory.said) is not None
        or any(
            _OVER.match(heading) or (_OVER_AT_END.search(heading) and not _OPEN.search(heading))
            for heading in memory.text("lead").split(_PAGE)
        )
    )


def _in_profile(memory: Memory) -> bool:
    return memory.type in _ABOUT and any(map(_profile, memory.files))


def _spread(memories: Sequence[Memory], few: int = FEW_OF_ONE) -> list[Memory]:
    """Put behind what one part of a page says more often than others get to speak."""
    seen: Counter[tuple[str, str]] = Counter()
    behind: list[bool] = []
    for memory in memories:
        page, lead = _part(memory)
        part = page, lead.rsplit(_PAGE, 1)[-1]
        behind.append(bool(lead) and seen[part] >= few)
        seen[part] += 1
    order = sorted(range(len(memories)), key=behind.__getitem__)
    return [memories[n] for n in order]


def _in_use(memory: Memory) -> bool:
    hot = hot_of(memory)
    return hot is not None and hot.reason != SEEDED


def _kinds(memory: Memory) -> Collection[str]:
    """Return of which kinds a memory is: by the profile that it stands in, or by its type."""
    if memory.type in _ABOUT:
        about = {found for file in memory.files if (found := _profile(file))}
        if about:
            return about
    return (memory.type,) if memory.type in _TOLD else ()


@lru_cache(maxsize=1 << 14)
def _profile(resource: str) -> str:
    """Return whom a file is about by its name, or an empty string."""
    return PROFILES.get(resource.rsplit("/", 1)[-1].casefold(), "")


def _line(memory: Memory, type_: str) -> tuple[bool, int, int]:
    """Sort a profile first, from its top: the name stands there, and what else matters most."""
    if type_ not in map(_profile, memory.files):
        return (True, 0, 0)
    places = [
        (s.resource.count("/"), s.lines[0]) for s in memory.sources if _profile(s.resource) == type_
    ]
    return (not places, *min(places, default=(0, 0)))


def _name(file: str) -> str:
    return file.rsplit("/", 1)[-1].casefold()


def _new(memories: Iterable[Memory], told: Iterable[Memory]) -> Iterator[Memory]:
    """Yield memories that hold a word which those before them do not."""
    known = [tokens(m.body) for m in told]
    for memory in memories:
        words = tokens(memory.body)
        if not any(words <= other for other in known):
            known.append(words)
            yield memory


KEPT, TOLD, TOPIC, PAPER = range(4)
"""What a page is: kept up to date, told of a day or in talk, `memory/bread.md`, or any paper."""


def _standing(memory: Memory) -> int:
    """Return what the page is that a memory stands in; of several the best."""
    return _best(memory.files)


def _best(files: Iterable[str]) -> int:
    return min(map(_page, files), default=TOLD)


@lru_cache(maxsize=4096)
def _page(resource: str) -> int:
    *folders, name = resource.casefold().split("/")
    name = name.removesuffix(".md")
    words = _WORDS.findall(name)
    if _plain(name) in _KEPT:
        return KEPT
    if words and (words[-1] in _OF_RULES or words[0] in _OF_MEMORY):
        return KEPT
    # `session-7.md` and `kitchen-log.md` are accounts, `design-session.md` is a paper on one.
    telling = {*words[:1], *folders} | (set(words[-1:]) - _SITTINGS)
    if _DAY.search(name) or not _TALK.isdisjoint(telling):
        return TOLD
    return TOPIC if folders[-1:] == ["memory"] else PAPER


def _depth(memory: Memory, type_: str) -> tuple[int, bool, int]:
    """Sort first what a kept page says, what is called open, what lies high: old files lie deep."""
    standing = _standing(memory)
    if type_ in LATEST:
        begun = {word for file in memory.files for word in _WORDS.findall(_name(file))[:1]}
        standing = PAPER if begun & _ROUTINES else KEPT if "project" in begun else standing
    loose = type_ == "commitment" and not _OPEN.search(memory.text("lead"))
    depth = min((file.count("/") for file in memory.files), default=0)
    return (standing, loose, depth)


def _said(memory: Memory) -> tuple[str, str, str]:
    """Return when a memory was said: the day its sources tell of, else when it came."""
    came = memory.once("came", lambda: format_time(memory.time("created") or EARLIEST))
    return (memory.captured, came, memory.path)
