"""Classes of text that are no memory: machine chatter, transcripts, courtesies.

A text that tries to instruct its reader is only data here, and such data is noise. Classes follow
what real workspaces hold (managed logs, heartbeats, auto-save confirmations, raw dumps).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memrepo.core.ids import strip_marker
from memrepo.core.judge import Candidate
from memrepo.core.patterns import regex, spelled
from memrepo.judges import passing as words
from memrepo.judges import wordlists
from memrepo.judges.wording import HEADING_TYPES, plain, tidy

_FLAGS = re.IGNORECASE | re.MULTILINE
_PREVIOUS = (
    r"(?:all\s+|any\s+|the\s+|of\s+|your\s+|my\s+){0,3}(?:previous|prior|above|earlier|preceding)"
)

_INSTRUCTION = regex(
    rf"(?:ignore|disregard|forget|override)\s+{_PREVIOUS}\s+(?:\w+\s*)?"
    r"(?:instructions?|messages?|prompts?|rules?|directions?|context)"
    r"|</?\s*(?:system|assistant|instructions?)\s*>|<\|im_start\|>|\[/?INST\]"
    r"|you\s+are\s+now\s+(?:a|an|in)\s+\w+\s+(?:mode|assistant|ai|model|bot)"
    r"|(?:reveal|print|repeat)\s+(?:your|the)\s+(?:system\s+)?prompt"
    r"|ignoriere?\s+(?:bitte\s+)?(?:alle\s+)?(?:vorherigen|bisherigen|obigen)\s+\w+"
    r"|ignora\s+(?:todas\s+)?las\s+instrucciones|ignorez?\s+(?:toutes\s+)?les\s+instructions"
    r"|игнорируй(?:те)?\s+(?:все\s+)?(?:предыдущие|прошлые)"
    r"|忽略.{0,6}(?:指令|指示|提示)|(?:これまで|以前|上記)の?.{0,6}指示を?.{0,2}無視"
    r"|이전.{0,4}지시.{0,4}무시",
    _FLAGS,
)
_HEARTBEAT = regex(
    # "Reply HEARTBEAT_OK when nothing is due" is a rule: the word alone, or nearly, is the noise.
    r"^.{0,12}\b(?:HEARTBEAT[_ -]?OK|NO_REPLY)\b.{0,20}$"
    r"|^\W*heartbeat\b.{0,40}\b(?:ok|all good|nothing|no change)"
    r"|^.{0,30}\bheartbeat\b.{0,90}\bno\s+(?:\w+\s+){0,2}(?:tasks?|actions?|items?|changes?"
    r"|alerts?)\b"
    r"|^.{0,40}\bnothing\s+(?:new\s+)?to\s+report\W*$|^\W*no\s+(?:new\s+)?updates?(?:\s+today)?\W*$"
    # "No changes after Friday" is a rule: what is reported ends here or names the time since.
    r"|^(?:.{0,40}[,:;]\s*|\W*)(?:nothing\s+(?:new|urgent|pending)|no\s+(?:new\s+)?"
    r"(?:changes?|messages?|e?mails?|events?|alerts?|notifications?|errors?|tasks?))"
    r"(?:\s+(?:today|yet|so\s+far|for\s+now|this\s+time|(?:since|at)\b.{0,30}))?\W*$",
    re.IGNORECASE,
)
_SAVED = regex(
    r"^\W*(?:auto[- ]?sav(?:e|ed)\b|(?:session|checkpoint|memory|context|state)s?\s+"
    r"(?:was\s+|has\s+been\s+)?(?:auto-?)?(?:saved|flushed|checkpointed)\b"
    r"|(?:session|compaction|context)\s+(?:was\s+)?(?:started|ended|finished|reset|resumed"
    r"|compacted)\b"
    r"|saved\s+(?:to|at|session|memory|successfully)\b)",
    re.IGNORECASE,
)
_SESSION = regex(
    r"^\W*(?:(?:session|conversation|chat|message|run|sitzungs?|konversations?)[ _-]?(?:id|key)\b"
    r"|(?:ids?|identifi\w+|clave|chave|clé) (?:de (?:la |da )?|della |di )?"
    r"(?:sesión|sessão|session|sessione|conversa\w*)\b|id (?:сессии|сеанса)"
    r"|(?:セッション|会話|会话|對話|对话|세션|대화)\s?(?:ID|キー|키)?)"
    r"\W*(?=\S*\d)[\w:./-]{6,}\W*$",
    re.IGNORECASE,
)
_OPAQUE = regex(
    r"^\W*(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}|[A-Za-z0-9+/=_-]{80,})\W*$",
    re.IGNORECASE,
)
_TIMES = regex(
    r"^(?=.*(?:\d{4}-\d\d|\d:\d\d))"
    r"(?:[\d\s:./,+\-–—TZ\[\]()]|UTC|GMT|CES?T|AM|PM|Mon|Tue|Wed|Thu|Fri|Sat|Sun)+$",
    re.IGNORECASE,
)
# People write "CRITICAL: never ..." too, so a bare level needs a time, brackets or a logger's name.
_LOG = regex(
    r"^[^\w\n]*(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?[\])]?\s*"
    r"\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL)\b"
    r"|^[^\w\n]*\[(?:INFO|DEBUG|WARN|ERROR|TRACE)\]\s"
    r"|^[^\w\n]*(?:INFO|DEBUG|WARNING|ERROR|CRITICAL):[\w.]+:"
    r"|^[^\w\n]*\d{1,3}(?:\.\d{1,3}){3} - - \["
    # What tools report: "npm WARN ...", "exit code 0", "tokens used: 812", "Build #7 passed in 3s"
    r"|^[^\w\n]*npm (?:WARN|ERR!|notice) \S|^[^\w\n]*(?:yarn|pip|cargo|git) (?:error|warning):\s"
    r"|^[^\w\n]*(?i:exit|return|status)\s+code\W{1,2}\d+\W*$"
    r"|^[^\w\n]*(?i:tokens?|context|memory|cpu)\s+(?:used|usage|left)\W{1,3}\d[\d.,]*.{0,40}$"
    r"|^[^\w\n]*(?i:build|job|pipeline|deploy(?:ment)?)\s+#?\d+\s+"
    r"(?:passed|failed|succeeded|started|finished|queued)(?:\s+(?:in|after|at)\s+\d\S*)?\W*$"
    r"|^[^\w\n]*(?:ERROR|WARN(?:ING)?|FATAL|INFO|DEBUG):\s.{0,80}\((?:attempt|retry)\s\d+\)\W*$",
    re.MULTILINE,
)
_TRACE = regex(
    r"Traceback \(most recent call last\)|^[^\S\n]*at \S+ ?\([^)\n]*:\d+(?::\d+)?\)"
    r"|^[^\S\n]*File \"[^\"\n]*\", line \d+",
    re.MULTILINE,
)
_ERROR_LINE = regex(r"^\W*(?:[A-Za-z_.]+(?:Error|Exception)): ")
_ROLE_DUMP = regex(r"^\W*(?:user|assistant|system|human|tool)\s*:(?!//)")
_ROLE_LINES = regex(r"^[^\w\n]*(?:user|assistant|system|human|ai|tool)\W{0,3}:", _FLAGS)
# What is left of a line whose whole point was a secret: "Password: [redacted:password]"
_REDACTED = regex(r"\W*(?:[^:=\n]{0,60}[:=]\W*)?\[redacted:[a-z-]+\]\W*")
# A value of a file format that stands alone says nothing: null, 0x1F, 1.10
_LITERAL = regex(
    r"\W*+(?:null|nil|none|true|false|nan|undefined|0x[0-9a-f]+|[\d_](?:[.,:/-]*[\d_])*)\W*",
    re.I,
)
# Directives are asked for, never learned, and nothing in ingested text carries them out.
_DIRECTIVES = regex(r"(?:\W*\[\[[a-z_]+(?:[: ][^\]\n]*)?\]\]\W*)+", re.I)
_COMMENT = regex(r"^\s*<!--.*-->\s*$", re.DOTALL)


def _courtesies() -> str:
    parts = [p.strip() for p in wordlists.COURTESIES.replace("\n", " ").split(",") if p.strip()]
    words = sorted((re.escape(p).replace(r"\*", r"\w*") for p in parts), key=len, reverse=True)
    return rf"(?:{'|'.join(words)})"


_COURTESY = spelled(_courtesies, re.IGNORECASE)
_COURTESY_LENGTH = 60

# How a thing went the last time: the next run makes it false.
_LAST_RUN = regex(
    r"^\W*(?:(?:latest|last|most recent)\s+(?:\w+\s+){0,2}(?:run|check|sync|scan|test|attempt)s?"
    r"|verified|re-?checked|tested|letzte[rs]? (?:lauf|prüfung)|última (?:execução|verificação)"
    r"|última (?:ejecución|verificación)|dernière (?:exécution|vérification)"
    r"|последн\w+ (?:запуск|проверка)|上次(?:运行|检查)|最近一次(?:运行|检查)|最終(?:実行|確認))"
    r"\W{1,4}(?:on\s+|at\s+)?\d{4}-\d\d-\d\d",
    re.IGNORECASE,
)

# A row of a list of tasks: its number, and how far it has come.
_TRACKED = regex(
    r"^[^\n;]{0,30}#\d+\b[^\n]*[;,|–—]\s*(?:status|state|stage|estado|situação|statut|статус|状态"
    r"|状態|상태)"
    r"\s*[:\uff1a][^\n;]{0,24}(?:[;|][^\n]*)?$",
    re.IGNORECASE,
)

_CLASSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("instruction_text", _INSTRUCTION),
    ("heartbeat", _HEARTBEAT),
    ("session_id", _SESSION),
    ("opaque", _OPAQUE),
    ("timestamp_only", _TIMES),
    ("log_line", _LOG),
    ("stack_trace", _TRACE),
    ("comment", _COMMENT),
    ("last_run", _LAST_RUN),
    ("tracked", _TRACKED),
)


# A label, or a form that nobody filled in: "Symptoms:", "Pronouns:", "Blockers: none known"
_UNFILLED = regex(
    r"[\W_]*+(?:[^:\uff1a\n]{1,60}[:\uff1a][\W_]*+)(?:none(?:\s+(?:yet|known|so far))?|n/?a|tbd"
    r"|opcional|facultati[fv]e?|facoltativ[oa]|optioneel|необязательно|任意|可选|选填|可選"
    r"|선택(?:\s?사항)?"
    r"|特に(?:なし|無し)|該当なし|未記入|未入力|無し|没有|待填|해당\s?없음|미입력|néant|sans objet"
    r"|entfällt"
    r"|(?:fill in|add|compl[eé]t\w+|rellen\w+|añad\w+|preench\w+|ajout\w+) (?:here|aquí|ici|aqui"
    r"|qui)"
    r"|hier (?:ergänzen|eintragen)|ここに(?:追記|記入|書く)|在此(?:填写|补充)|여기에 (?:추가|작성)"
    r"|à (?:remplir|compléter)|por (?:rellenar|completar)|a preencher|da compilare|auszufüllen"
    r"|to be (?:added|defined|filled)|not (?:yet )?(?:available|set|known|defined)|todo"
    r"|unknown|(?:still )?empty|optional|(?:noch )?leer|vací[oa]|vide|vazi[oa]|vuot[oa]"
    r"|nenhuma?(?:\s+conhecid[oa])?"
    r"|pendiente|pendente|ausstehend|in sospeso|preencher|rellenar|remplir|ausfüllen|compilare"
    r"|invullen|заполнить|填写|記入|입력"
    r"|ningun[oa]|aucune?|keine?r?|нет|无|暂无|なし|없음|(?:a|por) definir(?:\s+com\s+\w+)?"
    r"|definir com \w+|à définir|offen|未定|待定|未設定|미정)?[\W_]*+",
    re.IGNORECASE,
)
# What says that something goes on, stands elsewhere or comes later: "etc.", "see above"
_PLACEHOLDER = regex(
    r"[\W_]*(?:tbd|tba|wip|n/?a|et cetera|etc|and so (?:on|forth)|(?:and )?more to come|coming soon"
    r"|as above|see (?:above|below)|nothing (?:else|more|yet|new)|usw|und so weiter|s\.\s?[ou]"
    r"|siehe (?:oben|unten)|sonst nichts|nichts weiter|mehr folgt|folgt (?:noch|später)|y así"
    r"|(?:ver|véase) (?:arriba|abajo|más (?:arriba|abajo))|nada (?:más|mais)|por completar"
    r"|voir (?:plus haut|plus bas|ci-(?:dessus|dessous))|rien (?:d['’]autre|de plus)|à suivre"
    r"|ver (?:acima|abaixo)|vedi (?:sopra|sotto)|nient['’]altro|ecc|zie (?:boven|onder)|enz"
    r"|и так далее|и т\.\s?д|см\. выше|等等|同上|以下同|など|上記参照|등등)[\W_]*",
    re.IGNORECASE,
)
_BRACKETED = regex(r"\[[^\[\]\n]{1,60}\](?!\()|<[^<>\n/]{1,40}>|\{[^{}\n]{1,40}\}|\bYYYY-MM-DD\b")
_CHOICE = regex(r"\[[^\[\]\n/|]{1,40}(?: [/|] [^\[\]\n/|]{1,40}){1,6}\](?!\()")
_WIKI = regex(r"\[\[[^\[\]\n]{1,120}\]\]")
_IN_BRACKETS = regex(r"[*_\s]*[(\[\uff08][^()\[\]\uff08\uff09]*[)\]\uff09][*_.\s]*")
_LONG_LINK = regex(r"(?:[^\n]{0,60}[:\uff1a])?[`*_<(\s]*https?://\S{120,}\s*")
_METADATA = regex(
    r"[\W_]*(?:session(?: (?:id|key))?|source|channel|established|(?:last )?updated(?: (?:at|on))?"
    r"|(?:created|generated)(?: (?:at|on|by))?|captured|author|date|time|confidence|evidence"
    r"|date (?:added|created)|added on|fecha de (?:creación|alta)"
    r"|data de (?:criação|adição|cadastro)"
    r"|date (?:d['’]ajout|de création)|дата (?:добавления|создания)|添加(?:日期|时间)|追加日|추가일"
    r"|recalls|message.?id|researche[dr](?: by)?|requeste(?:d by|r)|requestor|prepared by"
    r"|participants|attendees|participantes|参与者|讨论者|参加者|autor|data|fecha|hora|fuente"
    r"|fonte|atualizado|actualizado"
    r"|last[ _-]?(?:sync(?:ed)?|seen|run|checked)|last (?:update|revision|reviewed)"
    r"|(?:última|ultima) (?:atualização|actualización"
    r"|modificación"
    r"|modificação|revisão|revisión)|dernière (?:mise à jour|révision|modification)"
    r"|letzte (?:aktualisierung|änderung|überarbeitung)|zuletzt (?:aktualisiert|geändert)"
    r"|ultim[oa] (?:aggiornamento|modifica|revisione)|laatst bijgewerkt|последнее (?:обновление"
    r"|изменение)"
    r"|最后(?:更新|修改)(?:时间|日期)?|(?:最終|直近の?)(?:更新|確認|見直し)日?|마지막 (?:업데이트"
    r"|수정|갱신)"
    r"|auteur|heure|datum|stand|дата|время|автор|источник|обновлено|создано"
    r"|作者|探索者|探索轮次|记录者|整理者|日期|时间|来源|更新|著者|日付|日時|更新日|작성자|작성일"
    r"|날짜|시간)"
    r"[*_]*[ \u00a0\u202f]?[:\uff1a](?!//)(?!.*(?:https?://|`/|\]\())[^\n]{0,48}",
    re.IGNORECASE,
)
_STAMPS = regex(
    r"(?:[*_](?![*_\s])[^*_:\uff1a\n]{2,30}[:\uff1a][ \t]*\d{4}-\d\d-\d\d"
    r"[^*_\n]{0,48}[*_][ \t]*(?:\n|$))+"
)
"""Lines in italics that date a section: `*Agreed: 2026-03-16*`."""
_TITLE = regex(
    r"[\W_]*(?:title|headline|post|titel|titre|título|titolo|заголовок|пост|标题|题目|帖子|タイトル"
    r"|제목)"
    r"[*_]*\s?[:\uff1a][*_\s]*[\"“«「『„][^\n]{1,200}[\"”»」』“][\W_]*",
    re.IGNORECASE,
)
"""What somebody's post is called, and nothing of what it says."""
_ABOUT_FILE = regex(
    r"^\W*(?:this|the) (?:file|document|page|folder)\b|\bappend-only\b"
    r"|\bliving document\b|^\W*(?:last )?updated (?:when|whenever|as|after|by)\b"
    r"|\nupdated when(?:ever)?\b"
    r"|\bsliding window\b[^\n]*\bolder\b"
    r"|\balways replaced\b|^\W*purpose\s*:[^\n]*\n\W*last updated"
    r"|^\W*(?:documento|document) (?:vivo|vivant)\b"
    r"|^\W*(?:\w+\s*:\s*)?(?:atualizar|actualizar|adicionar|añadir|agregar|preencher|rellenar"
    r"|completar)"
    r"\b[^\n:]{0,40}\b(?:sempre que|siempre que|conforme|cada vez que)\b"
    r"|^\W*(?:update|add|fill in)\b[^\n:]{0,40}\bas (?:you|we|I) (?:go|learn|use|discover)\b"
    r"|^\W*seed(?:ed)?\s+(?:notes?|from|with)\b|^\W*(?:est[ea] |el |o )?(?:arquivo|archivo)\b"
    r"|^[\W_]*(?:ce fichier|diese datei|este (?:arquivo|archivo|fichero)|questo file|dit bestand"
    r"|этот файл"
    r"|本文件|此文件|这个文件|このファイル|이 파일)",
    re.IGNORECASE,
)
_CHAT = regex(
    r"^[^\w\n]*\[?(?:telegram|whatsapp|discord|slack|signal|imessage)\b[^\]\n]{0,80}\d{1,2}:\d\d"
    r"|\(untrusted metadata\)|^[^\w\n]*\[message_id: ?\d+\]",
    _FLAGS,
)
_TURN = regex(r"^(?:assistant|user|human|system|tool)\s*:\s+(?:\S+\s+){3}", _FLAGS)

# What another program keeps of a graph: two names and the edge between them, a line each.
_EDGES = regex(
    r"(?:[^\n]{0,8}\[\[[^\]\n]{1,80}\]\][^\n\[]{0,40}(?:→|↔"
    r"|->)[^\n\[]{0,40}(?:\[\[[^\]\n]{1,200}\]\])?"
    r"[^\n]*(?:\n|$))+"
)

_WHOLE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("redacted_only", _REDACTED),
    ("literal_only", _LITERAL),
    ("directive_only", _DIRECTIVES),
    ("unfilled", _UNFILLED),
    ("unfilled", _PLACEHOLDER),
    ("in_brackets", _IN_BRACKETS),
    ("long_link", _LONG_LINK),
    ("metadata", _METADATA),
    ("metadata", _STAMPS),
    ("title", _TITLE),
    ("edges", _EDGES),
)


def noise_class(text: str, *, has_key: bool = False) -> str:
    """Return the class of noise that a text is, or an empty string.

    A text with a bold key (`**User:** Anna`) is no line of a transcript.
    """
    text = text.strip()
    if not any(ch.isalnum() for ch in text):
        return "symbols_only"
    for name, pattern in _CLASSES:
        if pattern.search(text):
            return name
    for name, pattern in _WHOLE:
        if pattern.fullmatch(text):
            return name
    if len(text) <= 160 and _SAVED.search(text):
        return "save_confirmation"
    if _ERROR_LINE.search(text) and not _says_what_to_do(text):
        return "stack_trace"
    if _is_talk(text, has_key=has_key):
        return "transcript"
    if _ABOUT_FILE.search(text) and not any(ch in text for ch in "`/"):
        return "about_file"
    if _is_form(text):
        return "form"
    if sum(map(len, links := _WIKI.findall(text))) > 0.3 * len(text) and len(links) > 1:
        return "edges"
    return "courtesy" if is_courtesy(text) else ""


def _is_talk(text: str, *, has_key: bool) -> bool:
    """Tell whether a text is a record of who said what to whom, or of a message's envelope."""
    if len(_ROLE_LINES.findall(text)) > 1 or (not has_key and _ROLE_DUMP.search(text)):
        return True
    return _CHAT.search(text) is not None or ("\n" in text and _TURN.search(text) is not None)


def _is_form(text: str) -> bool:
    """Tell whether a text is a pattern to be filled in: a choice, or more slots than words."""
    if _CHOICE.search(text) and len(text) <= 200:
        return True
    if len(_BRACKETED.findall(text)) < 2:
        return False
    return sum(ch.isalnum() for ch in _BRACKETED.sub("", text)) < 12


def _says_what_to_do(text: str) -> bool:
    """An error message with its remedy is knowledge, not a trace."""
    return any(p.search(text) for p in (wordlists.ACTION, wordlists.JUDGEMENT))


def is_courtesy(text: str) -> bool:
    """Tell whether a text is greetings, acknowledgements, thanks or laughter and nothing else."""
    if len(text) > _COURTESY_LENGTH:
        return False
    at, met = 0, False
    while at < len(text):
        if not text[at].isalnum():
            at += 1
            continue
        match = _COURTESY.match(text, at)
        if match is None or (match.end() < len(text) and _joins(text, match.end())):
            return False
        at, met = match.end(), True
    return met


def _joins(text: str, at: int) -> bool:
    return text[at - 1].isalnum() and text[at].isalnum()


_COUNTER = regex(
    r"\W*[^:\uff1a\n]{1,60}[:\uff1a][\s*_]*[~≈约]?[$€£¥]?\d[\d.,]*(?:[ \u00a0\u202f]\d{3})*"
    r"\s*(?:[%+kKmM]|[€件日次人回天个個개일명건회])?(?:[\s*_]*[(\uff08][^()\n]{0,40}[)\uff09])?\W*"
    r"|[^\n;]{1,80}; value\s*:\s*[\d.,%]+(?:;[^\n]*)?",
    re.IGNORECASE,
)
_COUNTED = regex(
    r"\b(?:metrics?|stats|statistics|(?<!phone )numbers|counts?|usage|métricas?|estadísticas?"
    r"|estatísticas?"
    r"|statistiques?|statistik(?:en)?|kennzahlen|statistiche|метрики|статистика|показатели)\b"
    r"|数据|统计|指标|概览|使用情况|統計|データ|통계|지표",
    re.IGNORECASE,
)
_STATISTICS = regex(
    r"[\W\d]*(?:(?:\w+ )?(?:metrics?|stats|statistics|métricas|estadísticas|estatísticas"
    r"|statistiques"
    r"|statistik(?:en)?|kennzahlen|statistiche|statistieken|метрики|статистика)"
    r"|统计(?:数据)?|统计信息|統計(?:情報)?|통계)\W*",
    re.IGNORECASE,
)
_STATE_HEADING = regex(
    r"[\W\d]*(?:(?:current |system |agent )?(?:status|state)|estado(?: actual| atual)?"
    r"|situación(?: actual)?"
    r"|situação(?: atual)?|état(?: actuel)?|situation(?: actuelle)?|statut|stand|zustand|stato"
    r"|toestand"
    r"|статус|состояние|(?:当前|系统)?状态|状況|状態|現状|(?:현재 )?상태|상황)\W*",
    re.IGNORECASE,
)
_STATE_LINE = regex(
    r"\W*(?:status|state|mode|uptime|queue|load|unread [\w ]{1,20}|estado|modo|statut|mode|zustand"
    r"|modus"
    r"|[\w -]{1,24}(?: sin leer| não lid[oa]s| non lus?| non lett[ei]|непрочитанн\w+)"
    r"|ungelesene \w+"
    r"|статус|состояние|режим|непрочитанн\w+ \w+|ステータス|状態|稼働|未読\w{1,8}|状态|未读\w{1,8}"
    r"|상태|안 읽은 \w+)"
    r"[*_]*\s?[:\uff1a][^\n]{0,24}",
    re.IGNORECASE,
)
_SHARE_OF_DAY = regex(
    r"\W{0,20}[^:\uff1a\n`\d]{1,40}[:\uff1a\s][\s*_]{0,20}[~≈约]?\d{1,3}(?:[.,]\d+)?\s?[%\uff05]\W*"
)


def is_count(candidate: Candidate) -> bool:
    """Tell whether a text counts what moves on, or says how things stand just now.

    So do counters below a heading that says so, what a section on the state of things says of it,
    and the share of something in a daily log.
    """
    rows = [strip_marker(row) for row in candidate.text.split("\n") if row.strip()]
    above = candidate.context[-1] if candidate.context else ""
    if candidate.daily and all(_SHARE_OF_DAY.fullmatch(row) for row in rows):
        return True
    if _STATE_HEADING.fullmatch(above) and all(_STATE_LINE.fullmatch(row) for row in rows):
        return True
    if not _COUNTED.search(above):
        return False
    counted = sum(_COUNTER.fullmatch(row) is not None for row in rows)
    enough = 2 * counted > len(rows)
    return enough and (len(rows) > 1 or _STATISTICS.fullmatch(above) is not None)


_PROFILES = ("USER.md", "IDENTITY.md", "TOOLS.md")
_BY_WHOM = regex(
    r"\W*(?:author|by|posted by|karma|upvotes?|likes|votes|autor[ea]?|auteur|автор"
    r"|作者|投稿者|작성자)[*_]*\s*[:\uff1a][^\n]{1,60}",
    re.IGNORECASE,
)
_TITLE_LINE = regex(r"\W*(?:\*\*|__)[^*\n:\uff1a]+(?:\*\*|__)\W*")


def is_listing(rows: Sequence[str]) -> bool:
    """Tell whether lines list what others posted: titles and who wrote them, more than words."""
    authors = sum(_BY_WHOM.fullmatch(row) is not None for row in rows)
    titles = sum(_TITLE_LINE.fullmatch(row) is not None for row in rows)
    return authors > 1 and 2 * (authors + titles) > len(rows)


_BYLINES = 4
"""The first lines of a section, among which who posted it is named."""


def is_post(candidate: Candidate) -> bool:
    """Tell whether a section retells what somebody posted: under their name and its title.

    What has an address can be looked up there, and stays.
    """
    if "://" in candidate.text:
        return False
    inner = candidate.context[1:]
    if any(words.OF_POSTS.search(heading) for heading in candidate.context):
        rows = candidate.text.split("\n", 1)[: bool(candidate.detail)]
        if any(words.HEADS_POST.fullmatch(heading) for heading in (*inner, *rows)):
            return True
    if not (candidate.detail and inner):
        return False
    rows = [row for row in candidate.text.split("\n") if row.strip()][:_BYLINES]
    return any(words.BYLINE.fullmatch(row) or _TITLE.fullmatch(row) for row in rows)


def passing(candidate: Candidate) -> str:
    """Return why a line is over by the next day or is another's, or an empty string.

    What is said of today stays, as long as nobody owes it: it may hold tomorrow as well.
    """
    if is_post(candidate):
        return "posted"
    text = plain(tidy(candidate.text)).strip()
    if candidate.detail or "\n" in text:
        return ""
    if words.APPLAUSE.fullmatch(text):
        return "applause"
    if words.POSTED.search(text):
        return "posted"
    if candidate.daily:
        return ""
    text = " ".join(text.split())
    if words.PROGRESS.search(text):
        return "progress"
    if words.RELEASE.fullmatch(text):
        return "release"
    owed = candidate.task == "open" or any(_OWED.search(h) for h in candidate.context[-1:])
    today = owed and words.TODAY.search(text) and not words.FROM_TODAY.search(text)
    return "of_today" if today else ""


_OWED = next(pattern for kind, pattern in HEADING_TYPES if kind == "commitment")
_SECOND_PERSON = regex(r"\byou(?:r|'re|’re|rself)?\b", re.IGNORECASE)
_THIS_FILE = regex(
    r"\b(?:this|the) (?:file|isn't|is not)\b|\bworkspace-relative\b"
    r"|\b(?:est[ea] (?:archivo|arquivo|fichero)|ce fichier|diese datei|questo file|dit bestand"
    r"|этот файл)\b"
    r"|(?:この|本)ファイル|[此本]文件|这个文件|이 파일",
    re.IGNORECASE,
)
_FILL_IN = regex(
    r"^\W*(?:write|note|add|put|list|keep|fill in|record)\b[^.\n]{0,60}\bhere\b"
    r"|^\W*(?:apunta|anota|escrib[ea]|añad[ea]|pon)\b[^.\n]{0,20}\baquí\b"
    r"|^\W*(?:note|notez|écri[st]|écrivez|ajoute|ajoutez|mets|mettez)\b[^.\n]{0,30}\bici\b"
    r"|^\W*(?:notiere?|trage?|schreibe?|ergänze)\b[^.\n]{0,40}\bhier\b"
    r"|^\W*hier(?:hin)?\b[^.\n]{0,60}\b(?:eintragen|notieren|schreiben|ergänzen)\b"
    r"|^\W*(?:anot[ea]|escrev[ea]|adicion[ea]|coloque)\b[^.\n]{0,20}\baqui\b"
    r"|^\W*(?:annota|scrivi|aggiungi)\b[^.\n]{0,20}\bqui\b"
    r"|^\W*(?:запиш|впиш|добав)\w{1,5}\b[^.\n]{0,20}\b(?:сюда|здесь)\b"
    r"|ここに[^。\n]{0,20}(?:書|記入|記録|追加|メモ)|(?:在此|在这里|此处)[^。\n]{0,20}(?:记录|填写"
    r"|添加|写)"
    r"|여기에[^.\n]{0,20}(?:적|기록|작성|추가)",
    re.IGNORECASE,
)
_FORM_HEADING = regex(
    r"^\W*(?:what goes here|examples?|template|how to use this(?: file)?|ejemplos?|exemplos?"
    r"|exemples?|beispiele?|примеры?|示例|例|예시)\W*$",
    re.IGNORECASE,
)


def is_template(candidate: Candidate) -> bool:
    """Tell whether a text is what a profile file came with: how to fill it in, and examples.

    Such text tells its reader what to do with the file; what a person wrote names things.
    """
    files = {s.resource.rsplit("/", 1)[-1] for s in candidate.sources}
    if not files or not files.issubset(_PROFILES):
        return False
    if any(_FORM_HEADING.match(heading) for heading in candidate.context):
        return True
    return any(p.search(candidate.text) for p in (_SECOND_PERSON, _THIS_FILE, _FILL_IN))
