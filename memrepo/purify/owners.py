"""Whom a workspace's profile files are about: `USER.md` a person, `IDENTITY.md` the agent.

Their lines seldom say it ("Timezone: UTC"), so a unit of such a file is told the name that the
file gives, and one of the agent's own memory the agent's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from memrepo.core.patterns import regex

_NAME = regex(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:full name|name|what to call (?:them|me|you)"
    r"|nombre|nome|nom|имя|名前|名字|姓名|称呼|이름|호칭)"
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
    "user users profile human owner person people about me contact contacts info information identity"
    " context preferences details notes memory agent assistant usuario perfil persona utilisateur"
    " profil benutzer nutzer mensch utente profilo usuário пользователь профиль".split()
)
"""Words of a title that says what kind of file it heads, and names nobody."""
PERSON = "User"
"""What a person is called whose file gives no name."""


class Owners(msgspec.Struct, kw_only=True):
    """The names that the profile files of each folder give, read once."""

    person: dict[str, str] = msgspec.field(default_factory=dict)
    agent: dict[str, str] = msgspec.field(default_factory=dict)

    def of(self, name: str) -> str:
        """Return whom a workspace file is about, or an empty string."""
        folder, _, file = name.rpartition("/")
        if file == "USER.md":
            return self.person.get(folder, PERSON)
        if file in ("IDENTITY.md", "MEMORY.md"):
            return self.agent.get(folder, "")
        return ""


def read_owners(files: Iterable[tuple[str, bytes]]) -> Owners:
    """Read the names out of the profile files among these (name, bytes) pairs."""
    owners = Owners()
    for name, data in files:
        folder, _, file = name.rpartition("/")
        if is_profile(name) and (found := name_in(data)):
            (owners.person if file == "USER.md" else owners.agent)[folder] = found
    return owners


def is_profile(name: str) -> bool:
    """Tell whether a workspace file says who somebody is."""
    return name.rpartition("/")[2] in ("USER.md", "IDENTITY.md")


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
    head = _HEAD.match(text)
    words = head["name"].split() if head else []
    named = all(w[0].isupper() and w.casefold() not in _KINDS for w in words)
    return " ".join(words) if named else ""
