"""Secrets of high precision: kinds that are never memory, found and replaced, never shown.

Only forms that are all but certain are here (keys, tokens, credentials in URLs, password
assignments). UUIDs, hashes and digit ids stand in most real workspaces and are not secrets.
Every pattern is linear: runs are possessive or bounded, so a hostile line costs no more than text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from memrepo.core.patterns import regex

_START = r"(?<![A-Za-z0-9_-])"
_STOP = r"(?![A-Za-z0-9_-])"
_PEM_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# CPython before 3.11.4 matches a possessive group wrongly (gh-106052): possessive stand single
# characters only, and the loops are unrolled, so that nothing is gained by giving back.
_PEM_BODY = r"[^-]*+(?:-(?!----)[^-]*+)*"
_PEM = (
    rf"-----BEGIN {_PEM_NAME}(?:(?=(?:[^-]|-(?!----))*?[A-Za-z0-9+/]{{16}}){_PEM_BODY}"
    rf"-----END {_PEM_NAME}|(?:\s*+[A-Za-z0-9+/=]{{16,}}+)+)"
)
_GITHUB = rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{36,255}}|github_pat_[A-Za-z0-9_]{{22,255}}){_STOP}"
_OPENAI = (
    rf"{_START}sk-(?!ant-)(?=[A-Za-z_-]{{0,200}}\d)(?:[a-z]{{2,10}}-)?[A-Za-z0-9_]{{20}}"
    r"[A-Za-z0-9_-]*+"
)
_JWT = rf"{_START}eyJ[A-Za-z0-9_-]{{8,}}+\.eyJ[A-Za-z0-9_-]{{8,}}+\.[A-Za-z0-9_-]{{8,}}+"
_URL = (
    r"(?i)(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,200}:"
    r"(?P<value>[^\s/@]{3,200})@(?=\S)"
)
_NAMES = (
    r"pass(?:word|wd|phrase|code)|passwort|kennwort|pwd|contraseña|senha|mot de passe|пароль"
    r"|密码|密碼|パスワード|비밀번호|(?:api|access|auth|bot|secret|refresh)[ _-]?(?:key|token)"
    r"|client[ _-]?secret"
)
_PASSWORD = (
    rf"(?im)(?<![^\W_])(?:{_NAMES})[*_\"'`]{{0,3}}[ \t]{{0,3}}(?:=>|:=|[:=:])[ \t]{{0,3}}"
    r"[*_]{0,3}[ \t]{0,3}(?:\"(?P<double>[^\s\"]{6,200})\"|'(?P<single>[^\s']{6,200})'"
    r"|`(?P<code>[^\s`]{6,200})`"
    r"|(?P<value>[^\s\"'`*|<>]{6,200})(?=[*_]{0,3}[ \t\r]{0,20}(?:\||$)))"
)

_PASSWORD_HINTS = (
    "pass",
    "kennwort",
    "pwd",
    "contraseña",
    "senha",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "key",
    "token",
    "secret",
)
KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("private-key", ("-----begin",), _PEM),
    ("aws-access-key", ("akia", "asia"), rf"{_START}(?:AKIA|ASIA)[A-Z0-9]{{16}}{_STOP}"),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), _GITHUB),
    ("slack-token", ("xox",), rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,}}+"),
    (
        "slack-webhook",
        ("hooks.slack.com",),
        r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}+",
    ),
    ("google-api-key", ("aiza",), rf"{_START}AIza[A-Za-z0-9_-]{{35}}{_STOP}"),
    ("anthropic-key", ("sk-ant-",), rf"{_START}sk-ant-[A-Za-z0-9_-]{{20,}}+"),
    ("openai-key", ("sk-",), _OPENAI),
    ("stripe-key", ("k_live_",), rf"{_START}[sr]k_live_[A-Za-z0-9]{{16,}}+"),
    ("telegram-bot-token", (":",), rf"(?<!\d)\d{{8,10}}:[A-Za-z0-9_-]{{35}}{_STOP}"),
    ("jwt", ("eyj",), _JWT),
    ("url-credentials", ("://",), _URL),
    ("password", _PASSWORD_HINTS, _PASSWORD),
)
"""Kind, what a text must hold one of (case-folded) to be looked at, and pattern.

A named group, where there is one, is the value. A pattern is compiled when it is first needed, for
hooks wait for that.
"""

_PLACEHOLDER = regex(
    r"redacted|example|placeholder|change-?_?me|dummy|your[_-]|x{4}|\*{3}|\.{3}|…|[<>{}$]|\[.*\]"
    r"|^(?:pass(?:word|wd)?|pwd|secret|token|hidden|none|null|true|false|todo|tbd)$",
    re.IGNORECASE,
)
# Names of variables, attributes, calls, files and places say where a secret is, not what it is.
_POINTER = regex(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Za-z_]+(?:\.[A-Za-z_]+)+|[~.]{0,2}/.*|.*://.*|.*[(\[].*"
)
_PLAIN_WORD = regex(r"[^\W\d_][^\W\d_A-Z]*[.,;!]?")


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """Where a secret stands: offsets of its value, one-based line and column; never the value."""

    kind: str
    start: int
    end: int
    line: int
    column: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Find the secrets of a text in order; where two overlap the earlier, then longer, counts."""
    found: list[tuple[int, int, str]] = []
    folded = text.casefold()
    for kind, hints, pattern in KINDS:
        if not any(hint in folded for hint in hints):
            continue
        for match in re.finditer(pattern, text):  # which keeps what it compiled
            group = next((g for g, value in match.groupdict().items() if value is not None), 0)
            if _is_value(kind, str(group), match[group]):
                found.append((match.start(group), -match.end(group), kind))
    secrets: list[Secret] = []
    line, line_start, known = 1, 0, 0
    for start, minus_end, kind in sorted(found):
        if secrets and start < secrets[-1].end:
            continue
        line += text.count("\n", known, start)
        line_start = text.rfind("\n", 0, start) + 1
        known = start
        secrets.append(
            Secret(kind=kind, start=start, end=-minus_end, line=line, column=start - line_start + 1)
        )
    return tuple(secrets)


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Replace each secret's value by `[redacted:<kind>]` and return what was replaced.

    Repeats until nothing is found, so that redacting twice changes nothing more. Places are those
    in the given text, but for a secret that only another's removal uncovers.
    """
    replaced: list[Secret] = []
    while found := find_secrets(text):
        replaced.extend(found)
        parts, known = [], 0
        for secret in found:
            parts += [text[known : secret.start], f"[redacted:{secret.kind}]"]
            known = secret.end
        text = "".join((*parts, text[known:]))
    return text, tuple(replaced)


def secret_fault(*texts: str) -> str:
    """Say that one of some texts holds a secret, and of which kind; an empty string for none."""
    kinds = sorted({secret.kind for text in texts for secret in find_secrets(text)})
    return f"a text holds a secret ({', '.join(kinds)})" if kinds else ""


def without_secrets(text: str) -> str:
    """Return a text with a placeholder for each secret."""
    return redact(text)[0]


def concealed(value: Any) -> Any:
    """Return texts, and lists and mappings of them, with a placeholder for each secret in any.

    What is a secret in one of them is shown in none: a text that was cut or put on one line need
    not look like one any more.
    """
    texts = list(_texts(value))
    if not find_secrets("\n".join(texts)):
        return value
    known = {text[s.start : s.end]: s.kind for text in texts for s in find_secrets(text)}
    longest = sorted(known, key=lambda secret: (-len(secret), secret))
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(secret)}(?!\w)" for secret in longest))

    def clean(text: str) -> str:
        text = without_secrets(text)
        return pattern.sub(lambda m: f"[redacted:{known[m[0]]}]", text) if known else text

    return _mapped(value, clean)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        # A key and a value, or a predicate and an object, are one statement in two fields.
        for name, part in (("key", "value"), ("predicate", "object")):
            if value.get(name) and value.get(part):
                yield f"{value[name]}: {value[part]}"
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _mapped(value: object, clean: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: _mapped(part, clean) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(part, clean) for part in value]
    return value


def _is_value(kind: str, group: str, value: str) -> bool:
    """Tell a value from a placeholder or a pointer to where the value is kept."""
    if kind == "private-key":
        return True
    if _PLACEHOLDER.search(value):
        return False
    if kind != "password":
        return True
    if _POINTER.fullmatch(value):
        return False
    return group != "value" or not _PLAIN_WORD.fullmatch(value)
