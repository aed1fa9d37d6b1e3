"""From units in scope to candidates: whom each is about, and exact duplicates collapsed.

14.6 % of the longer bullets in real workspaces repeat exactly; a judge should see each once, with
every place it stands as evidence.

`USER.md` and `human.md` are about a person, `IDENTITY.md` and `persona.md` about the agent. Their
lines seldom say it ("Timezone: UTC"), so a unit of such a file is told the name that the file
gives, and one of the agent's own memory the agent's. Elsewhere a section on the person is theirs;
what says "I", and what stands in a file of somebody's own goals or principles, is the agent's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from memrepo.core.ids import digest, normal_claim, normalise
from memrepo.core.judge import Candidate
from memrepo.core.memory import Source
from memrepo.core.patterns import regex
from memrepo.purify.clusters import hint_of
from memrepo.read.dates import is_date_heading, is_time_heading
from memrepo.purify.leads import SELF_NAMED
from memrepo.purify.sources import default_type
from memrepo.purify.units import Unit

SHORT = 25
"""Below this many characters a text means something else under another heading."""


class Placed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A unit in scope and where it stands in the repository."""

    unit: Unit
    resource: str
    blob: str
    committed: str
    """ISO date of the commit that brought it: the last resort for its capture date."""
    former: str = ""
    """Text hash of the unit that stood here before an edit, or empty."""
    retrieved: str = ""
    """How often recall handed it over, for a note that earned promotion by that."""
    hint: str = ""
    """Its kind, where its file does not say it."""
    changes: tuple[str, ...] = ()
    """The memories that it changes, by its words."""
    daily: bool = False
    """Whether a daily log says it."""
    about: str = ""
    """Whom its file is about, where another file tells."""

    def source(self) -> Source:
        """Return the unit's provenance."""
        captured = self.unit.captured
        basis: str = self.unit.captured_from
        # Nothing is captured before it is written: a later day is one that the text is about.
        if not captured or (self.committed and captured[:10] > self.committed):
            captured, basis = self.committed, "commit"
        return Source(
            resource=self.resource,
            blob=self.blob,
            lines=self.unit.lines,
            text_hash=self.unit.text_hash,
            captured=captured,
            captured_from=basis,
        )


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates in order of first mention, and the unit hashes behind each."""

    candidates: tuple[Candidate, ...]
    units: Mapping[str, tuple[tuple[str, str], ...]]
    """From candidate id to (resource, unit hash) pairs."""
    former: Mapping[str, frozenset[tuple[str, str]]]
    """From candidate id to (resource, former text hash) of the units that were edited into it."""


def gather(placed: Iterable[Placed]) -> Gathered:
    """Collapse units of the same meaning into candidates."""
    groups: dict[str, list[Placed]] = defaultdict(list)
    for one in placed:
        groups[_sameness(one.unit)].append(one)
    candidates, units, former = [], {}, {}
    for key, members in groups.items():
        candidate = _candidate(key, members)
        candidates.append(candidate)
        units[candidate.candidate_id] = tuple((m.resource, m.unit.hash) for m in members)
        edited = frozenset((m.resource, m.former) for m in members if m.former)
        if edited:
            former[candidate.candidate_id] = edited
    return Gathered(candidates=tuple(candidates), units=units, former=former)


def candidate_id(unit: Unit) -> str:
    """Return the id of the candidate that a unit becomes, wherever it stands."""
    return f"cand-{_sameness(unit)[:16]}"


def _sameness(unit: Unit) -> str:
    """Return what two units share when one stands for both.

    A bold lead `**Status:** ...` and a short text depend on what they stand under; an episode is
    never the same as a line about its day.
    """
    text = normal_claim(unit.text)
    if unit.kind in ("document", "memory"):
        return digest([text, unit.kind])
    if not unit.key and len(text) >= SHORT:
        return digest([text])
    under = [h for h in (*unit.headings, *unit.parents) if not is_date_heading(h)]
    return digest([text, *(normalise(h) for h in under[-1:])])


def _candidate(key: str, members: list[Placed]) -> Candidate:
    first = members[0].unit
    sources = tuple(dict.fromkeys(m.source() for m in members))
    kinds = tuple(dict.fromkeys(m.hint or m.unit.hint or default_type(m.resource) for m in members))
    return Candidate(
        candidate_id=f"cand-{key[:16]}",
        text=first.text,
        context=_context([m.unit for m in members]),
        type_hint=hint_of(kinds),
        key=first.key,
        value=first.value,
        task=first.task,
        sources=sources,
        days=len({s.captured for s in sources if s.captured_from != "commit"}) or 1,
        resources=len({s.resource for s in sources}),
        retrieved=next(filter(None, (m.retrieved for m in members)), ""),
        changes=tuple(sorted({id_ for m in members for id_ in m.changes})),
        detail=first.detail,
        about=first.about or members[0].about,
        daily=all(m.daily for m in members),
    )


def _context(units: Sequence[Unit]) -> tuple[str, ...]:
    """Return what the first unit stands under; a line that a file says of several names them all.

    All that these stand under is the same but for the innermost: "Ana, Ben" over "Answers by mail".
    """
    first = units[0]
    context = (*first.headings, *first.parents)
    others = [(*u.headings, *u.parents) for u in units[1:] if u.resource == first.resource]
    beside = [o[-1] for o in others if context and o[:-1] == context[:-1]]
    names = tuple(dict.fromkeys((*context[-1:], *beside)))
    several = 1 < len(names) <= MOST_NAMED and sum(map(len, names)) <= NAMES_LENGTH
    if not several or any(is_time_heading(name) or "," in name for name in names):
        return context
    return (*context[:-1], ", ".join(names))


MOST_NAMED, NAMES_LENGTH = 4, 60
"""So many subjects of one line are named, in so many characters."""
_NAME = regex(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:full name|name|what to call (?:them|me|you)"
    r"|nombre|nome|nom|prénom|имя|名前|名字|姓名|称呼|이름|호칭)"
    r"[ \t]*(?:[:\uff1a][ \t]*(?:\*\*|__)|(?:\*\*|__)[ \t]*[:\uff1a]|[:\uff1a])"
    r"[ \t]*(?P<name>[^\n]{1,80})$",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE = regex(r"^#[ \t]+(?:USER|IDENTITY)(?:\.md)?[ \t]*[-–—:][ \t]*(?P<name>[^\n]{1,60})$", re.M)
_ASIDE = regex(r"[ \t]*(?:[(（,;|/—–]|\s-\s|\.\s).*$")
_MARKS = "*_`\"'“”«»「」 \t.。"
_NO_NAME = regex(
    r"about (?:your|my) human|who (?:am i|i am)|^\W*$|^\W*(?:tbd|n/?a|none|unknown|optional)\W*$"
    r"|quem sou eu|quién soy|qui suis-je|我是谁|私は誰|나는 누구",
    re.IGNORECASE,
)
_HEAD = regex(r"\A\s*#[ \t]+(?P<name>[^\W\d_]+(?:[ \t][^\W\d_]+){0,2})[ \t]*$", re.MULTILINE)
_KINDS = frozenset(
    "user users profile human owner person people about me contact contacts info information"
    " identity context preferences details notes memory agent assistant usuario perfil persona"
    " utilisateur profil benutzer nutzer mensch utente profilo usuário пользователь профиль".split()
)
"""Words of a title that says what kind of file it heads, and names nobody."""
PERSON = "User"
"""What a person is called whose file gives no name."""


class Owners(msgspec.Struct, kw_only=True):
    """The names that the profile files of each folder give, read once."""

    person: dict[str, str] = msgspec.field(default_factory=dict)
    agent: dict[str, str] = msgspec.field(default_factory=dict)

    def of(self, name: str, unit: Unit | None = None) -> str:
        """Return whom a workspace file or a unit of it is about, or an empty string.

        A section on the person is theirs wherever it stands; what says "I", and what stands in a
        file of somebody's own goals or rules, is the agent's.
        """
        folder, _, file = name.rpartition("/")
        if file == "USER.md":
            return self.person.get(folder, PERSON)
        if file == "human.md":
            return _nearest(self.person, folder)
        if unit is not None and any(ON_PERSON.search(h) for h in unit.headings):
            return _nearest(self.person, folder)
        if file in ("IDENTITY.md", "MEMORY.md", "TOOLS.md"):
            return self.agent.get(folder, "")
        if unit is not None and (_is_own(unit) or _speaks(unit)):
            return _nearest(self.agent, folder)
        return ""


def _speaks(unit: Unit) -> bool:
    """Tell whether a unit says "I", or the line above it; a section may quote others further on."""
    above = (*unit.headings, *unit.parents)[-1:]
    said = (unit.text.removesuffix(unit.detail),) if unit.kind == "section" else (unit.text, *above)
    return any(_SPEAKS.search(_QUOTED.sub("", text)) for text in said)


def _nearest(names: Mapping[str, str], folder: str) -> str:
    """Return the name that a folder or the nearest one above it gives."""
    while folder and folder not in names:
        folder = folder.rpartition("/")[0]
    return names.get(folder, "")


ON_PERSON = regex(
    r"^\W*(?:about\s+)?(?:my|your|the)\s+(?:user|human|person|owner)(?:\s+(?:profile|preferences"
    r"|info))?\W*$"
    r"|^\W*(?:user|human|owner)(?:\s+(?:profile|preferences|info(?:rmation)?|facts|details"
    r"|context))?\W*$"
    r"|^\W*(?:(?:sobre|acerca de|à propos de|über)\s+)?(?:(?:el|la|o|a|l['’]|den|die|der|mon|mi|meu"
    r"|minha)\s*)?"
    r"(?:usuari[oa]|usuári[oa]|utilisateur|utilisatrice|(?:be)?nutzer(?:in)?|utente|gebruiker)\W*$"
    r"|^\W*(?:о\s+)?(?:пользователь|пользователе|пользователя)\W*$"
    r"|^\W*(?:关于)?(?:用户|使用者|主人)(?:信息|偏好|资料)?\W*$"
    r"|^\W*(?:ユーザー|利用者)(?:について|情報|の好み)?\W*$|^\W*사용자(?:\s*정보|에 대해)?\W*$",
    re.IGNORECASE,
)
"""A heading over what is said of the agent's person."""
_QUOTED = regex(r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|「[^「」\n]*」|`[^`\n]*`")
_SPEAKS = regex(
    r"\b(?:I|I['’](?:m|ve|ll|d)|[Mm]y|[Mm]yself|[Ii]ch|[Mm]eine?|[Yy]o|[Ee]u|[Mm]eu|[Mm]inha|[Jj]e"
    r"|[Jj]['’]\w+"
    r"|[Яя]|[Мм]ой|[Мм]оя|[Мм]не)\b(?!\s*[/.:)])|我(?!们|們|國|国)|私は|私の|僕は|俺は|나는|저는"
    r"|내가|제가"
)
_OWN = frozenset(
    "goal goals objective objectives hypothesis hypotheses active current backlog priority"
    " priorities principle principles value values belief beliefs opinion opinions interest"
    " interests skill skills capability capabilities mission vision mistake mistakes habit habits"
    " routine routines strategy strategies limits boundaries operational state self improvement"
    " metas meta objetivo objetivos prioridades principios princípios valores objectifs objectif"
    " priorités principes valeurs ziele prioritäten werte цели приоритеты принципы ценности"
    " 目标 目標 原则 原則 価値観 목표 원칙".split()
)
"""Words of a title that says what of somebody's a file holds, and not whose."""
_WORDS = regex(r"[^\W\d_]+")
_JOINING = frozenset(("and", "y", "e", "et", "und", "и", "my", "the", "md"))


def _is_own(unit: Unit) -> bool:
    """Tell whether the title above a unit only says what of somebody's is below it."""
    words = (
        {word.casefold() for word in _WORDS.findall(unit.headings[0])} if unit.headings else set()
    )
    return bool(words - _JOINING) and words <= _OWN | _JOINING


def read_owners(files: Iterable[tuple[str, bytes]]) -> Owners:
    """Read the names out of the profile files among these (name, bytes) pairs."""
    owners = Owners()
    for name, data in files:
        folder, _, file = name.rpartition("/")
        if is_profile(name) and (found := name_in(data)):
            if file in _PERSONS:
                owners.person.setdefault(folder, found)
            else:
                owners.agent.setdefault(folder, found)
                if file == "persona.md":  # one block of a memory that has several
                    owners.agent.setdefault(folder.rpartition("/")[0], found)
    return owners


_PERSONS = ("USER.md", "human.md")


def is_profile(name: str) -> bool:
    """Tell whether a workspace file says who somebody is."""
    return name.rpartition("/")[2] in (*_PERSONS, "IDENTITY.md", "persona.md")


def name_in(data: bytes) -> str:
    """Return the name that a profile file gives: in a line of its own, or as its title.

    A title in a script without capitals is not told from other words, and names nobody.
    """
    text = data.decode("utf-8", "replace")
    for form in (_NAME, _TITLE):
        for match in form.finditer(text):
            plain = match["name"].strip(_MARKS)
            if match["name"].lstrip("* ").startswith(("_", "(", "[", "<")):
                continue  # a placeholder
            name = _ASIDE.sub("", plain).strip(_MARKS)
            if name and not _NO_NAME.search(plain) and any(ch.isalnum() for ch in name):
                return name
    if told := SELF_NAMED.match(text.lstrip()):
        return told["name"]
    head = _HEAD.match(text)
    words = head["name"].split() if head else []
    named = all(w[0].isupper() and w.casefold() not in _KINDS for w in words)
    return " ".join(words) if named else ""
