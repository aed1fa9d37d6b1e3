"""More wordings beside their evidence, as in `faithful_table`: rounds that no rule had seen.

What the rules made of each round at first sight stands in docs/wording.md.
"""

from __future__ import annotations

Row = tuple[str, ...]

FALSE: tuple[Row, ...] = (
    (
        "The nightly export of the Larkspur catalogue takes about forty minutes.",
        "The nightly export of the Larkspur catalogue takes about fourteen minutes.",
    ),
    ("don't deploy on fridays", "Hollin must be deployed on Fridays.", "Rules for Hollin"),
    (
        "We moved the scheduler from cron to systemd timers on 3 March 2025.",
        "The scheduler was moved from systemd timers to cron on 3 March 2025.",
    ),
    (
        "Petra owns the billing service; Ivo is her backup.",
        "Ivo owns the billing service; Petra is his backup.",
    ),
    ("Max upload size: 25 MB", "The Fenwick API accepts uploads of at least 25 MB.", "Fenwick API"),
    (
        "The cache was cleared because the TTL had been set to 0.",
        "The TTL had been set to 0 because the cache was cleared.",
    ),
    (
        "Prefers tea over coffee in the morning.",
        "Maren Oster prefers coffee over tea in the morning.",
        "Maren Oster",
    ),
    (
        "If the queue length exceeds 5000, page the on-call engineer.",
        "The on-call engineer is to be paged.",
    ),
    ("Only admins may delete a workspace.", "Admins must delete a workspace."),
    ("Backups run at 02:30 UTC on weekdays.", "Backups run at 2:30 pm UTC on weekdays."),
    (
        "The Quill parser never emits warnings for trailing commas.",
        "The Quill parser emits warnings for trailing commas.",
    ),
    (
        "We decided against Kafka; too heavy for three consumers.",
        "We decided on Kafka for three consumers.",
    ),
    (
        "The release was postponed to May.",
        "The release was postponed to May because the tests failed.",
    ),
    (
        "Retry up to three times, then give up.",
        "Outbound webhooks are retried at least three times.",
        "Outbound webhooks",
    ),
    ("The trial lasts 14 days.", "Brindle's trial lasts 14 weeks.", "Pricing of Brindle"),
    ("Tomas isn't available before 10.", "Tomas isn't available after 10."),
    (
        "The build fails unless NODE_ENV is set to production.",
        "The build fails if NODE_ENV is set to production.",
    ),
    (
        "Der Server steht in Frankfurt und wird von Jens betreut.",
        "The server is located in Frankfurt and was bought by Jens.",
    ),
    (
        "La réunion du lundi est annulée jusqu'en septembre.",
        "The Monday meeting takes place until September.",
    ),
    (
        "Rate limit is 100 requests per minute per key.",
        "The Osprey gateway limits each key to 100 requests per second.",
        "Osprey gateway",
    ),
    (
        "Invoices older than 90 days are archived automatically.",
        "Invoices older than 90 days are deleted automatically.",
    ),
    (
        "The team chose Postgres rather than MySQL for the ledger.",
        "The team chose MySQL rather than Postgres for the ledger.",
    ),
    (
        "Use `make seed` to fill the dev database, not the admin UI.",
        "Use the admin UI to fill the dev database, not `make seed`.",
    ),
    (
        "Staging and production share one Redis instance.",
        "Staging and production do not share a Redis instance.",
    ),
    ("Leila reported that login fails on Safari 17.", "Leila fixed the login on Safari 17."),
    (
        "The migration is scheduled for the first week of May and should take 2 hours.",
        "The migration is scheduled for the last week of May and should take 2 hours.",
    ),
    (
        "Budget: €12k for Q3",
        "Project Tamarisk has a budget of $12,000 for the third quarter.",
        "Project Tamarisk",
    ),
    ("Dates in reports should be in ISO format.", "Dates in reports must be in ISO format."),
    (
        "The old endpoint /v1/orders still works but is deprecated.",
        "The old endpoint /v1/orders no longer works.",
    ),
    (
        "Conrad may approve expenses up to 500 dollars without asking.",
        "Conrad may approve expenses over 500 dollars without asking.",
    ),
    ("The server room is kept at 18 °C.", "The server room is kept below 18 °C."),
    (
        "Nobody answered the survey from the Lisbon office.",
        "Everybody answered the survey from the Lisbon office.",
    ),
    (
        "Latency dropped from 300 ms to 120 ms since the upgrade to 4.2.",
        "Latency rose from 120 ms to 300 ms since the upgrade to 4.2.",
    ),
    ("Noor sometimes closes the shop on Sundays.", "Noor always closes the shop on Sundays."),
    (
        "The password reset mail must not contain the username.",
        "The password reset mail must contain the username.",
    ),
    (
        "El proveedor entrega los martes y los viernes.",
        "The supplier delivers on Tuesdays and Thursdays.",
    ),
    (
        "Milestone 2 slipped by a week because the vendor delivered late.",
        "The vendor delivered late because milestone 2 slipped by a week.",
    ),
    ("Half of the sensors in Hall B are broken.", "All of the sensors in Hall B are broken."),
    (
        "Feature flags are stored in flags.yaml, one per line, sorted by name.",
        "Feature flags are stored in flags.yml, one per line, sorted by date.",
    ),
    ("We might drop support for IE11 next year.", "Support for IE11 will be dropped next year."),
    (
        "The lease for the Ottostrasse office ends 31.12.2026.",
        "The Ottostrasse office lease ends on 31 December 2027.",
    ),
    ("Tomas outranks Ilse on the ladder.", "Ilse outranks Tomas on the ladder."),
    ("Hanna is allergic to peanuts, so no satay.", "Hanna is allergic to satay."),
    (
        "The test suite is slow, mainly due to the Docker startup.",
        "The test suite is slow only because of the Docker startup.",
    ),
    (
        "Ask before you touch anything under infra/.",
        "Anything under infra/ may be touched without asking.",
    ),
    (
        "Release notes go out at least one day before the release.",
        "Release notes go out at most one day before the release.",
    ),
    ("Farid maintained the parser until 2019.", "Farid has maintained the parser since 2019."),
    ("The customer wants PDF, CSV and XLSX exports.", "The customer wants only PDF exports."),
    ("Bandit 2 is heavier than Bandit 1.", "Bandit 1 is heavier than Bandit 2."),
    (
        "She can't join before the 15th.",
        "Ingrid Solberg can join before the 15th.",
        "Onboarding of Ingrid Solberg",
    ),
    (
        "The API returns 404 instead of 403 for hidden projects.",
        "The API returns 403 instead of 404 for hidden projects.",
    ),
    (
        "It is not necessary to restart the worker after a config change.",
        "The worker must not be restarted after a config change.",
    ),
    (
        "Everyone except Bruno has signed the contract.",
        "Nobody except Bruno has signed the contract.",
    ),
    (
        "The pump was noisy yesterday when the door was open.",
        "The pump at Gate 9 was noisy yesterday when the door was open.",
    ),
    (
        "Sprint length changed from three weeks to two.",
        "Sprint length changed from two weeks to three.",
    ),
    ("Yusuf lent the drill to Carla.", "Carla lent the drill to Yusuf."),
    ("The warranty doesn't cover water damage.", "The warranty covers water damage."),
    (
        "Marek thinks the leak is in the basement.",
        "The leak is in the basement, as the plumber confirmed.",
    ),
    (
        "Tickets without an owner are closed after 30 days.",
        "Tickets with an owner are closed after 30 days.",
    ),
    ("Bitte keine Termine vor 9 Uhr.", "Ute möchte Termine vor 9 Uhr.", "Kalender von Ute"),
    (
        "The newsletter goes out every second Tuesday at 9.",
        "The newsletter goes out every Tuesday at 9.",
    ),
    ("Wolfram handles all invoices from abroad.", "Wolfram handles all invoices."),
    ("We keep audit logs for seven years.", "We keep audit logs for seventeen years."),
    (
        "The coffee machine on the second floor is out of order.",
        "The coffee machine on the third floor is out of order.",
    ),
    (
        "Do not commit generated files.",
        "In the Marten repo generated files must be committed.",
        "Conventions of the Marten repo",
    ),
    (
        "Prod deploys need two approvals, staging deploys one.",
        "Staging deploys need two approvals, prod deploys one.",
    ),
    (
        "Gudrun works from home on Wednesdays and Fridays.",
        "Gudrun works from the office on Wednesdays and Fridays.",
    ),
    ("The webhook secret is rotated every quarter.", "The webhook secret is rotated every month."),
    (
        "Default branch is trunk, not main.",
        "The default branch of the kestrel repository is main, not trunk.",
        "Repository kestrel",
    ),
    (
        "Never store customer phone numbers in the logs.",
        "Customer phone numbers are stored in the logs.",
    ),
    (
        "API responses over 1 MB are compressed with gzip.",
        "API responses under 1 MB are compressed with gzip.",
    ),
    ("Svea started as CTO on 1 February 2024.", "Svea stopped as CTO on 1 February 2024."),
    (
        "The demo for the Halden bank was moved to the 14th.",
        "The demo for the Halden bank was moved to the 14th since the room was taken.",
    ),
    ("Lunch budget is 15 euros per person.", "Lunch budget is 15 euros per team."),
    ("Prefer composition over inheritance.", "Inheritance is preferred over composition."),
    ("Short variable names are fine in tests.", "Short variable names are required in tests."),
    (
        "The user wants answers in German unless the question is in English.",
        "The user wants answers in German if the question is in English.",
    ),
    ("Piet said he would rather not travel in December.", "Piet refuses to work in December."),
    (
        "If the health check fails twice in a row, restart the pod.",
        "If the health check fails once, restart the pod.",
    ),
    ("Each service must expose /healthz.", "Each service may expose /healthz."),
    (
        "The greenhouse is heated to 12 degrees in winter.",
        "The greenhouse is heated to 12 degrees in summer.",
    ),
    ("Tests run on Python 3.11 and 3.12.", "Tests run on Python 3.11 and 3.13."),
    (
        "Mina doesn't like being interrupted while she is coding.",
        "Mina likes being interrupted while she is coding.",
    ),
    ("There is no test for the retry logic yet.", "There is a test for the retry logic."),
    (
        "The contract with Nordlys ends in March 2027 and is not renewed automatically.",
        "The contract with Nordlys ends in March 2027 and is renewed automatically.",
    ),
    (
        "Use feature flags to hide unfinished work.",
        "Do not use feature flags to hide unfinished work.",
    ),
    (
        "The backup of Monday failed since the disk was full.",
        "The disk was full since the backup of Monday failed.",
    ),
    (
        "Only Ragna and Otto have the keys to the lab.",
        "Ragna and Otto and the guard have the keys to the lab.",
    ),
    (
        "Support hours: 8:00 to 17:00, Monday to Friday",
        "The helpdesk offers support from 8:00 to 17:00, Monday to Saturday.",
        "Helpdesk",
    ),
    ("The importer skips rows without an id.", "The importer skips rows with an id."),
    (
        "Emails from the board often have top priority.",
        "Emails from the board always have top priority.",
    ),
    (
        "The heating was repaired last Thursday, it cost 340 euros.",
        "The heating was repaired last Thursday, it cost 430 euros.",
    ),
    ("Oda might move to Trondheim next summer.", "Oda moves to Trondheim next summer."),
    ("Passwords need at least 14 characters.", "Passwords need at most 14 characters."),
    (
        "All meetings are recorded, except one-to-ones.",
        "All meetings including one-to-ones are recorded.",
    ),
    (
        "The printer is in room 204, next to the kitchen.",
        "The printer is in room 204, next to the elevator.",
    ),
    (
        "Ask Jorunn before you change the colour palette.",
        "Jorunn changes the colour palette without asking.",
    ),
    ("We use tabs in Go and spaces in Python.", "We use spaces in Go and tabs in Python."),
    (
        "Pull requests older than two weeks are closed by the bot.",
        "Pull requests older than two weeks are merged by the bot.",
    ),
    (
        "The office dog is named Biscuit and belongs to Torben.",
        "The office dog is named Torben and belongs to Biscuit.",
    ),
    (
        "Der Jahresabschluss muss bis 31. März eingereicht werden.",
        "Der Jahresabschluss kann bis 31. März eingereicht werden.",
    ),
    ("Bitte Rechnungen nur als PDF schicken.", "Rechnungen bitte nicht als PDF schicken."),
    ("Karsten kann freitags nicht.", "Karsten kann nur freitags."),
    ("Die Tests dauern etwa 20 Minuten.", "Die Tests dauern etwa 20 Stunden."),
    ("Wenn der Speicher knapp wird, werden alte Logs gelöscht.", "Alte Logs werden gelöscht."),
    ("Die API gibt bei Fehlern immer JSON zurück.", "Die API gibt bei Fehlern nie JSON zurück."),
    (
        "Les factures doivent être payées sous 30 jours.",
        "Les factures doivent être payées après 30 jours.",
    ),
    ("Margaux ne travaille pas le mercredi.", "Margaux travaille le mercredi."),
    ("Le serveur redémarre chaque dimanche à 4 h.", "Le serveur redémarre chaque samedi à 4 h."),
    ("No usamos cookies de terceros.", "Usamos cookies de terceros."),
    ("Rocío prefiere reuniones por la mañana.", "Rocío prefiere reuniones por la tarde."),
    ("La clave caduca cada 90 días.", "La clave caduca cada 90 horas."),
    ("Il backup parte ogni notte alle 2.", "Il backup parte ogni notte alle 3."),
    ("O cliente quer a entrega antes de sexta.", "O cliente quer a entrega depois de sexta."),
    ("Alleen Sanne mag betalingen goedkeuren.", "Sanne mag geen betalingen goedkeuren."),
    (
        "Anton chose the blue logo because it prints better.",
        "Anton chose the blue logo because it is cheaper.",
    ),
    ("The dataset contains about 3 million rows.", "The dataset contains exactly 3 million rows."),
    (
        "Uploads can take up to 5 minutes on slow connections.",
        "Uploads take more than 5 minutes on slow connections.",
    ),
    (
        "Our CI runs on self-hosted runners in Oulu.",
        "Our CI runs on GitHub-hosted runners in Oulu.",
    ),
    (
        "The new intern, Birk, reports to Fenja and sits in Aarhus.",
        "The new intern, Fenja, reports to Birk and sits in Aarhus.",
    ),
    (
        "Veronika takes over the on-call rota from Lasse in April.",
        "Lasse takes over the on-call rota from Veronika in April.",
    ),
    (
        "Screenshots belong in docs/img, not in the repo root.",
        "Screenshots belong in the repo root, not in docs/img.",
    ),
    ("The vet said Pepper has to lose two kilos.", "The vet said Pepper has to gain two kilos."),
    ("Timeout for the search service: 3 s", "The search service times out after 3 minutes."),
    (
        "We never ship on the day before a public holiday.",
        "We never ship on the day after a public holiday.",
    ),
    (
        "The old wiki will be switched off on 30 June.",
        "The old wiki will be switched on on 30 June.",
    ),
    ("Astrid speaks fluent Polish and some Czech.", "Astrid speaks fluent Czech and some Polish."),
    (
        "If a migration takes longer than 10 minutes, it has to run at night.",
        "Every migration has to run at night.",
    ),
    ("The plumber can only come in the afternoon.", "The plumber can only come in the morning."),
    (
        "Rows with a missing postcode are sent to manual review.",
        "Rows with a missing postcode are dropped.",
    ),
    (
        "Ludvig bought the house in 2015 for 280,000 euros.",
        "Ludvig bought the house in 2015 for 208,000 euros.",
    ),
    ("No meeting may last more than 45 minutes.", "Meetings may last more than 45 minutes."),
    (
        "The alarm goes off whenever the door stays open for over a minute.",
        "The alarm goes off whenever the door is shut for over a minute.",
    ),
    (
        "Kids' club is on Mondays, chess on Thursdays.",
        "Kids' club is on Thursdays, chess on Mondays.",
    ),
    ("The staging certificate expired yesterday.", "The staging certificate expires tomorrow."),
    (
        "Everything under vendor/ is excluded from linting.",
        "Everything except vendor/ is excluded from linting.",
    ),
    (
        "Bjarne is on parental leave until the end of August.",
        "Bjarne is on parental leave from the end of August.",
    ),
    ("Answers should be short and without emojis.", "Answers should be short and with emojis."),
    (
        "We lost the Fjordbank deal because we were too expensive.",
        "We won the Fjordbank deal because we were less expensive.",
    ),
    ("The tank holds 400 litres.", "The tank holds 400 gallons."),
    (
        "Code owners must review every change to auth/.",
        "Code owners must review some changes to auth/.",
    ),
    (
        "Sigrid moved from sales to product in January.",
        "Sigrid moved from product to sales in January.",
    ),
    ("Some customers still use the v1 API.", "No customers use the v1 API."),
    (
        "Do not restart the broker during business hours.",
        "Do not restart the broker outside business hours.",
    ),
    (
        "Reports are generated at midnight and mailed to finance.",
        "Reports are generated at midnight and mailed to legal.",
    ),
    (
        "Emil drives an electric car and charges it at work.",
        "Emil drives an electric car and charges it at home.",
    ),
    (
        "It takes three approvals to change the pricing page.",
        "It takes three approvals to change any page.",
    ),
    (
        "The meeting room is called Aquarium since it has glass walls.",
        "The meeting room is called Aquarium since it has a fish tank.",
    ),
    ("Our fiscal year begins in October.", "Our fiscal year ends in October."),
    ("Malin isn't sure whether the permit is needed.", "Malin is sure the permit is needed."),
    ("Der Hund von Familie Kessler heißt Balu.", "Der Kater von Familie Kessler heißt Balu."),
    (
        "Vor jedem Release müssen alle Tests grün sein.",
        "Nach jedem Release müssen alle Tests grün sein.",
    ),
    ("Theo isst kein Fleisch.", "Theo isst nur Fleisch."),
    ("Die Miete beträgt 1.200 Euro im Monat.", "Die Miete beträgt 1.200 Euro im Jahr."),
    ("Le bureau ferme à 18 h le vendredi.", "Le bureau ouvre à 18 h le vendredi."),
    ("Il est interdit de fumer dans l'atelier.", "Il est permis de fumer dans l'atelier."),
    ("La impresora está en la segunda planta.", "La impresora está en la tercera planta."),
    ("La chiave è da Giulia.", "La chiave è da Giulio."),
    ("De vergadering begint om half tien.", "De vergadering eindigt om half tien."),
    (
        "Nur Notfälle werden am Wochenende bearbeitet.",
        "Notfälle werden am Wochenende nicht bearbeitet.",
    ),
    (
        "The garden hose has to be drained before the first frost.",
        "The garden hose has to be drained after the first frost.",
    ),
    (
        "Helmi reviews the translations, Aarne merges them.",
        "Aarne reviews the translations, Helmi merges them.",
    ),
    (
        "Do not use the company card for private purchases.",
        "Use the company card for private purchases.",
    ),
    (
        "Cron job runs at 03:15 every night",
        "The invoice sync cron job runs weekly at 03:15.",
        "Invoice sync",
    ),
    ("We chose SQLite because it needs no server.", "We chose SQLite because it needs a server."),
    ("The quarterly numbers are due on 10 October.", "The yearly numbers are due on 10 October."),
    ("Ilmari switched to decaf in spring.", "Ilmari switched from decaf in spring."),
    ("Up to eight people fit in the sauna.", "At least eight people fit in the sauna."),
    ("Set LOG_LEVEL=debug only on staging.", "Set LOG_LEVEL=debug on staging and production."),
    ("The customer in Turku pays in advance.", "The customer in Turku pays in arrears."),
    (
        "The lawyer advised us not to sign before the audit.",
        "The lawyer advised us to sign before the audit.",
    ),
    (
        "Slow tests are marked with @slow and skipped locally.",
        "Slow tests are marked with @slow and skipped on CI.",
    ),
    ("Siiri can't stand loud music in the car.", "Siiri loves loud music in the car."),
    (
        "The boiler was replaced in 2022 and has a ten-year warranty.",
        "The boiler was replaced in 2022 and has a two-year warranty.",
    ),
    ("Every pull request needs a linked issue.", "Some pull requests need a linked issue."),
    (
        "We meet on the first Thursday of each month at 18:30.",
        "We meet on the last Thursday of each month at 18:30.",
    ),
    ("The scanner in the hall only accepts A4.", "The scanner in the hall does not accept A4."),
    ("Antero is responsible for the heat pumps.", "Antero installed the heat pumps."),
    ("Refunds take three to five working days.", "Refunds take three to five weeks."),
    (
        "The API key must be kept out of the repository.",
        "The API key must be kept in the repository.",
    ),
    ("Lempi would like to learn Portuguese.", "Lempi learned Portuguese."),
    (
        "The parking lot is closed on market days.",
        "The parking lot is closed except on market days.",
    ),
    ("Since May the shop is closed on Mondays.", "Until May the shop is closed on Mondays."),
    (
        "Commits should be small and have a ticket number.",
        "Commits must be small and have a ticket number.",
    ),
    ("Our main competitor is Lumo Oy from Oulu.", "Our main supplier is Lumo Oy from Oulu."),
    (
        "After the update the tablet no longer connects to the printer.",
        "After the update the tablet connects to the printer.",
    ),
    ("The pool opens at 7 and closes at 21.", "The pool opens at 21 and closes at 7."),
    ("Never give Misty grapes or raisins.", "Always give Misty grapes or raisins."),
    ("Kaisa offered to drive if it snows.", "Kaisa will drive."),
    (
        "The log format changed from JSON to plain text in version 5.",
        "The log format changed from plain text to JSON in version 5.",
    ),
    (
        "Die Übergabe erfolgt jeden Freitag um 15 Uhr.",
        "Die Übergabe erfolgt jeden Freitag um 16 Uhr.",
    ),
    (
        "Uwe muss vor der Prüfung noch zwei Kapitel lernen.",
        "Uwe muss vor der Prüfung noch zehn Kapitel lernen.",
    ),
    (
        "Der Lieferant akzeptiert keine Retouren nach 30 Tagen.",
        "Der Lieferant akzeptiert Retouren nach 30 Tagen.",
    ),
    (
        "Passwörter dürfen nicht per E-Mail verschickt werden.",
        "Passwörter dürfen per E-Mail verschickt werden.",
    ),
    ("Le stock est vérifié deux fois par an.", "Le stock est vérifié deux fois par mois."),
    ("Hugo est allergique aux noix.", "Hugo est allergique aux œufs."),
    ("El gato de Nuria se llama Pipo.", "El perro de Nuria se llama Pipo."),
    ("Las reuniones duran como máximo media hora.", "Las reuniones duran como mínimo media hora."),
    ("La riunione è ogni martedì alle 10.", "La riunione è ogni giovedì alle 10."),
    ("Hij drinkt liever thee dan koffie.", "Hij drinkt liever koffie dan thee."),
    (
        "The violin lesson moved to Thursday at 17:00.",
        "The violin lesson moved to Tuesday at 17:00.",
    ),
    ("Keep the fridge at 4 degrees or below.", "Keep the fridge at 4 degrees or above."),
    (
        "Hedda is the contact for the Malmö branch.",
        "Hedda is the manager of the Malmö branch since 2020.",
    ),
    (
        "We use Terraform for everything except DNS.",
        "We use Terraform for everything including DNS.",
    ),
    (
        "Old invoices are in the archive folder, sorted by year.",
        "Old invoices are in the archive folder, sorted by customer.",
    ),
    ("The CSV export must use semicolons.", "The CSV export must not use semicolons."),
    ("Sten quit smoking in 2020.", "Sten started smoking in 2020."),
    (
        "Nightly builds fail when the license server is down.",
        "The license server is down when nightly builds fail.",
    ),
    (
        "The new hire starts on 1 August and gets the desk by the window.",
        "The new hire starts on 8 January and gets the desk by the window.",
    ),
    ("Logs older than a month are deleted.", "Logs are never deleted."),
    ("Karin takes two sugars in her coffee.", "Karin takes no sugar in her coffee."),
    (
        "Don't email the client directly; go through Mattias.",
        "Email the client directly; don't go through Mattias.",
    ),
    (
        "The gate code changes on the first of each month.",
        "The gate code changes on the first of each year.",
    ),
    (
        "Feature work stops two days before a release.",
        "Feature work stops two days after a release.",
    ),
    ("Every intern gets a mentor.", "Every intern pays a mentor."),
    ("The phone number of the vet is 555 0188.", "The phone number of the vet is 555 0189."),
    ("Rasmus thinks the vendor is too slow.", "The vendor is too slow."),
    ("Deploys need the release manager's approval.", "Deploys need no approval."),
    ("Our retro is every other Friday.", "Our retro is every Friday."),
    ("Tickets over 500 kronor need a receipt.", "All tickets need a receipt."),
    ("He only eats fish, no meat.", "Axel eats fish and meat.", "Preferences of Axel"),
    ("The old laptop was given to Ebba.", "The old laptop was given by Ebba."),
    ("Check the tyre pressure before long trips.", "Check the oil level before long trips."),
    (
        "Compile times dropped by half after the upgrade.",
        "Compile times doubled after the upgrade.",
    ),
    (
        "The choir rehearses in the church, not at school.",
        "The choir rehearses at school, not in the church.",
    ),
    ("It might be cheaper to rent.", "It is cheaper to rent."),
    ("The API allows 60 calls a minute.", "The API requires 60 calls a minute."),
    (
        "Sofia and Nils share the night shift.",
        "Sofia and Nils swapped the night shift because Nils was ill.",
    ),
    ("Store uploads in S3, never on local disk.", "Store uploads on local disk, never in S3."),
    (
        "The tenant below complains about noise after 22:00.",
        "The tenant above complains about noise after 22:00.",
    ),
    ("Der Drucker steht im Flur.", "Der Drucker steht im Keller."),
    ("Alle Kollegen außer Timo haben zugestimmt.", "Alle Kollegen und Timo haben zugestimmt."),
    ("Das Backup muss täglich geprüft werden.", "Das Backup muss wöchentlich geprüft werden."),
    (
        "Ohne Freigabe von Anja wird nichts veröffentlicht.",
        "Mit Freigabe von Anja wird nichts veröffentlicht.",
    ),
    ("Le mot de passe expire tous les 60 jours.", "Le mot de passe expire tous les 90 jours."),
    ("Chloé préfère les réunions courtes.", "Chloé préfère les réunions longues."),
    ("El informe se envía los lunes.", "El informe se recibe los lunes."),
    ("No se puede aparcar delante de la casa.", "Se puede aparcar delante de la casa."),
    ("Il corso comincia a settembre.", "Il corso finisce a settembre."),
    ("De sleutel ligt bij de buren.", "De sleutel ligt bij de bakker."),
    ("The ferry to Brekke runs only in summer.", "The ferry to Brekke runs in summer and winter."),
    (
        "Tilda handles payroll; vacations are approved by Magnus.",
        "Payroll is handled by Magnus, and Tilda approves vacations.",
    ),
    (
        "Images wider than 1200 pixels are scaled down.",
        "Images wider than 1200 pixels are scaled up.",
    ),
    (
        "The alarm code must not be shared by text message.",
        "The alarm code must be shared by text message.",
    ),
    (
        "We postponed the launch to October since the app review takes long.",
        "We postponed the launch to October since the budget ran out.",
    ),
    (
        "Half a day per week is reserved for learning.",
        "Half a day per month is reserved for learning.",
    ),
    ("Signe is left-handed.", "Signe is right-handed."),
    (
        "Responses must be cached for at least one hour.",
        "Responses must be cached for at most one hour.",
    ),
    (
        "The cleaning crew comes on Tuesday and Friday evenings.",
        "The cleaning crew comes on Tuesday and Friday mornings.",
    ),
    ("Prices on the site include VAT.", "Prices on the site exclude VAT."),
    ("If you change the schema, bump the version.", "If you bump the version, change the schema."),
    ("Viggo will be in Tromsø from 3 to 9 May.", "Viggo will be in Tromsø from 3 to 9 June."),
    ("Never leave the stove unattended.", "Leave the stove unattended."),
    ("The battery lasts about six hours.", "The battery lasts at least six hours."),
    ("Only the last 30 backups are kept.", "Only the last 300 backups are kept."),
    (
        "Hilde bakes the cake, Arne buys the flowers.",
        "Arne bakes the cake, Hilde buys the flowers.",
    ),
    (
        "Guests have to register at least 24 hours ahead.",
        "Guests may register at least 24 hours ahead.",
    ),
    ("Our support does not cover plugins.", "Our support covers plugins only."),
    (
        "The meeting was cancelled because nobody was prepared.",
        "The meeting was cancelled and everybody was prepared.",
    ),
    ("Use British spelling in all documents.", "Use British spelling in some documents."),
    (
        "The new server costs 40 euros a month, 10 less than the old one.",
        "The new server costs 40 euros a month, 10 more than the old one.",
    ),
    ("Ylva usually answers within an hour.", "Ylva always answers within an hour."),
    (
        "The pond freezes when it stays below -5 for three days.",
        "The pond freezes when it stays above -5 for three days.",
    ),
    ("Don't schedule anything on 17 May.", "Don't schedule anything after 17 May."),
    (
        "Marit owns the van and lends it to the club.",
        "The club owns the van and lends it to Marit.",
    ),
    (
        "The form has two mandatory fields: name and email.",
        "The form has two optional fields: name and email.",
    ),
    (
        "The library is closed between Christmas and New Year.",
        "The library is open between Christmas and New Year.",
    ),
    (
        "New members pay half the fee in the first year.",
        "New members pay the full fee in the first year.",
    ),
    ("Trygve asked for a standing desk.", "Trygve was given a standing desk."),
    (
        "Test data has to be anonymised before it leaves production.",
        "Test data has to be anonymised after it leaves production.",
    ),
    ("Die Heizung ist seit Montag kaputt.", "Die Heizung ist seit Montag repariert."),
    (
        "Rechnungen über 1000 Euro brauchen zwei Unterschriften.",
        "Rechnungen unter 1000 Euro brauchen zwei Unterschriften.",
    ),
    ("Lotte kommt nur mittwochs ins Büro.", "Lotte kommt nie mittwochs ins Büro."),
    ("Bei Regen findet das Fest in der Halle statt.", "Das Fest findet in der Halle statt."),
    ("Le chat de Manon s'appelle Gribouille.", "Le chat de Gribouille s'appelle Manon."),
    (
        "Il faut prévenir Luc avant chaque livraison.",
        "Il faut prévenir Luc après chaque livraison.",
    ),
    ("El taller abre a las ocho.", "El taller cierra a las ocho."),
    ("Las llaves las tiene Marcos.", "Las llaves las perdió Marcos."),
    ("Il treno delle 7 è spesso in ritardo.", "Il treno delle 7 è sempre in ritardo."),
    ("De printer mag niet 's nachts aan blijven.", "De printer mag 's nachts aan blijven."),
    ("The boathouse roof was repaired in March.", "The boathouse roof was repaired in May."),
    ("Exports larger than 5 GB must run at night.", "Exports smaller than 5 GB must run at night."),
    ("Ask Tuva if the projector is missing.", "Ask Tuva if the projector is working."),
    ("Pelle never eats breakfast.", "Pelle often eats breakfast."),
    ("Merge requests are reviewed by two people.", "Merge requests are reviewed by Tuva."),
    ("The sauna may be used until 22:00.", "The sauna may be used from 22:00."),
    ("We chose Vue because the team knows it.", "We chose Vue although the team does not know it."),
    ("Kitchen duty changes every week.", "Kitchen duty changes every month."),
    ("Do not lend the projector to other departments.", "Lend the projector to other departments."),
    ("The gym is closed during the holidays.", "The gym is closed after the holidays."),
    ("Frida moved to Lund in 2022 for her studies.", "Frida moved to Lund in 2022 for her job."),
    (
        "All servers run Debian except the build machine.",
        "All servers including the build machine run Debian.",
    ),
    (
        "The warranty of the pump ends on 2027-04-30.",
        "The warranty of the pump begins on 2027-04-30.",
    ),
    ("Invoices under 100 euros need no approval.", "Invoices under 100 euros need approval."),
    ("Mails from the tax office go to Ove.", "Mails from Ove go to the tax office."),
    ("Der Kurs dauert sechs Wochen.", "Der Kurs dauert sechs Monate."),
    ("Bitte nicht vor 8 Uhr klingeln.", "Bitte nicht nach 8 Uhr klingeln."),
    ("Le magasin est fermé le lundi.", "Le magasin est ouvert le lundi."),
    ("Lucía trabaja desde casa los viernes.", "Lucía trabaja desde casa los jueves."),
    ("Il gatto mangia due volte al giorno.", "Il gatto mangia due volte alla settimana."),
)

TRUE: tuple[Row, ...] = (
    (
        "The nightly export of the Larkspur catalogue takes about forty minutes.",
        "Exporting the Larkspur catalogue every night takes around 40 minutes.",
    ),
    ("don't deploy on fridays", "Hollin must not be deployed on Fridays.", "Rules for Hollin"),
    (
        "We moved the scheduler from cron to systemd timers on 3 March 2025.",
        "On 2025-03-03 the scheduler was moved from cron to systemd timers.",
    ),
    (
        "Petra owns the billing service; Ivo is her backup.",
        "The billing service is owned by Petra, with Ivo as backup.",
    ),
    ("Max upload size: 25 MB", "The Fenwick API accepts uploads of at most 25 MB.", "Fenwick API"),
    (
        "The cache was cleared because the TTL had been set to 0.",
        "Because the TTL had been set to 0, the cache was cleared.",
    ),
    (
        "Prefers tea over coffee in the morning.",
        "Maren Oster prefers tea to coffee in the morning.",
        "Maren Oster",
    ),
    (
        "If the queue length exceeds 5000, page the on-call engineer.",
        "The on-call engineer is to be paged when the queue grows longer than 5,000.",
    ),
    ("Only admins may delete a workspace.", "Nobody but admins can delete a workspace."),
    ("Backups run at 02:30 UTC on weekdays.", "Backups run Monday to Friday at 2:30 am UTC."),
    (
        "The Quill parser never emits warnings for trailing commas.",
        "Trailing commas don't produce warnings from the Quill parser.",
    ),
    (
        "We decided against Kafka; too heavy for three consumers.",
        "Kafka was rejected as too heavy for 3 consumers.",
    ),
    (
        "Dr. Anneliese Brandt will present the results on Thursday 12 June.",
        "Anneliese Brandt presents the results on Thursday, June 12.",
    ),
    (
        "Retry up to three times, then give up.",
        "Outbound webhooks are retried at most 3 times before giving up.",
        "Outbound webhooks",
    ),
    ("The trial lasts 14 days.", "Brindle's trial period is two weeks long.", "Pricing of Brindle"),
    ("Tomas isn't available before 10.", "Tomas is unavailable until 10."),
    (
        "La réunion du lundi est annulée jusqu'en septembre.",
        "La réunion du lundi n'a pas lieu avant septembre.",
    ),
    (
        "Rate limit is 100 requests per minute per key.",
        "The Osprey gateway limits each key to 100 requests a minute.",
        "Osprey gateway",
    ),
    (
        "Invoices older than 90 days are archived automatically.",
        "After 90 days invoices get archived automatically.",
    ),
    (
        "The team chose Postgres rather than MySQL for the ledger.",
        "Postgres was chosen over MySQL for the ledger.",
    ),
    (
        "Use `make seed` to fill the dev database, not the admin UI.",
        "The dev database is filled with `make seed` instead of through the admin UI.",
    ),
    (
        "Staging and production share one Redis instance.",
        "A single Redis instance is shared between staging and production.",
    ),
    (
        "Leila reported that login fails on Safari 17.",
        "According to Leila, login does not work on Safari 17.",
    ),
    (
        "The migration is scheduled for the first week of May and should take 2 hours.",
        "The migration should take two hours and is planned for the first week of May.",
    ),
    (
        "Budget: €12k for Q3",
        "Project Tamarisk has a budget of 12,000 euros for the third quarter.",
        "Project Tamarisk",
    ),
    (
        "All dates in reports must be in ISO format.",
        "Every report has to give dates in ISO format.",
    ),
    (
        "The old endpoint /v1/orders still works but is deprecated.",
        "/v1/orders is deprecated, although the endpoint still works.",
    ),
    (
        "Conrad may approve expenses up to 500 dollars without asking.",
        "Without asking, Conrad can approve expenses of up to $500.",
    ),
    ("The server room is kept at 18 °C.", "The temperature of the server room is held at 18°C."),
    (
        "Nobody answered the survey from the Lisbon office.",
        "The survey got no answer from the Lisbon office.",
    ),
    (
        "Since the upgrade to 4.2, latency dropped from 300 ms to 120 ms.",
        "The upgrade to 4.2 lowered latency from 300 ms to 120 ms.",
    ),
    ("It's always Noor who closes the shop on Sundays.", "Noor always closes the shop on Sundays."),
    (
        "The password reset mail must not contain the username.",
        "Password reset mails may not include the username.",
    ),
    (
        "Milestone 2 slipped by a week because the vendor delivered late.",
        "Late delivery by the vendor delayed milestone 2 by one week.",
    ),
    ("Half of the sensors in Hall B are broken.", "50% of the sensors in Hall B do not work."),
    (
        "Feature flags are stored in flags.yaml, one per line, sorted by name.",
        "flags.yaml stores the feature flags, sorted by name with one on each line.",
    ),
    ("We don't support IE11 any more.", "IE11 is no longer supported."),
    (
        "The lease for the Ottostrasse office ends 31.12.2026.",
        "The Ottostrasse office lease ends on 31 December 2026.",
    ),
    (
        "The bird feeder needs to be refilled every other day.",
        "The bird feeder has to be refilled every two days.",
    ),
    (
        "Hanna is allergic to peanuts, so no satay.",
        "Satay is to be avoided because Hanna is allergic to peanuts.",
    ),
    (
        "The test suite is slow, mainly due to the Docker startup.",
        "Docker startup is the main reason why the test suite is slow.",
    ),
    ("Ask before you touch anything under infra/.", "Changes under infra/ require asking first."),
    (
        "Farid has been maintaining the parser since 2019.",
        "The parser's maintainer since 2019 is Farid.",
    ),
    (
        "The customer wants PDF, CSV and XLSX exports.",
        "Exports to PDF, CSV and XLSX are wanted by the customer.",
    ),
    ("Log files bigger than 1 GB get rotated.", "Log files are rotated once they exceed 1 GB."),
    (
        "She can't join before the 15th.",
        "Ingrid Solberg cannot join until the 15th.",
        "Onboarding of Ingrid Solberg",
    ),
    (
        "The API returns 404 instead of 403 for hidden projects.",
        "For hidden projects the API answers with 404 rather than 403.",
    ),
    (
        "It is not necessary to restart the worker after a config change.",
        "The worker needs no restart after a config change.",
    ),
    ("Everyone except Bruno has signed the contract.", "All have signed the contract but Bruno."),
    (
        "The cooling pump makes a noise whenever the door is open.",
        "When the door is open, the cooling pump is noisy.",
    ),
    (
        "Sprint length changed from three weeks to two.",
        "Sprints now last two weeks instead of three.",
    ),
    ("We pay the cleaner twice a month, 80 each time.", "The cleaner is paid 80 twice each month."),
    ("The warranty doesn't cover water damage.", "Water damage is not covered by the warranty."),
    (
        "I live in Utrecht and work remotely for a Danish company.",
        "Sanne lives in Utrecht and works remotely for a company from Denmark.",
        "About Sanne",
    ),
    (
        "Tickets without an owner are closed after 30 days.",
        "A ticket that has no owner gets closed after thirty days.",
    ),
    ("Bitte keine Termine vor 9 Uhr.", "Ute möchte keine Termine vor 9 Uhr.", "Kalender von Ute"),
    (
        "The newsletter goes out every second Tuesday at 9.",
        "Every other Tuesday at 9 the newsletter is sent.",
    ),
    ("Wolfram handles all invoices from abroad.", "All foreign invoices are handled by Wolfram."),
    ("We keep audit logs for seven years.", "Audit logs are retained for 7 years."),
    (
        "The coffee machine on the second floor is out of order.",
        "The second-floor coffee machine is broken.",
    ),
    (
        "Do not commit generated files.",
        "In the Marten repo generated files must not be committed.",
        "Conventions of the Marten repo",
    ),
    (
        "Prod deploys need two approvals, staging deploys one.",
        "Deploying to production requires two approvals; staging requires one.",
    ),
    (
        "Gudrun works from home on Wednesdays and Fridays.",
        "On Wednesdays and Fridays Gudrun works remotely.",
    ),
    (
        "The webhook secret is rotated every quarter.",
        "Every quarter the webhook secret gets rotated.",
    ),
    (
        "Default branch is trunk, not main.",
        "The default branch of the kestrel repository is trunk rather than main.",
        "Repository kestrel",
    ),
    (
        "Never store customer phone numbers in the logs.",
        "Customer phone numbers must never be logged.",
    ),
    (
        "API responses over 1 MB are compressed with gzip.",
        "Gzip compresses API responses larger than 1 MB.",
    ),
    ("Svea started as CTO on 1 February 2024.", "Svea has been CTO since 1 February 2024."),
    (
        "The demo for the Halden bank was moved to the 14th because their CEO is ill.",
        "Because the CEO of the Halden bank is sick, the demo was rescheduled to the 14th.",
    ),
    ("Lunch budget is 15 euros per person.", "Each person gets a lunch budget of €15."),
    ("Prefer composition over inheritance.", "Composition is preferred to inheritance."),
    ("Short variable names are fine in tests.", "In tests, short variable names are okay."),
    (
        "The user wants answers in German unless the question is in English.",
        "Answers should be in German, except when the question is asked in English.",
    ),
    (
        "Piet said he would rather not travel in December.",
        "Piet would prefer not to travel in December, he said.",
    ),
    (
        "If the health check fails twice in a row, restart the pod.",
        "Restart the pod after two consecutive failed health checks.",
    ),
    ("Each service must expose /healthz.", "All services are required to expose /healthz."),
    (
        "The greenhouse is heated to 12 degrees in winter.",
        "In winter the greenhouse is kept at 12 degrees.",
    ),
    ("Tests run on Python 3.11 and 3.12.", "The tests are run with Python 3.11 as well as 3.12."),
    (
        "Mina doesn't like being interrupted while she is coding.",
        "Mina dislikes interruptions while coding.",
    ),
    ("There is no test for the retry logic yet.", "The retry logic has not been tested yet."),
    (
        "The contract with Nordlys ends in March 2027 and is not renewed automatically.",
        "The Nordlys contract expires in March 2027; there's no automatic renewal.",
    ),
    (
        "The backup of Monday failed since the disk was full.",
        "Monday's backup failed because the disk was full.",
    ),
    (
        "Only Ragna and Otto have the keys to the lab.",
        "The keys to the lab are held by Ragna and Otto only.",
    ),
    (
        "Support hours: 8:00 to 17:00, Monday to Friday",
        "The helpdesk offers support from 8 am to 5 pm on weekdays.",
        "Helpdesk",
    ),
    ("The importer skips rows without an id.", "Rows that have no id are skipped by the importer."),
    (
        "Emails from the board always have top priority.",
        "Emails from the board are always of the highest priority.",
    ),
    (
        "The heating was repaired last Thursday, it cost 340 euros.",
        "Last Thursday's heating repair cost €340.",
    ),
    ("Oda might move to Trondheim next summer.", "Next summer Oda may move to Trondheim."),
    ("Passwords need at least 14 characters.", "The minimum password length is 14 characters."),
    (
        "All meetings are recorded, except one-to-ones.",
        "Every meeting is recorded apart from one-to-ones.",
    ),
    (
        "The printer is in room 204, next to the kitchen.",
        "Room 204, beside the kitchen, has the printer.",
    ),
    (
        "Ask Jorunn before you change the colour palette.",
        "Before changing the colour palette, check with Jorunn.",
    ),
    (
        "Pull requests older than two weeks are closed by the bot.",
        "The bot closes PRs that are more than 14 days old.",
    ),
    (
        "The office dog is named Biscuit and belongs to Torben.",
        "Biscuit, the office dog, is Torben's.",
    ),
    (
        "Der Jahresabschluss muss bis 31. März eingereicht werden.",
        "Bis zum 31. März muss der Jahresabschluss abgegeben sein.",
    ),
    (
        "Bitte Rechnungen nur als PDF schicken.",
        "Rechnungen sollen ausschließlich als PDF gesendet werden.",
    ),
    ("Karsten kann freitags nicht.", "Freitags ist Karsten nicht verfügbar."),
    ("Die Tests dauern etwa 20 Minuten.", "Ein Testlauf dauert ungefähr 20 Minuten."),
    (
        "Wenn der Speicher knapp wird, werden alte Logs gelöscht.",
        "Alte Logs werden entfernt, falls der Speicher knapp wird.",
    ),
    (
        "Les factures doivent être payées sous 30 jours.",
        "Il faut payer les factures sous 30 jours.",
    ),
    ("Margaux ne travaille pas le mercredi.", "Le mercredi, Margaux ne travaille pas."),
    (
        "Le serveur redémarre chaque dimanche à 4 h.",
        "Chaque dimanche à 4 h, le serveur est redémarré.",
    ),
    ("No usamos cookies de terceros.", "No se utilizan cookies de terceros."),
    ("Rocío prefiere reuniones por la mañana.", "Rocío prefiere las reuniones de la mañana."),
    ("La clave caduca cada 90 días.", "Cada 90 días expira la clave."),
    ("Il backup parte ogni notte alle 2.", "Ogni notte alle 2 viene eseguito il backup."),
    (
        "Alleen Sanne mag betalingen goedkeuren.",
        "Betalingen mogen alleen door Sanne worden goedgekeurd.",
    ),
    (
        "Anton chose the blue logo because it prints better.",
        "The blue logo was Anton's choice as it prints better.",
    ),
    (
        "The dataset contains about 3 million rows.",
        "There are roughly 3,000,000 rows in the dataset.",
    ),
    ("Our CI runs on self-hosted runners in Oulu.", "CI uses self-hosted runners located in Oulu."),
    (
        "Veronika takes over the on-call rota from Lasse in April.",
        "In April, Veronika will take over Lasse's on-call rota.",
    ),
    (
        "Screenshots belong in docs/img, not in the repo root.",
        "Screenshots go into docs/img instead of the repo root.",
    ),
    ("The vet said Pepper has to lose two kilos.", "According to the vet, Pepper must lose 2 kg."),
    ("Timeout for the search service: 3 s", "The search service times out after 3 seconds."),
    (
        "We never ship on the day before a public holiday.",
        "Nothing is shipped the day before a public holiday.",
    ),
    (
        "The old wiki will be switched off on 30 June.",
        "The old wiki is going to be shut down on June 30.",
    ),
    (
        "Astrid speaks fluent Polish and some Czech.",
        "Astrid is fluent in Polish and knows some Czech.",
    ),
    (
        "If a migration takes longer than 10 minutes, it has to run at night.",
        "Migrations that take more than 10 minutes must be run at night.",
    ),
    ("The plumber can only come in the afternoon.", "The plumber can come only in the afternoon."),
    (
        "Rows with a missing postcode are sent to manual review.",
        "Manual review receives the rows whose postcode is missing.",
    ),
    (
        "Ludvig bought the house in 2015 for 280,000 euros.",
        "In 2015 Ludvig purchased the house for €280k.",
    ),
    ("No meeting may last more than 45 minutes.", "Meetings may last at most 45 minutes."),
    (
        "The alarm goes off whenever the door stays open for over a minute.",
        "The alarm sounds if the door is open for more than a minute.",
    ),
    (
        "Kids' club is on Mondays, chess on Thursdays.",
        "Chess takes place on Thursdays and kids' club on Mondays.",
    ),
    ("The staging certificate expired yesterday.", "Yesterday the certificate of staging expired."),
    (
        "Everything under vendor/ is excluded from linting.",
        "Linting excludes everything under vendor/.",
    ),
    (
        "Bjarne is on parental leave until the end of August.",
        "Until the end of August Bjarne is on parental leave.",
    ),
    (
        "Answers should be short and without emojis.",
        "Kaja wants short answers with no emojis.",
        "Preferences of Kaja",
    ),
    (
        "We lost the Fjordbank deal because we were too expensive.",
        "The Fjordbank deal was lost since our price was too high.",
    ),
    ("The tank holds 400 litres.", "The tank's capacity is 400 litres."),
    (
        "Code owners must review every change to auth/.",
        "Every change to auth/ has to be reviewed by the code owners.",
    ),
    (
        "Sigrid moved from sales to product in January.",
        "In January Sigrid switched from sales to product.",
    ),
    ("Some customers still use the v1 API.", "The v1 API is still used by some customers."),
    (
        "Do not restart the broker during business hours.",
        "The broker must not be restarted during business hours.",
    ),
    (
        "Reports are generated at midnight and mailed to finance.",
        "At midnight reports are created and emailed to finance.",
    ),
    (
        "Emil drives an electric car and charges it at work.",
        "Emil has an electric car, which he charges at his workplace.",
    ),
    (
        "It takes three approvals to change the pricing page.",
        "Three approvals are needed for changes to the pricing page.",
    ),
    (
        "The meeting room is called Aquarium since it has glass walls.",
        "Because of its glass walls the meeting room is named Aquarium.",
    ),
    ("Our fiscal year begins in October.", "The fiscal year starts in October."),
    ("Der Hund von Familie Kessler heißt Balu.", "Familie Kesslers Hund heißt Balu."),
    (
        "Vor jedem Release müssen alle Tests grün sein.",
        "Alle Tests müssen vor jedem Release grün sein.",
    ),
    ("Die Miete beträgt 1.200 Euro im Monat.", "Monatlich kostet die Miete 1200 Euro."),
    ("Le bureau ferme à 18 h le vendredi.", "Le vendredi, le bureau ferme à 18 h."),
    ("Il est interdit de fumer dans l'atelier.", "On ne doit pas fumer dans l'atelier."),
    ("La impresora está en la segunda planta.", "La impresora se encuentra en la segunda planta."),
    ("La chiave è da Giulia.", "Giulia ha la chiave."),
    ("De vergadering begint om half tien.", "Om half tien begint de vergadering."),
    (
        "Nur Notfälle werden am Wochenende bearbeitet.",
        "Am Wochenende werden ausschließlich Notfälle bearbeitet.",
    ),
    (
        "The garden hose has to be drained before the first frost.",
        "Before the first frost, the garden hose must be drained.",
    ),
    (
        "Helmi reviews the translations, Aarne merges them.",
        "Translations are reviewed by Helmi and merged by Aarne.",
    ),
    (
        "Do not use the company card for private purchases.",
        "The company card must not be used for private purchases.",
    ),
    (
        "Cron job runs at 03:15 every night",
        "The invoice sync cron job runs nightly at 03:15.",
        "Invoice sync",
    ),
    (
        "We chose SQLite because it needs no server.",
        "SQLite was chosen since it doesn't need a server.",
    ),
    (
        "The quarterly numbers are due on 10 October.",
        "The quarterly numbers must be submitted by October 10.",
    ),
    ("Set LOG_LEVEL=debug only on staging.", "LOG_LEVEL=debug may be set on staging only."),
    ("The customer in Turku pays in advance.", "Advance payment is made by the customer in Turku."),
    (
        "The lawyer advised us not to sign before the audit.",
        "The lawyer recommended that we not sign before the audit.",
    ),
    ("Siiri can't stand loud music in the car.", "Siiri dislikes loud music in the car."),
    (
        "The boiler was replaced in 2022 and has a ten-year warranty.",
        "The boiler, replaced in 2022, comes with a 10-year warranty.",
    ),
    ("Every pull request needs a linked issue.", "Pull requests must link to an issue."),
    (
        "We meet on the first Thursday of each month at 18:30.",
        "Meetings are held on the first Thursday of every month at 6:30 pm.",
    ),
    ("The scanner in the hall only accepts A4.", "Only A4 is accepted by the scanner in the hall."),
    ("Antero is responsible for the heat pumps.", "Antero takes care of the heat pumps."),
    ("Refunds take three to five working days.", "A refund takes between 3 and 5 business days."),
    ("Lempi would like to learn Portuguese.", "Lempi wants to learn Portuguese."),
    ("Since May the shop is closed on Mondays.", "The shop has been closed on Mondays since May."),
    (
        "Commits should be small and have a ticket number.",
        "Commits should be small and carry a ticket number.",
    ),
    (
        "Our main competitor is Lumo Oy from Oulu.",
        "Lumo Oy, based in Oulu, is our main competitor.",
    ),
    (
        "After the update the tablet no longer connects to the printer.",
        "The tablet does not connect to the printer any more since the update.",
    ),
    ("Never give Misty grapes or raisins.", "Misty must not be given grapes or raisins."),
    ("Kaisa offered to drive if it snows.", "If it snows, Kaisa will drive, as she offered."),
    (
        "The log format changed from JSON to plain text in version 5.",
        "Version 5 changed the log format from JSON to plain text.",
    ),
    (
        "Die Übergabe erfolgt jeden Freitag um 15 Uhr.",
        "Jeden Freitag um 15 Uhr findet die Übergabe statt.",
    ),
    (
        "Uwe muss vor der Prüfung noch zwei Kapitel lernen.",
        "Vor der Prüfung hat Uwe noch zwei Kapitel zu lernen.",
    ),
    (
        "Der Lieferant akzeptiert keine Retouren nach 30 Tagen.",
        "Nach 30 Tagen nimmt der Lieferant keine Retouren an.",
    ),
    (
        "Passwörter dürfen nicht per E-Mail verschickt werden.",
        "Man darf Passwörter nicht per E-Mail versenden.",
    ),
    ("Le stock est vérifié deux fois par an.", "On vérifie le stock deux fois par an."),
    ("Hugo est allergique aux noix.", "Hugo a une allergie aux noix."),
    ("El gato de Nuria se llama Pipo.", "Pipo es el gato de Nuria."),
    ("Las reuniones duran como máximo media hora.", "Las reuniones no duran más de media hora."),
    ("La riunione è ogni martedì alle 10.", "Ogni martedì alle 10 c'è la riunione."),
    ("Hij drinkt liever thee dan koffie.", "Hij geeft de voorkeur aan thee boven koffie."),
    (
        "The violin lesson moved to Thursday at 17:00.",
        "The violin lesson is now on Thursday at 5 pm.",
    ),
    (
        "Keep the fridge at 4 degrees or below.",
        "The fridge must be kept at no more than 4 degrees.",
    ),
    ("Hedda is the contact for the Malmö branch.", "For the Malmö branch, the contact is Hedda."),
    (
        "We use Terraform for everything except DNS.",
        "Everything but DNS is managed with Terraform.",
    ),
    (
        "Old invoices are in the archive folder, sorted by year.",
        "The archive folder holds the old invoices, sorted by year.",
    ),
    ("The CSV export must use semicolons.", "Semicolons are mandatory in the CSV export."),
    ("Sten quit smoking in 2020.", "Sten stopped smoking in 2020."),
    (
        "Nightly builds fail when the license server is down.",
        "If the license server is down, nightly builds fail.",
    ),
    (
        "The new hire starts on 1 August and gets the desk by the window.",
        "The new hire begins on August 1 and gets the desk at the window.",
    ),
    ("Logs older than a month are deleted.", "Logs are deleted after a month."),
    ("Karin takes two sugars in her coffee.", "Karin drinks her coffee with two sugars."),
    (
        "Don't email the client directly; go through Mattias.",
        "The client must not be emailed directly but through Mattias.",
    ),
    (
        "The gate code changes on the first of each month.",
        "On the first of every month the gate code is changed.",
    ),
    (
        "Feature work stops two days before a release.",
        "Two days before a release, feature work stops.",
    ),
    ("Every intern gets a mentor.", "Each intern has a mentor."),
    ("Rasmus thinks the vendor is too slow.", "In Rasmus's opinion the vendor is too slow."),
    (
        "Deploys need the release manager's approval.",
        "No deploy happens without the release manager's approval.",
    ),
    ("Our retro is every other Friday.", "The retro takes place every two weeks on Friday."),
    (
        "Tickets over 500 kronor need a receipt.",
        "A receipt is required for tickets of more than 500 kronor.",
    ),
    ("He only eats fish, no meat.", "Axel eats only fish and no meat.", "Preferences of Axel"),
    ("The old laptop was given to Ebba.", "Ebba got the old laptop."),
    (
        "Check the tyre pressure before long trips.",
        "Tyre pressure is to be checked before long trips.",
    ),
    (
        "Compile times dropped by half after the upgrade.",
        "After the upgrade compile times fell by 50%.",
    ),
    (
        "The choir rehearses in the church, not at school.",
        "Choir rehearsals are in the church rather than at school.",
    ),
    ("It might be cheaper to rent.", "Renting may be cheaper."),
    ("The API allows 60 calls a minute.", "The API's limit is 60 calls per minute."),
    ("Sofia and Nils share the night shift.", "The night shift is shared by Sofia and Nils."),
    (
        "Store uploads in S3, never on local disk.",
        "Uploads must be stored in S3 and never on the local disk.",
    ),
    (
        "The tenant below complains about noise after 22:00.",
        "After 10 pm the tenant below complains of noise.",
    ),
    ("Der Drucker steht im Flur.", "Im Flur befindet sich der Drucker."),
    ("Alle Kollegen außer Timo haben zugestimmt.", "Bis auf Timo haben alle Kollegen zugestimmt."),
    ("Das Backup muss täglich geprüft werden.", "Das Backup ist jeden Tag zu prüfen."),
    (
        "Ohne Freigabe von Anja wird nichts veröffentlicht.",
        "Nichts wird ohne Anjas Freigabe veröffentlicht.",
    ),
    ("Le mot de passe expire tous les 60 jours.", "Tous les 60 jours, le mot de passe expire."),
    ("Chloé préfère les réunions courtes.", "Les réunions courtes sont préférées par Chloé."),
    ("El informe se envía los lunes.", "Los lunes se envía el informe."),
    ("No se puede aparcar delante de la casa.", "Está prohibido aparcar delante de la casa."),
    ("Il corso comincia a settembre.", "A settembre comincia il corso."),
    ("De sleutel ligt bij de buren.", "De buren hebben de sleutel."),
    ("The ferry to Brekke runs only in summer.", "Only in summer does the ferry to Brekke run."),
    (
        "Tilda handles payroll; vacations are approved by Magnus.",
        "Payroll is handled by Tilda, and Magnus approves vacations.",
    ),
    (
        "Images wider than 1200 pixels are scaled down.",
        "Images that are more than 1200 pixels wide get scaled down.",
    ),
    (
        "The alarm code must not be shared by text message.",
        "Nobody may share the alarm code via text message.",
    ),
    (
        "We postponed the launch to October since the app review takes long.",
        "The launch was delayed until October because the app review is slow.",
    ),
    ("Signe is left-handed.", "Signe is a left-hander."),
    (
        "The cleaning crew comes on Tuesday and Friday evenings.",
        "Cleaning takes place on Tuesday and Friday evenings.",
    ),
    ("Prices on the site include VAT.", "VAT is included in the prices on the site."),
    (
        "If you change the schema, bump the version.",
        "The version has to be bumped whenever the schema is changed.",
    ),
    ("Viggo will be in Tromsø from 3 to 9 May.", "From May 3 to May 9 Viggo is in Tromsø."),
    ("Never leave the stove unattended.", "The stove must not be left unattended."),
    ("The battery lasts about six hours.", "Battery life is approximately 6 hours."),
    ("Only the last 30 backups are kept.", "No more than the last 30 backups are kept."),
    (
        "Hilde bakes the cake, Arne buys the flowers.",
        "The cake is baked by Hilde and the flowers are bought by Arne.",
    ),
    (
        "Guests have to register at least 24 hours ahead.",
        "Guests must register a minimum of 24 hours ahead.",
    ),
    ("Our support does not cover plugins.", "Plugins aren't covered by our support."),
    (
        "The meeting was cancelled because nobody was prepared.",
        "Since nobody was prepared, the meeting was cancelled.",
    ),
    ("Use British spelling in all documents.", "All documents must use British spelling."),
    ("Ylva usually answers within an hour.", "Ylva normally replies within one hour."),
    (
        "The pond freezes when it stays below -5 for three days.",
        "When it stays below -5 for 3 days, the pond freezes.",
    ),
    ("Don't schedule anything on 17 May.", "Nothing is to be scheduled on May 17."),
    (
        "Marit owns the van and lends it to the club.",
        "The van belongs to Marit, who lends it to the club.",
    ),
    (
        "The form has two mandatory fields: name and email.",
        "Name and email are the two mandatory fields of the form.",
    ),
    (
        "The library is closed between Christmas and New Year.",
        "Between Christmas and New Year the library is closed.",
    ),
    (
        "New members pay half the fee in the first year.",
        "In their first year new members pay 50% of the fee.",
    ),
    ("Trygve asked for a standing desk.", "Trygve requested a standing desk."),
    (
        "Test data has to be anonymised before it leaves production.",
        "Before leaving production, test data must be anonymised.",
    ),
    ("Die Heizung ist seit Montag kaputt.", "Seit Montag ist die Heizung defekt."),
    (
        "Rechnungen über 1000 Euro braucht zwei Unterschriften.",
        "Für Rechnungen über 1000 Euro sind zwei Unterschriften nötig.",
    ),
    ("Lotte kommt nur mittwochs ins Büro.", "Ins Büro kommt Lotte nur mittwochs."),
    (
        "Bei Regen findet das Fest in der Halle statt.",
        "Wenn es regnet, findet das Fest in der Halle statt.",
    ),
    ("Le chat de Manon s'appelle Gribouille.", "Gribouille est le chat de Manon."),
    (
        "Il faut prévenir Luc avant chaque livraison.",
        "Avant chaque livraison, il faut prévenir Luc.",
    ),
    ("El taller abre a las ocho.", "A las ocho abre el taller."),
    ("Las llaves las tiene Marcos.", "Marcos tiene las llaves."),
    ("Il treno delle 7 è spesso in ritardo.", "Spesso il treno delle 7 è in ritardo."),
    ("De printer mag niet 's nachts aan blijven.", "'s Nachts mag de printer niet aan blijven."),
    ("The boathouse roof was repaired in March.", "In March the roof of the boathouse was fixed."),
    (
        "Exports larger than 5 GB must run at night.",
        "Exports of more than 5 GB have to be run at night.",
    ),
    ("Ask Tuva if the projector is missing.", "If the projector is missing, Tuva should be asked."),
    ("Pelle never eats breakfast.", "Pelle doesn't eat breakfast."),
    ("The sauna may be used until 22:00.", "The sauna can be used until 10 pm."),
    ("We chose Vue because the team knows it.", "Because the team knows it, Vue was chosen."),
    ("Kitchen duty changes every week.", "The kitchen duty rotates weekly."),
    (
        "Do not lend the projector to other departments.",
        "The projector must not be lent to other departments.",
    ),
    ("The gym is closed during the holidays.", "During the holidays the gym isn't open."),
    (
        "Frida moved to Lund in 2022 for her studies.",
        "For her studies Frida moved to Lund in 2022.",
    ),
    (
        "All servers run Debian except the build machine.",
        "Except for the build machine, all servers run Debian.",
    ),
    (
        "The warranty of the pump ends on 2027-04-30.",
        "The pump's warranty expires on 30 April 2027.",
    ),
    (
        "Invoices under 100 euros need no approval.",
        "No approval is needed for invoices below 100 euros.",
    ),
    ("Mails from the tax office go to Ove.", "Ove gets the mails from the tax office."),
    ("Der Kurs dauert sechs Wochen.", "Die Dauer des Kurses beträgt sechs Wochen."),
    ("Bitte nicht vor 8 Uhr klingeln.", "Vor 8 Uhr soll nicht geklingelt werden."),
    ("Le magasin est fermé le lundi.", "Le lundi, le magasin est fermé."),
    ("Lucía trabaja desde casa los viernes.", "Los viernes Lucía trabaja desde casa."),
    ("Il gatto mangia due volte al giorno.", "Due volte al giorno il gatto mangia."),
)

REFUSED: tuple[Row, ...] = (
    (
        "The build fails unless NODE_ENV is set to production.",
        "NODE_ENV must be set to production or the build fails.",
    ),
    (
        "Der Server steht in Frankfurt und wird von Jens betreut.",
        "The server is located in Frankfurt and looked after by Jens.",
    ),
    (
        "El proveedor entrega los martes y los viernes.",
        "The supplier delivers on Tuesdays and Fridays.",
    ),
    (
        "Release notes go out at least one day before the release.",
        "Release notes are sent no later than a day before the release.",
    ),
    (
        "Use feature flags to hide unfinished work.",
        "Unfinished work is to be hidden behind feature flags.",
    ),
    (
        "We use tabs in Go and spaces in Python.",
        "Go code is indented with tabs, Python with spaces.",
    ),
    ("Die API gibt bei Fehlern immer JSON zurück.", "Im Fehlerfall liefert die API stets JSON."),
    (
        "O cliente quer a entrega antes de sexta.",
        "A entrega deve acontecer antes de sexta, como o cliente quer.",
    ),
    (
        "Uploads can take up to 5 minutes on slow connections.",
        "On slow connections an upload may take as long as 5 minutes.",
    ),
    (
        "Malin isn't sure whether the permit is needed.",
        "Malin is unsure if the permit is required.",
    ),
    ("Ilmari switched to decaf in spring.", "In spring, Ilmari changed to decaf coffee."),
    ("Up to eight people fit in the sauna.", "The sauna has room for at most eight people."),
    (
        "Slow tests are marked with @slow and skipped locally.",
        "Tests that are slow carry the mark @slow and are skipped on local runs.",
    ),
    (
        "The API key must be kept out of the repository.",
        "The API key must not be stored in the repository.",
    ),
    ("The parking lot is closed on market days.", "On market days the car park is closed."),
    ("The pool opens at 7 and closes at 21.", "The pool is open from 7 to 21."),
    ("The phone number of the vet is 555 0188.", "The vet can be reached at 555 0188."),
    (
        "Half a day per week is reserved for learning.",
        "Each week half a day is set aside for learning.",
    ),
    (
        "Responses must be cached for at least one hour.",
        "The minimum caching time for responses is 60 minutes.",
    ),
    (
        "The new server costs 40 euros a month, 10 less than the old one.",
        "At €40 per month, the new server is 10 euros cheaper than the old one.",
    ),
    ("Merge requests are reviewed by two people.", "Two people review each merge request."),
)
"""True, and refused all the same: they stand in another language, or need to be understood."""
