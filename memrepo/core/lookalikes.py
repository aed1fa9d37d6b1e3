"""Texts that a person cannot tell apart, as one: what a rejected text is recognised by.

On top of `ids.normal_claim` (NFKC, case, blanks, controls, list marker) it folds letters of other
scripts that look like Latin ones, characters that show nothing, quotes, dashes, emphasis marks and
the last full stop. Digits are never folded into letters: `O1` and `01` are two values.
"""

from __future__ import annotations

from memrepo.core.ids import normal_claim
from memrepo.core.patterns import regex

_LETTERS = (
    # Cyrillic and Greek (lower case, for case is folded first), Armenian, Cherokee, small capitals.
    ("авекмнорстухіјѕһԁԛԝ", "abekmhopctyxijshdqw"),
    ("αβεζηικνορτυχ", "abezhikvoptyx"),
    ("օսոհցզյ", "ounhgqj"),
    ("ꭰꭱꭲꭺꭻꭼꮃꮇꮋꮐꮓꮢꮤꮥꮩꮪꮮꮯꮲꮶᏼ", "drtajewmhgzrwsvslcpkb"),
    ("ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏒᏔᏕᏙᏚᏞᏟᏢᏦ", "drtajewmhgzrwsvslcpk"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),
    ("ıɑɡⲟո", "iagon"),
    ("‘’‚‛ʼʹ′´", "'" * 8),
    ("“”„‟″«»", '"' * 7),
    ("‐‑‒–—―−⁃", "-" * 8),
)
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0*`"
_TABLE: dict[int, str | None] = {
    ord(one): other
    for letters, latin in _LETTERS
    for one, other in zip(letters, latin, strict=True)
}
_TABLE |= dict.fromkeys(map(ord, _BLANK))
_TABLE |= dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
_ENDS = regex(r"^[\"'\s]+|[\"'\s.!;,:]+$")


def look(text: str) -> str:
    """Fold a text to what it looks like; equal results are one text to a reader."""
    if not text.isascii():
        text = text.translate(_TABLE)  # what shows nothing may part what composes
    folded = normal_claim(text).translate(_TABLE)
    return _ENDS.sub("", " ".join(folded.split()))
