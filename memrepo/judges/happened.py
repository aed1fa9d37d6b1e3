"""How ten languages say that something was done, looked for, offered, or is owed.

English says it with what a line opens with, Romance languages with the form of that verb or the
noun of it, German and Dutch with what a sentence ends in, Japanese and Korean with its last
syllables. A day by which something is to be owes nothing: shops are open until six. What is owed
opens with the deed, or with who does it and the deed, and then names the day.
"""

from __future__ import annotations

import re

from memrepo.core.patterns import regex, spelled

HAPPENED = regex(
    # English: a line that opens with what was done
    r"^\W*(?:(?:I|we|he|she|they)\s+)?(?:(?!need|indeed|speed|feed|seed|embed|limited|based|used to"
    r"|required|supposed|expected|decided|agreed|learned|realized|realised)"
    r"[a-z]{2,14}(?:ed|ied)|ran|sent|built|made|got|found|wrote|fixed|set|took|began|saw|met|did"
    r"|read"
    r"|went|came|gave|kept|left|put|shut)\b"
    # who asked for it, and when they did
    r"|^\W*[A-Z][\w-]+(?: [A-Z][\w-]+)?"
    r" (?:asked|shared|posted|mentioned|reported|reviewed|checked|tested)\b"
    # the thing first: "Page widened: ..."
    r"|^\W*(?:[A-Z][\w/-]*\s+)(?:\w+\s+){0,2}"
    r"(?!need|speed|feed|based|supposed|expected)[a-z]{3,12}ed:"
    # done, in a later sentence
    r"|\bfound (?:no|nothing)\b|\bno new [\w ]{1,30}\b(?:was|were) found\b"
    r"|\breturned (?:[45]\d\d|an? error|nothing)\b"
    r"|(?<=[.;\n])\s+(?:committed|pushed|merged|deployed|restarted|installed|updated|verified"
    r"|tested)\b"
    # done, and said of a thing
    r"|\b(?:was|were|has been|have been|got|is now|are now|just)\s+(?:\w+ly\s+)?[a-z]{2,14}ed\b"
    r"|\b(?:foi|foram|fue|fueron|a été|ont été|wurde|wurden)\s+\w+"
    r"|^\W*(?:\w+\s+){1,4}(?:removid|atualizad|criad|enviad|corrigid|actualizad|cread"
    r"|eliminad)[oa]s?\b"
    r"|\b(?:обновлен|создан|удал[её]н|добавлен|исправлен|отправлен|проверен|установлен|настроен)\w*"
    r"|\b(?:проверил|сделал|обновил|создал|добавил|исправил|отправил|удалил|настроил|запустил)\w*"
    r"|^\W*(?:发送|生成|创建|完成|更新|追踪|推送|记录|检查|修复)",
    re.IGNORECASE,
)

DONE = regex(
    r"^\W*(?:I\s+)?(?!(?:need|indeed|speed|feed|seed|embed|limited|based|used|required|supposed"
    r"|expected"
    r"|preferred|allowed|recommended|protected|standardi[sz]ed|shared|fixed:)\b)[A-Z]?"
    r"(?:[a-z]{2,14}ed|[Rr]an|[Ss]ent|[Bb]uilt|[Ff]ound|[Ww]rote)\b(?![^.\n]{0,40}[:\uff1a](?:\s"
    r"|$))"
)
"""A line that opens with what was done, and is no key."""

OFFERED = regex(
    r"\b(?:let me|I can|I['’]ll|I['’]d|shall I|want me to|just say the word|soll ich|quieres que"
    r"|quer que|veux-tu que|voulez-vous que|vuoi che|wil je dat|давай я)\b"
    r"|要不要我|需要我|我可以帮|しましょうか|할까요|드릴까요",
    re.IGNORECASE,
)
"""What one offers another to do next."""

IN_VAIN = regex(
    r"\bfound (?:no|nothing|none)\b|\bnothing (?:new|to do|changed)\b|\bno (?:new|further) work\b"
    r"|\bno (?:[\w-]+ ){0,3}(?:work|tasks?|changes|actions?) (?:found|needed|due|to do)\b"
    r"|\bno (?:new |other )?[\w-]+(?: [\w-]+){0,3} (?:was|were) (?:found|due)\b"
    r"|\battempts?\b[^.\n]{0,60}\b(?:failed|returned|timed out|hung)\b"
    r"|\b(?:nada|nenhum[a]?|ningún|ninguna) (?:\w+ ){0,2}(?:encontrad|pendente|pendiente)"
    r"|\brien (?:de neuf|à faire|trouvé)|\bnichts (?:neues|gefunden|zu tun)\b"
    r"|ничего (?:нового|не найдено)|没有(?:新|发现|找到)|見つからな|なかった[。\s]*$|없었",
    re.IGNORECASE,
)
"""What was looked for and not found, or tried and did not work out: of that day only."""

# What a verb says that changes how things are, and so is no work of the day: "Ho deciso"
_CHANGES = (
    r"(?!(?:d[eé]cid|acord|combin|mud|chang|cambi|troc|d[eé]m[eé]nag|chois|conven|prefer"
    r"|préf|scel|elig|elej|escolh|abandon|adopt|nomm|nombr|nome|refus|accept|acept|aceit|compr"
    r"|achet|vend|contrat|embauch|quit|confi[éa])\w*)"
)
_NOT_CHANGED_JA = "".join(
    f"(?<!{end})"
    for end in (
        "変え 替え 換え 決め 始め やめ 辞め 止め 変わっ 替わっ 移っ なっ 決まっ 買っ"
        " 引っ越し 変更し 決定し 移行し 退職し 結婚し 入学し 合意し 契約し 採用し"
        " 変えまし 決めまし なりまし"
    ).split()
)
_DOUBLE_S = 20
"""The place of the double s, sign of the past, among the final sounds of a Korean syllable."""


def _elsewhere() -> str:
    past = "".join(chr(at) for at in range(0xAC00 + _DOUBLE_S, 0xD7A4, 28) if chr(at) not in "있겠")
    return "|".join(
        (
            # Romance languages: the first person of the past, a participle and its noun
            (
                rf"^\W*{_CHANGES}(?!caf|beb|béb|por qu|aqu)[a-zà-ÿ]{{2,14}}(?:é|ée|és|ées|ei)"
                r"(?=\s*[,.;(\d]|\s*$|\s(?:el|l[aeo]s?|un[aeo]?s?|des?|du|à|aux?|a[os]?|os?|meus?|minhas?|mis?"
                r"|mes?|mon|ma|sus?|con|avec|com|em|en|dans|por|par|que|tou[st]e?s?|tod[oa]s?|nada|rien|n[oa]s?"
                r"|aos?|uma?s?)\b|\sl['’])"
            ),
            (
                rf"^\W*{_CHANGES}[a-zà-ÿ]{{2,14}}(?:[ai]d[oa]s?|[aiu]t[oaie])\s+"
                r"(?:o|a|os|as|el|la|los|las|il|lo|i|gli|le|un|una|um|uma)\b"
            ),
            (
                rf"^\W*(?:he|hemos|ho|abbiamo|j['’]ai|on a|nous avons)\s+{_CHANGES}"
                r"\w+(?:ad|id|at|ut|it|é|i|u)[oaàs]?\b"
            ),
            rf"\b(?:a|ont)\s+{_CHANGES}[a-zà-ÿ]{{3,14}}é\b",
            (
                r"^\W*(?:(?:me|te|se|le|les|l[oa]s?|nos)\s+)?(?:propuse|hice|puse|dije|fui|tuve|traje"
                r"|pude|fiz|fizemos|pus|trouxe|tive|hicimos|pusimos|fuimos)\b"
            ),
            # the noun of it: "Vérification des sauvegardes"
            (
                r"^\W*(?:vérification|mise à jour|envoi|création|relance|correction|suppression"
                r"|lecture|revisión|actualización|envío|creación|corrección|eliminación|lectura|verificação"
                r"|atualização|envio|criação|correção|leitura|aggiornamento|invio|creazione|correzione"
                r"|lettura|überprüfung|aktualisierung|versand|erstellung|controle|bijwerking|проверка"
                r"|обновление|отправка|создание|исправление)\s+(?:d[eiou]s?|d['’]\w+|del|d[aeo]s|della"
                r"|dei|der|des|van|von|[а-яё]{3,})\b(?![^.\n]{0,40}[:\uff1a])"
            ),
            # German and Dutch: the participle at the end, without a helping verb
            (
                r"^(?![^\n]*\b(?:ist|sind|hat|haben|wird|werden|is|zijn|heeft|hebben)\b)[^\n]*\s"
                r"(?!entschied|beschloss|vereinbar|besloten|verkauf|gekauf)"
                r"(?:be|er|ver|ent|zer|ge|\w{2,4}ge)[a-zäöüß]{3,12}(?<!men)(?:t|en)[.!]?$"
            ),
            (
                r"^\W*(?!смен|реш|выб|куп|прод|отказ|пере[ше]|поменя|замен|пожен)"
                r"(?:про|с|об|от|у|на|за|ис|до|по|вы|при|раз)[а-яё]{3,12}(?:ил|ал)[аи]?\b"
            ),
            # Chinese: a verb that opens with the sign of the past
            (
                r"已(?:更新|完成|发送|创建|恢复|修复|添加|删除|配置|推送)"
                r"|^\W*(?:发送|生成|创建|完成|更新|追踪|推送|记录|检查|修复|回复|测试|运行|整理|发布)了"
            ),
            # Japanese: the past at the end, or a noun of work that ends its clause
            rf"{_NOT_CHANGED_JA}た[。\s]*$",
            (
                r"を?(?:確認|更新|送信|作成|修正|追加|削除|調査|実施|実行|対応|返信|投稿|検証|反映|整理"
                r"|報告|完了)(?:中|済み)?(?:[。\s]*$|、)"
            ),
            # Korean: the past of any verb but one of change, or a noun of work
            (
                rf"(?<!바꾸)(?<!정하)[{past}](?<!바꿨)(?<!정했)(?<!결정했)(?<!변경했)(?<!이사했)(?<!옮겼)"
                r"(?:다|음|습니다|어요)[.\s]*$|(?:완료|확인|수정|전송|작성|점검)[.\s]*$"
            ),
        )
    )


DONE_ELSEWHERE = spelled(_elsewhere, re.IGNORECASE)
"""The same in other languages than English; what changes how things are is not among it."""
REPORTED = regex(
    r"^\W*(?:[A-Z][\w'’/-]*\s+){1,4}(?:re-?ran|ran|inspected|aborted|verified|returned|completed"
    r"|failed|timed out|finished|scanned|processed|replied|fetched|generated|pulled|pushed|merged"
    r"|logged|executed|triggered|succeeded|crashed)\b(?![^.\n]{0,40}[:\uff1a](?:\s|$))"
)
"""Who or what did a piece of work, and how that went: "Nightly Check aborted because ..."."""
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


OWED = regex(
    "|".join(
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
    ),
    re.IGNORECASE,
)
"""Who will do something, or what is to be done by a day."""

_ACTS = regex(
    r"(?:^|(?<=[.;!]\s)|(?<=\n))\W{0,4}(?:I\s+|[Tt]hen\s+|[Aa]lso\s+)?(?!(?:Need|Indeed|Limited|Based"
    r"|Used|Required|Supposed|Expected|Preferred|Allowed|Recommended|Protected|Shared|Red)\b)"
    r"(?:[A-Z][a-z]{2,13}ed|Ran|Sent|Built|Found|Wrote|Read|Made|Took)\b(?!\W*[:\uff1a])"
)
_RECOUNTED = 2


def recounts(text: str) -> bool:
    """Tell whether sentences of a text open with what was done, one after the other."""
    return len(_ACTS.findall(text)) >= _RECOUNTED
