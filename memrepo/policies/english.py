"""English words that a stemmer leaves apart though they are one: forms, short forms, spellings.

Written by hand from general usage. A form that more often is another word (rose, wound, bit) is
left out, since it would join what has nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator

_FORMS = """
airplane: plane aeroplane, apologize: apologise, april: apr, august: aug, become: became, begin:
began begun, behavior: behaviour, bend: bent, bicycle: bike, bite: bitten, bleed: bled, blow:
blew blown, break: broke broken, breed: bred, bring: brought, build: built, burn: burnt, buy:
bought, catalog: catalogue, catch: caught, center: centre, child: children kid kids kiddo,
choose: chose chosen, cling: clung, color: colour, come: came, cozy: cosy, creep: crept, deal:
dealt, december: dec, dig: dug, doughnut: donut, draw: drew drawn, dream: dreamt, drink: drank
drunk, drive: drove driven, eat: ate eaten, fall: fell fallen, family: fam, father: dad daddy
papa, favorite: favourite fave fav, february: feb, feed: fed, feel: felt, fight: fought, find:
found, flavor: flavour, flee: fled, fly: flew flown, foot: feet, forbid: forbade forbidden,
forget: forgot forgotten, forgive: forgave forgiven, freeze: froze frozen, give: gave given, go:
went gone, grandfather: grandpa granddad, grandmother: grandma granny nana, gray: grey, grow:
grew grown, hang: hung, harbor: harbour, hear: heard, hide: hid hidden, hold: held, honor:
honour, humor: humour, information: info, january: jan, jewelry: jewellery, keep: kept, kneel:
knelt, knife: knives, know: knew known, labor: labour, laboratory: lab, lay: laid, lead: led,
lean: leant, leap: leapt, learn: learnt, leave: left, lend: lent, license: licence, lose: lost,
make: made, man: men, mathematics: math maths, mean: meant, meet: met, mold: mould, mother: mom
mommy mum mama, mouse: mice, movie: film, mow: mown, neighbor: neighbour, november: nov,
october: oct, organize: organise, overcome: overcame, pajamas: pyjamas, pay: paid, person: people
persons, photo: photograph photography pic, practice: practise, program: programme, prove:
proven, realize: realise, rebuild: rebuilt, recognize: recognise, refrigerator: fridge, rewrite:
rewrote rewritten, ride: rode ridden, ring: rang rung, rise: risen, run: ran, say: said, see: saw
seen, seek: sought, sell: sold, send: sent, september: sep sept, sew: sewn, shake: shook shaken,
shelf: shelves, shine: shone, shoot: shot, show: shown, shrink: shrank shrunk, sing: sang sung,
sink: sank sunk, sit: sat, sleep: slept, slide: slid, speak: spoke spoken, spend: spent, spin:
spun, spring: sprang sprung, stand: stood, steal: stole stolen, stick: stuck, sting: stung,
strike: struck stricken, strive: strove striven, swear: swore sworn, sweep: swept, swim: swam
swum, swing: swung, take: took taken, teach: taught, tear: tore torn, telephone: phone,
television: tv telly, tell: told, theater: theatre, think: thought, throw: threw thrown, tire:
tyre, tooth: teeth, understand: understood, undertake: undertook undertaken, undo: undid undone,
wake: woke woken awoke awoken, wear: wore worn, weave: wove woven, weep: wept, wife: wives, win:
won, withdraw: withdrew withdrawn, withstand: withstood, wolf: wolves, woman: women, wring:
wrung, write: wrote written
"""


def forms() -> Iterator[tuple[str, str]]:
    """Yield each irregular or other form with the word it stands for: `went`, `go`."""
    yield from ((form, base) for base, found in _rows(_FORMS) for form in found)


def _rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the words of a table, each with what stands behind its colon."""
    for row in table.split(","):
        base, _, found = row.partition(":")
        yield base.strip(), found.split()
