"""English words that belong together: forms of one word, and what is of a kind.

Written by hand from general usage: what a stemmer leaves apart though it is one word (irregular
and short forms, other spellings), and of kinds that people ask for (`which pets?`) words that
answers hold in their place. A form that more often is another word (rose, wound, bit) is
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
_KINDS = """
accident: crash collision hurt, achievement: award prize medal trophy won degree, activity:
hiking swimming camping painting running yoga dancing cooking biking fishing skiing gardening,
animal: dog cat bird horse turtle bear fish elephant deer rabbit lion snake cow sheep fox wolf,
appliance: refrigerator oven stove dishwasher washer dryer microwave toaster, art: painting
drawing sculpture pottery, artist: painter singer sculptor band musician, athlete: player runner
swimmer, award: prize trophy medal, baby: newborn infant pregnant birth, beverage: drink coffee
tea, birthday: turned, body: arm leg back knee shoulder ankle head, book: novel read author story
fiction memoir, building: house tower church hotel office castle, business: company shop store
startup studio client, buy: purchase order, cause: reason because, car: truck drive vehicle van,
career: job work profession, charity: donate fundraiser volunteer, child: son daughter kid baby,
city: paris london rome barcelona berlin tokyo seattle chicago boston madrid sydney vienna dublin
amsterdam, class: course lesson workshop, clothes: shirt dress shoe jacket coat hat jeans
sweater, color: red blue green yellow purple pink orange black white brown, company: firm
business employer, computer: laptop desktop server machine, country: canada france italy germany
england spain sweden japan india china mexico ireland scotland brazil australia greece, course:
class lesson training, date: day, degree: university college bachelor master phd graduate,
dessert: cake pie cookie chocolate mousse tart pudding brownie cupcake, device: phone laptop
tablet watch camera, diet: vegetarian vegan gluten, disease: cancer diabetes flu, dish: recipe
pasta soup salad stew curry roast chicken, drink: coffee tea beer wine juice water soda smoothie
cocktail, emotion: happy sad excited proud nervous scared grateful anxious angry, enjoy: love
like, event: concert festival party wedding parade conference fair exhibition tournament,
exercise: run gym yoga workout walk swim training pilates, family: mother father sister brother
son daughter child wife husband parent cousin, favorite: love best, feel: happy sad excited proud
nervous scared grateful anxious, fish: salmon trout goldfish, flower: rose tulip sunflower daisy
lily orchid, food: meal pizza pasta salad soup bread cake cheese chicken rice sandwich steak
dinner lunch breakfast snack, friend: buddy pal, fruit: apple banana orange berry grape lemon
mango peach, furniture: chair table sofa couch bed desk shelf, game: play video console board
chess card tournament, gift: present gave, goal: plan dream hope want, health: doctor hospital
diet sick, hobby: painting reading cooking gardening hiking photography writing fishing dancing
knitting enjoy, holiday: christmas thanksgiving easter halloween vacation, home: house apartment,
hospital: doctor nurse surgery, hotel: stay resort hostel, house: home apartment, illness: sick
disease cancer flu fever, injury: hurt broken ankle sprain, instrument: guitar piano violin drum
flute clarinet cello saxophone keyboard trumpet, interest: hobby enjoy passion, jewelry: necklace
ring bracelet earring, job: work career company position hire employ, kind: type, language:
english spanish french german italian chinese japanese, like: love enjoy, live: move home
apartment, meal: dinner lunch breakfast brunch, medicine: pill drug dose prescription, money:
dollar euro pay cost price salary budget, month: january february march april may june july
august september october november december, movie: watch cinema, music: song band concert album
singer jazz rock pop, musician: singer band artist guitarist, name: call, occupation: job work
profession, painting: art canvas draw, parent: mother father, partner: husband wife boyfriend
girlfriend, pain: hurt ache, pet: dog cat puppy kitten turtle hamster rabbit parrot fish bird
snake, picture: photo image, place: park beach mountain lake museum forest restaurant cafe city
visit, plan: going want hope, plant: tree flower garden, present: gift, problem: issue trouble
difficult bug error, profession: job career, project: build work, programming: python java rust
code, purchase: buy order, reason: because since, relative: aunt uncle cousin grandmother
grandfather, restaurant: cafe dinner diner bar, salary: pay income, school: class teacher student
college university, season: summer winter spring autumn fall, series: episode show, setback: lose
fail injury reject, show: series episode television, sibling: brother sister, software: app
program tool, sport: basketball football soccer tennis baseball hockey golf swimming running
cycling surfing skiing climbing, start: begin, state: california florida texas oregon washington
colorado michigan minnesota alaska arizona ohio virginia, subject: math science history, swim:
pool beach, teacher: coach professor instructor, team: coach player, tool: hammer drill saw
software, transport: car bus train bicycle, travel: trip visit flight vacation, trip: travel
vacation visit journey, university: college campus degree, vacation: trip holiday travel,
vegetable: carrot potato tomato onion pepper, vehicle: car truck bicycle motorcycle bus van,
volunteer: help shelter charity, weather: rain snow sun storm wind, wedding: marry bride,
weekend: saturday sunday, workout: gym exercise training
"""

_ABBREVIATIONS = """
agm: annual general meeting, ai: artificial intelligence, aka: also known as, api: application
programming interface, asap: soon possible, atm: cash machine, bday: birthday, ceo: chief executive
officer, cfo: chief financial officer, ci: continuous integration, cpu: processor, crm: customer
relationship management, cto: chief technology officer, cv: curriculum vitae resume, db: database,
dept: department, dns: domain name system, dob: date birth born, diy: do yourself, eod: end day,
eta: estimated time arrival, faq: frequently asked questions, fyi: information, gdpr: general data
protection regulation, gp: general practitioner doctor, gpu: graphics card, hoa: homeowners
association, hq: headquarters head office, hr: human resources, id: identifier identity, ide:
editor, kpi: key performance indicator, llm: large language model, ml: machine learning, mri:
magnetic resonance, mvp: minimum viable product, nda: non disclosure agreement, ngo: non
governmental organisation, okr: objectives key results, ooo: out office, os: operating system, pc:
computer, phd: doctorate, pm: project manager, poc: proof concept, pr: pull request, prod:
production, pto: paid time off, qa: quality assurance, rsvp: reply, saas: software service, sdk:
software development kit, seo: search engine optimisation, sla: service level agreement, sso: single
sign on, tbd: determined, tos: terms service, tsa: airport security, uk: united kingdom, un: united
nations, url: web address, usa: united states, ux: user experience, vat: value added tax, vp: vice
president, vpn: virtual private network, wfh: work from home, wip: work progress, yoy: year
"""


def abbreviations() -> Iterator[tuple[str, list[str]]]:
    """Yield each abbreviation with the words it stands for, small ones left out."""
    yield from _rows(_ABBREVIATIONS)


def forms() -> Iterator[tuple[str, str]]:
    """Yield each irregular or other form with the word it stands for: `went`, `go`."""
    yield from ((form, base) for base, found in _rows(_FORMS) for form in found)


def kinds() -> Iterator[tuple[str, list[str]]]:
    """Yield each word for a kind with words of that kind: `pet`, [`dog`, `cat`]."""
    yield from _rows(_KINDS)


def _rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the words of a table, each with what stands behind its colon."""
    for row in table.split(","):
        base, _, found = row.partition(":")
        yield base.strip(), found.split()
