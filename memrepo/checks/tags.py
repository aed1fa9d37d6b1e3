"""What `check` says of tags: whether they are words of the repository's vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from memrepo.checks.places import place
from memrepo.checks.rules import Rule, Scene, Wants
from memrepo.core.fields import shown
from memrepo.core.ids import TAG_PATTERN, as_tag
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

UNKNOWN = Rule(
    name="tag-unknown",
    group="tags",
    doc="A tag is in `tags.vocabulary`, or fits `tags.pattern`: one word by default.",
    mend="writes a tag as the vocabulary does, where only case, blanks or hyphens differ;"
    " without a vocabulary, with hyphens for what no tag holds",
)
RULES = (UNKNOWN,)
_LOOSE = regex(r"[\s_-]+")


def find(scene: Scene) -> Iterator[Problem]:
    """Look at the tags of each memory."""
    wants = scene.wants
    for memory in scene.memories:
        for n, tag in enumerate(memory.texts("tags")):
            if known(tag, wants):
                continue
            line, column = place(scene.files[memory.path], "tags", n)
            yield UNKNOWN.found(
                memory.path,
                f"found the tag {shown(tag)}, {wanted(tag, wants)}",
                line=line,
                column=column,
                key=f"tags.{n}",
                fix="use a tag of the vocabulary, or add this one to `tags.vocabulary`"
                if wants.tags
                else f"write {shown(as_tag(tag) or 'another')}, or set `tags.pattern`",
            )


def wanted(tag: str, wants: Wants) -> str:
    """Return what is expected instead of a tag, in words."""
    if wants.tags:
        return "which is not in the vocabulary" + _hint(tag, wants)
    return f"expected one word that fits the pattern {wants.tag_pattern or TAG_PATTERN}"


def known(tag: str, wants: Wants) -> bool:
    """Tell whether a tag is allowed: a word or shell pattern of the list, or the pattern."""
    if any(fnmatchcase(tag, allowed) for allowed in wants.tags):
        return True
    pattern = wants.tag_pattern or ("" if wants.tags else TAG_PATTERN)
    return bool(pattern and re.fullmatch(pattern, tag))


def mended(memory: Memory, wants: Wants) -> Memory:
    """Return a memory whose tags are spelled as the vocabulary spells them."""
    tags = tuple(dict.fromkeys(_spelled(tag, wants) for tag in memory.texts("tags")))
    return memory if tags == memory.texts("tags") else memory.with_fields({"tags": tags})


def _spelled(tag: str, wants: Wants) -> str:
    if known(tag, wants):
        return tag
    if not wants.tags and known(as_tag(tag), wants):
        return as_tag(tag)
    same = [word for word in wants.tags if _key(word) == _key(tag)]
    return same[0] if len(same) == 1 else tag


def _key(tag: str) -> str:
    return _LOOSE.sub("", tag.casefold())


def _hint(tag: str, wants: Wants) -> str:
    from difflib import get_close_matches

    near = get_close_matches(tag.casefold(), wants.tags, n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""
