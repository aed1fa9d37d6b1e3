"""Which items and rows say something together only, and are one unit; how such are spelt.

Steps of a procedure, a list of a few words an item, a card that says several things of one, a
table, neighbours that differ in a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.purify.leads import (
    DETAIL_LENGTH,
    bold_lead,
    key_of,
    only_introduces,
    refers_back,
    width,
)

if TYPE_CHECKING:
    from memrepo.read.markdown import Block

_T = TypeVar("_T")

TERSE, TERSE_MOST = 30, 45
"""Characters of the middle and of the longest item of a list that is one line."""
LINE_LENGTH = 360
"""Characters of a list that is one line."""
BRIEF, BRIEF_MOST = 60, 120
"""The same of a list or table that is one unit, an item a line."""
CARD, CARD_KEY, CARD_MOST = 8, 24, 240
"""Items of a card, a list that says several things of one; characters of a key, of an item."""
BELOW_LENGTH = 900
"""Characters of a list, or of what stands below an item, that is one unit."""
ALIKE = 0.6
"""The least share of common words of neighbours that say one thing of several."""
REPEATED = 0.75
"""The same where the words that both stand under count as said by both."""
STOPS = (".", "。", "!", "?", "\uff01", "\uff1f")


def lists_of(blocks: Sequence[Block]) -> dict[int, tuple[Block, ...]]:
    """Return the items of each list, by the list's number."""
    lists: dict[int, list[Block]] = {}
    for block in blocks:
        if block.kind == "item":
            lists.setdefault(block.list, []).append(block)
    return {number: tuple(run) for number, run in lists.items()}


def may_be_one(run: Sequence[Block]) -> bool:
    """Tell whether a list is short enough for one unit, and none of it is done."""
    ticked = any(block.task == "done" for block in run)
    return not ticked and len(run) > 1 and sum(len(block.text) for block in run) <= DETAIL_LENGTH


def are_steps(run: Sequence[Block], headings: tuple[str, ...], under: tuple[str, ...]) -> bool:
    """Tell whether a list is one procedure: the heading or the line above a numbered one says so.

    Boxes to be ticked are steps where a heading says so, else they are what is to be done.
    """
    if not run or any(bold_lead(block.text)[0] for block in run):
        return False
    if run[0].ordered and not run[0].task:
        return any(_STEPS.search(text) for text in (*headings[-1:], *under))
    boxes = all(block.task == "open" for block in run)
    return boxes and any(_CHECKLIST.search(text) for text in (*headings, *under))


_STEPS = regex(
    r"(?<!next )(?<![\w-])(?:steps?|workflow|how[ -]to|procedures?|process|protocol|checklist"
    r"|routine|flow|schritte|ablauf|abläufe|anleitung(?:en)?|vorgehen|pasos|procedimientos?|flujos?"
    r"|étapes|procédures?|marche à suivre|passos|procedimentos?|fluxos?"
    r"|passaggi|procedura|stappen|werkwijze|шаги|порядок|инструкци[яи]|процедур[аы])\b|步骤|流程|协议|手順|流れ|절차|순서|워크플로"
    r"|^\W*(?:when(?:ever)?|before|after|to|wenn|cuando|al|quand|pour|quando|para|при|когда|чтобы)\s",
    re.IGNORECASE,
)
_CHECKLIST = regex(
    r"\b(?:checklists?|steps|routine|sequence|checkliste|ablauf|schritte|lista de verificaci[oó]n"
    r"|pasos|rutina|secuencia|lista de verificação|passos|rotina|sequência|étapes|routine|contrôle"
    r"|чек-?лист|шаги|порядок)\b|清单|步骤|流程|チェックリスト|手順|체크리스트|절차",
    re.IGNORECASE,
)


def is_terse(run: Sequence[Block]) -> bool:
    """Tell whether the items of a list have but a few words each, and are no sentences."""
    if not may_be_one(run) or any(b.children or b.task or "\n" in b.text for b in run):
        return False
    if any(block.text.endswith(STOPS) or HAS_KEY.search(block.text) for block in run):
        return False
    lengths = sorted(width(block.text) for block in run)
    return (
        lengths[-1] <= TERSE_MOST
        and lengths[len(lengths) // 2] <= TERSE
        and sum(lengths) <= LINE_LENGTH
    )


def is_brief(run: Sequence[Block]) -> bool:
    """Tell whether the items of a list are parts of one thing and no statements of their own."""
    rows = [row for block in run for row in (block, *_below(block))]
    if len(rows) < 2 or any(row.task or "\n" in row.text for row in rows):
        return False
    stops = sum(block.text.endswith(STOPS[:2]) and width(block.text) > TERSE for block in rows)
    lengths = sorted(width(block.text) for block in rows)
    brief = lengths[-1] <= BRIEF_MOST and lengths[len(lengths) // 2] <= BRIEF
    return brief and not stops and sum(lengths) <= BELOW_LENGTH


def is_card(run: Sequence[Block]) -> bool:
    """Tell whether a list says several things of one: each item has a key of its own."""
    keys = [key_of(block.text) for block in run]
    lengths = [width(block.text) for block in run]
    return (
        1 < len(run) <= CARD
        and not any(block.children or block.task or "\n" in block.text for block in run)
        and not any(_LONG_LINK.search(block.text) for block in run)
        and len(set(keys)) == len(keys)
        and all(0 < width(key) <= CARD_KEY for key in keys)
        and max(lengths) <= CARD_MOST
        and sum(lengths) <= BELOW_LENGTH
    )


_LONG_LINK = regex(r"://\S{100}")


def is_record(heading: str) -> bool:
    """Tell whether a heading says that what is below it is done: one of its lines says little."""
    return _RECORD.fullmatch(heading) is not None


_RECORD = regex(
    r"[\W\d_]*(?:(?:recently |already |work )?(?:completed|done|finished|shipped|released"
    r"|implemented|fixed)"
    r"(?: (?:tasks?|items?|work|so far))?|(?:recent |latest )(?:progress|changes|activity|work)"
    r"|change ?log|timeline|accomplish(?:ed|ments)"
    r"|what (?:was|we|i) (?:done|did|built|changed|shipped)"
    r"|(?:fixes|changes) (?:applied|made)"
    r"|(?:ya )?(?:hechos?|hecha|terminad[oa]s?|completad[oa]s?|resuelt[oa]s?)|registro de cambios"
    r"|avances? recientes?|cronología"
    r"|(?:já )?(?:feit[oa]s?|concluíd[oa]s?|finalizad[oa]s?|pront[oa]s?)"
    r"|registro de mudanças|progresso recente|cronologia|linha do tempo|línea de tiempo"
    r"|(?:déjà )?(?:faite?s?|terminée?s?|accomplie?s?|réalisée?s?)|journal des modifications"
    r"|avancées? récentes?|chronologie|(?:bereits )?(?:erledigt(?:es)?|abgeschlossen(?:es)?|fertig)"
    r"|änderungsprotokoll|verlauf|zeitleiste|(?:già )?(?:fatt[oi]|completat[oi]|conclus[oi])"
    r"|registro delle modifiche|(?:al )?(?:gedaan|afgerond|voltooid)|tijdlijn|wijzigingen"
    r"|(?:уже )?(?:сделано|готово|выполнено|завершено|реализовано)|история изменений|хронология"
    r"|(?:已)?完成(?:的?(?:工作|任务|事项))?|更新日志|变更记录|时间线|完了(?:済み|したこと)?|済み?|変更履歴|年表"
    r"|완료(?:됨|된 (?:일|작업))?|변경 이력|연표)[\W\d_]*(?:\([^()\n]{1,40}\)\W*)?",
    re.IGNORECASE,
)


def records(run: Sequence[Block]) -> dict[int, tuple[Block, ...]]:
    """Return by line the items of a list of what is done, in as few runs as hold them."""
    packs = packed_runs(run, [width(row) for row in ("\n".join(bullets([b])) for b in run)])
    return {block.lines[0]: pack for pack in packs if len(pack) > 1 for block in pack}


def packed_runs(run: Sequence[_T], sizes: Sequence[int]) -> list[tuple[_T, ...]]:
    """Part a run in as few as hold it, each of a length that can be read."""
    packs: list[list[_T]] = []
    length = 0
    for one, size in zip(run, sizes, strict=True):
        if packs and length + size <= BELOW_LENGTH:
            packs[-1].append(one)
            length += size
        else:
            packs.append([one])
            length = size
    return [tuple(pack) for pack in packs]


def alike_runs(
    items: Sequence[Block], above: Iterable[str], *, code: bool = False
) -> dict[int, tuple[Block, ...]]:
    """Return by line the neighbours in a list that differ in a word or two, as one run.

    So do those that say less than what they all stand under: told apart, each says that again.
    Sentences stay apart, but for those of two keys: one may be what the other was before. What is
    nothing but code names things and joins; with `code` nothing else does.
    """
    runs: list[list[Block]] = []
    words: frozenset[str] = frozenset()
    shared, key, text = frozenset(_WORD.findall(" ".join(above).casefold())), "", ""
    for block in items:
        said, last = block.brief or block.text, text
        plain = not (block.children or block.task or _is_long(said))
        key, before = key_of(said.lstrip("`")), key
        plain = plain and (not said.endswith(STOPS) or key not in ("", before))
        own = frozenset(_WORD.findall(said.casefold())) if plain else frozenset()
        text = normalise(said)
        joins = bool(runs) and runs[-1][-1].list == block.list and text != last
        refers = joins and refers_back(said) and not (runs[-1][-1].children or block.children)
        listed = _ONLY_CODE.fullmatch(text) and _ONLY_CODE.fullmatch(last)
        differ_little = not code and _differ_little(own, words, shared)
        if refers or (joins and own and words and (listed or differ_little)):
            runs[-1].append(block)
        else:
            runs.append([block])
        words = own
    return {
        block.lines[0]: tuple(run)
        for run in runs
        if len(run) > 1 and sum(width(b.text) for b in run) <= DETAIL_LENGTH
        for block in run
    }


def _is_long(text: str) -> bool:
    return "\n" in text and width(text) > BRIEF_MOST


def _differ_little(one: frozenset[str], other: frozenset[str], shared: frozenset[str]) -> bool:
    told = one | other | shared
    if len((one & other) | shared) >= REPEATED * len(told):
        return True
    one, other = _numberless(one), _numberless(other)
    return len(one & other) >= ALIKE * len(one | other)


def _numberless(words: Iterable[str]) -> frozenset[str]:
    """Return words of which those that differ in a number only are one: S03 and S04."""
    return frozenset(_DIGITS.sub("0", word) for word in words)


_WORD = regex(r"[^\W_]+")
_ONLY_CODE = regex(r"`[^`\n]+`")
_DIGITS = regex(r"\d+")


def is_technical(row: Block) -> bool:
    """Tell whether a row of two cells opens with code, a file or an address: no person."""
    return _TECHNICAL.search(row.lead) is not None and " – " not in row.brief


_TECHNICAL = regex(r"`|[a-z\d]\.[a-z\d]|^[\W_]*none[\W_]*$", re.IGNORECASE)


def explained(block: Block) -> bool:
    """Tell whether what stands below an item only goes on with what the item says."""
    if not block.children or only_introduces(block.text) or width(block.text) < TERSE:
        return False
    below = list(_below(block))
    if any(child.task for child in below):
        return False
    lengths = [width(child.text) for child in below]
    return max(lengths) <= 2 * BRIEF_MOST and sum(lengths) <= BELOW_LENGTH


def tables_of(blocks: Sequence[Block]) -> dict[int, tuple[Block, ...]]:
    """Return by line the rows of each table that is one unit: its rows are no statements."""
    found: list[list[Block]] = []
    for at, block in enumerate(blocks):
        if block.kind == "row":
            if at and blocks[at - 1].kind == "row":
                found[-1].append(block)
            else:
                found.append([block])
    whole = [tuple(run) for run in found if _is_one_table(run)]
    return {row.lines[0]: run for run in whole for row in run}


def _is_one_table(run: Sequence[Block]) -> bool:
    lengths = sorted(width(block.brief) for block in run)
    return len(run) > 1 and lengths[len(run) // 2] <= 2 * BRIEF_MOST


def _below(block: Block) -> Iterator[Block]:
    for child in block.children:
        yield child
        yield from _below(child)


def last_line(block: Block) -> int:
    """Return the last line of an item with what stands below it."""
    return max((last_line(child) for child in block.children), default=block.lines[1])


def numbered(run: Sequence[Block], indent: str = "") -> Iterator[str]:
    """Spell steps with what stands below each, as lines."""
    for number, block in enumerate(run, start=1):
        sign = f"{number}." if block.ordered else "-"
        yield f"{indent}{sign} " + block.text.replace("\n", f"\n{indent}   ")
        yield from numbered(block.children, indent + "   ")


def bullets(run: Sequence[Block], indent: str = "") -> Iterator[str]:
    """Spell the items of a list with what stands below each, as lines."""
    for block in run:
        yield f"{indent}- " + block.text.replace("\n", f"\n{indent}  ")
        yield from bullets(block.children, indent + "  ")


OPENS_WITH_KEY = regex(
    r"(?:\*\*|__)?[^\W_][^:\uff1a\n]{0,40}?(?:\*\*|__)?[:\uff1a](?!//)(?=\s|\W\W|[^\x00-\x7f])"
)
HAS_KEY = regex(r"\w\**[:\uff1a=]")
