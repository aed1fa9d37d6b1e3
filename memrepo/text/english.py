"""English words that belong together: forms of one word, and what is of a kind.

Written by hand from general usage: what a stemmer leaves apart though it is one word (irregular
and short forms, other spellings), and of kinds that people ask for (`which pets?`) words that
answers hold in their place. A form that more often is another word (rose, wound, bit) is
left out, since it would join what has nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator

_FORMS = """
airplane: plane aeroplane, analysis: analyses, apologize: apologise, april: apr, august: aug,
become: became, begin: began begun, behavior: behaviour, bend: bent, bicycle: bike, bite:
bitten, bleed: bled, blow: blew blown, break: broke broken, breed: bred, bring: brought, build:
built, burn: burnt, buy: bought, cactus: cacti, calf: calves, catalog: catalogue, catch: caught,
center: centre, child: children kid kids kiddo, choose: chose chosen, cling: clung, color:
colour, come: came, cozy: cosy, creep: crept, crisis: crises, criterion: criteria, curriculum:
curricula, deal: dealt, december: dec, diagnosis: diagnoses, dig: dug, doughnut:
donut, draw: drew drawn, dream: dreamt, drink: drank drunk, drive: drove driven, eat: ate eaten,
elf: elves, fall: fell fallen, family: fam, father: dad daddy papa, favorite: favourite fave
fav, february: feb, feed: fed, feel: felt, fight: fought, find: found, flavor: flavour, flee:
fled, fly: flew flown, foot: feet, forbid: forbade forbidden, forget: forgot forgotten, forgive:
forgave forgiven, freeze: froze frozen, fungus: fungi, give: gave given, go: went gone, goose:
geese, grandfather: grandpa granddad, grandmother: grandma granny nana, gray: grey, grow: grew
grown, half: halves, hang: hung, harbor: harbour, hear: heard, hide: hid hidden, hold: held,
honor: honour, humor: humour, hypothesis: hypotheses, index: indices, information: info,
january: jan, jewelry: jewellery, keep: kept, kneel: knelt, knife: knives, know: knew known,
labor: labour, laboratory: lab, lay: laid, lead: led, lean: leant, leap: leapt, learn: learnt,
leave: left, lend: lent, license: licence, loaf: loaves, lose: lost, louse: lice, make: made,
man: men, mathematics: math maths, matrix: matrices, mean: meant, meet: met, mold: mould,
mother: mom mommy mum mama, mouse: mice, movie: film, mow: mown, neighbor: neighbour, november:
nov, october: oct, organize: organise, overcome: overcame, ox: oxen, pajamas: pyjamas, pay:
paid, person: people persons, phenomenon: phenomena, photo: photograph photography pic,
practice: practise, program: programme, prove: proven, realize: realise, rebuild: rebuilt,
recognize: recognise, refrigerator: fridge, rewrite: rewrote rewritten, ride: rode ridden, ring:
rang rung, rise: risen, run: ran, say: said, scarf: scarves, see: saw seen, seek: sought, sell:
sold, send: sent, september: sep sept, sew: sewn, shake: shook shaken, shelf: shelves, shine:
shone, shoot: shot, show: shown, shrink: shrank shrunk, sing: sang sung, sink: sank sunk, sit:
sat, sleep: slept, slide: slid, speak: spoke spoken, spend: spent, spin: spun, spring: sprang
sprung, stand: stood, steal: stole stolen, stick: stuck, sting: stung, strike: struck stricken,
strive: strove striven, swear: swore sworn, sweep: swept, swim: swam swum, swing: swung, take:
took taken, teach: taught, tear: tore torn, telephone: phone, television: tv telly, tell: told,
theater: theatre, thesis: theses, thief: thieves, think: thought, throw: threw thrown, tire:
tyre, tooth: teeth, understand: understood, undertake: undertook undertaken, undo: undid undone,
vertex: vertices, wake: woke woken awoke awoken, wear: wore worn, weave: wove woven, weep: wept,
wife: wives, win: won, withdraw: withdrew withdrawn, withstand: withstood, wolf: wolves, woman:
women, wring: wrung, write: wrote written
"""
_KINDS = """
accident: crash collision hurt, achievement: award prize medal trophy won degree, activity: hiking
swimming camping painting running yoga dancing cooking biking fishing skiing gardening play watch
read walk travel reading badminton tennis swim hike shopping camp paint run dance cook bike fish ski
garden gym movie concert bake draw sing climb bowling game sport fun, advice: should suggest
recommend try maybe, ailment: pain ache cold flu fever cough headache throat sick stomach covid
infection allergy nausea dizzy migraine runny sneeze injury sore, allergy: allergic intolerant,
animal: dog cat bird horse turtle bear fish elephant deer rabbit lion snake cow sheep fox wolf pig
goat duck chicken mouse monkey tiger whale dolphin bee spider squirrel puppy kitten hamster parrot
crab shark crocodile alligator giraffe zebra hippo rhino kangaroo koala panda gorilla ape frog toad
lizard octopus penguin owl eagle crow pigeon hen rooster turkey lamb donkey camel ferret hedgehog
raccoon otter seal bat rat moose butterfly ant wasp bug insect, appliance: refrigerator oven stove
dishwasher washer dryer microwave toaster, appointment: meeting call visit, art: painting drawing
sculpture pottery, artist: painter singer sculptor band musician, athlete: player runner swimmer,
award: prize trophy medal, baby: newborn infant pregnant birth, bedroom: bed sleep, beverage: drink
coffee tea beer wine juice water soda smoothie cocktail milk latte, birthday: turned, body: arm leg
back knee shoulder ankle head, book: novel read author story fiction memoir reading, boyfriend:
partner date, breakfast: egg toast pancake cereal coffee, building: house tower church hotel office
castle, business: company shop store startup studio client, buy: purchase order, car: truck drive
vehicle van, career: job work profession, cause: reason because, celebrate: party birthday dinner,
celebrity: actor singer star, charity: donate fundraiser volunteer, child: son daughter kid baby,
chore: clean laundry dishes vacuum, cinema: movie theater film, city: paris london rome barcelona
berlin tokyo seattle chicago boston madrid sydney vienna dublin amsterdam miami orlando vegas
houston dallas denver atlanta philadelphia phoenix detroit toronto montreal athens prague budapest
istanbul dubai singapore milan venice florence naples lisbon porto munich hamburg frankfurt cologne
zurich geneva brussels copenhagen stockholm oslo helsinki warsaw moscow kyiv cairo marrakech nairobi
lagos johannesburg jerusalem beijing shanghai seoul osaka kyoto bangkok hanoi manila jakarta mumbai
delhi melbourne brisbane auckland vancouver havana bogota lima santiago buenos rio austin nashville
orleans portland cleveland pittsburgh baltimore honolulu tampa sacramento francisco angeles york,
class: course lesson workshop, clothes: shirt dress shoe jacket coat hat jeans sweater, color: red
blue green yellow purple pink orange black white brown, company: firm business employer,
competition: race tournament contest match, computer: laptop desktop server machine, concert: band
show gig, cook: bake roast make recipe, country: canada france italy germany england spain sweden
japan india china mexico ireland scotland brazil australia greece turkey russia korea vietnam
thailand portugal switzerland austria belgium netherlands norway denmark finland poland ukraine
egypt morocco nigeria kenya argentina chile peru colombia cuba philippines indonesia israel iran
croatia serbia bosnia slovenia slovakia hungary romania bulgaria albania estonia latvia lithuania
belarus iceland luxembourg malta cyprus georgia armenia azerbaijan kazakhstan mongolia pakistan
bangladesh nepal cambodia laos malaysia singapore taiwan iraq syria lebanon jordan qatar kuwait
yemen tunisia algeria libya sudan ethiopia uganda tanzania ghana senegal zimbabwe jamaica bahamas
barbados haiti panama ecuador bolivia paraguay uruguay venezuela guatemala honduras maldives fiji
zealand america usa uk britain, couple: boyfriend girlfriend wife husband, course: class lesson
training, crush: girl guy date, date: day, deadline: due until, decision: decide choose, degree:
university college bachelor master phd graduate, delivery: ship arrive package, dessert: cake pie
cookie chocolate mousse tart pudding brownie cupcake pastry macaron donut tiramisu cheesecake candy
croissant muffin waffle ice cream, device: phone laptop tablet watch camera, diet: vegetarian vegan
gluten, dinner: restaurant ate cook, disease: cancer diabetes flu, dish: recipe pasta soup salad
stew curry roast chicken pizza sandwich burger taco burrito sushi noodle ramen dumpling omelette
pancake pie lasagna spaghetti ravioli risotto paella kebab casserole fries rice steak oatmeal sauce,
doctor: dentist surgeon therapist clinic hospital, dream: hope wish goal, drink: coffee tea beer
wine juice water soda smoothie cocktail milk latte cola lemonade whiskey vodka matcha espresso
cappuccino boba champagne cider rum gin tequila whisky cocoa kombucha margarita mojito, emotion:
happy sad excited proud nervous scared grateful anxious angry, enjoy: love like, event: concert
festival party wedding parade conference fair exhibition tournament, exam: test quiz final,
exercise: run gym yoga workout walk swim training pilates stretch hike jog cycle meditate lift
cardio, expensive: cost dollar price, family: mother father sister brother son daughter child wife
husband parent cousin, fan: love like enjoy, favorite: love best, fear: afraid scared anxious, feel:
happy sad excited proud nervous scared grateful anxious, feeling: happy sad excited nervous scared,
fight: argue, finance: money budget loan rent mortgage saving, fish: salmon trout goldfish, fitness:
gym workout run train, flower: rose tulip sunflower daisy lily orchid, food: meal pizza pasta salad
soup bread cake cheese chicken rice sandwich steak dinner lunch breakfast snack egg noodle sushi
burger fries taco burrito bacon ham sausage tomato potato donut ice cream yogurt cereal pancake
chocolate cookie nut fish seafood shrimp oatmeal omelette pie cupcake brownie muffin waffle
croissant bagel toast noodles ramen dumpling curry kebab hummus tofu bean lentil mushroom corn
avocado spinach broccoli turkey pork beef lamb tuna salmon crab lobster wing hotdog lasagna
spaghetti ravioli risotto paella pudding candy popcorn chips jam honey butter fruit vegetable pickle
dessert stew, friend: buddy pal, fruit: apple banana orange berry grape lemon mango peach,
furniture: chair table sofa couch bed desk shelf, game: play video console board chess card
tournament nintendo xbox playstation mario minecraft poker puzzle soccer basketball volleyball
tennis football pokemon zelda fortnite sims multiplayer rpg, gift: present gave, girlfriend: partner
date, goal: plan dream hope want aim, hair: blonde brown curly cut color, hate: dislike, health:
doctor hospital diet sick, hobby: painting reading cooking gardening hiking photography writing
fishing dancing knitting enjoy play watch read travel collect paint cook garden hike run swim yoga
dance knit sew bake draw sing guitar piano game movie music sport gym ski surf climb camp cycle
write blog pottery fun free spare, holiday: christmas thanksgiving easter halloween vacation, home:
house apartment, hospital: doctor nurse surgery, hotel: stay resort hostel, house: home apartment,
ill: sick flu cold fever covid, illness: sick disease cancer flu fever covid infection pneumonia
diabetes asthma migraine, ingredient: salt sugar butter flour oil egg, injury: hurt broken ankle
sprain, instrument: guitar piano violin drum flute clarinet cello saxophone keyboard trumpet harp
bass banjo ukulele harmonica accordion, interest: hobby enjoy passion read music movie sport travel
cook game art science history favorite fascinate love fan, jewelry: necklace ring bracelet earring,
job: work career company position hire employ, kind: type, language: english spanish french german
italian chinese japanese portuguese russian arabic korean hindi dutch swedish polish turkish greek
latin, learn: study class course lesson, like: love enjoy, live: move home apartment, love: like
enjoy favorite, lunch: sandwich salad ate, meal: dinner lunch breakfast brunch, meat: beef chicken
pork bacon ham steak, medicine: pill drug dose prescription, memory: remember, money: dollar euro
pay cost price salary budget, month: january february march april may june july august september
october november december, movie: watch cinema film seen saw theater horror comedy, music: song band
concert album singer jazz rock pop, musician: singer band artist guitarist, name: call, nature:
forest mountain river hike park, news: heard announce, nickname: call, noise: loud, occupation: job
work profession doctor nurse teacher engineer lawyer designer developer manager chef waiter barista
accountant writer artist scientist, opinion: think believe, pain: hurt ache, painting: art canvas
draw, parent: mother father, partner: husband wife boyfriend girlfriend ex, party: celebrate
birthday, passion: love enjoy, pet: dog cat puppy kitten turtle hamster rabbit parrot fish bird
snake guinea ferret lizard kitty bunny gecko tortoise hedgehog pup, physical: gym run yoga workout
exercise walk hike swim basketball soccer tennis, picture: photo image, place: park beach mountain
lake museum forest restaurant cafe city visit, plan: going want hope, plant: tree flower garden,
prefer: like love favorite enjoy, present: gift, problem: issue trouble difficult bug error,
profession: job career doctor nurse teacher engineer lawyer designer developer manager chef waiter
barista accountant writer artist scientist, programming: python java rust code, project: build work,
promotion: promote manager raise, purchase: buy order, read: book novel, reason: because since,
recipe: cook bake ingredient, relationship: date boyfriend girlfriend partner marriage, relative:
aunt uncle cousin grandmother grandfather, religion: church pray god, remedy: tea medicine pill,
rent: apartment pay, restaurant: cafe dinner diner bar, salary: pay income wage, school: class
teacher student college university, season: summer winter spring autumn fall, series: episode show,
setback: lose fail injury reject, show: series episode television, sibling: brother sister, sick:
flu cold fever cough covid throat, sleep: nap bed tired insomnia, snack: chips cookie chocolate
fruit nut candy, software: app program tool, spend: pay buy cost, sport: basketball football soccer
tennis baseball hockey golf swimming running cycling surfing skiing climbing volleyball badminton
rugby boxing wrestling karate skating cricket martial yoga gym padel squash skateboarding
snowboarding sailing rowing kayaking judo fencing archery lacrosse softball gymnastics marathon
triathlon bowling pilates nba nfl, start: begin, state: california florida texas oregon washington
colorado michigan minnesota alaska arizona ohio virginia, store: shop market mall walmart target
costco ikea amazon supermarket grocery boutique, stress: anxious overwhelm relax, study: school
university exam major degree, subject: math science history, swim: pool beach, symptom: fever cough
pain headache, taste: delicious flavor sweet, teacher: coach professor instructor, team: coach
player club, television: show series watch, therapy: therapist counseling, tool: hammer drill saw
software, toy: doll lego, transport: car bus train bicycle plane taxi subway flight airplane metro
ferry boat motorcycle scooter tram uber, travel: trip visit flight vacation, treat: medicine pill
doctor, trip: travel vacation visit journey, tv: show series watch, university: college campus
degree, vacation: trip holiday travel, vegetable: carrot potato tomato onion pepper, vehicle: car
truck bicycle motorcycle bus van, victory: win won, video: youtube channel, volunteer: help shelter
charity, wake: morning alarm, weapon: gun knife, weather: rain snow sun storm wind, wedding: marry
bride, weekend: saturday sunday, weight: pound kilo diet, workout: gym exercise training, write:
blog poem story journal
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
