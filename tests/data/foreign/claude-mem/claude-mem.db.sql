BEGIN TRANSACTION;
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO "observations" VALUES(1,NULL,'kiln',NULL,'decision','Kiln queue in Redis',NULL,'[]','The kiln queue moved to Redis.','["trade-off"]','2026-01-05T08:00:00Z',1767600000000);
INSERT INTO "observations" VALUES(2,NULL,'kiln',NULL,'change','Renamed the queue',NULL,'["Two files changed"]','Renamed kiln to oven.','["trade-off"]','2026-01-05T08:00:00Z',1767600000000);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT, learned TEXT, completed TEXT, next_steps TEXT, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO "session_summaries" VALUES(1,'kiln','Move the queue','Redis needs a password.','The move.',NULL,'2026-01-05T09:00:00Z',1767603600000);
COMMIT;
