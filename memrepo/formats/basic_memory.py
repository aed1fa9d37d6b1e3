"""basic-memory notes: observations `- [category] text #tag (context)` and typed relations.

Docs: docs.basicmemory.com, "Knowledge format". A note becomes a memory of its prose, one for each
observation, and links for its relations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.formats.pages import Page, hashtags, linked, names_of, prose, read_pages
from memrepo.formats.records import Files, Given, Read, Record, day_of

_OBSERVATION = regex(r"\s*[-*+]\s+\[([^\[\]()]{2,60})\]\s+(\S.*)")
_RELATION = regex(r"\s*[-*+]\s+([^\[\]]{0,100}?)\s*\[\[([^\[\]|#]{1,300})[^\[\]]*\]\]")
_SECTIONS = regex(r"#{1,6}\s+(?:observations|relations)\s*", re.I)
_TYPES: Mapping[str, str] = {
    "requirement": "constraint",
    "rule": "constraint",
    "technique": "method",
    "howto": "method",
    "approach": "method",
    "insight": "lesson",
    "problem": "open_question",
    "question": "open_question",
    "todo": "commitment",
    "task": "commitment",
    "idea": "aspiration",
    "goal": "aspiration",
    "event": "episode",
}
_LINKS: Mapping[str, str] = {
    "supports": "supports",
    "contradicts": "contradicts",
    "contrasts_with": "contradicts",
    "relates_to": "related",
    "related_to": "related",
    "similar_to": "related",
    "follows": "follows",
    "follows_from": "follows",
}


def read(files: Files) -> Read:
    """Read every note."""
    pages, problems = read_pages(files)
    records: list[Record] = []
    there = {name for page in pages for name in names_of(page)}
    for page in pages:
        found, noted = _records(page, there)
        records += found
        problems += noted
    return Read(records=tuple(records), problems=tuple(problems))


def _records(page: Page, there: Collection[str]) -> tuple[list[Record], list[Problem]]:
    """Return the memory of a note's prose, which carries its links, and those it observes.

    A relation to a note that is not `there` stays in the prose.
    """
    problems: list[Problem] = []
    title = page.text("title") or page.stem
    head = Given(page.path)
    when = next(
        filter(
            None,
            (
                head.time(page.values.get(key), key, page.at.get(key, 0))
                for key in ("modified", "updated", "created", "date")
            ),
        ),
        None,
    )
    day = day_of(when) or page.day
    basis = "unit" if when else "file"
    rest: list[str] = []
    links: list[tuple[str, str]] = []
    observed: list[Record] = []
    shown = dict(prose(page))
    for number, line in enumerate(page.body.split("\n"), start=page.lines[0]):
        if number not in shown:
            rest.append(line)
        elif match := _OBSERVATION.fullmatch(line):
            record, given = _observation(page, title, match, number)
            problems += given.problems
            observed.append(record)
        elif match := _RELATION.match(line):
            word = re.sub(r"\W+", "_", match[1].strip().lower())
            links.append((_LINKS.get(word, "references"), match[2].strip()))
            if match[2].strip() not in there:
                rest.append(line)  # nothing here could be linked: the words are what there is
        elif not _SECTIONS.fullmatch(line):
            rest.append(line)
    text = _without_title("\n".join(rest).strip(), title)
    links += [("references", name) for name in linked("\n".join(rest))]
    head.put("title", title, "title", page.at.get("title", 0))
    head.put("tags", page.texts("tags"), "tags", page.at.get("tags", 0))
    kind = page.text("type")
    anchor = Record(
        path=page.path,
        text=text or title,
        type=kind if kind in CLAIM_TYPES else "fact",
        key=page.text("permalink") or page.path.removesuffix(".md"),
        names=names_of(page),
        lines=page.lines,
        captured=day,
        captured_from=basis,
        written=when,
        fields=head.fields,
        links=tuple(dict.fromkeys(links)),
    )
    return [anchor, *observed], [*problems, *head.problems]


def _observation(page: Page, title: str, match: re.Match[str], line: int) -> tuple[Record, Given]:
    category, text = match[1].strip(), match[2].strip()
    word = category.lower()
    type_ = _TYPES.get(word, word if word in CLAIM_TYPES else "fact")
    given = Given(page.path, line)
    given.put("subject", title, "title")
    given.put("tags", list(dict.fromkeys([category, *hashtags([text])])), "category")
    record = Record(
        path=page.path,
        text=text,
        type=type_,
        lines=(line, line),
        captured=page.day,
        captured_from="file",
        fields=given.fields,
    )
    return record, given


def _without_title(text: str, title: str) -> str:
    first, _, rest = text.partition("\n")
    return rest.strip() if first.lstrip("# ").strip() == title else text
