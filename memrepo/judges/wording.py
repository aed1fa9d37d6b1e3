"""The wording of a statement: tidied, with what its heading says, read as a triple.

Tidying adds no word. A heading may decide the type of what stands under it ("Forbidden", "Lessons",
"Open questions"); in a daily log "Decisions" stands over what lasts and "Execution" over what
merely happened. The words are listed per language.

Subject, predicate and object are read in three shapes, and no others.

1. `**Key:** value`: (nearest heading or parent item, key, value).
2. A leading name or "I", a listed verb, the rest.
3. Anything else: (nearest heading, empty, empty).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from memrepo.core.ids import normalise, strip_marker
from memrepo.core.judge import Candidate
from memrepo.core.lines import without_comments
from memrepo.core.patterns import regex
from memrepo.judges import wordlists
from memrepo.judges.wordlists import words_of
from memrepo.read.dates import is_time_heading
from memrepo.purify.gather import ON_PERSON

EXTRACT_LENGTH = 400
_BOLD_LEAD = regex(
    r"^(?:\*\*(?P<star>[^*\n]{1,120}?)\*\*|__(?P<bar>[^\n]{1,119}?[:：])__)(?P<rest>.*)$", re.DOTALL
)
_COLON = regex(r"^\s*[:：]\s*")
_HEADING = regex(r"^ {0,3}#{1,6}\s(?P<title>.*)$")
_SENTENCE_END = regex(r"[.!?…](?=\s|$)|[。！？](?=.|$)|\n", re.DOTALL)
# A full stop after one of these ends no sentence.
_ABBREVIATION = regex(
    r"(?:^|[\s(])(?:e\.g|i\.e|z\.\s?B|d\.\s?h|dr|mr|mrs|ms|prof|st|vs|etc|no|nr|ca|bzw|usw"
    r"|[A-Z])\.$",
    re.IGNORECASE,
)
_TAG = regex(r"(?<!\s)\s*[(\[][A-Za-z]{0,4}\d+[:#]\d[\w:#,;\s]*[)\]]\s*$")


def weight(text: str) -> int:
    """Return the length of a text in characters, blanks folded; a wide character counts double."""
    plain = " ".join(text.split())
    return len(plain) + sum(unicodedata.east_asian_width(ch) in "WF" for ch in plain)


def bold_lead(text: str) -> tuple[str, str] | None:
    """Split `**Key:** value` or `**Key**: value` into key and value; None for another text."""
    match = _BOLD_LEAD.match(text)
    if match is None:
        return None
    key, rest = (match["star"] or match["bar"]).strip(), match["rest"]
    if key.endswith((":", "：")):
        return key.rstrip(":： ").strip(), rest.strip()
    colon = _COLON.match(rest)
    return (key, rest[colon.end() :].strip()) if colon else None


def tidy(text: str) -> str:
    """Drop a leading marker, checkbox and date, and the emphasis marks of a bold lead."""
    plain = strip_marker(text)
    lead = bold_lead(plain)
    if lead is None or not lead[0]:
        return plain
    return f"{lead[0]}: {lead[1]}".strip()


def plain(text: str) -> str:
    """Drop markdown's decoration: emphasis, comments, line breaks, and links but for their text.

    Code keeps its marks. A leading link to a file of notes is what the text is about.
    """
    text = _STAMP.sub("", POINTER.sub(_pointed, without_comments(text)))
    text = _LINK.sub(_unlinked, text)
    text = _BREAK.sub(" ", text)
    parts = _CODE.split(text)
    for at in range(0, len(parts), 2):
        for pattern in _EMPHASIS:
            parts[at] = pattern.sub(r"\1", parts[at])
        parts[at] = _UNPAIRED.sub("", parts[at])
    return _CUT_OFF.sub("", "".join(parts)).strip()


def _pointed(match: re.Match[str]) -> str:
    """Return what a pointer names; nothing where the text after it says so too."""
    whole = match["name"].strip()
    if whole.endswith(".md") and "/" in match["target"]:  # what is in a file of a folder
        return f"{whole}: {match['said']}"
    name = _OF_A_NOTE.sub("", whole)
    said = set(_WORD.findall(match["said"].casefold()))
    named = set(_WORD.findall(name.casefold()))
    return f"{name}: {match['said']}" if named - said else match["said"]


def _unlinked(match: re.Match[str]) -> str:
    said, target = match["said"].strip(), match["target"].strip()
    if target.startswith("http") and target.rstrip("/") not in said:
        return f"{said} ({target})" if said else target
    return said


_STAMP = regex(
    r"^\W*\d{4}-\d\d-\d\d[T ,]+\d{1,2}:\d\d(?::\d\d)?[^:\n]{0,24}[:\uff1a—–-]\s+"
    r"|^\W*\d{1,2}:\d\d\s*(?:[A-Z][\w/+-]{1,20})?\s*(?:[:\uff1a—–-]\s+|\]\s*(?:[:\uff1a—–-]\s+)?)"
)
"""The moment at which an entry was written: what it says begins after it."""
POINTER = regex(
    r"^\s*\[(?P<name>[^\]\n]{1,200})\]\((?P<target>[^()\s]{0,200}\.md)\)\s*[—–:-]\s*(?P<said>\S.*)",
    re.DOTALL,
)
"""A line of an index: a link to a file of notes, and what that file says."""
_OF_A_NOTE = regex(r"^(?:.*/)?(?:(?:user|feedback|project|reference)_)?|\.md$")
_LINK = regex(r"!?\[(?P<said>[^\[\]\n]{0,300})\]\((?P<target>[^()\s]{1,500})\)")
_BREAK = regex(r"<br\s*/?>|(?<![ \t])(?:[ \t]*\\\n|[ \t]{2,}\n)", re.IGNORECASE)
_CODE = regex(r"(`[^`\n]*`)")
# A mark of emphasis whose other half stands behind code or nowhere.
_UNPAIRED = regex(r"(?<![\w/*])\*\*(?!\*)|\*\*(?![\w/*])")
# A box that is half done, a tag that closes nothing.
_CUT_OFF = regex(r"^\[[~/>!?-]\]\s+|(?:(?<!\s)\s+)?</[a-z][\w-]{0,30}>\s*$")
_EMPHASIS = (
    regex(r"\*\*\*?(?=\S)([^*\n]{1,500}?)\*\*\*?"),
    regex(r"(?<!\w)__(?=\S)([^_\n]{1,500}?)__(?!\w)"),
    regex(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,500}?)\*(?![\w*])"),
    regex(r"(?<![\w_])_(?=[^\s_])([^_\n]{1,500}?)_(?![\w_])"),
)


def cap(text: str, limit: int) -> str:
    """Fold a text to one line and cut it at a word, with an ellipsis, where it is longer."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    if not text[limit - 1].isspace():
        blank = head.rfind(" ")
        head = head[:blank] if blank >= limit // 2 else head
    return f"{head.rstrip()}…"


def extract(text: str, limit: int = EXTRACT_LENGTH) -> str:
    """Return the beginning of a long text, cut at the last sentence end within the limit.

    The whole stays reachable: the memory's source names the lines of the whole unit.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    ends = [end for end in sentence_ends(text[: limit + 1]) if end <= limit]
    if ends and text[: ends[-1]].strip():
        return text[: ends[-1]].strip()
    return cap(text[: limit * 2], limit)


def is_wrapped(rows: Sequence[str]) -> bool:
    """Tell whether the lines of a text are one paragraph that was broken, and no list."""
    return rows[0][:1].isupper() and any(row[:1].islower() for row in rows[1:])


def sentence_ends(text: str) -> list[int]:
    """Return where the sentences of a text end; the stop of an abbreviation ends none."""
    ends = (m.end() for m in _SENTENCE_END.finditer(text))
    return [end for end in ends if not _ABBREVIATION.search(text[max(end - 8, 0) : end])]


def split_title(text: str) -> tuple[str, str]:
    """Split leading heading lines off a document: the first heading's text, and the rest.

    A document of headings alone is its own body.
    """
    lines = text.strip().split("\n")
    title = ""
    at = 0
    while at < len(lines) and (not lines[at].strip() or _HEADING.match(lines[at])):
        heading = _HEADING.match(lines[at])
        title = title or (_unclosed(heading["title"]) if heading else "")
        at += 1
    body = "\n".join(lines[at:]).strip()
    return (title, body) if body else ("", text.strip())


def _unclosed(title: str) -> str:
    """Return a heading without the marks that close it."""
    return title.strip().rstrip("#").rstrip()


def bare_object(text: str) -> str:
    """Drop a trailing reference such as `(D1:3)` and a full stop from a value."""
    return _TAG.sub("", text.strip()).strip().rstrip(".。").strip()


LASTING_HEADING = words_of(""" decision,
decisions, lesson, lessons, learned, learnings, learning, finding, findings, insight, insights,
rule, rules, policy, preference, preferences, configuration, config, architecture, design,
strategy, how it works, how to, root cause, remember, takeaway, takeaways, next step, next steps,
pending, open, todo, to do, blocker, blockers, milestone, milestones, key, important, notes for,
conventions, setup, infrastructure, accounts, access, contacts, people, plan, model, decisiones,
decisión, lecciones, aprendizajes, reglas, preferencias, pendiente, pendientes, próximos pasos,
arquitectura, decisões, decisão, lições, aprendizados, regras, preferências, pendente, pendências,
próximos passos, arquitetura, décisions, leçons, règles, préférences, en attente,
prochaines étapes, entscheidungen, lektionen, erkenntnisse, regeln, offen, nächste schritte,
решения, решение, уроки, выводы, правила, запомнить, предпочтения, настройки, архитектура,
открытые вопросы, 决定, 决策, 教训, 经验, 规则, 偏好, 配置, 架构, 关键, 重要, 待办, 下一步, 決定,
教訓, 学び, ルール, 設定, 重要, 次のステップ, 課題, 결정, 교훈, 배운, 규칙, 설정, 중요, 다음 단계,
과제,
entscheidung, lektion, wichtig, merken, einrichtung, plan, aufgaben, lección, regla, importante,
recordar, configuración, plan, contactos, personas, lição, regra, lembrar, configuração, leçon,
règle, retenir, important, configuration, contacts, personnes, à faire, decisioni, lezioni, regole,
preferenze, in sospeso, prossimi passi, da ricordare, besluiten, geleerd, regels, voorkeuren,
openstaand, важно, контакты, план, 约定, 计划, 联系人, 約束, 予定, 連絡先, 覚えて, 연락처, 계획
""")
HAPPENED_HEADING = words_of("""
heartbeat, heartbeats, execution, closed prs, prs created, commits, activity, activities,
healthcheck, check, checks, checked, progress, status, state, done today, work completed,
completed, session summary, proactive work, proactive work session, files created, files modified,
files changed, changes made, test, tests, backlog, results, metrics, updates, log, daily log,
what happened, what was done, what we did, what i did, work done, o que aconteceu,
o que foi feito, o que fizemos, qué pasó, qué se hizo, ce qui s'est passé, ce qui a été fait,
was passiert ist, was gemacht wurde, cosa è successo, wat er gebeurde, что сделали, что сделано,
что произошло, 做了什么, 发生了什么, やったこと, 起きたこと, 한 일, 있었던 일,
cron, digest, summary, report, research, tasks for today, today, feitos, estado, resumo,
atualizações, hecho, resumen, actualizaciones, résumé, fait, erledigt, stand, сделано, статус,
сегодня, проверка, отчёт, действия, 检查, 今日, 摘要, 成果, 状态, 进展, 日志, 探索, 総括, 今日の,
作業, 進捗, 確認, 結果, 오늘, 작업, 진행, 상태, 결과
""")

# The first that fits decides.
HEADING_TYPES = tuple(
    (kind, words_of(words))
    for kind, words in (
        (
            "open_question",
            """
open question*, unanswered, unresolved, unknowns, open issues, undecided, offene fragen,
preguntas abiertas, dudas, perguntas em aberto, dúvidas, questions ouvertes, открытые вопросы,
未解决, 待确认, 未解決, 検討中, 미해결,
por decidir, cuestiones abiertas, à décider, questions en suspens, a definir, domande aperte,
da decidere, open vragen, 未決, en duda, sin resolver, por resolver, en suspens, non résolu*,
não resolvid*, em dúvida, a decidir, in sospeso, ungeklärt, ungelöst, nog open, нерешённ*,
нерешенн*,
под вопросом, 待解决, 待讨论, 待定, 疑问, 未定, 保留, 不明点, 要検討, 미결, 논의 필요, 미정,
open points, points ouverts, en aberto, em aberto, pontos abertos, puntos abiertos, offene punkte,
punti aperti, open punten, questions en cours, preguntas pendientes, 確認待ち, 要確認, 保留事项
""",
        ),
        (
            "constraint",
            """
forbidden, never, rules, boundaries, constraint*, do not, don't, not allowed,
anti-goals, guardrails, must not, red lines, policy, policies, requirements, what you do not do,
verboten, regeln, grenzen, prohibido, reglas, restricciones, proibido, regras,
restrições, interdit*, règles, запрещено, правила, 禁止, 规则, 规定, ルール,
禁止事項, 금지, 규칙, 원칙, 정책,
niemals, tabu, vorschriften, pflichten, nunca, no hacer, normas, límites, obligatorio,
ne jamais, jamais, à éviter, contraintes, limites, consignes, não fazer, limites, normas,
proibições, vietato, divieti, regole, vincoli, non fare, verboden, regels, grenzen, nooit,
conventions, konventionen, convenciones, convenções, convenzioni, соглашения, 规范, 規約, 컨벤션,
ограничения, никогда, границы, 约束, 红线, 禁令, 制約, 守ること, 決まりごと, 約束事, 금기, 제약,
no se hace, no se debe, no hay que hacer, qué no hacer, lo que no hago, à ne pas faire,
ce qu'on ne fait pas, ne pas faire, o que não fazer, não se faz, cosa non fare, da non fare,
was nicht geht, was wir nicht tun, nicht erlaubt, unerwünscht, wat niet mag, чего не делать,
нельзя, 不要做, 不能做, 不可以, 注意事项, やってはいけない, してはいけない, してはならない,
やらないこと,
注意事項, 하지 말, 하면 안 되는, 안 되는 것, 주의사항
""",
        ),
        (
            "lesson",
            """
lesson*, learned, learnings, gotchas, pitfalls, mistakes, quirks, insights, realizations,
takeaways, retrospective, lektionen, erkenntnisse, lecciones, aprendizajes, errores,
lições, aprendizados, erros, leçons, apprentissages, erreurs, уроки, выводы, ошибки, 教训, 经验,
启发, 教訓, 学び, 学んだ, 気づき, 교훈, 배운,
appris, aprendí, aprendimos, aprendi, aprendemos, aprendido, わかったこと, 分かったこと, 알게 된,
fehler, gelernt, errori, lezioni, lezione, imparato, geleerd, lessen, ошибка, 踩坑, 复盘, 反省,
失敗, 배움, 실수
""",
        ),
        (
            "decision",
            """
decision*, decided, rulings, entscheidung*, decisiones, decisión, decisões, decisão, décisions,
принятые решения, ключевые решения, важные решения, решение, 决策, 决定, 決定, 결정, décision,
beschluss, beschlüsse, acuerdos, acordado, combinados, decisioni, decisione, besluiten,
beslissingen, 結論, 合意, se decidió, decidido, se acordó, a été décidé, décidé, ce qui est convenu,
ficou decidido,
foi decidido, beschlossen, entschieden, deciso, besloten, решено, 決まったこと, 決めたこと, 已决定,
已定,
정해진 것, 정한 것, 합의
""",
        ),
        (
            "preference",
            """
preference*, likes, dislikes, favorites, favourites, tone, communication style, vorlieben,
preferencias, gustos, preferências, gostos, préférences, goûts, предпочтения, 偏好, 喜好, 好み,
선호, 취향,
mag, mag nicht, le gusta, no le gusta, aime, n'aime pas, gosta, não gosta, preferenze, gusti,
voorkeuren, стиль общения, 喜欢, 不喜欢, 嫌い, 苦手, 싫어
""",
        ),
        (
            "aspiration",
            """
goal*, wish, wishes, dreams, my dream*, our dream*, vision, aspiration*, wishlist, bucket list,
what i want, ziele, wünsche, metas, objetivos, sueños, sonhos, desejos, objectifs, rêves,
souhaits, цели, мечты, 目标, 愿望, 梦想, 目標, 夢, 목표, 꿈,
träume, vorhaben, deseos, propósitos, buts, envies, propósitos, obiettivi, sogni, desideri,
doelen, dromen, wensen, желания, 愿景, やりたいこと, 희망
""",
        ),
        (
            "milestone",
            """
milestone*, achievement*, completed, accomplish*, done, shipped, key events, timeline, changelog,
last session, progress, action taken, actions taken, steps taken,
meilensteine, erledigt, hitos, logros, hecho, marcos do *, marcos importantes, conquistas, feitos,
concluído, réalisations, fait, достижения, выполнено, вехи, 里程碑, 重要事件, 成就, 実績, 達成,
完了, 마일스톤, 완료,
erfolge, abgeschlossen, completado, terminé, terminés, concluídos, traguardi, fatto,
completato, mijlpalen, afgerond, завершено, 已完成, 完了済み
""",
        ),
        (
            "commitment",
            """
todo, todos, to do, to-do, tasks, next steps, next step, pending, action items, commitments,
up next, next up, what's next,
follow-up*, follow up*, objectives, deadlines, aufgaben, nächste schritte, offen, pendiente*,
próximos pasos, tareas, pendente*, pendências, próximos passos, tarefas, à faire, en attente,
prochaines étapes, tâches, задачи, дальнейшие шаги, следующие шаги,
待办, 下一步, 后续步骤, 任务, 次のステップ, 課題,
タスク, 할 일, 후속, 과제,
zu erledigen, termine, fristen, por hacer, compromisos, plazos, échéances, à rendre, a fazer,
prazos, da fare, scadenze, impegni, prossimi passi, te doen, taken, openstaand, к выполнению,
计划, やること, 予定, 締め切り, 마감, 예정
""",
        ),
        (
            "procedure",
            """
workflow*, how to, how-to, steps, procedure*, process, protocol*, checklist, runbook,
usage notes, usage guide, routine, ablauf, anleitung, schritte, procedimiento*, pasos, flujo,
procedimento*, passos, fluxo,
procédure*, étapes, порядок, инструкци*, шаги, 步骤, 流程, 协议, 手順, 流れ, 절차, 방법, 워크플로,
abläufe, anleitungen, vorgehen, cómo, guía, mode d'emploi, comment faire, marche à suivre,
como fazer, guia, procedura, procedure, come fare, passaggi, werkwijze, stappen, инструкция,
процедуры, 方法, やり方, 手順書, 進め方, façon de travailler, manera de trabajar, forma de trabajar,
jeito de trabalhar, arbeitsweise, modo di lavorare, 作法, 做法, 工作方式, 진행 방식, 하는 법
""",
        ),
        (
            "relationship",
            """
relationship*, family, friends, beziehung*, familie, relaciones, familia, relações, família,
relations, famille, отношения, семья, 关系, 家人, 家族, 関係, 가족, 관계,
angehörige, freunde, parientes, amigos, pareja, hijos, parents, amis, proches, parentes,
amigos, famiglia, amici, relazioni, familie, vrienden, друзья, 朋友, 家庭, 友人, 친구
""",
        ),
        (
            "identity",
            """
identity, who am i, who i am, who you are, about me, persona, personality, character*, nature,
my role, identität, wer ich bin, identidad, quién soy, personalidad, identidade, quem sou,
personalidade, natureza, me define, identité, qui suis, личность, кто я, 身份, 我是谁, 性格,
自己紹介, 人格, 정체성, 성격,
wer bin ich, sobre mí, quién eres, qui je suis, à propos de moi, quem és, sobre mim, chi sono,
identità, wie ik ben, обо мне, 关于我, 人设, 私について, プロフィール, 나에 대해
""",
        ),
    )
)

_DATE_WORDS = regex(
    r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?"
    r"|\d{4}年|\d{1,2}[月日]|\d+(?:st|nd|rd|th)?"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*"
    r"|(?:mon|tue|tues|wednes|wed|thu|thur|thurs|fri|satur|sat|sun)(?:day)?"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember|utc|gmt|am|pm|week|kw"
    r"|\d{4}년|\d{1,2}[월일号號]|[月火水木金土日]曜日?"
    r"|[(\uff08][月火水木金土日월화수목금토일][)\uff09]|[월화수목금토일]요일"
    r"|(?:星期|礼拜|周|週)[一二三四五六日天]",
    re.IGNORECASE,
)
_FILE = regex(r"^[\w./-]+\.md(?!\w)[\s:\uff1a–—-]*|^[\w ./-]+\.md[\s:\uff1a–—-]+", re.IGNORECASE)
_NUMBER = regex(
    r"^\W*(?:\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3})+[.)]?)\s+|^\W*\d{1,3}(?:[\uff0e\u3001]"
    r"|\.\s?(?=[^\x00-\x7f]))\s*"
    r"|^\W*(?:[一二三四五六七八九十]{1,3}[\u3001\uff0e.]|[\u2460-\u2473]"
    r"|第[\d一二三四五六七八九十]{1,3}[章节節部]\s|제\d{1,2}[장절])\s*"
    r"|^\W*[(\uff08][\d一二三四五六七八九十]{1,3}[)\uff09]\s*"
)
_MARKS = regex(r"^[^\w\"'“«「『(\uff08\[@#/.~`]+|(?<![\s:\uff1a])[\s:\uff1a]+$")
# "【重要】" and "（長期記憶）": brackets round what it opens with, or round all of it.
_ROUND = regex(
    r"^\W{0,2}[【\uff3b〔](?P<said>[^【】\uff3b\uff3d〔〕\n]{1,60})[】\uff3d〕]"
    r"|^[\uff08](?P<all>[^\uff08\uff09\n]{1,60})[\uff09]$"
)
_MOMENT = (
    r"(?:\d{4}-\d\d-\d\d(?:T[\d:]+Z?)?"
    r"|~?\d{1,2}:\d\d(?::\d\d)?(?:\s?[AP]M)?(?:\s?(?:UTC|[A-Z]{1,2}[SD]?T))?)"
)
# A day or time at an end of a heading says when it was written, one inside what it is about.
_PART_OF_DAY = r"\((?:\w+day|late|early|night|evening|morning|afternoon)\)"
_WHEN_FIRST = regex(
    rf"^[\[(]?{_MOMENT}(?:\s*(?:[–~/+-]+|to|bis|until|hasta|até|до|至)\s*{_MOMENT})*[\])]?"
    rf"(?:\s*{_PART_OF_DAY})?[\s:,–—+-]*"
    # what is left where the first of two days was taken off with the marker
    rf"|^(?:{_PART_OF_DAY}\s*[+–—-]|to|bis|until|hasta|até|до|至)\s*{_MOMENT}[\s:,–—+-]*",
    re.IGNORECASE,
)
_WHEN_LAST = regex(
    rf"(?<!\s)\s*[\[(][^()\[\]]{{0,40}}{_MOMENT}[^()\[\]]{{0,40}}[\])]$"
    # one start a run of marks, and no tilde that could stand on either side of a moment
    rf"|(?<![\s:,–—~-])[\s:,–—~-]*(?<![\[(]){_MOMENT}(?:\s*[–~/+-]++\s*{_MOMENT})*$",
    re.IGNORECASE,
)
_PART = (
    r"(?:late|early|morning|afternoon|evening|night|nightly|daily|weekly|work|proactive|solo|my)"
)
# "Session 3", "Daily Log", "Late Session Notes" say nothing of what is below.
_OF_A_DAY = regex(
    r"^\W*(?:session|conversation)\b.*\d{4}-\d\d-\d\d.*$"
    rf"|^\W*(?:{_PART}\s+){{0,3}}(?:sessions?|run|part|notes?|entry|logs?|day|work)"
    r"(?:\s+(?:log|notes?|summary|session|memory|run))?\W*\d*\W*(?:\([^()]*\))?$"
    r"|^\W*(?:\w+\s+)?daily\s+(?:logs?|notes?|memory|summary|diary)\W*$"
    # A session and its time, in other languages
    r"|^\W*(?:session|sitzung|séance|sesión|sessão|sessione|сессия|сеанс|会话|對話|对话|セッション"
    r"|세션)"
    r"\W*(?:\d[\d:.\s–-]*)?(?:[A-Z]{2,4})?\W*$"
    # Notes and their day: "Notizen vom 15.11."
    r"|^\W*(?:notizen|tagebuch|eintrag|protokoll|notas?|diario|diário|notes?|log|journal|appunti"
    r"|notities|заметки|записи|дневник|メモ|日記|日记|笔记|일지|메모)"
    r"(?:\s+(?:vom|zum|del?|do|du|di|van|за|от|for|from|of))?\W*\d{1,2}[./-]\d{1,2}\W*(?:\d{2,4}\W*)?$"
    r"|^\W*(?:heartbeat|session|memory)\s+(?:check|flush|continuation)\b.{0,40}$",
    re.IGNORECASE,
)


def telling(headings: Sequence[str], *, dated: bool = False) -> Iterator[str]:
    """Return what headings and list parents say, cleaned, without generic ones and mere dates.

    With `dated` a day at the end of a heading stays: what stands below it is of that day.
    """
    shown = (_told(text, dated=dated) for text in headings)
    return (text for text in shown if text is not None)


@lru_cache(maxsize=4096)  # of a heading each line below it asks
def _told(text: str, *, dated: bool) -> str | None:
    """Return what one heading says, cleaned; None where it is generic, or a mere date."""
    heading = clean(text)
    named = normalise(heading).removesuffix(".md").replace("_", " ").split(", ")
    generic = all(name in wordlists.GENERIC_HEADINGS for name in named)
    said = sum(ch.isalnum() for ch in heading) > 1
    when = is_date(heading) or is_time_heading(heading) or _OF_A_DAY.match(heading)
    spoken = _ROLE.match(heading) is not None
    if not said or generic or when or spoken or _names_a_memory(heading):
        return None
    shown = clean(text, dated=True) if dated else heading
    name = _ABOUT.sub("", shown)
    return name if name and not name[0].islower() else shown


_ROLE = regex(r"(?:assistant|user|human|system|tool)\s*[:\uff1a](?=\s|[^\x00-\x7f])", re.IGNORECASE)
"""The opening of a turn: what somebody said is no heading."""
_ABOUT = regex(
    r"^(?:about|who is|über|wer ist|sobre|acerca de|quién es|quem é|à propos de|qui est|su di|chi è"
    r"|wie is)\s+(?=[^\W\d_])|(?:について|に関して|のこと)$|^关于|에 대(?:해서?|하여)$",
    re.IGNORECASE,
)
"""What a heading says before or behind a name: "About Ana", but not "About the yard"."""


def _names_a_memory(heading: str) -> bool:
    """Tell whether a heading only says that this is a memory: "Long-term memory"."""
    if _MEMORY_WIDE.fullmatch(heading) or _KEPT_IN_MIND.fullmatch(heading):
        return True
    said = _WORD.findall(heading.casefold())
    named = any(word in _MEMORIES for word in said)
    return named and all(word in _MEMORIES or word in _OF_MEMORIES for word in said)


_WORD = regex(r"[^\W_]+")
_MEMORIES = frozenset(
    """
    memory memories memo memos note notes notebook log logs logbook journal diary knowledge
    gedächtnis langzeitgedächtnis kurzzeitgedächtnis erinnerung erinnerungen notiz notizen tagebuch
    wissen protokoll memoria memorias recuerdos nota notas apuntes diario bitácora conocimiento
    mémoire mémoires souvenirs carnet journal connaissances memória memórias lembranças anotações
    diário conhecimento ricordi appunti conoscenza geheugen langetermijngeheugen herinneringen
    notitie notities dagboek kennis память воспоминания заметки заметка дневник журнал знания
    pamięć wspomnienia notatki dziennik hafıza bellek notlar günlük
    """.split()
)
_OF_MEMORIES = frozenset(
    """
    long term longterm short persistent permanent core main curated daily my your our the a an of
    for and agent agents assistant bot ai file base bank store index personal shared
    mein meine der die das des dem von agenten persönliche dauerhafte tag tages tägliche
    largo corto plazo mi mis la el los las de del y a día diario diaria agente personal compartida
    long terme court à ma mes le les du de la jour d et l quotidien quotidiennes personnelle agente
    longo prazo curto minha minhas da do dos das o e dia pessoal
    lungo termine breve mio mia il del della di giorno giornaliero personale
    mijn het van dag dagelijkse
    долговременная долгосрочная постоянная моя мои агента о дня ежедневные
    długoterminowa moje dnia uzun süreli
    """.split()
)
_KEPT_IN_MIND = regex(
    r"(?:what|things|everything|all)(?: that)? (?:I|we|you|to|must|should)\b[^\n]{0,24}"
    r"\b(?:know|remember|forget|learned|keep)"
    r"|(?:todo )?(?:lo que|cosas que|cosas para)\b[^\n]{0,24}\b(?:sé|olvidar|recordar|recuerdo)"
    r"|(?:tout )?(?:ce que|ce qu['’]il|choses à)\b[^\n]{0,24}\b(?:sais|oublier|retenir|savoir)"
    r"|was (?:ich|wir|man)\b[^\n]{0,24}\b(?:weiß|wissen|vergessen|merken)(?: darf| muss| will)?"
    r"|(?:tudo )?(?:o que|coisas para)\b[^\n]{0,24}\b(?:sei|esquecer|lembrar)"
    r"|(?:tutto )?(?:quello che|ciò che|cose da)\b[^\n]{0,24}\b(?:so|dimenticare|ricordare)"
    r"|(?:忘れてはいけない|覚えておく(?:べき)?|忘れない)(?:こと|事)|(?:需要|要)?记住的(?:事情?"
    r"|内容)|기억(?:할|해야 할) 것",
    re.IGNORECASE,
)
"""What a memory is for: "What I must not forget" names nothing that is below it."""
_MEMORY_WIDE = regex(
    r"(?:私の|わたしの|僕の|エージェントの?|本日の|今日の|長期|短期|永続|個人|日々の|我的|长期"
    r"|核心|持久|个人|每日|今日"
    r"|工作|나의|내|장기|단기|영구|에이전트|오늘의?|일일|\s)*"
    r"(?:記憶|メモリー?|メモ|ノート|覚え書き|備忘録|日記|日誌|ログ|记忆库?|笔记|备忘录?|日记|日志"
    r"|기억|메모리?|노트|일지|일기)"
)


def clean(heading: str, *, dated: bool = False) -> str:
    """Return a heading without marks, number, file name, closing colon and time of writing."""
    text = strip_marker(plain(heading).strip("# \t")).split("\n")[0]
    for pattern in (_FILE, _MARKS, _NUMBER, _WHEN_FIRST, _WHEN_LAST, _WHEN_LAST, _MARKS):
        if not (dated and pattern is _WHEN_LAST):
            text = _ROUND.sub(_unbracketed, pattern.sub("", text))
    return text.strip(" \t~–—-,.;!\u3002\uff01")


def _unbracketed(match: re.Match[str]) -> str:
    """Return what stands in brackets, with a blank where more follows."""
    more = match.end() < len(match.string)
    return (match["said"] or match["all"]) + (" " if more else "")


def is_date(text: str) -> bool:
    """Tell whether a heading is a date or time and nothing else."""
    if not any(ch.isdigit() for ch in text):
        return False
    return not any(ch.isalnum() for ch in _DATE_WORDS.sub("", text))


SUBJECT_LENGTH = 120
PREDICATE_LENGTH = 80
OBJECT_LENGTH = 300

_VERBS = sorted((v.strip() for v in wordlists.VERBS.replace("\n", " ").split(",")), key=len)[::-1]
_VERB = "|".join(re.escape(v).replace(r"\ ", r"\s+") for v in _VERBS)
_DAY_NAME = regex(r"^\d{4}-?\d{2}-?\d{2}(?:[-_T]?\d{4}\b)?[-_]?")
_UPPER = r"[^\W\d_a-zß-öø-ÿа-яё]"
_NAME = rf"(?:{_UPPER}[\w'’.&-]*)(?:\s+{_UPPER}[\w'’.&-]*){{0,2}}"
_SHAPE_TWO = regex(
    rf"^(?P<subject>I|Ich|The\s+user|{_NAME})\s+"
    r"(?:(?:also|really|still|currently|always|usually|often|auch|immer)\s+)?"
    rf"(?P<verb>{_VERB})\s+(?P<rest>\S.*)$",
    re.DOTALL,
)


class Triple(msgspec.Struct, frozen=True, kw_only=True):
    """A triple with the shape it was read in; parts may be empty."""

    subject: str = ""
    predicate: str = ""
    object: str = ""
    shape: Literal[1, 2, 3] = 3


def read_triple(candidate: Candidate) -> Triple:
    """Read the triple of a candidate; each part is one line within its length."""
    key, value = lead_of(candidate)
    if key and value and not is_date(key) and normalise(key) not in wordlists.GENERIC_KEYS:
        return _capped(subject_of(candidate), key, bare_object(value), 1)
    text = tidy(stated(candidate))
    match = _SHAPE_TWO.match(text)
    if match is not None and _is_name(match["subject"]):
        return _capped(match["subject"], match["verb"], bare_object(match["rest"]), 2)
    return _capped(subject_of(candidate) or title_of(candidate), "", "", 3)


def read_document(candidate: Candidate) -> Triple:
    """Read the triple of an episode or procedure: its title, nearest heading, file or date."""
    title = split_title(candidate.text)[0]
    subject = title or nearest_heading(candidate) or title_of(candidate) or candidate.captured
    return _capped(subject, "", "", 3)


def lead_of(candidate: Candidate) -> tuple[str, str]:
    """Return key and value of a bold lead, as the scanner read them or from the text."""
    if candidate.key:
        return candidate.key.strip().rstrip(":：").strip(), candidate.value.strip()
    return bold_lead(strip_marker(stated(candidate))) or ("", "")


def stated(candidate: Candidate) -> str:
    """Return a candidate's text without its detail; nothing where it is a list and no more."""
    return candidate.text.removesuffix(candidate.detail).strip()


def nearest_heading(candidate: Candidate) -> str:
    """Return the innermost heading or parent that is neither a date nor generic, or nothing."""
    return next(telling(candidate.context[::-1]), "")


def subject_of(candidate: Candidate) -> str:
    """Return whom a text is about where it does not say so itself, or nothing.

    A profile or a memory file is about one thing whatever its headings; other files have many.
    """
    files = {s.resource.rsplit("/", 1)[-1] for s in candidate.sources}
    if candidate.about and "MEMORY.md" not in files:
        return candidate.about
    near = nearest_heading(candidate)
    return (
        candidate.about if candidate.about and ON_PERSON.search(near) else near or candidate.about
    )


def title_of(candidate: Candidate) -> str:
    """Return the name of the first source file that is neither a date nor generic, or nothing."""
    if candidate.retrieved:
        return ""  # the name of a note's file is made from its text
    names = [s.resource.rsplit("/", 1)[-1].removesuffix(".md") for s in candidate.sources]
    names = [_DAY_NAME.sub("", name) for name in names]
    return next(telling(names), "")


def _is_name(text: str) -> bool:
    first = normalise(text).replace("’", "'").split(" ")[0]
    return first not in wordlists.NOT_NAMES or normalise(text) == "the user"


def _capped(subject: str, predicate: str, object_: str, shape: Literal[1, 2, 3]) -> Triple:
    return Triple(
        subject=cap(subject, SUBJECT_LENGTH),
        predicate=cap(predicate, PREDICATE_LENGTH),
        object=cap(object_, OBJECT_LENGTH),
        shape=shape,
    )
