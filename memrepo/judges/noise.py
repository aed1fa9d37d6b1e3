"""Classes of text that are no memory: machine chatter, transcripts, courtesies.

A text that tries to instruct its reader is only data here, and such data is noise. Classes follow
what real workspaces hold (managed logs, heartbeats, auto-save confirmations, raw dumps).
"""

from __future__ import annotations

import re

from memrepo.core.patterns import regex, spelled
from memrepo.judges import wordlists

_FLAGS = re.IGNORECASE | re.MULTILINE
_PREVIOUS = (
    r"(?:all\s+|any\s+|the\s+|of\s+|your\s+|my\s+){0,3}(?:previous|prior|above|earlier|preceding)"
)

_INSTRUCTION = regex(
    rf"(?:ignore|disregard|forget|override)\s+{_PREVIOUS}\s+\w*\s*"
    r"(?:instructions?|messages?|prompts?|rules?|directions?|context)"
    r"|</?\s*(?:system|assistant|instructions?)\s*>|<\|im_start\|>|\[/?INST\]"
    r"|you\s+are\s+now\s+(?:a|an|in)\s+\w+\s+(?:mode|assistant|ai|model|bot)"
    r"|(?:reveal|print|repeat)\s+(?:your|the)\s+(?:system\s+)?prompt"
    r"|ignoriere?\s+(?:bitte\s+)?(?:alle\s+)?(?:vorherigen|bisherigen|obigen)\s+\w+"
    r"|ignora\s+(?:todas\s+)?las\s+instrucciones|ignorez?\s+(?:toutes\s+)?les\s+instructions"
    r"|игнорируй(?:те)?\s+(?:все\s+)?(?:предыдущие|прошлые)"
    r"|忽略.{0,6}(?:指令|指示|提示)|(?:これまで|以前|上記)の?.{0,6}指示を?.{0,2}無視|이전.{0,4}지시.{0,4}무시",
    _FLAGS,
)
_HEARTBEAT = regex(
    # "Reply HEARTBEAT_OK when nothing is due" is a rule: the word alone, or nearly, is the noise.
    r"^.{0,12}\b(?:HEARTBEAT[_ -]?OK|NO_REPLY)\b.{0,20}$"
    r"|^\W*heartbeat\b.{0,40}\b(?:ok|all good|nothing|no change)"
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
    r"|(?:session|compaction|context)\s+(?:was\s+)?(?:started|ended|finished|reset|resumed|compacted)\b"
    r"|saved\s+(?:to|at|session|memory|successfully)\b)",
    re.IGNORECASE,
)
_SESSION = regex(
    r"^\W*(?:session|conversation|chat|message|run)[ _-]?(?:id|key)\b\W*\S+\W*$", re.IGNORECASE
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
    r"^\W*(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?[\])]?\s*"
    r"\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL)\b"
    r"|^\W*\[(?:INFO|DEBUG|WARN|ERROR|TRACE)\]\s"
    r"|^\W*(?:INFO|DEBUG|WARNING|ERROR|CRITICAL):[\w.]+:"
    r"|^\W*\d{1,3}(?:\.\d{1,3}){3} - - \["
    # What tools report: "npm WARN ...", "exit code 0", "tokens used: 812", "Build #7 passed in 3s"
    r"|^\W*npm (?:WARN|ERR!|notice) \S|^\W*(?:yarn|pip|cargo|git) (?:error|warning):\s"
    r"|^\W*(?i:exit|return|status)\s+code\W{1,2}\d+\W*$"
    r"|^\W*(?i:tokens?|context|memory|cpu)\s+(?:used|usage|left)\W{1,3}\d[\d.,]*.{0,40}$"
    r"|^\W*(?i:build|job|pipeline|deploy(?:ment)?)\s+#?\d+\s+"
    r"(?:passed|failed|succeeded|started|finished|queued)(?:\s+(?:in|after|at)\s+\d\S*)?\W*$"
    r"|^\W*(?:ERROR|WARN(?:ING)?|FATAL|INFO|DEBUG):\s.{0,80}\((?:attempt|retry)\s\d+\)\W*$",
    re.MULTILINE,
)
_TRACE = regex(
    r"Traceback \(most recent call last\)|^\s*at \S+ ?\([^)\n]*:\d+(?::\d+)?\)"
    r"|^\s*File \"[^\"\n]*\", line \d+",
    re.MULTILINE,
)
_ERROR_LINE = regex(r"^\W*(?:[A-Za-z_.]+(?:Error|Exception)): ")
_ROLE_DUMP = regex(r"^\W*(?:user|assistant|system|human|tool)\s*:(?!//)")
_ROLE_LINES = regex(r"^\W*(?:user|assistant|system|human|ai|tool)\W{0,3}:", _FLAGS)
# What is left of a line whose whole point was a secret: "Password: [redacted:password]"
_REDACTED = regex(r"\W*(?:[^:=\n]{0,60}[:=]\W*)?\[redacted:[a-z-]+\]\W*")
# A value of a file format that stands alone says nothing: null, 0x1F, 1.10
_LITERAL = regex(r"\W*(?:null|nil|none|true|false|nan|undefined|0x[0-9a-f]+|[\d.,:_/-]+)\W*", re.I)
# Directives are asked for, never learned, and nothing in ingested text carries them out.
_DIRECTIVES = regex(r"(?:\W*\[\[[a-z_]+(?:[: ][^\]\n]*)?\]\]\W*)+", re.I)
_COMMENT = regex(r"^\s*<!--.*-->\s*$", re.DOTALL)


def _courtesies() -> str:
    parts = [p.strip() for p in wordlists.COURTESIES.replace("\n", " ").split(",") if p.strip()]
    words = sorted((re.escape(p).replace(r"\*", r"\w*") for p in parts), key=len, reverse=True)
    return rf"(?:{'|'.join(words)})"


_COURTESY = spelled(_courtesies, re.IGNORECASE)
_COURTESY_LENGTH = 60

_CLASSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("instruction_text", _INSTRUCTION),
    ("heartbeat", _HEARTBEAT),
    ("session_id", _SESSION),
    ("opaque", _OPAQUE),
    ("timestamp_only", _TIMES),
    ("log_line", _LOG),
    ("stack_trace", _TRACE),
    ("comment", _COMMENT),
)


_WHOLE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("redacted_only", _REDACTED),
    ("literal_only", _LITERAL),
    ("directive_only", _DIRECTIVES),
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
    if len(_ROLE_LINES.findall(text)) > 1 or (not has_key and _ROLE_DUMP.search(text)):
        return "transcript"
    return "courtesy" if is_courtesy(text) else ""


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
