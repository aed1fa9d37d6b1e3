"""Lines of any file that are over before anyone asks for them, and lines that others wrote.

How far something has come ("3 of 8 done"), a version that is out and nothing more said of it, what
is to be done today: the next day makes them false. What somebody posted is theirs; a memory that
repeats it reads as the owner's. These are the words of it; `judges.noise` asks for them.
"""

from __future__ import annotations

import re

from memrepo.core.patterns import regex

_DONE = (
    r"(?:done|completed?|ready|finished|left|remaining|answered|hech[oa]s?|list[oa]s?|terminad[oa]s?"
    r"|complet[oae]s?|completad[oa]s?|pront[oaie]s?|feit[oa]s?|concluíd[oa]s?|terminée?s?|finie?s?"
    r"|prête?s?|répondu|fertig|erledigt|abgeschlossen|fatt[oi]|finit[oi]|klaar|af|gedaan|готов\w*"
    r"|сделан\w*|выполнен\w*|完了|済み?|完成|완료)"
)
_SHARE = r"\d+(?:\s+[^\W\d_]+){0,2}\s?(?:of|out of|de|sur|von|van|di|su|из|/)\s?\d+"
PROGRESS = regex(
    # how many of how many are done
    rf"^(?:[^:\uff1a\n]{{1,40}}[:\uff1a]\s*)?\W*{_SHARE}\b[^.;:\n]{{0,40}}\b{_DONE}\W*$"
    # a key for it, with a share
    r"|^(?:[^:\uff1a\n]{0,20}\s)?(?:progress|avancement|progreso|avance|progresso|andamento"
    r"|fortschritt|voortgang|прогресс|готовность|(?:現在の|当前|目前|현재)?(?:進捗|进度|進度|進み具合"
    r"|진행률|진행))\s*[:\uff1a]\s*\W*(?:\d[^.;\n]{0,24}|[^.;\n]{0,12}\d+\s?[%\uff05])$"
    r"|\d+\s?(?:件|個|箱|本|页|章|个|项|개|건)?中\s?\d+\S{0,4}(?:完了|済み)?$"
    r"|^[^.;\n]{0,40}\d+/\d+\s?(?:完了|済み?|完成|완료)\W*$"
    # one part is done, another at so many percent
    rf"|^[^.;\n]{{0,60}}\b{_DONE}\b[^.;\n]{{0,40}}\b(?:at|à|al|em|a|bei|op|на)\s\d{{1,3}}\s?%\W*$",
    re.IGNORECASE,
)
_OUT = (
    r"(?:released|shipped|deployed|published|live|is out|out|launched|tagged"
    r"|desplegad[oa]|publicad[oa]|lanzad[oa]|liberad[oa]|en producción|publiée?"
    r"|déployée?|sortie?|lançad[oa]|no ar|em produção"
    r"|veröffentlicht|ausgeliefert|erschienen|pubblicat[oa]|rilasciat[oa]|uitgebracht|вышл?[аои]?"
    r"|выпущен[аоы]?|リリース(?:済み|しました|した)?|公開(?:済み|しました|した)?|已?发布|上线|출시(?:됨|했다|완료)?"
    r"|배포(?:됨|했다|완료)?)"
)
RELEASE = regex(
    r"^\W*(?:[^\W\d_][\w.-]*\s+)?v?\d+(?:\.\d+){1,3}\s*(?:を|が|is|was|est|foi|fue|wurde|ist|è|버전)?"
    rf"\s*{_OUT}(?:[\s,(]+(?:(?:on|in|since|el|le|em|am|im|il|op|desde|depuis|seit|dal|с)\s+)?"
    r"[^.;:\n]{0,24}\d[^.;:\n]{0,16})?\W*$",
    re.IGNORECASE,
)
TODAY = regex(
    r"(?<![\w'’-])(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week)|hoy"
    r"|mañana por la|esta (?:mañana|tarde|noche|semana)|aujourd['’]hui|demain|ce (?:matin|soir)"
    r"|cette semaine|hoje|amanhã|esta (?:manhã|tarde|noite|semana)|heute|morgen früh|diese woche"
    r"|oggi|domani|stamattina|stasera|questa settimana|vandaag|vanavond|deze week|сегодня|завтра"
    r"|на этой неделе)(?![\w'’-])|今日中?|明日|今週|今天|明天|本周|今晚|오늘|내일|이번 주",
    re.IGNORECASE,
)
FROM_TODAY = regex(
    r"\b(?:from|since|as of|until|till|by|every|each|desde|a partir de|hasta|dès|depuis"
    r"|à partir d['’e]|jusqu['’]\w+|até|ab|seit|bis|jeden|da|dal|fino a|vanaf|sinds|с|до)\s+"
    r"(?:today|tomorrow|hoy|mañana|aujourd|demain|hoje|amanhã|heute|morgen|oggi|domani|vandaag"
    r"|сегодня|завтра)|(?:今日|明日|今週|今天|明天|本周|오늘|내일)(?:から|以降|まで|起|开始|为止|부터|까지)"
    r"|從今天|从今天|\b20\d\d\b|\b(?:not|never|nunca|jamais|nie|mai|nooit)\b",
    re.IGNORECASE,
)
_QUOTED = regex(
    r"[\"“«„「『][^\"”»“」』\n]*[\"”»“」』]|`[^`\n]*`|[(\uff08][^()\uff08\uff09\n]*[)\uff09]"
)
_POST = (
    r"(?:posts?|comments?|repl(?:y|ies)|threads?|tweets?|toots?|publicaci[oó]n(?:es)?|comentarios?"
    r"|respuestas?|publications?|commentaires?|réponses?|publicaç(?:ão|ões)|comentários?|respostas?"
    r"|beitr[aä]ge?|kommentare?|antwort(?:en)?|commenti?o?|rispost[ae]|berichten?|reacties?|пост\w*"
    r"|комментари\w*|ответ\w*)"
)
POSTED = regex(
    # it names itself a post or a comment
    rf"^\W*{_POST}\b[^:\uff1a\n]{{0,40}}(?:(?<![\w.])@\w|[:\uff1a]\s*\W{{0,3}}[\"“«„「])"
    r"|^[^:\uff1a\n]{0,12}(?:投稿|コメント|返信|帖子|评论|回复|게시글|댓글)[^:\uff1a\n]{0,20}[:\uff1a]"
    r"[^\n]*[「“\"『«]"
    # it opens with who said it
    r"|^\W*@[\w.-]{2,40}\W{0,4}(?:[:\uff1a]|[—–-])\s*\W{0,3}[\"“«„「]"
    r"|^\W*@[\w.-]{2,40}\W{0,3}\s(?:says?|said|wrote|writes|asks|asked|posted|replied|argues|dice|dijo"
    r"|escribe|pregunta|dit|écrit|demande|diz|disse|escreve|pergunta|sagt|schreibt|fragt|scrive"
    r"|chiede|zegt|schrijft|пишет|говорит|спрашивает)\b"
    # it answers somebody
    rf"|{_POST}\b[^.\n]{{0,24}}\b(?:by|of|from|de|do|da|du|von|di|van)\s+@\w"
    r"|@\w[\w.-]*[」”\"»\s]{0,2}(?:さん)?の(?:投稿|コメント)|@\w[\w.-]*\s?的(?:帖子|评论)",
    re.IGNORECASE,
)
_HANDLE = (
    # a name that no person is baptised with: "oak_mill", "millerB7", "MoonMill", "@oak"
    r"(?:@[\w.-]{2,40}|_?[a-z][\w-]{2,40}|[A-Z][\w-]*[A-Z\d_][\w-]*)(?:\s*[(\uff08][^()\uff08\uff09\n]{1,60}[)\uff09])?"
    r"|[^\s:\uff1a]{2,40}\s*[(\uff08][^()\n]{0,40}\b(?:karma|followers?|upvotes?|likes|seguidores|abonnés"
    r"|подписчик\w*)[^()\n]{0,40}[)\uff09]"
)
BYLINE = regex(
    rf"\W*(?:(?i:author|posted by|by|autor[ea]?|auteur|автор)|作者|发帖人|投稿者|작성자)"
    rf"[*_]*\s*[:\uff1a][*_\s]*(?:{_HANDLE})\W*"
)
"""Who posted what a section retells; an author with a name of their own wrote a book."""
HEADS_POST = regex(
    r"\W*[\w.@-]{2,30}\s?[:\uff1a]\s?[\"“«„「『][^\"”»“」』\n]{4,}[\"”»“」』]\W*", re.IGNORECASE
)
OF_POSTS = regex(
    rf"\b(?:{_POST}|feed|findings|discover\w*|explor\w*|descubr\w*|hallazgos|découvert\w*"
    r"|descobert\w*|entdeck\w*|fundstücke|scopert\w*|ontdek\w*|находк\w*|открыти\w*)\b"
    r"|帖子|发现|探索|投稿|発見|게시글|발견",
    re.IGNORECASE,
)
APPLAUSE = regex(
    r"\W*(?:\+?\d[\d.,]*\s*(?:new\s+)?(?:likes?|upvotes?|votes?|karma|followers?|comments?|replies"
    r"|views?|me gusta|votos?|seguidor\w*|comentarios?|comentários?|curtidas?|abonnés?|vues?"
    r"|commentaires?|j['’]aime|stimmen|aufrufe|mi piace|voti|volgers|лайк\w*|голос\w*|просмотр\w*"
    r"|いいね|票|赞|点赞|粉丝|좋아요|조회)(?:\s+(?:new|nuev[oa]s|nov[oa]s|nouveaux|neue|nuovi))?"
    r"|(?:likes?|upvotes?|votes?|karma|followers?|views?|votos|seguidores|カルマ|いいね|点赞|粉丝|좋아요)"
    r"\s*[:\uff1a]?\s*\+?\d[\d.,]*(?:\s*(?:→|->|=>)\s*\d[\d.,]*)?)\W*",
    re.IGNORECASE,
)
