"""What a heading makes of the statements below it, per language and extensible.

"Forbidden", "Lessons", "Open questions" decide the type of what stands under them; in a daily log,
"Decisions" stands over what lasts and "Execution" over what merely happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memrepo.core.ids import normalise, strip_marker
from memrepo.core.patterns import regex
from memrepo.judges import wordlists
from memrepo.judges.wording import plain
from memrepo.judges.wordlists import words_of

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
과제
""")
HAPPENED_HEADING = words_of("""
heartbeat, heartbeats, execution, closed prs, prs created, commits, activity, activities,
healthcheck, check, checks, checked, progress, status, state, done today, work completed,
completed, session summary, proactive work, proactive work session, files created, files modified,
files changed, changes made, test, tests, backlog, results, metrics, updates, log, daily log,
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
未解决, 待确认, 未解決, 検討中, 미해결
""",
        ),
        (
            "constraint",
            """
forbidden, never, rules, boundaries, constraint*, limits, limitations, do not, don't, not allowed,
anti-goals, guardrails, must not, red lines, policy, policies, requirements, what you do not do,
verboten, regeln, grenzen, prohibido, límites, reglas, restricciones, proibido, regras, limites,
restrições, interdit*, règles, запрещено, правила, ограничения, 禁止, 限制, 规则, 规定, 制約,
ルール, 禁止事項, 금지, 규칙, 원칙, 정책
""",
        ),
        (
            "lesson",
            """
lesson*, learned, learnings, gotchas, pitfalls, mistakes, quirks, insights, realizations,
takeaways, findings, retrospective, lektionen, erkenntnisse, lecciones, aprendizajes, errores,
lições, aprendizados, erros, leçons, apprentissages, erreurs, уроки, выводы, ошибки, 教训, 经验,
启发, 教訓, 学び, 気づき, 교훈, 배운
""",
        ),
        (
            "decision",
            """
decision*, decided, rulings, entscheidung*, decisiones, decisión, decisões, decisão, décisions,
решения, решение, 决策, 决定, 決定, 결정
""",
        ),
        (
            "preference",
            """
preference*, likes, dislikes, favorites, favourites, tone, communication style, vorlieben,
preferencias, gustos, preferências, gostos, préférences, goûts, предпочтения, 偏好, 喜好, 好み,
선호, 취향
""",
        ),
        (
            "aspiration",
            """
goal*, wish, wishes, dream*, vision, aspiration*, wishlist, bucket list, what i want, ziele,
wünsche, metas, objetivos, sueños, sonhos, desejos, objectifs, rêves, souhaits, цели, мечты, 目标,
愿望, 梦想, 目標, 夢, 목표, 꿈
""",
        ),
        (
            "commitment",
            """
todo, todos, to do, to-do, tasks, next steps, next step, pending, action items, commitments,
follow-up*, follow up*, objectives, deadlines, aufgaben, nächste schritte, offen, pendiente*,
próximos pasos, tareas, pendente*, pendências, próximos passos, tarefas, à faire, en attente,
prochaines étapes, tâches, задачи, дальнейшие шаги, 待办, 下一步, 任务, 次のステップ, 課題,
タスク, 할 일, 후속, 과제
""",
        ),
        (
            "milestone",
            """
milestone*, achievement*, completed, accomplish*, done, shipped, key events, timeline, changelog,
last session, progress, meilensteine, erledigt, hitos, logros, hecho, marcos, conquistas, feitos,
concluído, réalisations, fait, достижения, выполнено, вехи, 里程碑, 重要事件, 成就, 実績, 達成,
完了, 마일스톤, 완료
""",
        ),
        (
            "procedure",
            """
workflow*, how to, how-to, steps, procedure*, process, protocol*, checklist, runbook, usage,
routine, ablauf, anleitung, schritte, procedimiento*, pasos, flujo, procedimento*, passos, fluxo,
procédure*, étapes, порядок, инструкци*, шаги, 步骤, 流程, 协议, 手順, 流れ, 절차, 방법, 워크플로
""",
        ),
        (
            "relationship",
            """
relationship*, family, friends, beziehung*, familie, relaciones, familia, relações, família,
relations, famille, отношения, семья, 关系, 家人, 家族, 関係, 가족, 관계
""",
        ),
        (
            "identity",
            """
identity, who am i, who i am, who you are, about me, persona, personality, character*, nature,
my role, identität, wer ich bin, identidad, quién soy, personalidad, identidade, quem sou,
personalidade, natureza, me define, identité, qui suis, личность, кто я, 身份, 我是谁, 性格,
自己紹介, 人格, 정체성, 성격
""",
        ),
    )
)

_DATE_WORDS = regex(
    r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?"
    r"|\d{4}年|\d{1,2}[月日]|\d+(?:st|nd|rd|th)?"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*"
    r"|(?:mon|tue|tues|wednes|wed|thu|thur|thurs|fri|satur|sat|sun)(?:day)?"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember|utc|gmt|am|pm|week|kw",
    re.IGNORECASE,
)
_FILE = regex(r"^[\w./-]+\.md\b[\s:–—-]*|^[\w ./-]+\.md[\s:–—-]+", re.IGNORECASE)
_NUMBER = regex(r"^\W*\d{1,3}[.)]\s+")
_MARKS = regex(r"^[^\w\"'“«「(\[@#/.~`]+|[\s:\uff1a]+$")
_MOMENT = (
    r"(?:\d{4}-\d\d-\d\d(?:T[\d:]+Z?)?"
    r"|~?\d{1,2}:\d\d(?::\d\d)?(?:\s?[AP]M)?(?:\s?(?:UTC|[A-Z]{1,2}[SD]?T))?)"
)
# A day or time at an end of a heading says when it was written, one inside what it is about.
_WHEN = regex(
    rf"^[\[(]?{_MOMENT}(?:\s*[–~/+-]+\s*{_MOMENT})*[\])]?(?:\s*\((?:\w+day|late|early)\))?[\s:,–—+-]*"
    rf"|\s*[\[(][^()\[\]]{{0,40}}{_MOMENT}[^()\[\]]{{0,40}}[\])]$"
    rf"|[\s:,–—~-]*(?<![\[(]){_MOMENT}(?:\s*[–~/+-]+\s*{_MOMENT})*$",
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
    r"|^\W*\(?(?:mon|tues|wednes|thurs|fri|satur|sun)day\)?\W*$",
    re.IGNORECASE,
)


def telling(headings: Sequence[str]) -> Iterator[str]:
    """Yield what headings and list parents say, cleaned, without dates and generic ones."""
    for text in headings:
        heading = clean(text)
        generic = normalise(heading).removesuffix(".md") in wordlists.GENERIC_HEADINGS
        said = sum(ch.isalnum() for ch in heading) > 1
        if said and not generic and not is_date(heading) and not _OF_A_DAY.match(heading):
            yield heading


def clean(heading: str) -> str:
    """Return a heading without marks, number, file name, closing colon and time of writing."""
    text = strip_marker(plain(heading).strip("# \t")).split("\n")[0]
    for pattern in (_FILE, _MARKS, _NUMBER, _WHEN, _WHEN, _MARKS):
        text = pattern.sub("", text)
    return text.strip(" \t~–—-,")


def is_date(text: str) -> bool:
    """Tell whether a heading is a date or time and nothing else."""
    if not any(ch.isdigit() for ch in text):
        return False
    return not any(ch.isalnum() for ch in _DATE_WORDS.sub("", text))
