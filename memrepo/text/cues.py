"""What kinds of answer a text may give, and what kind a question asks for; one letter a kind.

A text with a day, a number, a name or a title in it may answer when, how many, who or which book; a
text that asks answers seldom, and what is said after it does so instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memrepo.core.patterns import regex

ASKS, RULE = "?", "r"
_IN_TEXTS = {
    ASKS: regex("[?\uff1f\u061f]"),
    "t": regex(
        r"\b(?:yesterday|today|tomorrow|tonight|recently|last|next|ago|days?|weeks?|weekend|months?"
        r"|years?|morning|afternoon|evening|night|noon|midnight|\d\d?:\d\d"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july"
        r"|august|september|october|november|december)\b",
        re.IGNORECASE,
    ),
    "n": regex(
        r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|couple|once|twice|several"
        r"|first|second|third)\b"
    ),
    "p": regex(r"(?<=[^\W\d_A-Z] |[,;:\"] )[\"(]?[A-Z\u00c0-\u00de][^\W\d_]{2}"),
    "q": regex('"[^"]|[\u201c\u00ab]'),
    RULE: regex(
        r"\b(?:always|never|from now on|whenever i|when i ask|strictly|exclusively|prefer\w*"
        r"|(?:do not|don['\u2019]t|only) (?:use|want|like|eat|wear|include|enjoy)|aversion"
        r"|allerg\w+"
        r"|intoleran\w+|phobia|fear of|fan of|vegan|vegetarian|i(?:['\u2019]d| would) rather"
        r"|(?:cannot|can['\u2019]t) (?:stand|eat|tolerate|have)|(?:no|much) interest in|not into"
        r"|i (?:\w+ )?(?:like|love|enjoy|hate|dislike|avoid|despise|refuse|believe|need to avoid)"
        r"|immer|niemals|bevorzug\w*|lieber|ungern|toujours|jamais|d\u00e9teste|siempre|nunca"
        r"|prefier\w*|detesto|odio|sempre|altijd|nooit|liever|alltid|aldrig|zawsze|nigdy|wol\u0119"
        r"|всегда|никогда|предпочита\w*|аллерги\w*)\b|总是|从不|讨厌|过敏|必ず|絶対|嫌い|アレルギー",
        re.IGNORECASE,
    ),
}
"""Words that name a time, numbers, capitals within a sentence, titles in quotation marks; rules and
tastes, by which help is to be given."""
_WORD = regex(r"\w+", re.ASCII)
_TIMES = frozenset(
    "yesterday today tomorrow tonight recently last next ago day days week weeks weekend month"
    " months year years morning afternoon evening night noon midnight monday tuesday wednesday"
    " thursday friday saturday sunday january february march april june july august september"
    " october november december".split()
)
_CLOCK = regex(r"\b\d\d?:\d\d\b")
_BEGIN = 5
_RULES_BEGIN = frozenset(
    "alway never from whene when stric exclu prefe do don only avers aller intol phobi fear fan"
    " vegan veget i canno can no much not immer niema bevor liebe unger toujo jamai siemp nunca"
    " prefi detes odio sempr altij nooit lieve allti aldri zawsz nigdy".split()
)
"""How the words begin with which a rule may, in ASCII: few texts have one, and to look for all of
them takes longer than the rest of what is asked of a text."""
_IN_QUESTIONS = {
    "t": regex(r"^when\b|\bwhat (?:day|date|month|year|time)\b|^how long ago\b"),
    "n": regex(r"^how (?:many|much|long|often|old)\b|\bwhat (?:number|age)\b|\bhow many\b"),
    "p": regex(
        r"^(?:who|where|which)\b|\bwhat (?:country|city|state|town|place|company|brand|name|college"
        r"|restaurant)\b"
    ),
    RULE: regex(
        r"\b(?:recommend\w*|suggest\w*|advi[cs]e|tips|ideas|help me|should (?:i|we|you)"
        r"|(?:can|could|would) you (?:please )?(?:show|explain|help|recommend|suggest|plan|write"
        r"|create|design|give|make|walk)|how (?:do|can|would) i|what (?:are|is|would be)"
        r" (?:some|the best|a good) (?:\w+ ){1,20}?(?:i|me|my|we|us|our)|options"
        r"|(?:soll|sollte|kann) ich|empf(?:iehl|ehl)\w*|hilf mir"
        r"|kannst du|(?:peux|pourrais) tu|conseil\w*|recommand\w*|puedes|podrias|recomi\w+"
        r"|consejos?|puoi|potresti|consigli\w*|pode|poderia|recomend\w*|kun je|kan je|aanra\w+"
        r"|посовету\w*|порекоменду\w*|помоги)\b|推荐|建议|推奨|推薦"
    ),
    "q": regex(r"\b(?:book|movie|film|song|series|show|game|title|band|author|called|named?)s?\b"),
}
_AUXILIARY = r"(?:ha[sd]|have|did|do|does|is|are|was|were|can|could|will|would)"
_SEVERAL = regex(
    rf"\b(?:what|which) (?:(?!{_AUXILIARY}\b)\w+ ){{0,3}}?"
    rf"(?:(?!(?:does|this|his)\b)\w{{2,}}[^\Ws]s|people|children) (?:\w+ ){{0,3}}?{_AUXILIARY}\b"
    r"|\b(?:what|who) are\b|\bhow many\b|\b(?:what|which) (?:kind|type|sort)s? of\b"
    r"|\bin (?:what|which) ways\b|\bwhich of\b"
)
"""A plural after what or which and before its verb, and other ways to ask for a list."""
_TALK = r"(?:conversation|chat|session|discussion|message|talk|request|exchange)s?"
_FRAME = regex(
    r"\b(?:(?:can|could|would|will) you (?:please )?(?:also )?(?:list|tell|give|show|walk|provide"
    r"|remind|summari[sz]e|describe|explain|recall|name|help)(?: (?:me|us))?"
    r"(?: (?:through|with|of))?"
    r"|(?:an? |the )?(?:\w+ )?(?:summary|overview|recap) of(?: (?:how|what|everything|all))?"
    r"|(?:the )?order in which|in order\b|mention only(?: and only)? \w+ items?|over time|so far"
    r"|(?:brought|bring(?:ing)?) up|mention(?:ed|ing)?|discuss(?:ed|ing)?|talk(?:ed|ing)? about"
    rf"|(?:throughout|across|in|during|over|from) (?:all )?(?:my|our|their|the|these|those) {_TALK}"
    r"|(?:for )?how (?:long|often|many times)"
    r"|different (?:aspect|concept|idea|thing|way)s? of|(?:kind|type|sort)s? of)\b"
)
"""What a question says of how it is to be answered, and of the talk in which it was said."""
_FRAMED = (
    "you,summary,overview,recap,order,mention,time,so far,brought,bring,discuss,talk,conversation"
    ",chat,session,message,request,exchange,how,different,kind,type,sort"
).split(",")
"""What is said in each frame; where none is, the pattern needs no compiling."""


def cues_of(text: str) -> str:
    """Return the kinds of answer that a text may give, and `?` where it asks."""
    if not text.isascii():
        return "".join(kind for kind, sign in _IN_TEXTS.items() if sign.search(text))
    # The same, by the words of the text where that is quicker.
    held = set(_WORD.findall(text.lower()))
    timed = not _TIMES.isdisjoint(held) or (":" in text and bool(_CLOCK.search(text)))
    may_rule = not _RULES_BEGIN.isdisjoint([word[:_BEGIN] for word in held])
    known = {"t": timed} if may_rule else {"t": timed, RULE: False}
    return "".join(
        kind
        for kind, sign in _IN_TEXTS.items()
        if (known[kind] if kind in known else sign.search(text))
    )


def wanted(words: Sequence[str]) -> str:
    """Return the kinds of answer that a question asks for, from its folded words."""
    text = " ".join(words)
    return "".join(kind for kind, sign in _IN_QUESTIONS.items() if sign.search(text))


def matter_of(text: str) -> str:
    """Return a question without what it says of the talk and of the form of the answer."""
    low = text.lower()
    return _FRAME.sub(" ", low) if any(sign in low for sign in _FRAMED) else low


def asks_several(words: Sequence[str]) -> bool:
    """Tell whether a question asks for several things, or counts them, from its folded words."""
    return bool(_SEVERAL.search(" ".join(words)))


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
