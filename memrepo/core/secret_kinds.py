"""Find secrets in a text by their published format.

The tables are in `secret_rules/`. `gitleaks.tsv` and `forms.tsv` contain formats. A format is
searched only in lines that contain one of its words. `labels.txt` contains the words that name a
secret, in several languages, and `patterns.tsv` the shapes of values. `core.secret_score` finds the
secrets without a format. Every pattern runs in linear time: repetitions are bounded, or possessive
over single characters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

from memrepo.core.patterns import regex

Span = tuple[int, int]
Find = tuple[int, int, str]
"""(start, end, kind) of a secret."""
FOLDER = Path(__file__).parent / "secret_rules"
SWITCHED = ("card", "iban", "pin", "seed-phrase", "totp")
"""Kinds that an owner may want to remember, and can disable (`secrets.off`)."""

# -- forms -----------------------------------------------------------------------------------

_WHOLE = ("card", "iban")
"""Kinds whose formats match the whole value."""
_MIN_ENTROPY = 3.2
"""The minimum entropy of a key in bits per character. Words and names have less."""
_MIN_CARD_DIGITS = 4
"""The minimum number of different digits. Card numbers with fewer are from tests or forms."""


@cache
def tables() -> tuple[str, ...]:
    """Return the text of all rule tables. If it changes, files must be checked again."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir()))


class Form(NamedTuple):
    """A published format of a secret: its kind, its pattern, and words in each matching line."""

    kind: str
    words: tuple[str, ...]
    entropy: float
    spelled: str
    lines: bool
    """Whether the format spans several lines."""

    def search(self) -> Callable[[str, int, int], Iterator[re.Match[str]]]:
        """Return a cached function that searches a part of a text for this format."""
        return _compiled(self.spelled)


@cache
def _compiled(spelled: str) -> Callable[[str, int, int], Iterator[re.Match[str]]]:
    if spelled.startswith("{TOKEN}"):
        spelled = "{START}(?:" + spelled.removeprefix("{TOKEN}") + "){STOP}"
    return re.compile(expanded(spelled), re.ASCII).finditer


@cache
def _spellings() -> Mapping[str, tuple[str, str]]:
    """Return {name: (flags, pattern)} of `patterns.tsv`."""
    rows = (FOLDER / "patterns.tsv").read_text(encoding="utf-8").splitlines()
    found = (row.split("\t") for row in rows if not row.startswith("#"))
    return {name: (flags, spelled) for name, flags, spelled in found}


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `patterns.tsv`, compiled when it is first used."""
    flags, spelled = _spellings()[name]
    chosen = (re.IGNORECASE if "i" in flags else 0) | (re.MULTILINE if "m" in flags else 0)
    return re.compile(expanded(spelled), chosen)


def expanded(spelled: str) -> str:
    """Return a pattern with what its `{name}` stand for: words, or patterns (see the tables)."""

    def expand(match: re.Match[str]) -> str:
        name = match[1]
        if name.isupper():
            return expanded(_spellings()[name.lower()][1])
        return "|".join(section(name[:-1])) if name[-1] == "*" else any_of(section(name))

    return re.sub(r"\{([A-Z]+|[a-z]+(?:-[a-z]+|\*)?)\}", expand, spelled)


@cache
def forms() -> tuple[Form, ...]:
    """Return all formats of the tables. If several match a value, the first one applies."""
    found: list[Form] = []
    for name in ("forms.tsv", "gitleaks.tsv"):
        for row in (FOLDER / name).read_text(encoding="utf-8").splitlines():
            if row.startswith("#"):
                continue
            kind, words, entropy, spelled = row.split("\t")
            pattern = spelled.removeprefix("{LINES}")
            listed = tuple(filter(None, words.split(",")))
            found.append(Form(kind, listed, float(entropy or 0), pattern, pattern != spelled))
    return tuple(found)


@cache
def _forms_by_word() -> Mapping[str, Sequence[Form]]:
    """Return the formats by each word of theirs. Those without words are under an empty one."""
    found: dict[str, list[Form]] = {}
    for form in forms():
        for word in form.words or ("",):
            found.setdefault(word, []).append(form)
    return found


@cache
def _long_words() -> tuple[re.Pattern[str], Mapping[str, frozenset[str]]]:
    """Return a pattern that finds words of formats anywhere, and the words that begin each word."""
    words = [word for word in _forms_by_word() if len(word) > 2 and word == word.strip()]
    begun = {w: frozenset(one for one in words if w.startswith(one)) for w in words}
    return re.compile(f"(?=({any_of(words)}))"), begun


def formed(text: str, folded: str) -> Iterator[Find]:
    """Yield values that have the format of a secret. `folded` is the text in lower case."""
    found, begun = _long_words()
    present = {word for one in set(found.findall(folded)) for word in begun.get(one, ())}
    for word, some in _forms_by_word().items():
        if word not in (present if word in begun else folded):
            continue
        lines = [*_lines_with(folded, word)] if word else ()
        for form in some:
            for start, end in [(0, len(text))] if form.lines or not word else lines:
                yield from _matches(form, text, start, end)


def _matches(form: Form, text: str, start: int, end: int) -> Iterator[Find]:
    for match in form.search()(text, start, end):
        number = next((n for n in range(1, len(match.groups()) + 1) if match[n] is not None), 0)
        value, at = match[number], match.start(number)
        if form.kind in ("password", "token") and not (match.lastgroup or "").startswith("words"):
            value = value.rstrip("`'\").,;")
        elif not (form.lines or match.lastgroup or form.kind in _WHOLE) and (
            rest := pattern("rest").match(text, at + len(value))
        ):
            value += rest[0]  # some formats match fewer characters than a key has
        if _has_form(form, value, match.lastgroup):
            yield at, at + len(value), form.kind


def _has_form(form: Form, value: str, group: str | None) -> bool:
    match form.kind:
        case "private-key":
            return True
        case "card":
            return group == "few" or is_card(value)
        case "iban":
            return _is_iban(value)
        case "seed-phrase":
            found = regex(r"[^\W\d_]+").findall(value)
            is_prose = group == "alone" and not words_of("prose").isdisjoint(found)
            return len(found) in (12, 15, 18, 21, 24) and not is_prose
        case _ if group == "piece":
            return is_key(value, 10)
        case _ if group == "bytes":
            numbers = [int(one) for one in value.split(",")]
            return max(numbers) > 99 and numbers != sorted(numbers)
        case _ if group == "groups":
            return _are_random_groups(value)
        case _ if group and group.startswith("odd"):
            return len(value) >= 6 and _is_secret_word(value)
        case _ if group == "paired":  # the user's name before it says that this is the password
            return not is_placeholder(value)
        case "password" | "token" if pattern("pointer").fullmatch(value):
            return False
        case _:
            pass
    if is_placeholder(value):
        return False
    return (
        is_random(value, max(form.entropy, 3))
        if "{SEP}" in form.spelled
        else (group != "long" or is_random(value))
    )


@cache
def _sections() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    name = ""
    for line in (FOLDER / "labels.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            name = line[1:-1]
        elif line and not line.startswith("# "):
            items = [line] if name.endswith("*") else line.removesuffix(",").split(", ")
            found.setdefault(name.removesuffix("*"), []).extend(items)
    return found


@cache
def section(name: str) -> tuple[str, ...]:
    """Return the entries of a section of `labels.txt`, or those of a kind: `is-wide`."""
    name, _, kind = name.partition("-")
    found = _sections()[name]
    wide = {"plain": False, "wide": True}.get(kind)
    return tuple(word for word in found if wide is None or is_wide(word) is wide)


def any_of(words: Iterable[str]) -> str:
    """Return a pattern that matches any of the words, trying longer words first.

    Blanks in words are optional. The pattern is a tree, as most words differ in the first letters.
    """
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for char in " ".join(word.split()):
            node = node.setdefault("[ _-]?" if char == " " else re.escape(char), {})
        node[""] = {}

    def spelled(node: dict[str, Any]) -> str:
        parts = [char + spelled(rest) for char, rest in node.items() if char]
        if len(parts) == 1 and "" not in node:
            return parts[0]
        return f"(?:{'|'.join(parts)}){'?' * ('' in node)}" if parts else ""

    return f"(?:{spelled(tree)})"


def is_wide(word: str) -> bool:
    """Return whether a word is written in a script without blanks between words."""
    return word.lstrip("*")[0] >= "\u3001"


@cache
def words_of(*names: str) -> frozenset[str]:
    """Return the entries of sections of `labels.txt` as a set."""
    return frozenset(word for name in names for word in section(name))


def _lines_with(folded: str, word: str) -> Iterator[Span]:
    """Yield the spans of lines that contain a text."""
    at = folded.find(word)
    while at >= 0:
        end = line_end(folded, at)
        yield folded.rfind("\n", 0, at) + 1, end
        at = folded.find(word, end)


def line_end(text: str, at: int) -> int:
    """Return where the line at an offset ends."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


# -- values ----------------------------------------------------------------------------------


def is_key(value: str, piece: int = 0) -> bool:
    """Return whether a value is a key, and not words or a path.

    `piece` is the minimum length of a random part. If 0, the whole value must be random.
    """
    if (
        not pattern("key").fullmatch(value)
        or pattern("address").fullmatch(value)
        or pattern("pointer").fullmatch(value)
        or is_placeholder(value)
    ):
        return False
    if not piece:
        return is_random(value)
    return any(len(p) >= piece and is_random(p, 3.0) for p in regex(r"[-_./~+=]").split(value))


def is_random(value: str, least: float = _MIN_ENTROPY) -> bool:
    """Return whether a value looks random: letters and digits with sufficient entropy."""
    return _is_mixed(value) and not pattern("day").fullmatch(value) and _entropy(value) >= least


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n * log2(n / len(value)) for n in counts) / max(len(value), 1)


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder such as `<your-password>`, `${VAR}` or `changeme`."""
    low = value.lower()
    return bool(
        low in words_of("nothing")
        or any(word in low for word in section("placeholder"))
        or pattern("mask").search(value)
        or sum(map(str.isalnum, pattern("part").sub("", value))) < min(3, len(value))
        or (
            (whole := pattern("shape").match(value))
            and sum(map(str.isalnum, value[whole.end() :])) < 4
        )
    )


def _is_made_up(value: str) -> bool:
    """Return whether a value looks like a password: letters with digits, or special characters."""
    value = value.rstrip("!?")
    if pattern("day").fullmatch(value):
        return bool(pattern("digits").fullmatch(value))
    words = words_of("technical")
    if value.lower() in words or words.issuperset(regex(r"[-/+_,()]").split(value.lower())):
        return False
    if pattern("email").fullmatch(value):
        return False
    signs = sum(not char.isalnum() and char not in "-'’./,:()_\"`" for char in value)
    return signs > 0 or _is_mixed(value)


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_odd(value: str) -> bool:
    """Return whether a value looks like a password, and not like another word with digits."""
    signs = any(char in "!@#$%^&*?=~" for char in value[1:-1] + value[-1:].strip("*?~="))
    cased = any(map(str.isupper, value[1:])) and any(map(str.islower, value))
    joined = regex(r"[^\W\d]+[-_.]\d{1,3}[^\W\d_]").fullmatch(value)
    named = not joined and pattern("numbered").fullmatch(value)
    return (_is_mixed(value) or (signs and cased)) and not named


def is_card(value: str) -> bool:
    """Return whether digits are a card number, by length, first digit and Luhn check digit."""
    digits = [int(char) for char in value if char.isdigit()]
    lengths = {3: (14, 15, 16), 4: (13, 16, 19), 5: (16,), 6: (16, 19)}
    if len(digits) not in lengths.get(digits[0], ()) or len(set(digits)) < _MIN_CARD_DIGITS:
        return False
    doubled = (n * 2 - 9 * (n > 4) for n in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(value: str) -> bool:
    """Return whether a value is a valid IBAN: length by country, and ISO 13616, modulo 97."""
    plain = "".join(filter(str.isalnum, value)).upper()
    if f"{plain[:2]}{len(plain)}" not in words_of("iban"):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _are_random_groups(value: str) -> bool:
    """Return whether groups of letters and digits are random: an app password, and not words."""
    groups = regex(r"[\W_]+").split(value)
    if len(groups) == 1:
        groups = [value[at : at + 4] for at in range(0, len(value), 4)]
    return (
        sum(bool(pattern("unpronounceable").search(group)) or _is_mixed(group) for group in groups)
        >= 2
    )


def _is_secret_word(value: str) -> bool:
    """Return whether a word is a password or a key, when only its context suggests one."""
    return not (
        is_placeholder(value)
        or pattern("pointer").fullmatch(value)
        or pattern("uuid").fullmatch(value)
        or pattern("email").fullmatch(value)
    ) and (_is_made_up(value) and _is_odd(value))
