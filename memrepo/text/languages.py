"""Which language a text is in, by its small words and letters, and the small words of each.

Written by hand from general usage. A word that says much in another language of the table (German
`die`, English `die`) counts by the company it keeps: the language with most of a text's small words
is the text's, and English where none has more.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memrepo.core.ids import normalise, visible
from memrepo.core.patterns import regex

ENGLISH = "english"
COMPOUNDING = frozenset(
    ("german", "dutch", "swedish", "danish", "norwegian", "finnish", "hungarian")
)
"""Languages that write what belongs together as one word."""
_SMALL = {
    ENGLISH: """
a about after again all also am an and any are as at back be been before being but by can could d
did do does doing down during each ever few for from get gets getting got had has have having he
her here hers herself him himself his how i if in into is it its itself just kind ll m me might
mine more most my myself no nor not now of off on once one only or other our ours out over own re s
same shall she should so some such t than that the their theirs them themselves then there these
they this those through to too under until up us ve very was we were what when where which while
who whom whose why will with would you your yours im ive dont doesnt didnt isnt arent wasnt werent
cant couldnt wont wouldnt shouldnt hasnt havent hadnt youre youve theyre weve hes shes thats whats
whos wheres theres lets
""",
    "german": """
aber als am an auch auf aus bei beim bin bis da das dass dein deine dem den denn der des dich die
dir doch du durch ein eine einem einen einer eines er es euch für gibt habe haben hat hatte hatten
ich ihm ihn ihr ihre ihren im in ist ja kann kein keine können man mein meine meinem meinen meiner
mich mir mit muss nach nicht noch nun nur ob oder ohne schon sein seine seit sich sie sind so über
um und uns unser unsere unter vom von vor wann war waren warum was wegen weil welche welchem
welchen welcher welches wem wen wenn wer werden wie wieder wird wir wo wohin woher worden wurde
wurden zu zum zur zwischen
""",
    "french": """
à au aux avec avoir avons avez ai as a ce ces cet cette c comme comment d dans de depuis des du
elle elles en est et été être eu fait fut il ils j je jusque l la le les leur leurs lui m ma mais
me mes moi mon n ne nos notre nous on ont ou où par pas pendant plus pour pourquoi qu quand que
quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi ton
très tu un une vos votre vous y combien
""",
    "spanish": """
a al algo ante con como cómo cual cuál cuáles cuando cuándo cuanto cuánto cuántos cuántas de del
desde donde dónde dos el él ella ellas ellos en entre era es esa ese eso esta está están este esto
fue fueron ha han hasta hay he la las le les lo los más me mi mis mucho muy ni no nos nosotros
nuestra nuestro o para pero por porque qué que quien quién quiénes se ser si sí sido sin sobre son
su sus también te tengo tiene tienen tu tus un una uno unos y ya yo
""",
    "italian": """
a ad ai al alla alle agli allo anche c che chi ci come con cosa cui d da dai dal dalla dalle degli
dei del della delle dello di dove e è ed era erano fra gli ha hai hanno ho i il in io l la le lei
li lo loro lui ma mi mia mie miei mio ne nei nel nella nelle no noi non nostra nostro o per perché
più quale quali quando quanto quanti quante quella quello questa questo s se sei si sia sono stata
stato su sua sul sulla suo tra tu tua tuo un una uno vi voi
""",
    "portuguese": """
a à ao aos as às com como da das de dela dele delas deles depois do dos e é ela elas ele eles em
entre era essa esse esta está este eu foi foram há isso isto já lhe mais mas me meu meus minha
minhas muito na nas não nem no nos nós nossa nosso o onde os ou para pela pelas pelo pelos por
porque qual quais quando quanto quantos quantas que quê quem se sem ser seu seus são só sua suas
também te tem têm tenho um uma umas uns você vocês
""",
    "dutch": """
aan al als bij daar dan dat de den der deze die dit door een en er ge geen had hadden heb hebben
heeft het hem hen hier hij hoe hoeveel hun ik in is ja je jij jouw jullie kan kunnen maar me met
mij mijn moet na naar niet nog nu of om omdat onder ons onze ook op over te tegen toch toen tot
tussen uit u uw van veel voor waar waarom wanneer want waren was wat we welk welke werd werden wie
wij wil worden wordt zal ze zei zich zij zijn zo zonder zou
""",
    "swedish": """
alla att av blev bli den det detta dig din dina du där efter eller en er ett från för ha hade han
har hans hennes hon hur i inte jag kan man med mellan men mig min mina mitt när ni nu någon något
några och om oss på sedan sig sin sina sitt skulle som till under upp ut vad var varför vem vems vi
vid vilka vilken vilket vår våra är över hos bakom framför kring utan
""",
    "danish": """
af alle at blev blive da de dem den der det dig din disse dit du efter eller en end er et for fordi
fra ham han hans har have havde hende her hun hvad hvem hvis hvilke hvilken hvilket hvor hvordan
hvorfor hvornår i ikke ind jeg kan man med mellem men mig min mine mit mod ned noget nogle nu når og
også om op os over på sig sin skal som til ud under var ved vi vil vores være været hos bag foran
omkring uden
""",
    "norwegian": """
av alle at ble bli både da de deg dem den denne der det dette din du eller en enn er et etter for
fordi fra ha hadde ham han hans har hennes her hun hva hvem hvilke hvilken hvilket hvor hvordan
hvorfor i ikke inn jeg kan man med meg mellom men mer min mine mitt mot ned noe noen nå når og også
om opp oss over på seg sin skal som til ut under var ved vi vil være vært vår våre hos bak foran
rundt uten
""",
    "finnish": """
ei en et että hän hänen hänellä he heidän ja jo jos joka jonka jotka kanssa keitä kenen kenellä
ketä koska kuin kuinka kuka kun meidän me mikä miksi millä millainen missä mistä mihin milloin minä
minun minulla mitä mitkä mutta myös ne niin nyt ole oli olen olet olivat on ovat se sen siellä
sillä sinä sinun tai tämä tämän te vai vain ennen jälkeen joka mukaan
""",
    "polish": """
a aby albo ale być był była było były bo bez będzie ci co czy dla do gdy gdzie go i ich ile im ja
jak jaka jaki jakie jako je jego jej jest jestem kiedy kim kogo komu kto która które którego której
który ma mam mają mi mnie moja moje mój mną na nad nie nim nich o od on ona one oni oraz po pod
przed przez przy są się skąd ta tak także tam te tego tej ten to tu twój ty u w we wszystko z za ze
że
""",
    "czech": """
a aby ale ano asi až bez by byl byla bylo byly být co co či do ho i já jak jaká jaké jaký jako je
jeho její jejich jen jsem jsi jsme jsou k kam kde kdo kdy kolik která které který když ke má mají
máme mé mezi mi mně moje mu můj na nad nebo nejsou není než ni o od on ona oni pak po pod podle pro
proč protože před přes při s se si své ta tak také tam ten to tu ty u už v ve však z za ze že
""",
    "hungarian": """
a abban az azt be csak de e egy el és ez ezt fel ha hány hogy hogyan hol honnan hová is itt ki
kinek kit le lesz már meg melyik mennyi mert mi miért mikor milyen mint mit most ne nem nincs ő ők
on ott össze s sem szerint után vagy van vannak volt voltak
""",
    "romanian": """
a acest această aceasta ai al ale am ar are as au avea ca care când cât câte câți ce cei cel cine
cu cum cui da dar de deci din după ea ei el ele era este eu fi fie fost iar îi îl în între îmi își
la le lor lui mai mea mele meu mi ne nici noi nu o or pe pentru prin sa să sale sau se și spre sunt
te ti tu un una unde unei unui va vă voi
""",
    "turkish": """
acaba ama ancak bana bazı ben beni benim bir biz bizim bu bunu çok da daha de değil diye en gibi
hangi hem her hiç için ile ise kaç kadar ki kim kime kimin mı mi mu mü nasıl ne neden nerede nereye
nereden niçin niye o olan olarak oldu on ona onu onun sen senin siz şu tüm ve veya ya var vardı yok
""",
    "indonesian": """
ada adalah aku akan apa apakah atau bagaimana bahwa belum berapa bisa dalam dan dapat dari dengan
di dia hanya harus ia ini itu juga kami kamu kapan karena ke kepada kita lebih mana mereka oleh
pada saat saya sebagai sedang seorang siapa sudah telah tetapi tidak untuk yang
""",
    "russian": """
а без более бы был была были было в вам вас весь во вот все всё вы где да для до его ее её ей ему
если есть еще ещё же за и из или им их к как какая какие какой какую когда кого кому которая
которые который кто куда ли между меня мне мной мой моя моё мои мы на над надо нам нас не него нее
нет ни них но ну о об она они оно он от откуда по под почему при про с сам свой себя сколько со так
также там тебя тем то того тоже той только том ты у уже что чтобы чей чья чём чем эта эти это этого
этот я
""",
    "ukrainian": """
а або але без був була були було в вам вас ви від він вона вони воно все де для до його її їх за з
зі і із й коли кого кому котрий хто куди між мене мені ми мій моя на над нам нас не немає ні о про
по під при саме свій скільки та так також там те ти тільки то той у уже цей ця це чи чий чому що
щоб як яка яке який які я
""",
    "greek": """
ο η το οι τα του της των τον την τους τις στο στη στην στον στα στις στους και να με σε για από
είναι ήταν έχει έχω που πού πότε ποιος ποια ποιο ποιον πώς πόσο πόσα πόσες γιατί τι δεν θα μου σου
μας σας ένα ένας μια αλλά ή αν όταν όπως κατά μετά πριν
""",
    "arabic": """
من في على إلى عن مع هذا هذه ذلك التي الذي كان كانت هو هي هم أنا نحن ما ماذا متى أين كيف كم لماذا هل
أي و أو ثم أن إن لا لم لن قد كل بعد قبل بين عند
""",
    "hindi": """
का की के को में से पर ने है हैं था थी थे हो और या यह वह ये वे मैं हम तुम आप मेरा मेरी मेरे क्या कब
कहाँ कैसे कौन क्यों कितना कितने कितनी किस किसने किसका कर लिए तक भी ही नहीं तो एक
""",
}
_LETTERS = {
    "german": "ß",
    "spanish": "ñ¿¡",
    "portuguese": "ãõ",
    "danish": "æø",
    "norwegian": "æø",
    "polish": "łżźćńśąę",
    "czech": "ěřůťď",
    "hungarian": "őű",
    "turkish": "ğış",
    "romanian": "țșă",
    "swedish": "å",
    "french": "œçèêùû",
    "italian": "ìò",
    "ukrainian": "іїєґ",
}
"""Letters that few other languages have; those of a text count as two small words."""
_SCRIPTS = (
    ("russian", regex("[\u0400-\u04ff]")),
    ("greek", regex("[\u0370-\u03ff]")),
    ("arabic", regex("[\u0600-\u06ff]")),
    ("hindi", regex("[\u0900-\u097f]")),
    ("tamil", regex("[\u0b80-\u0bff]")),
    ("armenian", regex("[\u0530-\u058f]")),
)
"""The language of a script where no small word says more."""


_SURE = 2
"""So many small words make a language: one alone may be a name."""
_ACCENT = 200
"""Canonical combining classes from here on are accents; below stand viramas and voicing marks."""


def fold(text: str) -> str:
    """Return the text in one spelling: NFKC, case-folded, without accents or invisible signs."""
    return visible(text).lower() if text.isascii() else bare(normalise(text))


def bare(text: str) -> str:
    """Return a text without its accents."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    kept = "".join(c for c in parts if unicodedata.combining(c) < _ACCENT)
    return unicodedata.normalize("NFC", kept)


def language_asked(found: Iterable[str], text: str) -> str:
    """Return the language of a question, which is short: one small word tells, if none is English.

    Where it misleads little is lost: a question is also asked by the rules of English.
    """
    return language_of(found, text, sure=1)


def rivals_asked(found: Iterable[str], text: str) -> list[str]:
    """Return the other languages for which a question says as much: `do` is Portuguese too."""
    votes = _votes(found, text)
    best, told = max(votes.values(), default=0), language_asked(found, text)
    return [one for one in _order() if best and votes[one] == best and one != told]


def language_of(found: Iterable[str], text: str, sure: int = _SURE) -> str:
    """Return the language of a text by its folded words; `text` is as written."""
    votes = _votes(found, text)
    best = max(votes.values(), default=0)
    if best < sure or votes[ENGLISH] == best:
        return ENGLISH
    return next(language for language in _order() if votes[language] == best)


def _votes(found: Iterable[str], text: str) -> Counter[str]:
    """Return by language how many small words of it a text holds; rare letters count as two."""
    table = _by_word()
    small = [word for word in found if word in table]
    votes = Counter([language for word in small for language in table[word]])
    if not text.isascii():
        low = frozenset(text.casefold())
        for language, letters in _LETTERS.items():
            if not low.isdisjoint(letters):
                votes[language] += _SURE
        for language, script in _SCRIPTS:
            if 2 * len(script.findall(text)) > sum(map(str.isalpha, text)):
                votes[language] += _SURE
                votes[ENGLISH] = 0
                break
    return votes


@lru_cache(maxsize=1)
def small_words() -> Mapping[str, frozenset[str]]:
    """Return the small words of each language, folded."""
    return {language: frozenset(fold(told).split()) for language, told in _SMALL.items()}


@lru_cache(maxsize=1)
def _by_word() -> Mapping[str, tuple[str, ...]]:
    """Return the languages of each small word; one letter alone tells none."""
    table: dict[str, tuple[str, ...]] = {}
    for language, found in small_words().items():
        for word in found:
            if len(word) > 1 or not word.isascii():
                table[word] = (*table.get(word, ()), language)
    return table


@lru_cache(maxsize=1)
def _order() -> tuple[str, ...]:
    return (*_SMALL, *(language for language, _ in _SCRIPTS if language not in _SMALL))
