"""The words of conversation: who speaks of what, what is told, and what is only said.

People tell facts in the first person, of the past or of plans, and with a time; they react to each
other with praise, thanks and questions. English and German; a text in another language shows fewer
of these signals, up or down, and loses nothing by it.
"""

from __future__ import annotations

import re

from memrepo.core.patterns import regex
from memrepo.judges.wordlists import terms_of, words_of

FIRST_PERSON = words_of("""
i, i'm, i've, i'd, we, we're, we've, we'd, ich, wir, yo, nosotros, je, nous, я, мы, 我, 我们,
私, 저는, 나는
""")
SECOND_PERSON = words_of("""
you, your, you're, you've, you'd, you'll, yours, du, dich, dir, dein*, euch, tu, te, ты, тебе,
твой, вы, вам, 你, 您, 당신
""")
PAST_EVENT = regex(
    r"\b(?:I|we)(?:['’]ve|\s+have|\s+had)\b"
    r"|\b(?:I|we)\s+(?:\w+ly\s+|just\s+|also\s+|even\s+|never\s+|once\s+)?(?:\w{2,}ed|went|was|were"
    r"|got|made|took|met|saw|found|felt|gave|told|said|bought|began|did|came|left|lost|won|wrote"
    r"|read|ran|built|chose|grew|kept|knew|led|put|spent|taught|thought|understood|heard|held|hit"
    r"|set|sold|sent|sang|swam|drew|drove|ate|fell|flew|forgot|became|brought|caught)\b"
    r"|\b(?:ich|wir)\s+(?:habe|haben|bin|sind|war|waren|hatte|hatten)\b",
    re.IGNORECASE,
)
UNDER_WAY = regex(
    r"\b(?:I['’]m|we['’]re|I\s+am|we\s+are|been)\s+(?:\w+ly\s+|also\s+|still\s+|just\s+)?\w+ing\b"
    r"|\b(?:gonna|going\s+to|planning\s+to|plans?\s+to)\b",
    re.IGNORECASE,
)
WHEN = words_of("""
yesterday, last night, last week, last weekend, last month, last year, last summer, last winter,
last spring, last fall, last monday, last tuesday, last wednesday, last thursday, last friday,
last saturday, last sunday, ago, since, when i was, back in, the other day, growing up,
as a kid, as a child, year, years, months, weeks, next week, next month, next year, weekend,
used to, in high school, in college, january, february, april, june, july, august, september,
october, november, december, gestern, vorgestern, letzte woche, letzten monat, letztes jahr,
nächste woche, seit, damals, früher, jahre, jahren, ayer, hier soir, вчера, 昨天, 去年, 昨日,
어제, 작년, enero, febrero, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre,
diciembre, desde, hace, la semana pasada, el año pasado, janvier, février, avril, juin, juillet,
août, septembre, octobre, novembre, décembre, depuis, il y a, l'année dernière, janeiro, fevereiro,
maio, junho, julho, setembro, outubro, novembro, dezembro, semana passada, ano passado, gennaio,
febbraio, aprile, maggio, giugno, luglio, settembre, ottobre, dicembre, dal, januari, februari, mei,
juni, juli, augustus, oktober, sinds, januar, februar, märz, dezember, январ*, феврал*, апрел*, мая,
июн*, июл*, август*, сентябр*, октябр*, ноябр*, декабр*, 年前, 昨年, 月份, 月に, 年以来
""")
REACTION = words_of(
    """
wow, thanks, thank you, thx, congrats, congratulations, awesome, amazing, great, nice, cool,
yeah, yep, yup, yes, no, nah, sure, definitely, absolutely, totally, exactly, agreed, oh, aw*,
haha*, lol, hey, hi, hello, glad, sounds, that's, sorry, no way, no problem, of course,
wonderful, fantastic, incredible, impressive, beautiful, bye, good luck, good job, take care,
toll, super, danke, genau, klar, schön, ach, gratuliere, herzlichen glückwunsch
""",
    start=True,
)
# A reaction that stands by itself: "Sounds good!", "That's great, Ann." The comma or mark after
# it tells it from "No deploys on Fridays" and "Great Danes need space".
SMALL_TALK = regex(
    r"^\W*(?:(?:wow|thanks(?:\s+(?:a lot|so much|again))?|thank\s+you(?:\s+(?:so|very)\s+much)?|thx"
    r"|congrat\w*|awesome|amazing|great|nice|cool|yeah|yep|yup|yes|no|sure(?:\s+thing)?|definitely"
    r"|absolutely|totally|exactly|agreed|oh|haha\w*|lol|hey|hi|hello|perfect|ok(?:ay)?|alright|done"
    r"|got\s+it|will\s+do|understood|noted|sorry|no\s+(?:way|problem|worries)|of\s+course|wonderful"
    r"|fantastic|incredible|impressive|beautiful|bye|good\s+(?:luck|job|morning|night)|take\s+care"
    r"|well\s+done|my\s+pleasure|you['’]?re\s+welcome|toll|super|danke|genau|klar|schön)"
    r"(?=\s*[,!.…–—-]\s|\s*[,!.…]*\s*$)"
    r"|(?:that|this|it)(?:['’]?s|\s+is|\s+sounds|\s+looks)\s+(?:\w+\s+)?(?:great|awesome|cool|amazing"
    r"|wonderful|fantastic|impressive|good|nice|lovely|sweet|inspiring|perfect)\b"
    r"|(?:sounds|looks)\s+(?:like|great|good|fun|awesome|amazing|fine|perfect)\b"
    r"|(?:glad|happy|sorry)\s+(?:to\s+(?:hear|help)|you\b|that\s+you\b|it\s+helped))",
    re.IGNORECASE,
)
# "Good morning Ann, how are you?": what is asked stands behind the greeting.
GREETED = regex(
    r"^\W*(?:good\s+(?:morning|afternoon|evening)|hi|hello|hey|hallo|guten\s+(?:morgen|tag|abend))\b"
    r"(?:\s+\w+)?\s*[,!.]\s*",
    re.IGNORECASE,
)
# Words that a sentence can hold without telling anything: function words, praise and fillers.
COMMON = terms_of("""
the, and, but, for, with, from, are, was, were, been, being, its, this, that, these, those, you,
your, our, them, they, him, his, her, she, their, not, did, does, done, have, has, had, will,
would, can, could, should, just, really, very, too, also, than, then, there, here, what, when,
where, who, why, how, all, some, any, much, many, more, most, lot, lots, about, out, get, got,
going, like, one, thing, things, great, good, nice, well, yeah, wow, thanks, thank, awesome,
amazing, cool, it's, i'm, i've, that's, don't, you're, let, let's, sure, know, into, over, such,
der, die, das, und, aber, oder, mit, von, für, auf, ist, sind, war, ein, eine, einen, einem,
einer, ich, wir, sie, ihr, mich, mir, uns, auch, nur, noch, sehr, nicht, dass, wie, was, wenn
""")
