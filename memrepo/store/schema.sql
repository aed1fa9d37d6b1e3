-- The tables of index.sqlite3: the search index, and what is cached of memories by blob.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);

-- A row per memory, or per chunk of a long memory.
CREATE TABLE memory (
  number INTEGER PRIMARY KEY, path TEXT NOT NULL, part INTEGER NOT NULL, blob TEXT NOT NULL,
  id TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, standing TEXT NOT NULL,
  scope TEXT NOT NULL, tags TEXT NOT NULL, successors TEXT NOT NULL, seen INTEGER NOT NULL,
  importance REAL, thread TEXT NOT NULL, place INTEGER NOT NULL, subject TEXT NOT NULL,
  day TEXT NOT NULL, length INTEGER NOT NULL, cues TEXT NOT NULL, terms TEXT NOT NULL,
  UNIQUE (path, part)
);
CREATE INDEX memory_place ON memory (thread, place, path, part, status, type, scope, subject);
CREATE INDEX memory_day ON memory (day);
CREATE VIRTUAL TABLE words USING fts5 (
  terms, content = 'memory', content_rowid = 'number',
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);

-- The number of rows of memory that contain a term.
CREATE TABLE vocabulary (term TEXT PRIMARY KEY, doc INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE wordforms USING fts5 (latin, term UNINDEXED, tokenize = 'trigram');

-- The statements that memories are based on, by hash.
CREATE TABLE evidence (hash TEXT, path TEXT, PRIMARY KEY (hash, path)) WITHOUT ROWID;
CREATE INDEX evidence_path ON evidence (path);

-- The paragraphs of sources. `units` has their statements: [[hash, text, first line, last line]].
CREATE VIRTUAL TABLE passage USING fts5 (
  terms, path UNINDEXED, blob UNINDEXED, context UNINDEXED, captured UNINDEXED, units UNINDEXED,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
CREATE TABLE place (hash TEXT, number INTEGER, PRIMARY KEY (hash, number)) WITHOUT ROWID;
CREATE INDEX place_number ON place (number);

-- The languages whose rules made the terms.
CREATE TABLE language (name TEXT PRIMARY KEY) WITHOUT ROWID;

-- Decoded memories with values derived from them, and answers about whole commits.
CREATE TABLE parsed (blob TEXT PRIMARY KEY, memory BLOB);
CREATE TABLE answer (kind TEXT, key TEXT, value BLOB, UNIQUE (kind, key));
