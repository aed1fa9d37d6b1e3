"""What tells a statement of a daily log that lasts from what merely happened.

A day's log says both. That something was done, sent, checked or stood at a time belongs to its
day; a rule, a decision, how a thing is set up, who somebody is, an open end belongs to memory. The
signs are the heading that a statement stands under, the form of its verb, and its key. Their
weights are those of a logistic regression over hand-labelled lines of nine agents' logs, which
`benchmarks/lasting.py` fits anew on eight and tests on the ninth; those of what happened are set
lower as far as no durable line was lost by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memrepo.core.ids import normalise
from memrepo.core.judge import Candidate
from memrepo.core.patterns import regex
from memrepo.judges.happened import (
    DONE,
    DONE_ELSEWHERE,
    HAPPENED,
    IN_VAIN,
    OFFERED,
    OWED,
    REPORTED,
    recounts,
)
from memrepo.judges.wording import (
    HAPPENED_HEADING,
    HEADING_TYPES,
    LASTING_HEADING,
    lead_of,
    plain,
    telling,
)
from memrepo.judges.wordlists import DECISION, FIRSTS, terms_of, words_of

STANDING = words_of(""" is, are, uses, use, runs on, requires, require, must,
should, never, always, cannot, can't, can not, depends, means, works, supports, lives, prefers,
wants, likes, needs, has, have, contains, stored, located, only, instead of, because, by default,
don't, do not, avoid, use the, usually, plans to, birthday, allergic, é, são, usa, está, fica,
deve, precisa, quando, sempre, nunca, não, es, son, usa, debe, siempre, necesita, prefiere,
cuando, est, sont, utilise, doit, toujours, jamais, ist, sind, nutzt, muss, immer, nie, нужно,
нельзя, всегда, никогда, использует, должен, требует, если, 是, 必须, 需要, 使用, 不要, 总是, 只,
通常, は, です, 必要, 使う, 常に, 必ず, 은, 는, 필요, 사용, 항상, 반드시,
starts, begins, joins, expires, costs, belongs to, speaks, studies, owns, is called, can only,
heißt, wohnt, arbeitet, gehört, kostet, mag, bevorzugt, beginnt, bekommt, läuft bis, braucht,
darf, sollte, hat am, geburtstag, allergisch, vive, viven, trabaja, tiene, tienen, se llama,
le gusta, no le gusta, cuesta, caduca, empieza, cumple, cumpleaños, alérgica, alérgico,
hay que, se guarda, se guardan, vence, habite, vit, travaille, a un, a une, s'appelle, aime,
n'aime pas, coûte, expire, commence, il faut, anniversaire, allergique, doivent, préfère,
ne peut pas, se trouve, passe aux, passe à, mora, vive, trabalha, tem, têm, chama-se, se chama,
gosta, não gosta, custa, vence, começa, faz anos, aniversário, alérgica, alérgico, prefere,
é preciso, è, sono, ha, vive, abita, lavora, si chiama, piace, costa, scade, inizia, compie,
compleanno, allergica, allergico, deve, devono, preferisce, bisogna, sempre, mai, non può,
woont, werkt, heeft, heet, houdt van, kost, begint, verjaardag, allergisch, moet, altijd,
nooit, живет, живёт, работает, зовут, любит, не любит, стоит, начинает, день рождения,
аллергия, 生日, 喜欢, 住在, 从不, 过敏, 誕生日, 住んで, 好き, 苦手, アレルギー, のみ, だけ,
생일, 좋아, 싫어, 살고, 알레르기,
moved to, moved from, moves to, switched from, changed from, changes to, no longer, not anymore,
closes, opens, closed until, raised the, raised to, goes up to, went up to, lowered to, married,
engaged, divorced, pregnant, is due, was born, passed away, died, turned * today, quits, quit,
resigned,
hired, moved in, moved out, new address, new number, new phone, new email, new contact,
new job, new name,
warranty until, valid until, good until, turns out,
zieht nach, zieht um, umgezogen, nicht mehr, kein * mehr, läuft jetzt, läuft auf, gekündigt,
neue adresse, neue nummer, neue telefonnummer, neuer kontakt, neuer name, verheiratet, schwanger,
gestorben, öffnet, schließt, erhöht auf, gilt bis, vereinbart,
déménage, a déménagé, ne * plus, nouvelle adresse, nouveau numéro, enceinte, s'est mariée,
ferme, ouvre, convenu, valable jusqu'au, se mudó, se muda, ya no, nueva dirección, nuevo número,
embarazada, cierra, abre, válido hasta, acordado, mudou-se, já não, novo endereço, novo número,
grávida, fecha, abre, válido até, combinado, si trasferisce, non * più, nuovo indirizzo,
nuovo numero,
incinta, chiude, apre, valido fino, concordato, verhuisd, niet meer, nieuw adres, nieuw nummer,
zwanger, sluit, opent, afgesproken, переехал*, переезжает, больше не, новый адрес, новый номер,
беременна, закрывается, открывается, договорились,
搬到, 搬家, 不再, 改为, 改成, 新地址, 新号码, 怀孕,
引っ越し, に変更, 担当は, 妊娠, 이사, 로 변경, 임신,
from now on, henceforth, every, ab jetzt, ab sofort, künftig, jeden, jede, a partir de ahora,
de ahora en adelante, en adelante, cada, a partir de agora, doravante, désormais, dorénavant,
à partir de maintenant, chaque, tous les, d'ora in poi, ogni, vanaf nu, voortaan, elke, теперь,
отныне, впредь, каждый, каждую, каждое, 以后, 今后, 从现在起, 每天, 每周, 每月, 每年, 今後,
これから, 毎日, 毎週, 毎月, 毎年, 앞으로, 이제부터, 매일, 매주, 매월, 매년, ne mange pas,
ne boit pas, part en, no come, entra en, entra de, não come, isst kein, isst keine, geht in,
в отпуске, аллергии, 开始, solo, sólo, acepta, admite, n'accepte que, n'accepte qu'une, accepte,
ne peut,
nur, akzeptiert, só, apenas, aceita, accetta, solo, soltanto, alleen, только, принимает, 只接受,
だけ,
まで,
retires, replaces, takes over, se jubila, sustituye, se va de, part à la retraite, le remplace, la
remplace, remplace, reprend, geht in rente, ersetzt, übernimmt, se aposenta, substitui, assume,
va in
pensione, sostituisce, gaat met pensioen, vervangt, уходит на пенсию, заменяет, 教訓, 教训, 교훈,
退職, 後任, 退休,
接替, change de, cambia de, muda de, wechselt zu, wechselt den, wechselt die, cambia in,
on passe à, on passe au, on passe aux, passa a ser, trocou, cambió, a changé, ha cambiato,
gewisselt, a confié, に変えた, を変えた, に替えた, に決めた, を決めた, 来年から, 来月から, 来週から,
明年起, 下个月起, 换成, 换了, 바꿨, 바뀌었, 정했, 내년부터, 다음 달부터, from next, ab nächst*,
a partir del, à partir du,
퇴직, 후임, appointment, cita con, cita de, rendez-vous, termin, termine, consulta com, consulta de,
appuntamento, afspraak, приём у, 予約, 预约, 예약
""")
SAID_BY_PERSON = words_of("""
said, says, told, asked for, asked to, wants, want, prefers, approved, agreed, decided,
confirmed that, requested, insisted, pediu, quer, prefere, aprovou, decidiu, disse, pidió, quiere,
aprobó, decidió, dijo, a demandé, veut, möchte, will, bat, entschied, попросил, хочет, решил,
сказал, 说, 要求, 希望, 决定, 言った, 希望, 決めた, 요청, 원한다, 결정,
sagte, sagt, wollte, bestätigt, zugestimmt, erzählte, erwähnte, dijo que, me dijo, contó,
mencionó, prefirió, confirmó, pidió que, a dit, m'a dit, a confirmé, a décidé, préfère,
souhaite, disse que, contou, mencionou, confirmou, ha detto, ha deciso, ha chiesto, preferisce,
vuole, conferma, zei, wilde, heeft besloten, mentioned, told me, 告诉我, 提到, と言って,
伝えられ, 말했다, me cuenta, cuenta que, me dice, dice que, raconte que, dit que, me dit,
m'explique, me conta, conta que, diz que, me diz, erzählt, mi dice, dice che, racconta, vertelt,
zegt, рассказал*, говорит, によると, と言う, とのこと, 说要, 说他, 说她, 라고 한다, 라고 했
""")
DAY_KEY = terms_of("""
status, state, context, action, actions, result, results, source, time, date, when, session,
session id, session key, self-review, summary, today, progress, commit, branch, latest commit, pr,
issue, evidence, confidence, recalls, channel, tests, files, changed, output, duration, started,
finished, author, created, updated, last updated, established, estado, resumo, fecha, data, autor,
hora, fuente, fonte, ação, statut, heure, stand, datum, статус, дата, время, автор, источник,
状态, 系统状态, 内容, 时间, 日期, 作者, 今日总结, 总结, 结果, 来源, 状況, 日時, 日付, 結果, 内容,
작성자, 상태, 날짜, 시간, 결과
""")
LASTING_KEY = regex(
    r"regola|lezione|decisione|besluit|wichtig|importante|decision"
    r"|^decided|^agreed|beschlossen|entschieden|vereinbart|^décidé|^convenu|^decidido|^acordado"
    r"|^combinado|^deciso|^concordato|^besloten|^afgesproken|^решили|^решено|^договорились|约定"
    r"|決めた"
    r"|lesson|rule|root cause|fix|insight|learned|policy|preference|important|note"
    r"|warning|gotcha|decisión|decisão|lección|lição|regla|regra|tática|leçon|décision|règle"
    r"|entscheidung|regel|lektion|решение|урок|правило|вывод|важно|决定|教训|规则|注意|原因"
    r"|決定|教訓|ルール|注意|原因|결정|교훈|규칙|주의|원인"
    r"|^caus[ae]\b|^ursache|^oorzaak|^причина|원인$"
    r"|aprendido|aprendizaje|appris|à retenir|gelernt|merken|imparato|aprendemos|geleerd|学び"
    r"|学んだ",
    re.IGNORECASE,
)
OPEN_KEY = regex(
    r"(?:still )?open(?: question)?|(?:noch )?offen(?:e frage)?|pregunta(?: abierta)?|por decidir"
    r"|question ouverte|à décider|em aberto|da decidere|nog open|открытый вопрос|未定|未決|미정",
    re.IGNORECASE,
)
"""A key that leaves what it says to be answered: no question of a talk."""
CLOCK = regex(r"(?<![\d:.])(?:[01]?\d|2[0-3]):[0-5]\d(?![\d:])")
REFERENCE = regex(
    r"\b(?:PR|MR|issue|commit|pull request|build|run|task)s?\s*#?\d+|#\d{2,}\b"
    r"|\b[0-9a-f]{7,12}\b(?=`|\W|$)"
    r"|\b\d+\s+(?:minutes?|hours?|days?|min|h)\s+ago\b|/pull/\d+",
    re.IGNORECASE,
)
_DONE_HEADING = regex(
    r"\b(?:updated|sent|created|fixed|deployed|installed|added|removed|merged|shipped|taken|made"
    r"|built"
    r"|reviewed|posted|pushed|resolved|implemented|criad[oa]s?|enviad[oa]s?|cread[oa]s?"
    r"|corrigid[oa]s?"
    r"|créés?|envoyés?|erstellt|gesendet|behoben|geändert|созданы?|отправлен[оы]?|исправлен[оы]?)"
    r"\W*(?:\([^()]*\))?\W*$",
    re.IGNORECASE,
)
"""A heading that ends in what was done: "Docs updated"."""
_REVIEWED = regex(
    r"\b(?:PR|MR|pull request|merge request|issue)s?\s*#\d+|\breviews?\b.*#\d+", re.IGNORECASE
)
"""A heading that names one change or one ticket: what is below it was said of that one."""
TURNED = regex(r"\S\s*(?:→|->|=>)\s*\S")
TICKED = regex(r"[✅✔☑🎉]|\[x\]|\bpassed\b|\bDONE\b", re.IGNORECASE)
TALK = regex(r"^\W*(?:conversation|chat)\s+(?:summary|log|history)|^\W*session:\s", re.IGNORECASE)
TRANSCRIPT = regex(r"^\W*(?:conversation|chat)\s+(?:summary|log|history)", re.IGNORECASE)
SPEAKER = regex(r"\W*[^\W\d_][\w.'’ -]{0,30}(?:\s*\([^()\n]{0,30}\))?\s*[:\uff1a]\s*\S")
"""A line that opens with who says it."""
SPOKEN = regex(
    r"\b(?:I|I['’]\w+|my|me|mine|we|we['’]\w+|our|us|you|your|ich|mein\w*|wir|yo|mi|mis|nosotros"
    r"|eu|meu|minha"
    r"|nós|je|j['’]ai|mon|ma|mes|nous|я|мой|моя|мы)\b|我|我们|私|僕|俺|나는|저는|우리",
    re.IGNORECASE,
)
_QUOTED = regex(r"[^:\uff1a\n]{1,40}[:\uff1a]\s*[\"“«„「][^\n]{1,300}[\"”»“」]\W*")
_FROM_THEN = regex(
    r"\b(?:from|as of|starting|desde|a partir d[eo]l?|ab(?: dem)?|à partir d[eu]|dès|dal?|vanaf|с)"
    r"\s(?:\w+\s)?(?:\d|jan|feb|fev|fév|mar|mär|ene|gen|apr|abr|avr|may|mai|mag|jun|juin|giu|jul"
    r"|juil|lug|aug|ago|août|sep|set|oct|okt|out|ott|nov|dec|dez|dic|déc|янв|фев|мар|апр|ма[йя]"
    r"|июн|июл|авг|сен|окт|ноя|дек)",
    re.IGNORECASE,
)
"""From when on something holds."""
_KEY_OF = regex(r"[:\uff1a]")
ASKS = regex(r"[?\uff1f](?=\s|$)")
ADDRESSED = regex(r"\b(?:you|your|you're|y'all|tu|você|usted|vous|ты|вы)\b", re.IGNORECASE)
EXCLAIMS = regex(r"[!\uff01](?=\s|$)")
STAMP = regex(r"^\W*\d{4}-\d\d-\d\d(?:[ ,]+\d{1,2}:\d\d)?(?:\s+[A-Z]\w+/\w+)?\s*[:\uff1a–—-]\s+")
"""The day at which an entry opens, with its time and zone."""
COUNT = regex(
    r"^\W*\d[\d.,]*\+?\s|[$€£¥]\s?\d|\b\d+(?:[.,]\d+)?\s?(?:%|ms|kb|mb|gb|tokens?)\b", re.I
)


MOMENTARY = words_of("""
currently, right now, so far, at the moment, not yet, still pending, is working on, is running,
has expressed, today, tonight, tomorrow, this morning, this session, asked whether, asked about,
asked if,
asked why, asked what, asked how, wondered, derzeit, gerade, heute, noch nicht, actualmente,
por ahora, hoy, ahora mismo, atualmente, por enquanto, hoje, ainda não, actuellement, pour
l'instant, aujourd'hui, pas encore, attualmente, oggi, non ancora, сейчас, сегодня, пока, ещё не,
tomorrow's, demain, amanhã, domani, завтра, 明天, 明日, 내일, 目前, 现在, 今天, 暂时, 尚未, 现阶段,
今日, 現在, 今のところ,
まだ, 현재, 지금, 오늘, 아직,
derzeit noch, bisher, en este momento, todavía no, de momento, en ce moment, pour le moment,
no momento, in questo momento, per ora, op dit moment, nog niet, vandaag
""")

DAILY_WEIGHTS = {
    "lasting_heading": 1.05,
    "happened_heading": -0.8,
    "timed_heading": -0.65,
    "talk": -1.0,
    "day_key": -1.5,
    "lasting_key": 0.6,
    "happened": -0.9,
    "standing": 1.45,
    "said_by_person": 0.6,
    "timed": -1.45,
    "momentary": -0.9,
    "reference": -1.1,
    "turned": 0.15,
    "ticked": -0.6,
    "count": -0.2,
    "open_task": -0.45,
    "code": 0.55,
    "short": -1.0,
    "long": 0.15,
    "reviewed": -1.5,
    # Set, not fitted: labelled lines show too few of them.
    "own": 0.15,
    "done": -0.8,
    "in_vain": -1.0,
    "offered": -1.2,
    # Talk is rare among the labelled lines: these are set, not fitted.
    "transcript": -1.5,
    "turn": -2.5,
    "asks": -1.5,
    "addressed": -1.0,
    "exclaims": -1.0,
}
"""What each sign weighs in a daily log, as the logit of lasting."""


_KINDS = tuple(
    pattern
    for kind, pattern in HEADING_TYPES
    if kind in ("open_question", "constraint", "lesson", "decision", "preference")
)
_OPEN = next(pattern for kind, pattern in HEADING_TYPES if kind == "open_question")
REGULAR = regex(
    r"\bevery\b|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b"
    r"|\blos (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)\b|\btodos? l[oa]s\b"
    r"|\bles (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?\b|\btou(?:s|tes) les\b"
    r"|\b(?:le|il|el) (?:premier|deuxième|dernier|primo|ultimo|primer|último) \w+"
    r" (?:du|de|di|del)\b"
    r"|\b(?:às|aos) (?:segundas|terças|quartas|quintas|sextas|sábados|domingos)\b"
    r"|\btod[oa]s? (?:[oa]s?\s)?(?:segunda|terça|quarta|quinta|sexta|sábado|domingo|dia|semana|mês)"
    r"|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s\b|\bjede[nrms]?\b"
    r"|\bogni\b|\belke\b|\bкажд\w+|\bпо (?:понедельник|вторник|сред|четверг|пятниц|суббот"
    r"|воскресен)\w+"
    r"|毎[日朝晩週月年]|每[天日周週月年次]|매[일주월년]",
    re.IGNORECASE,
)
"""What comes again: a time beside it is no time of the day that the log is of."""


WISHED = regex(
    r"\b(?:please (?:stop|don['’]t|do not|never|always|no)|stop (?:\w+ing|with)|from now on"
    r"|never (?:again|\w+ me)|no more \w+|don['’]t (?:ever|\w+ me)"
    r"|hör(?:t|en Sie)? (?:bitte )?auf|bitte (?:nie|nicht|kein|immer|ab jetzt|lass)"
    r"|ab (?:jetzt|sofort)"
    r"|nie wieder|keine? \w+ mehr"
    r"|arrête|à partir de maintenant|plus jamais|deja de|a partir de ahora|nunca más|no me \w+ más"
    r"|para de|a partir de agora|nunca mais|smetti|d['’]ora in poi|mai più"
    r"|перестань|больше не|с этого момента|никогда больше)\b"
    # told not to, in the form that only asks: "no me llames", "ne me parle pas", "não me ligues"
    r"|(?:^|[:\uff1a\"“«„])\W*(?:no (?:me|nos) \w+(?:[ae]s|[ae]n)|ne (?:me|nous) \w+ (?:pas|plus)"
    r"|n[ãa]o (?:me|nos) \w+(?:[ae]s?|[ae]m)|non (?:mi|ci) \w+(?:are|ere|ire|ate|ete|ite))\b"
    r"|不要再|别再|以后|从现在起|やめて|これからは|もう[^。]{0,12}ないで|그만|앞으로는|다시는",
    re.IGNORECASE,
)
"""What somebody asks for from then on, in words of their own."""


def _lasts(heading: str) -> bool:
    """Tell whether a heading says that what is below it lasts, by itself or by its kind."""
    return LASTING_HEADING.search(heading) is not None or any(p.search(heading) for p in _KINDS)


def _recounts(key: str, said: str) -> bool:
    """Tell whether a text recounts work: not what a key says of somebody, nor what is settled."""
    return not key and recounts(said) and not _SETTLED.search(said)


_SETTLED = regex(r"\b(?:approved|agreed|decided|confirmed|settled)\b", re.IGNORECASE)


def _traits_above(heads: Sequence[str]) -> Iterator[str]:
    """Yield the signs that the headings over a candidate show."""
    near = heads[-2:]
    if any(_lasts(h) for h in near):
        yield "lasting_heading"
    if any(HAPPENED_HEADING.search(h) or _DONE_HEADING.search(h) for h in near):
        yield "happened_heading"
    if any(_REVIEWED.search(h) for h in near):
        yield "reviewed"
    if any(CLOCK.search(h) for h in near):
        yield "timed_heading"
    if next(telling(heads), None) is None:
        yield "own"
    if any(TALK.search(h) for h in heads):
        yield "talk"
    if any(TRANSCRIPT.search(h) for h in heads):
        yield "transcript"


def traits(candidate: Candidate) -> Iterator[str]:
    """Yield the names of the signs that a candidate shows, in a fixed order."""
    text = STAMP.sub("", plain(candidate.text))
    key, value = lead_of(candidate)
    said = value or text
    yield from _traits_above(candidate.context)
    named = normalise(key or (_KEY_OF.split(text, 1)[0] if _KEY_OF.search(text[:40]) else ""))
    if named in DAY_KEY:
        yield "day_key"
    elif LASTING_KEY.search(named) or OPEN_KEY.fullmatch(named):
        yield "lasting_key"
    if HAPPENED.search(said) or DONE_ELSEWHERE.search(said):
        yield "happened"
    if any(p.search(said) for p in (DONE, DONE_ELSEWHERE, REPORTED)) or _recounts(key, said):
        yield "done"
    if IN_VAIN.search(said):
        yield "in_vain"
    if OFFERED.search(said):
        yield "offered"
    if any(p.search(said) for p in (STANDING, REGULAR, FIRSTS)):
        yield "standing"
    decided = DECISION.search(said) is not None
    if decided or SAID_BY_PERSON.search(said) or OWED.search(text):
        yield "said_by_person"
    if CLOCK.search(candidate.text) and not REGULAR.search(said):
        yield "timed"
    if MOMENTARY.search(said):
        yield "momentary"
    if REFERENCE.search(text):
        yield "reference"
    if TURNED.search(text):
        yield "turned"
    if TICKED.search(text) or candidate.task == "done":
        yield "ticked"
    if COUNT.search(said):
        yield "count"
    if candidate.task == "open":
        yield "open_task"
    if "`" in candidate.text or "://" in candidate.text:
        yield "code"
    speaks = SPOKEN.search(text) or _QUOTED.fullmatch(text)
    if SPEAKER.match(text) and speaks and not LASTING_KEY.search(named):
        held = WISHED.search(said) or _FROM_THEN.search(said)
        yield "said_by_person" if held else "turn"
    left_open = OPEN_KEY.fullmatch(named) or any(_OPEN.search(h) for h in candidate.context[-2:])
    if ASKS.search(said) and not left_open:
        yield "asks"
    if ADDRESSED.search(said):
        yield "addressed"
    if EXCLAIMS.search(said):
        yield "exclaims"
    length = sum(2 if ord(ch) > 0x2E80 else 1 for ch in said)
    if length < 35 and not (decided or LASTING_KEY.search(named)):
        yield "short"
    elif length > 110:
        yield "long"
