"""The words by which the offline judge reads a text, per language and extensible.

English and German are broad; Spanish, French, Russian, Chinese, Japanese and Korean hold the words
that decide most. A missing word lowers no score: no rule needs a word in order to promote.
"""

from __future__ import annotations

import re

from memrepo.core.patterns import regex, spelled

_WIDE = regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def words_of(text: str, *, start: bool = False) -> re.Pattern[str]:
    """Match a comma-separated list; `*` ends a stem, scripts without blanks match anywhere."""
    return spelled(lambda: _either(text, start=start), re.IGNORECASE)


def _either(text: str, *, start: bool) -> str:
    parts = [part.strip() for part in text.replace("\n", " ").split(",") if part.strip()]
    loose = [re.escape(part) for part in parts if _WIDE.search(part)]
    bound = [
        re.escape(part).replace(r"\*", r"\w*").replace(r"\ ", r"\s+").replace("'", "['’]")
        for part in parts
        if not _WIDE.search(part)
    ]
    tight = rf"(?<![\w-])(?:{'|'.join(bound)})(?!\w|-\w)" if bound else ""
    either = "|".join(filter(None, (tight, "|".join(loose))))
    return rf"^\W*(?:{either})" if start else either


def terms_of(text: str) -> frozenset[str]:
    """Return the parts of a comma-separated list."""
    return frozenset(part.strip() for part in text.replace("\n", " ").split(","))


ONESELF = words_of("""
agent*, assistant*, asistente*, assistente*, ассистент*, агент*, persona*, core, basic*, role*,
trait*, card, profile*, profil*, perfil*, summary, statement, notes, name*, voice, values, tone,
style, self, your, mine, here, this, ours, role, rolle*, kern*, mein*, dein*, votre, notre,
mia, propia, propio, própria, mío, soul, vibe, bot
""")
"""What a heading of who one is may say beside that word."""

DURABLE = words_of("""
always, never, prefers, prefer, policy, policies, decided, decision, born, lives, live in,
usually, every day, every week, weekly, daily, monthly, permanent, permanently, standard,
rule, by default, immer, nie, niemals, bevorzugt, bevorzuge, entschieden, geboren, wohnt,
wohne, lebt, grundsätzlich, siempre, nunca, prefiere, toujours, jamais, préfère, всегда,
никогда, предпочитает, родил*, живет, живёт, 总是, 从不, 永远, 喜欢, 决定, 出生, 住在,
いつも, 必ず, 決して, 好き, 決定, 生まれ, 住んで, 항상, 절대, 좋아, 결정, 태어, 살고,
nace, nació, vive, viven, cada día, cada semana, cada mes, por defecto, decidió, decidimos,
né en, née en, habite, habitent, chaque jour, chaque semaine, chaque mois, par défaut, décidé,
sempre, nasceu, mora, moram, vivem, todo dia, toda semana, por padrão, prefere, decidiu,
mai più, vive a, abita, ogni giorno, ogni settimana, preferisce, deciso, altijd, nooit, woont,
elke dag, elke week, standaard, geboren
""")
TRANSIENT = words_of("""
today, tonight, tomorrow, this morning, this afternoon, this evening, currently, temporary,
temporarily, right now, for now, for the moment, at the moment, in progress, is running,
still running, running now, wip, heute, morgen früh, gerade, derzeit, aktuell, momentan,
vorübergehend, temporär, hoy, ahora mismo, aujourd'hui, temporaire, сегодня, сейчас,
временно, 今天, 目前, 暂时, 现在, 今日, 現在, 一時的, 오늘, 현재, 지금, 임시,
mañana por la mañana, de momento, por ahora, en curso, temporalmente, en ce moment,
pour le moment, en cours, temporairement, hoje, agora mesmo, por enquanto, em andamento,
temporariamente, oggi, adesso, per ora, in corso, temporaneamente, vandaag, op dit moment,
tijdelijk
""")
LATELY = words_of("""
now, recently, lately, these days, at present, just, neulich, kürzlich, inzwischen, недавно,
最近, 최근
""")
JUDGEMENT = words_of("""
decided, decision, decide, chose, chosen, agreed, must, should, required, requires, rule,
policy, constraint, limit, deadline, due, prefers, prefer, preference, favorite, favourite,
allergic, default, instead of, because, never, always, important, critical, avoid, budget,
version, entschieden, entscheidung, beschlossen, muss, müssen, soll, darf nicht, pflicht,
regel, frist, grenze, bevorzugt, lieblings*, weil, wichtig, vermeiden, decidió, debe,
preferido, décidé, doit, решили, решение, должен, нельзя, срок, важно, любим*, 决定, 必须,
不要, 规则, 截止, 偏好, 重要, 決定, 必須, 禁止, ルール, 締め切り, 결정, 반드시, 금지, 규칙,
마감, 선호, 중요,
decisión, decidimos, requiere, obligatorio, límite, plazo, prefiere, alérgic*, en vez de,
en lugar de, porque, nunca, siempre, importante, evitar, presupuesto, décision, décidons,
exige, obligatoire, limite, échéance, préfère, allergique, au lieu de, parce que, jamais,
toujours, important, éviter, budget, decisão, decidimos, exige, obrigatório, prazo, prefere,
em vez de, sempre, orçamento, decisione, deciso, richiede, obbligatorio, scadenza, preferisce,
allergic*, invece di, perché, sempre, evitare, besluit, besloten, vereist, verplicht, voorkeur,
in plaats van, omdat, belangrijk
""")
ACTION = words_of("""
todo, to do, fix, fixed by, solved by, workaround, follow up, next step, next steps, how to,
need to, needs to, run, use, deploy, install, restart, command, script, workflow, step,
steps, schritt, schritte, befehl, nächste schritte, anleitung, ausführen, сделать, нужно,
запусти*, команда, 待办, 需要, 运行, 使用, 步骤, 手順, 実行, 使う, 할 일, 필요, 실행, 사용,
hay que, necesita, usar, comando, pasos, instalar, reiniciar, cómo, il faut, utiliser,
commande, étape, étapes, installer, redémarrer, precisa, é preciso, instalar, comando, passos,
bisogna, usare, comando, installare, moet, gebruik, stap, stappen, installeren
""")
IMPERATIVE = words_of(
    """
run, use, deploy, check, restart, always, never, set, install, avoid, ensure, keep, add,
remove, create, open, call, ask, send, write, read, test, verify, update, prefer, don't,
do not, make sure, remember, verwende, nutze, prüfe, starte, setze, vermeide, immer, nie,
niemals, frage, schreibe, используй*, запусти*, проверь*, не, 使用, 不要, 请, 必须, 確認,
必ず,
usa, usar, ejecuta, ejecutar, revisa, comprueba, evita, evitar, asegúrate, recuerda, pregunta,
escribe, nunca, siempre, utilise, utiliser, lance, vérifie, vérifier, évite, éviter, ne pas,
ne jamais, toujours, demande, demander, écrire, rappelle, use, execute, verifique, evite,
sempre, pergunte, escreva, lembre, usa, esegui, verifica, evita, chiedi, scrivi, ricorda,
gebruik, controleer, vermijd, vraag, schrijf
""",
    start=True,
)
IDENTITY = words_of("""
my name, name is, wife, husband, brother, sister, mother, father, mom, dad, son, daughter,
parents, boss, manager, colleague, coworker, friend, friends, partner, girlfriend,
boyfriend, fiancé*, i am, i'm, my, user, born, birthday, married, family, heiße, heißt,
frau, ehefrau, mann, ehemann, bruder, schwester, mutter, vater, sohn, tochter, chef, chefin,
kolleg*, freund, freundin, mein, meine, geburtstag, verheiratet, familie, esposa, hermano,
femme, frère, жена, муж, брат, сестра, мать, отец, коллега, друг, зовут, пользовател*, 妻子,
丈夫, 老婆, 老公, 妈妈, 爸爸, 同事, 朋友, 用户, 我叫, 生日, 名字, 妻, 夫, 兄, 弟, 姉, 妹,
母, 父, 同僚, 友達, ユーザー, 名前, 誕生日, 아내, 남편, 동료, 친구, 사용자, 이름, 생일,
esposo, marido, mujer, hermana, madre, padre, hijo, hija, jefe, jefa, compañer*, amigo, amiga,
pareja, novia, novio, cumpleaños, se llama, mari, épouse, époux, sœur, mère, père, fils, fille,
chef, collègue, amie, conjoint*, compagn*, anniversaire, appelle, mulher, irmão, irmã, mãe,
pai, filho, filha, chefe, colega, namorad*, aniversário, chama, moglie, marito, fratello,
sorella, madre, figlio, figlia, capo, collega, amico, amica, compagn*, compleanno, chiama,
vrouw, broer, zus, moeder, vader, zoon, dochter, baas, vriend, vriendin, verjaardag
""")
HEDGE = words_of("""
maybe, might, perhaps, possibly, probably, seems, seem, not sure, unsure, i think, i guess,
apparently, could be, allegedly, vielleicht, eventuell, möglicherweise, wahrscheinlich,
vermutlich, scheint, anscheinend, quizás, tal vez, peut-être, может быть, возможно,
наверное, кажется, вероятно, 也许, 可能, 大概, 好像, かもしれない, たぶん, おそらく, らしい,
아마, 어쩌면,
quizá, a lo mejor, probablemente, posiblemente, parece que, creo que, no sé si, probablement,
sans doute, il semble, je crois, je pense, on dirait, talvez, provavelmente, possivelmente,
parece que, acho que, forse, probabilmente, sembra, credo che, penso che, magari, misschien,
waarschijnlijk, lijkt, ik denk
""")
NEGATION = words_of("""
not, no, never, none, nobody, without, cannot, can't, don't, doesn't, didn't, isn't, aren't,
won't, wasn't, longer, stopped, nicht, kein*, nie, niemals, ohne, nunca, sin, ne, pas, не,
нет, без, никогда, 不, 没, 無, ない, ません, 안, 않,
ninguno, ninguna, nadie, jamás, tampoco, aucun, aucune, personne, sans, jamais, plus de, não,
nenhum, nenhuma, ninguém, sem, jamais, non, nessuno, nessuna, senza, niet, geen, nooit, zonder
""")
READER_QUESTION = words_of(
    """
shall i, should i, do you want, would you like, may i, can i help, how can i help,
what would you like, how are you, how have you been, how's it going, how is it going, what's up,
wie geht, soll ich, möchtest du, möchten sie, willst du, хотите, 要不要, 需要我
""",
    start=True,
)
READER_ENDING = words_of("""
let me know, 可以吗, いかがですか, しましょうか, 할까요
""")
CHATTER = words_of(
    """
let me check, let me see, let me know, working on it, on it, give me a moment, one moment,
looking into it, i'll take a look, i'll check, ich schaue, einen moment,
voy a mirar, un momento, déjame ver, je regarde, un instant, laisse-moi voir, vou ver,
um momento, deixa eu ver, guardo subito, ein moment, ich sehe nach
""",
    start=True,
)

OPEN = words_of("""
tbd, unclear, open question, to be decided, undecided, not decided yet, unklar,
offene frage, noch offen, неясно, 待定, 不清楚, 未定, 미정,
por decidir, sin decidir, por definir, pregunta abierta, no está claro, à décider, à définir,
pas encore décidé, question ouverte, pas clair, a decidir, a definir, por decidir,
pergunta em aberto, da decidere, da definire, domanda aperta, non è chiaro, nog te beslissen,
onduidelijk
""")
DECISION = words_of("""
decided, chose, chosen, we use, we agreed, agreed to, agreed on, agreed:, agreed that, decidido:,
acordado:, combinado:, vereinbart:, convenu:, concordato:, afgesproken:, switched to, settled on,
going with, entschieden, beschlossen, wir nutzen, wir verwenden, decidió, decidimos, décidé,
решили, решено, 决定, 決めた, 決定, 결정, decision:, entscheidung:,
se decidió, decidieron, acordamos, acordaron, elegimos, optamos por, usamos, decisión:,
décidons, avons décidé, a été décidé, on garde, on utilise, nous utilisons, choisi, retenu,
convenu, décision:, decidiu, foi decidido, combinamos, escolhemos, decisão:, deciso,
abbiamo deciso, abbiamo scelto, concordato, usiamo, decisione:, besloten, gekozen voor,
afgesproken, we gebruiken, zdecydowa*, postanowi*
""")
COMMITMENT = words_of("""
promised, promises, deadline, due by, due on, owes, has to deliver,
versprochen, verspricht, frist, zugesagt, обещал*, срок, 承诺, 答应, 截止, 約束, 締め切り,
약속, 마감, i'll, we'll,
prometió, se comprometió, fecha límite, plazo de entrega, promis, échéance, date limite,
à rendre, prometeu, prazo, data limite, promesso, scadenza, entro il, beloofd
""")
CONSTRAINT = words_of("""
may not, mustn't, not allowed, forbidden, mandatory, at most,
no more than, only use, only if, only after, only when, only with, only via, muss, müssen,
darf nicht, dürfen nicht, verboten, pflicht, höchstens, maximal, nur mit, нельзя, должен,
запрещено, 必须, 不得, 禁止, 不能, 最多, 必須, 반드시, 금지, is required, are required,
must never, must always,
prohibido, prohibida, obligatorio, obligatoria, como máximo, como mucho, no se puede,
no se debe, no debe, no deben, solo se, sólo se, interdit, interdite, obligatoire, au maximum,
au plus, ne doit pas, ne doivent pas, ne faut pas, ne jamais, ne peut pas, uniquement,
proibido, proibida, obrigatório, obrigatória, no máximo, não pode, não podem, não deve,
não devem, somente, vietato, vietata, obbligatorio, obbligatoria, al massimo, non deve,
non devono, non si può, non si deve, soltanto, verboden, verplicht, maximaal, mag niet,
mogen niet, moet, moeten, alleen met, 请勿, 严禁, 务必, 只能, 一律, しないこと, ないこと,
ないでください,
てはいけない, てはならない, のみ可, までに必ず, 厳禁, 不可, 하지 말, 말 것, 해야 한다, 안 된다,
请不要,
不许, 不准, 不可以, 勿, veuillez, merci de ne pas, prière de, en ningún caso, en aucun cas,
em hipótese alguma, auf keinen fall, in nessun caso, in geen geval, under no circumstances,
no hay que, nada de, não é permitido, non è permesso, ist untersagt, untersagt
""")
RULE_START = words_of(
    """
always, never, avoid, don't, do not, no, only, immer, nie, niemals, keine, vermeide,
никогда, всегда, 不要, 禁止, 必须, 決して, 必ず, 절대, 항상,
nunca, siempre, jamás, evita, evitar, prohibido, solo, sólo, jamais, toujours, ne jamais,
ne pas, ne, pas de, évite, éviter, évitez, interdit, seulement, uniquement, sempre, não, evite,
proibido, apenas, somente, non, evita, evitare, vietato, soltanto, nooit, altijd, geen,
vermijd, alleen, nigdy, zawsze, только, избегай*, 请勿, 严禁, 务必, 只能
""",
    start=True,
)
PREFERENCE = words_of("""
prefers, prefer, preferred, likes, like to, i like, loves, i love, hates, i hate, dislikes,
favorite, favourite, favorites, favourites, enjoys, i enjoy, bevorzugt,
bevorzuge, mag, hasst, liebt, am liebsten, lieblings*, prefiere, le gusta, préfère, aime,
любит, люблю, предпочита*, любим*, нравится, 喜欢, 偏好, 讨厌, 最爱, 好き, 嫌い, 好む, 좋아,
싫어, 선호,
prefiero, prefieren, le gustan, me gusta, les gusta, le encanta, odia, detesta, favorit*,
préfèrent, préfér*, adore, déteste, favori*, prefere, prefiro, gosta, gostam, gosto, adora,
odeia, preferisce, preferisco, piace, piacciono, preferit*, houdt van, voorkeur, liever, haat,
woli, lubi, 不喜欢, 更喜欢, 偏爱, 苦手, 好み, てほしい, て欲しい, がいい, 希望用, 원함, 길 원,
선호함
""")
DISLIKE = words_of("""
doesn't like, does not like, don't like, do not like, doesn't enjoy, no le gusta, no le gustan,
no me gusta, no soporta, n'aime pas, n'aime ni, ne supporte pas, não gosta, não suporta,
non gli piace, non le piace, non sopporta, mag nicht, mag kein*, houdt niet van, не любит,
не нравится, doesn't want, does not want, no quiere, no quieren, ne veut pas, não quer, non vuole,
wil niet, wil geen, will nicht, will kein*, möchte nicht, möchte kein*, не хочет, ないでほしい,
やめてほしい, 止めてほしい, 不想, 不希望, 원하지 않, 싫다
""")
"""What reads like a rule because of its "no" and says what somebody likes."""
_WISHES = (
    r"(?:wants?|would like|m[öo]chten?|wünscht|quiere|veut|voudrait|quer|vuole|vorrebbe|wil|хочет)"
)
_ALWAYS = (
    r"(?:always|never|from now on|immer|künftig|nie|nur noch|in zukunft|siempre|nunca"
    r"|de ahora en adelante|a partir de ahora|toujours|jamais|désormais|dorénavant|sempre"
    r"|a partir de agora|d'ora in poi|altijd|nooit|voortaan|всегда|никогда)"
)
STANDING_WISH = regex(
    rf"\b{_WISHES}\b.{{0,60}}\b{_ALWAYS}\b|\b{_ALWAYS}\b.{{0,60}}\b{_WISHES}\b", re.IGNORECASE
)
"""A wish about how things are always to be: how somebody likes them, and no dream."""
WHO_AM_I = words_of("""
my name, name is, user is a, user is an, user is called, pronouns, mein name, ich bin,
ich heiße, heißt, geboren, меня зовут, день рождения, 我叫, 我是, 名字是, 生日, 私は,
名前は, 誕生日, 제 이름, 이름은, 생일, my birthday, user's birthday, birthday is, was born,
i am a, i am an, i'm a, i'm an, i was born, geburtstag ist,
se llama, me llamo, nació, cumpleaños, cumple años, pronombres, s'appelle, je m'appelle, né le,
née le, anniversaire est, son anniversaire, pronoms, chama-se, se chama, meu nome, nasceu,
aniversário, pronomes, si chiama, mi chiamo, nato il, nata il, compleanno, pronomi, heet,
verjaardag, jarig, geburtstag
""")
RELATION = words_of("""
wife, husband, brother, sister, mother, father, mom, dad, son, daughter, boss, colleague,
coworker, roommate, girlfriend, boyfriend, fiancé*, cousin, uncle, aunt, ehefrau, ehemann,
bruder, schwester, mutter, vater, sohn, tochter, chef, chefin, kolleg*, freundin, жена, муж,
брат, сестра, мать, отец, коллега, 妻子, 丈夫, 老婆, 老公, 哥哥, 弟弟, 姐姐, 妹妹, 妈妈,
爸爸, 同事, 上司, 同僚, 아내, 남편, 동료,
esposa, esposo, marido, mujer, hermano, hermana, madre, padre, hijo, hija, jefe, jefa, pareja,
novia, novio, tía, tío, mari, épouse, époux, frère, sœur, mère, père, fils, fille, conjoint,
conjointe, compagne, compagnon, collègue, oncle, tante, cousin, cousine, mulher, irmão, irmã,
mãe, pai, filho, filha, chefe, namorada, namorado, tia, moglie, marito, fratello, sorella,
figlio, figlia, capo, fidanzata, fidanzato, zia, zio, vrouw, broer, zus, moeder, vader, zoon,
dochter, baas
""")
MILESTONE = words_of("""
graduated, got married, launched, was promoted to, abschluss gemacht, geheiratet, окончил*,
毕业, 结婚, 里程碑, 卒業, 結婚, 졸업, 결혼, milestone:, meilenstein:, reached the milestone,
se graduó, se casó, lanzamos, hito, diplômé, diplômée, s'est marié, s'est mariée, lancé, jalon,
formou-se, casou-se, lançamos, si è laureat*, si è sposat*, abbiamo lanciato, traguardo,
afgestudeerd, getrouwd, lanzada en, lanzado en, lançada em, lançado em, lancée en, lancé en,
mise en ligne en, mis en ligne en, veröffentlicht am, veröffentlicht im, lanciata nel,
lanciato nel, 正式上线, をリリース, リリース済み, 公開済み, 출시
""")
FIRSTS = words_of("""
went live, goes live on, for the first time, first time ever, zum ersten mal, ging live,
ist live seit, por primera vez, pour la première fois, pela primeira vez, per la prima volta,
voor het eerst, впервые, 初めて, 第一次, 처음으로
""")
"""What has come about and had not before: no work of a day, in a day's log too."""
ASPIRATION = words_of("""
wants to, dreams of, hopes, hope to, would love to, someday, bucket list, aspires, möchte,
träumt, hofft, wünscht, quiere, rêve, мечтает, хочет, надеется, 想要, 梦想, 夢, 싶다, 싶어,
꿈, dream of, dream is, dream to, dreaming of, wish to, wishes to, i wish, hoping to,
i want to, たいと思, aspire to,
sueña con, le gustaría, espera poder, algún día, rêve de, aimerait, voudrait, espère, un jour,
quer, sonha em, gostaria, espera, algum dia, vuole, sogna, vorrebbe, spera, un giorno, droomt,
hoopt, zou graag
""")
HOW_TO = words_of(
    """
how to, anleitung, 步骤, 如何, 手順, 방법, how-to, steps:, procedure:, workflow:,
checklist:, recipe:, schritte:, ablauf:,
pasos:, procedimiento:, étapes:, procédure:, passos:, procedimento:, passi:, procedura:,
stappen:
""",
    start=True,
)
LESSON = words_of("""
takeaway, realized, realised, lektion, erkenntnis, понял*, урок, 教训, 学到, 教訓, 学んだ,
교훈, 배웠, learned that, learned the, learned to, learned not, learnt that, lesson learned,
lessons learned, lesson:, lesson is, the lesson, a lesson, realized that, gelernt dass,
gelernt, dass,
aprendí, aprendimos, lección, aprendido que, leçon, appris que, avons appris, aprendi,
aprendemos, lição, imparato, lezione, geleerd, выучил, усвоил*,
turns out, turned out that, it turned out, stellt sich heraus, stellte sich heraus,
hat sich herausgestellt, resulta que, resultó que, il s'avère que, il s'est avéré que,
descobriu-se que, viu-se que, si è scoperto che, è emerso che, blijkt dat, bleek dat,
оказалось, выяснилось, と判明, 原来是, 알고 보니
""")

VERBS = """
lives in, live in, moved to, move to, works at, work at, works for, work for, works as,
work as, works in, works on, work on, was born in, was born on, is married to,
am married to, married, is allergic to, am allergic to, prefers, prefer, likes, like, loves,
love, hates, hate, dislikes, dislike, enjoys, enjoy, wants, want, plans to, plan to,
hopes to, hope to, decided to, chose, uses, use, has, have, had, owns, own, needs, need,
knows, know, speaks, speak, studies, study, studied, runs on, runs, run, writes, wrote,
started, joined, finished, bought, adopted, visited, met, made, created, launched, supports,
manages, maintains, requires, depends on, listens on, is located in, is, am, are, was,
wohnt in, wohne in, lebt in, lebe in, arbeitet bei, arbeite bei, arbeitet als, arbeite als,
bevorzugt, bevorzuge, mag, liebt, liebe, hasst, hasse, nutzt, nutze, benutzt, benutze,
verwendet, verwende, hat, habe, heißt, heiße, spricht, spreche, plant, plane, ist, bin, war,
vive en, vivo en, viven en, trabaja en, trabajo en, trabaja como, trabaja para, prefiere,
prefiero, usa, utiliza, tiene, necesita, se llama, habla, estudia, juega, odia, compró,
nació en, nació el, cumple años, es, está, quiere, habite à, habite, vit à, travaille à,
travaille chez, travaille comme, travaille pour, préfère, aime, déteste, utilise, possède,
parle, étudie, s'appelle, est né à, est né le, est née à, est née le, est, sont, veut, mora em,
mora no, mora na, vive em, trabalha em, trabalha na, trabalha no, trabalha como, trabalha para,
prefere, gosta de, odeia, usa, tem, precisa de, precisa, fala, estuda, chama-se, se chama,
nasceu em, é, são, está, quer, vive a, abita a, lavora a, lavora per, lavora come, lavora in,
preferisce, ama, odia, usa, ha, parla, studia, si chiama, è nato a, è nata a, è, sono, vuole,
woont in, werkt bij, werkt als, heeft, gebruikt, houdt van, spreekt, heet, wil
"""
NOT_NAMES = terms_of("""
he, she, it, they, don't, do, does, please, only, just, maybe, perhaps, currently, today,
yesterday, tomorrow, how, why, can, should, must, will, let, make, use, also, still, last,
next, monday, tuesday, wednesday, thursday, friday, saturday, sunday, heute, gestern, bitte,
we, you, this, that, these, those, there, here, who, what, which, when, where, while, if,
then, the, a, an, all, some, most, many, both, each, every, everyone, everything, someone,
nobody, one, his, her, its, their, our, my, your, after, before, during, in, on, at, for,
from, with, by, as, but, and, or, so, not, no, yes, always, never, er, sie, es, wir, ihr,
das, der, die, man, dies, hier, dort, wenn, wer, was, ein, eine, alle,
doesn't, didn't, isn't, wasn't, won't, can't, aren't, shouldn't, siempre, nunca, ya, también,
solo, sólo, hoy, ayer, cuando, si, el, la, los, las, un, una, este, esta, esto, ese, eso, todo,
todos, cada, se, le, lo, su, sus, mi, tu, que, quien, donde, como, para, con, por, sin, pero,
y, él, ellos, nosotros, yo, usted, toujours, jamais, ne, pas, déjà, aussi, seulement,
aujourd'hui, hier, quand, les, une, des, du, ce, cette, ces, tout, tous, chaque, on, il, ils,
elles, nous, vous, je, son, sa, ses, mon, ma, qui, où, comment, pour, avec, par, sans, mais,
et, ou, dans, en, sempre, não, já, também, só, hoje, ontem, quando, os, as, um, uma, isso, ele,
ela, eles, nós, eu, você, seu, sua, meu, minha, quem, onde, com, mas, mai, non, già, anche,
oggi, ieri, gli, questo, questa, ogni, tutti, lui, lei, loro, noi, io, suo, mio, che, chi,
dove, senza, ma, di, nooit, altijd, ook, vandaag, gisteren, het, een, hij, zij, wij, ik, zijn,
haar, mijn, dit, dat, deze, maar, dass, ob, weil, falls, dann, als, wie, jetzt, da, nun
""")
COMMON_NOUNS = terms_of("""
template, templates, device, devices, agent, agents, assistant, page, pages, publisher, system,
systems, project, projects, script, scripts, server, servers, service, services, tool, tools, file,
files, folder, build, builds, app, apps, bot, bots, user, users, team, client, clients, customer,
customers, config, configuration, database, memory, model, models, plugin, plugins, dashboard,
website, site, workflow, process, pipeline, deploy, deployment, test, tests, code, data, content,
report, reports, document, documents, docs, list, table, function, feature, features, version,
release, update, updates, cron, job, jobs, task, tasks, queue, cache, gateway, host, network,
router, port, key, keys, token, tokens, command, commands, skill, skills, session, sessions,
message, messages, channel, channels, account, accounts, email, emails, image, images, video,
videos, article, articles, post, posts, thread, threads, installer, backend, frontend, endpoint,
layout, card, cards, button, menu, form, view, views, component, components, module, modules,
package, repo, repos, repository, branch, refactored, extended, tiered, fixed, cannot, everyone
""")
"""Nouns that a sentence about a thing opens with, in capitals as a name would be."""
# Predicates that have one value at a time; "is" counts only between two values of one kind.
SINGLE_VALUED_VERBS = (
    "lives in",
    "live in",
    "works at",
    "work at",
    "works for",
    "work for",
    "works as",
    "work as",
    "is married to",
    "am married to",
    "was born in",
    "was born on",
    "is located in",
    "listens on",
    "runs on",
    "wohnt in",
    "wohne in",
    "lebt in",
    "lebe in",
    "arbeitet bei",
    "arbeite bei",
    "arbeitet als",
    "arbeite als",
    "heißt",
    "heiße",
)
SINGLE_VALUED = (
    *SINGLE_VALUED_VERBS,
    "name",
    "full name",
    "timezone",
    "time zone",
    "editor",
    "email",
    "e-mail",
    "phone",
    "address",
    "birthday",
    "born",
    "age",
    "city",
    "location",
    "home",
    "job",
    "role",
    "employer",
    "language",
    "pronouns",
    "version",
    "port",
    "host",
    "hostname",
    "status",
    "branch",
    "default branch",
    "model",
    "database",
    "owner",
    "deadline",
    "shell",
    "os",
    "zeitzone",
    "adresse",
    "geburtstag",
    "wohnort",
    "sprache",
    "beruf",
    "nombre",
    "edad",
    "ciudad",
    "domicilio",
    "dirección",
    "teléfono",
    "correo",
    "cumpleaños",
    "zona horaria",
    "idioma",
    "trabajo",
    "estado",
    "nom",
    "âge",
    "ville",
    "téléphone",
    "anniversaire",
    "fuseau horaire",
    "langue",
    "métier",
    "statut",
    "nome",
    "idade",
    "cidade",
    "endereço",
    "telefone",
    "aniversário",
    "fuso horário",
    "età",
    "città",
    "indirizzo",
    "telefono",
    "compleanno",
    "fuso orario",
    "lingua",
    "lavoro",
    "alter",
    "telefon",
    "住所",
    "電話番号",
    "誕生日",
    "年齢",
    "职业",
    "地址",
    "电话",
    "年龄",
    "주소",
    "전화번호",
    "나이",
    "часовой пояс",
    "имя",
    "时区",
    "姓名",
    "名字",
    "编辑器",
    "タイムゾーン",
    "名前",
    "이름",
    "시간대",
)
GENERIC_HEADINGS = terms_of("""
memory, memories, note, notes, fact, facts, misc, miscellaneous, general, overview, summary,
inbox, daily, log, logs, journal, index, readme, todo, tasks, info, information, other, stuff,
config, configuration, settings, setup, details, environment, konfiguration, einstellungen,
rtmemory, reflections, procedures, chronicles, dreams, ltmemory, lessons, notizen, erinnerungen,
gedächtnis, allgemein, fakten, übersicht, память, заметки, 记忆, 长期记忆, 笔记, メモ, 記憶, 메모,
기억, format, context, rules, how to apply, why, who i am, who am i, my role, my identity,
identity, about, about me, about your human, local notes, characteristics, examples, none,
links, contexto, contexte, kontext, контекст, identidade, identidad, conversation summary,
related, notas, hechos, geral, general, resumen, resumo, memória, memoria, mémoire, 上下文, 背景,
概要, 개요, current state, status, sections, content, contents,
projects, proyectos, projets, projetos, projekte, progetti, projecten, проекты, 项目,
プロジェクト, 프로젝트, fatti, faits, datos, dados, dati, feiten, факты, 事实, 事実, 사실,
regeln, reglas, règles, regras, regole, правила, ルール, 规则, 규칙, divers, varios, vários,
varie, verschiedenes, sonstiges, разное, 其他, その他, 기타, identité, identität, identità,
сведения, 基本情報, 基本信息, 詳細, 详情, conversation, conversations, chat, conversación,
conversaciones,
charla, conversa,
conversas, gespräch, gespräche, unterhaltung, conversazione, gesprek, разговор, беседа, 会話, 対話,
对话, 聊天, 对话记录, 대화
""") | frozenset(
    (
        "long-term memory",
        "long term memory",
        "daily log",
        "session note",
        "session notes",
        "takeaways",
        "key takeaways",
        "learnings",
        "key facts",
        "lessons learned",
        "lecciones aprendidas",
        "leçons apprises",
        "lições aprendidas",
        "lezioni apprese",
        "geleerde lessen",
        "gelernte lektionen",
        "извлечённые уроки",
        "学んだこと",
        "经验教训",
        "배운 점",
        "user facts",
        "agent memory",
        "things to remember",
    )
)
GENERIC_KEYS = terms_of("""
note, notes, update, important, remember, todo, fyi, tip, warning, info, reminder, context,
summary, example, takeaway, hinweis, wichtig, merke, notiz, achtung
""")
KEY_TYPES = {
    "decision": "decision",
    "entscheidung": "decision",
    "decided": "decision",
    "new rule": "constraint",
    "neue regel": "constraint",
    "nueva regla": "constraint",
    "nouvelle règle": "constraint",
    "nova regra": "constraint",
    "nuova regola": "constraint",
    "новое правило": "constraint",
    "新规则": "constraint",
    "新しいルール": "constraint",
    "todo": "commitment",
    "to do": "commitment",
    "to-do": "commitment",
    "reminder": "commitment",
    "follow-up": "commitment",
    "action item": "commitment",
    "aufgabe": "commitment",
    "erinnerung": "commitment",
    "tarea": "commitment",
    "recordatorio": "commitment",
    "tâche": "commitment",
    "rappel": "commitment",
    "tarefa": "commitment",
    "lembrete": "commitment",
    "compito": "commitment",
    "promemoria": "commitment",
    "taak": "commitment",
    "задача": "commitment",
    "напоминание": "commitment",
    "待办": "commitment",
    "提醒": "commitment",
    "タスク": "commitment",
    "할 일": "commitment",
    "next step": "commitment",
    "next steps": "commitment",
    "próximo paso": "commitment",
    "próximos pasos": "commitment",
    "prochaine étape": "commitment",
    "prochaines étapes": "commitment",
    "nächster schritt": "commitment",
    "nächste schritte": "commitment",
    "próximo passo": "commitment",
    "próximos passos": "commitment",
    "prossimo passo": "commitment",
    "volgende stap": "commitment",
    "следующий шаг": "commitment",
    "次のステップ": "commitment",
    "下一步": "commitment",
    "다음 단계": "commitment",
    "rejected": "decision",
    "descartado": "decision",
    "descartada": "decision",
    "écarté": "decision",
    "écartée": "decision",
    "rejeté": "decision",
    "verworfen": "decision",
    "abgelehnt": "decision",
    "rejeitado": "decision",
    "rechazado": "decision",
    "scartato": "decision",
    "отклонено": "decision",
    "却下": "decision",
    "見送り": "decision",
    "否决": "decision",
    "기각": "decision",
    "决定": "decision",
    "preference": "preference",
    "preferences": "preference",
    "vorliebe": "preference",
    "root cause": "lesson",
    "ursache": "lesson",
    "causa": "lesson",
    "cause": "lesson",
    "oorzaak": "lesson",
    "причина": "lesson",
    "原因": "lesson",
    "원인": "lesson",
    "lesson": "lesson",
    "lesson learned": "lesson",
    "lessons learned": "lesson",
    "learned": "lesson",
    "learnt": "lesson",
    "gelernt": "lesson",
    "aprendido": "lesson",
    "appris": "lesson",
    "imparato": "lesson",
    "geleerd": "lesson",
    "lektion": "lesson",
    "constraint": "constraint",
    "rule": "constraint",
    "regel": "constraint",
    "规则": "constraint",
    "commitment": "commitment",
    "deadline": "commitment",
    "due": "commitment",
    "frist": "commitment",
    "goal": "aspiration",
    "dream": "aspiration",
    "wish": "aspiration",
    "milestone": "milestone",
    "question": "open_question",
    "open question": "open_question",
    "name": "identity",
    "full name": "identity",
    "birthday": "identity",
    "born": "identity",
    "age": "identity",
    "pronouns": "identity",
    "geburtstag": "identity",
    "姓名": "identity",
    "名字": "identity",
    "名前": "identity",
    "имя": "identity",
    "이름": "identity",
    "wife": "relationship",
    "husband": "relationship",
    "partner": "relationship",
    "brother": "relationship",
    "sister": "relationship",
    "boss": "relationship",
    "manager": "relationship",
    "frau": "relationship",
    "mann": "relationship",
    "chef": "relationship",
    "favorite": "preference",
    "favourite": "preference",
    "procedure": "procedure",
    "how to": "method",
    "workflow": "method",
    "decisión": "decision",
    "decisiones": "decision",
    "décision": "decision",
    "décisions": "decision",
    "decisão": "decision",
    "decisões": "decision",
    "decisione": "decision",
    "besluit": "decision",
    "решение": "decision",
    "決定": "decision",
    "결정": "decision",
    "preferencia": "preference",
    "preferencias": "preference",
    "préférence": "preference",
    "préférences": "preference",
    "preferência": "preference",
    "preferências": "preference",
    "preferenza": "preference",
    "voorkeur": "preference",
    "предпочтение": "preference",
    "好み": "preference",
    "선호": "preference",
    "lección": "lesson",
    "leçon": "lesson",
    "lição": "lesson",
    "lezione": "lesson",
    "aprendizaje": "lesson",
    "урок": "lesson",
    "вывод": "lesson",
    "教训": "lesson",
    "教訓": "lesson",
    "교훈": "lesson",
    "erkenntnis": "lesson",
    "regla": "constraint",
    "règle": "constraint",
    "regra": "constraint",
    "regola": "constraint",
    "restricción": "constraint",
    "límite": "constraint",
    "limite": "constraint",
    "правило": "constraint",
    "ルール": "constraint",
    "규칙": "constraint",
    "verbot": "constraint",
    "plazo": "commitment",
    "échéance": "commitment",
    "prazo": "commitment",
    "scadenza": "commitment",
    "срок": "commitment",
    "締切": "commitment",
    "期限": "commitment",
    "마감": "commitment",
    "compromiso": "commitment",
    "objetivo": "aspiration",
    "objectif": "aspiration",
    "obiettivo": "aspiration",
    "ziel": "aspiration",
    "цель": "aspiration",
    "目标": "aspiration",
    "目標": "aspiration",
    "목표": "aspiration",
    "sueño": "aspiration",
    "rêve": "aspiration",
    "sonho": "aspiration",
    "hito": "milestone",
    "jalon": "milestone",
    "traguardo": "milestone",
    "meilenstein": "milestone",
    "里程碑": "milestone",
    "pregunta": "open_question",
    "pergunta": "open_question",
    "domanda": "open_question",
    "frage": "open_question",
    "вопрос": "open_question",
    "nombre": "identity",
    "nom": "identity",
    "nome": "identity",
    "nombre completo": "identity",
    "cumpleaños": "identity",
    "anniversaire": "identity",
    "aniversário": "identity",
    "compleanno": "identity",
    "pronombres": "identity",
    "pronoms": "identity",
    "pronomes": "identity",
    "edad": "identity",
    "âge": "identity",
    "idade": "identity",
    "età": "identity",
    "alter": "identity",
    "生日": "identity",
    "誕生日": "identity",
    "생일": "identity",
    "年齢": "identity",
    "年龄": "identity",
    "esposa": "relationship",
    "esposo": "relationship",
    "marido": "relationship",
    "pareja": "relationship",
    "hermano": "relationship",
    "hermana": "relationship",
    "jefe": "relationship",
    "jefa": "relationship",
    "mari": "relationship",
    "épouse": "relationship",
    "frère": "relationship",
    "sœur": "relationship",
    "conjoint": "relationship",
    "conjointe": "relationship",
    "irmão": "relationship",
    "irmã": "relationship",
    "chefe": "relationship",
    "moglie": "relationship",
    "marito": "relationship",
    "fratello": "relationship",
    "sorella": "relationship",
    "capo": "relationship",
    "bruder": "relationship",
    "schwester": "relationship",
    "partnerin": "relationship",
    "жена": "relationship",
    "муж": "relationship",
    "брат": "relationship",
    "сестра": "relationship",
    "妻": "relationship",
    "夫": "relationship",
    "配偶": "relationship",
}
COURTESIES = """
hi, hello, hey, hallo, good morning, good afternoon, good evening, good night, guten morgen,
bye, goodbye, see you, tschüss, thanks, thank you, thx, danke, ok, okay, k, yes, no, yep,
nope, sure, great, nice, cool, perfect, done, got it, sounds good, will do, understood,
noted, alright, ja, nein, gut, alles klar, verstanden, haha*, hehe*, lol, lmao, rofl, hmm*,
that's all, that is all, all done, eso es todo, nada más, por hoy, hasta mañana, rien d'autre,
c'est tout, pour aujourd'hui, à demain, das war's, das wars, für heute, bis morgen, é isso,
nada mais,
por hoje, até amanhã, è tutto, per oggi, a domani, dat was het, на сегодня всё, это всё,
以上です, 了解です, 承知です, bien noté, bien reçu, 以上, 宜しくお願いします, よろしくお願いします,
よろしくお願いいたします, お疲れ様でした,
お疲れさまでした, 承知しました, 了解しました, かしこまりました, 就这样, 辛苦了, 收到, 이상입니다,
수고하셨습니다, 알겠습니다,
uh, um, well, right, np, no problem, no worries, at all, welcome, you're welcome, anytime,
see you later, see you soon, talk soon, take care, good luck, sure thing, so much, very much,
a lot, please, спасибо, привет, да, нет, хорошо, ок, хаха*, 你好, 谢谢, 好的, 嗯, 哈哈, 是的,
再见, ありがとう, こんにちは, はい,
いいえ, 了解, おはよう, 감사합니다, 안녕하세요, 네, 아니요, hola, gracias, bonjour, merci,
salut, adiós,
buenos días, buenas noches, buenas tardes, de nada, vale, perfecto, entendido, bom dia,
boa noite, obrigado, obrigada, de nada, entendi, bonsoir, bonne nuit, d'accord, entendu,
parfait, buongiorno, grazie, prego, va bene, capito, dank je, bedankt
"""
