"""How a sentence says that something is owed: who hands it over, and by when.

A day by which something is to be is not enough: shops are open until six, a licence runs until
June. What is owed opens with the deed, or with who does it and the deed, and then names the day.
"""

from __future__ import annotations

import re

from memrepo.core.patterns import spelled

_WHO = r"(?-i:(?:[A-ZÀ-ÝА-Я][\w'’-]*\s+){1,3})"
_TO_WHOM = r"[^.;\n]{0,80}"
_DAYS_EN = (
    r"(?:the\s+)?(?:(?:end|start|middle) of|\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|next\b"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\w*\s|may\s|tomorrow|christmas|easter)"
)
_DEEDS_EN = (
    r"(?:sends?|brings?|books?|pays?|calls?|rings?|returns?|submits?|files?|renews?|orders?|buys?"
    r"|finish(?:es)?|delivers?|writes?|repl(?:y|ies)|answers?|cancels?|signs?|tells?|gives?|posts?"
    r"|publish(?:es)?|drafts?|reviews?|prepares?|fix(?:es)?|collects?|picks? up|drops? off"
    r"|registers?|appl(?:y|ies)|hands? (?:in|over)|shares?|confirms?|arranges?|rotates?|replaces?)"
)
_DAYS_DE = (
    r"(?:zum\s+|spätestens\s+)?(?:(?:Ende|Mitte|Anfang)\s|\d|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag"
    r"|Mittwoch|Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|nächste|Weihnachten|Ostern)"
)
_DEEDS_DE = (
    r"(?:schickt|sendet|liefert|meldet sich|bringt|bezahlt|zahlt|überweist|prüft|klärt|ruft|gibt"
    r"|schreibt|holt|bestellt|erledigt|reicht|besorgt|unterschreibt|antwortet)"
)
_DAYS_ES = r"(?:\d|lunes|martes|miércoles|jueves|viernes|sábado|domingo|fin\w*\b)"
_DAYS_FR = r"(?:\d|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|(?:la )?fin\b)"
_DAYS_PT = r"(?:\d|segunda|terça|quarta|quinta|sexta|sábado|domingo|(?:o )?fi[nm]\w*\b)"


def _owed() -> str:
    return "|".join(
        (
            rf"^\W*(?:{_WHO})?{_DEEDS_EN}\b{_TO_WHOM}\b(?:by|before|no later than)\s{_DAYS_EN}",
            r"\bsaid (?:s?he|they)(?:['’](?:d|ll)|\s(?:will|would))\b",
            rf"^\W*{_WHO}(?:is|are) going to\b",
            # German: who does it by when; the deed at the end, or before its day
            rf"^\W*{_WHO}{_DEEDS_DE}\b{_TO_WHOM}\b(?:bis\s{_DAYS_DE}|nächste[nrs]?\s|spätestens\s)",
            (
                rf"\bbis\s{_DAYS_DE}{_TO_WHOM}\s(?-i:(?!(?:ge|ver|be|er)\w+en\W*$|offen\W*$|\w+ungen\W*$)"
                r"[a-zäöüß]+e[lr]?n)\W*$"
            ),
            rf"^[^.;\n]{{4,80}}\s(?-i:(?!offen\b)[a-zäöüß]+e[lr]?n),?\sbis\s{_DAYS_DE}[^,;\n]{{0,16}}$",
            # Spanish and Portuguese say in the verb that somebody will; so does Italian
            (
                rf"^\W*{_WHO}(?:(?:me|nos|le|les|lo|la|se)\s)?(?!ser|estar|tendr|habr|podr|ter|haver|poder)"
                r"\w{2,12}(?:[aei]rán?|[aei]rão|[ei]rà|[ei]ranno)\b"
            ),
            (
                rf"^\W*\w+[aei]r(?:l[aeo]s?|se|me|nos)?\s{_TO_WHOM}\b(?:antes del?|para el)\s"
                rf"{_DAYS_ES}"
            ),
            (
                rf"^\W*\w+(?:er|ir|re)\s{_TO_WHOM}\b(?:(?:avant|d['’]ici)(?: le| la)?|pour le)\s"
                rf"{_DAYS_FR}"
            ),
            rf"^\W*\w+[aei]r(?:-\w+)?\s{_TO_WHOM}\b(?:até(?: a| ao?)?|antes d[eoa])\s{_DAYS_PT}",
        )
    )


OWED = spelled(_owed, re.IGNORECASE)
"""Who will do something, or what is to be done by a day."""
