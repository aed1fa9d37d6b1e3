"""`MEMORY.md`: the hot cache as an agent reads it. A pure function of the tree, byte for byte.

One bullet is one condensed memory and its tag `↑date(reason)←path[pin]`. The first line carries a
stamp of the rest, so that a page which a hand changed can be told from one that is merely old.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memrepo.core.changes import Change, Delete, Write
from memrepo.core.ids import visible
from memrepo.core.layout import HOT_NAMES, Layout, Standing, stamped
from memrepo.core.layout import standing_of as standing_of_page
from memrepo.core.memory import Hot, Memory, Source, having
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.gists import sentences
from memrepo.policies.hotcache import hot_of, is_exempt, synced_at
from memrepo.policies.opening import PROFILES
from memrepo.policies.rules import HotRules

_ORDER = ("identity", "user", "preferences", "decisions", "knowledge", "skills", "context")
_INTRO = (
    "# Memory",
    "",
    "memrepo writes this page from the memories it names. Edit those (`memrepo edit`), not this.",
)
_EMPTY = "Nothing is on it now: `memrepo promote ID` puts a memory here, and so does frequent use."
_SECTIONS = {"identity": "identity", "relationship": "user"}
"""Under what stands what files about the agent, or about the person, say."""
_LENGTH = 200
_MARKUP = regex(r"(\\*)([<`\[\]])")
_ESCAPED = regex(r"(\\*)\\([<`\[\]])")
_BULLET = regex(r"- (.*) ↑[0-9-]*\([^()]*\)←(\S+?\.md)(?:\[pin\])?")
_OURS = regex(r"|# Memory|## .*|→ Full version: .*|[0-9]+ more stand in:|- \S+/|<!-- .* -->")
_LEFT_OUT = "## Left out"


def hot_page(state: State, rules: HotRules) -> bytes | None:
    """Return the page for a state, or None where no memory ever was on the hot cache.

    It holds at most `rules.budget` bullets. What they and the host's limits leave no room for is
    listed with where it is; a page whose last bullet left stays, and says so. Everybody who works
    here reads the page: where memories are of several scopes, it holds those that are of none.
    """
    marked = having(state.every, ("hot",))
    if not marked:
        return None
    found = sorted((m for m in marked if hot_of(m) is not None), key=_first_to_stay)
    shared = len({m.text("scope") for m in found} - {""}) < 2
    kept = [m for m in found if shared or not m.text("scope")]
    apart = [m for m in found if not shared and m.text("scope")]
    whole, kept = kept, kept[: rules.budget]
    while True:
        page = _page(kept, [*whole[len(kept) :], *apart])
        if not kept or _fits(page, rules):
            return page
        kept.pop()


def hot_changes(state: State, rules: HotRules) -> list[Change]:
    """Return what makes the page agree with the memories; a foreign file is never written."""
    path = hot_path(state.files, state.layout, rules)
    page, there = hot_page(state, rules), state.files.get(path)
    others = [
        Delete(path=p)
        for p in (state.layout.prefix + name for name in HOT_NAMES)
        if p != path and p in state.files and standing_of(state.files[p]) != "foreign"
    ]
    if page is None:
        ours = there is not None and standing_of(there) != "foreign"
        return [*others, *([Delete(path=path)] if ours else [])]
    return [*others, *([Write(path=path, data=page)] if there != page else [])]


def hot_path(files: Mapping[str, bytes], layout: Layout, rules: HotRules) -> str:
    """Return where the page stands: `HOT.md` where its own place holds somebody else's file."""
    path = layout.prefix + rules.path
    there = files.get(path)
    if there is None or standing_of(there) != "foreign":
        return path
    return layout.prefix + HOT_NAMES[1]


def standing_of(data: bytes) -> Standing:
    """Tell a page of ours from one that a hand changed and from a foreign file."""
    return standing_of_page("hot", data)


def said_by_hand(line: str) -> tuple[str, str] | None:
    """Read a line of the page: what it says, as it is spelt, and the path that its tag names.

    The path is empty where there is no tag; None for what memrepo itself puts between bullets.
    """
    line = line.rstrip()
    if found := _BULLET.fullmatch(line):
        return found[1], found[2]
    if _OURS.fullmatch(line) or line in (*_INTRO, _EMPTY):
        return None
    return line.removeprefix("- "), ""


def unescaped(said: str) -> str:
    """Return the text of a bullet without the marks that keep it from being markup."""
    return _ESCAPED.sub(lambda m: m[1][: len(m[1]) // 2] + m[2], said)


def _first_to_stay(memory: Memory) -> tuple[object, ...]:
    """Sort the newest first; what came together stands as in its file, a profile before others."""
    hot = hot_of(memory)
    since = hot.since.timestamp() if hot and hot.since else 0.0
    places = ((_about(s) == "", s.resource, s.lines) for s in memory.sources)
    place = min(places, default=(True, "", (0, 0)))
    return (not memory.flag("critical"), not is_exempt(memory), -since, place, memory.path)


def _fits(page: bytes, rules: HotRules) -> bool:
    return len(page) <= rules.max_bytes and page.count(b"\n") <= rules.max_lines


def _page(kept: Sequence[Memory], out: Sequence[Memory]) -> bytes:
    layers = [*_ORDER, *sorted({m.layer for m in kept} - set(_ORDER))]
    lines = [*_INTRO, *(() if kept or out else ("", _EMPTY))]
    for layer in layers:
        mine = sorted((m for m in kept if _section(m) == layer), key=_first_to_stay)
        if mine:
            lines += ["", f"## {layer.capitalize()}", *map(bullet, mine), _pointer(mine)]
    if out:
        lines += ["", _LEFT_OUT, f"{len(out)} more stand in:"]
        lines += [f"- {folder}" for folder in sorted({_folder(m) for m in out})]
    return stamped("hot", "".join(f"{line}\n" for line in lines))


def _section(memory: Memory) -> str:
    """Return under which heading a memory stands: what a profile says, under whom it is about."""
    if memory.type in ("fact", "identity", "relationship"):
        about = set(map(_about, memory.sources))
        for kind, section in _SECTIONS.items():
            if kind in about:
                return section
    return memory.layer


def _about(source: Source) -> str:
    return PROFILES.get(source.resource.rsplit("/", 1)[-1].casefold(), "")


def _pointer(memories: Iterable[Memory]) -> str:
    return "→ Full version: " + ", ".join(f"`{f}`" for f in sorted({_folder(m) for m in memories}))


def _folder(memory: Memory) -> str:
    """Return the folder of a memory's layer, with its slash."""
    parts = memory.path.split("/")
    known = parts.index("memories") + 2 if "memories" in parts[:-1] else len(parts) - 1
    return "/".join(parts[:known]) + "/"


def bullet(memory: Memory) -> str:
    """Return a memory's bullet: its condensed text and its tag."""
    hot = hot_of(memory)
    if hot is None:
        raise ValueError(f"{memory.path}: is not on the hot cache")
    return f"- {condensed(memory)} {tag(memory, hot)}"


def tag(memory: Memory, hot: Hot) -> str:
    """Return the tag of a bullet; a memory that changed since its promotion is synchronised."""
    since, reason = hot.since, hot.reason
    if (synced := synced_at(memory)) is not None:
        since, reason = synced, "sync"
    day = f"{since:%Y-%m-%d}" if since else ""
    pin = "[pin]" if memory.flag("pinned") else ""
    return f"↑{day}({reason})←{memory.path}{pin}"


def condensed(memory: Memory) -> str:
    """Return what a memory says on one line of at most 200 characters, without markup of its own.

    Arrows of tags are taken out: a memory must not be able to forge one. A placeholder stands for
    a secret, whatever its line allows: agents read this.
    """
    said = _parts(without_secrets(memory.body))
    said = said or [without_secrets(memory.text("title")) or memory.slug]
    text = said[0]
    for number, more in enumerate(said[1:]):
        # A heading alone says nothing: what stands under it is cut rather than left out.
        heads = not number and text.endswith(":")
        if len(text) + len(more) >= _LENGTH and not heads:
            text = f"{text.rstrip(';')} …" if text.endswith(";") else text
            break
        text = f"{text} {more}"
    text = visible(text).replace("↑", "^").replace("←", "<-")
    text = text if len(text) <= _LENGTH else text[: _LENGTH - 1].rstrip() + "…"
    # On one line, and with its marks escaped, a text may look like a secret that it was not.
    return without_secrets(_MARKUP.sub(r"\1\1\\\2", text))


def _parts(body: str) -> list[str]:
    """Return the sentences of a body, marked off as the lines were that they stood on.

    A heading ends in a colon, and any other line with one below it in a semicolon.
    """
    found: list[str] = []
    _, _, below = body.partition("\n")
    heads = below.startswith(("\n", *_ITEM))
    for line in body.split("\n"):
        said = sentences(_BOLD.sub(r"\1", line))
        if found and said and not found[-1].endswith(_STOPS):
            found[-1] += ":" if heads and len(found) == 1 else ";"
        found += said
    return found


_BOLD = regex(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_ITEM = ("- ", "* ", "1. ", "1) ")
_STOPS = (".", "!", "?", ":", ";", ",", "。", "！", "？", "：", "；", "，")
