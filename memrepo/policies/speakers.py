"""Who speaks in a text: a user, the assistant that answers, or neither (people, prose).

It is seen from the text and the name beside it, in any source: an assistant answers at length and
in markup, opens as one who serves, and never names itself. A statement about an assistant does, and
is nobody's turn. What a user says about himself is worth more than what was answered to him.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memrepo.core.patterns import regex

USER, ASSISTANT = "u", "a"
_USERS = frozenset(
    "user human customer client nutzer benutzer utilisateur utilisatrice usuario usuaria utente"
    " usuário gebruiker användare bruker bruger użytkownik пользователь 用户 用戶 ユーザー"
    " 사용자".split()
)
_ASSISTANTS = frozenset(
    "assistant ai bot chatbot agent model llm gpt chatgpt claude gemini copilot assistent"
    " assistante asistente assistente asystent ассистент бот 助手 アシスタント 어시스턴트".split()
)
_LABEL = regex(r"\s*[*_>#]*\s*([^\W\d_]{2,20})[*_]*\s*[:：]")
"""A name before a colon, where a text begins with who says it."""
_OPENS = regex(
    r"\W*(?:certainly|absolutely|sure|of course|great (?:question|idea)|i(?:['’]d be|['’]m)"
    r" (?:happy|glad) to|here(?:['’]s| is| are)|let['’]s|to (?:help|address|answer)|gerne|natürlich"
    r"|selbstverständlich|bien sûr|certainement|voici|claro|por supuesto|certo|certamente|ecco"
    r"|конечно|вот"
    r"|当然|好的|もちろん|물론)",
    re.IGNORECASE,
)
_MARKUP = regex(r"(?m)^[^\S\n]*(?:#{1,6} |\d{1,3}\. \*\*|[-*] \*\*|```)")
_LONG = 400
"""Characters from which on markup under such an opening is an answer."""
_LABELLED = 80
"""Characters of a text in whose first words it names what it is about."""
_ADDRESSED = frozenset(("you", "your"))
_ASKED_OF = regex(
    r"\b(?:did|do|had|have) you (?:\w+ )?(?:suggest|recommend|tell|told|advise|say|said|mention"
    r"|explain|give|given|list|propose|provide|offer|write|written|show)\w*\b"
    r"|\byou (?:\w+ )?(?:suggested|recommended|told|advised|said|mentioned|explained|gave|listed"
    r"|proposed|provided|offered|wrote|showed)\b"
    r"|\byour (?:answer|advice|suggestion|recommendation)s?\b"
)

_SELF = frozenset("i im ive my me mine myself we our us".split())
"""Terms, so without endings (`i've`), and as people write to each other."""


def role_of(subject: str, text: str) -> str:
    """Return `u` for a user's turn, `a` for an assistant's, empty for all else.

    `subject` is folded. A text that holds its subject is about it, and not said by it.
    """
    label = _LABEL.match(text)
    said_by = label[1].casefold() if label and not subject else subject
    name = said_by.rpartition(" ")[2]
    if name in _USERS | _ASSISTANTS and (label or not _names(text, name)):
        return USER if name in _USERS else ASSISTANT
    is_answer = len(text) >= _LONG and _OPENS.match(text) and _MARKUP.search(text)
    return ASSISTANT if is_answer else ""


def of_self(terms: frozenset[str]) -> bool:
    """Tell whether a text of some terms says anything of who speaks."""
    return not _SELF.isdisjoint(terms)


def _names(text: str, name: str) -> bool:
    return name in text[:_LABELLED].casefold().split()[:3]


def asks_assistant(words: Sequence[str]) -> bool:
    """Tell whether a question, as folded words, asks for what an assistant said."""
    # A pattern that is not needed is not compiled: that takes longer than to answer.
    return not _ADDRESSED.isdisjoint(words) and bool(_ASKED_OF.search(" ".join(words)))
