-- The tables of index.sqlite3: the search index, and what is cached of memories by blob.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);

-- A row per block: a paragraph of a memory, or of a source (without an id).
CREATE TABLE block (
  number INTEGER PRIMARY KEY, path TEXT NOT NULL, part INTEGER NOT NULL, blob TEXT NOT NULL,
  id TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, scope TEXT NOT NULL,
  tags TEXT NOT NULL, seen INTEGER NOT NULL, importance REAL,
  thread TEXT NOT NULL, place INTEGER NOT NULL, subject TEXT NOT NULL, day TEXT NOT NULL,
  cues TEXT NOT NULL, head TEXT NOT NULL, terms TEXT NOT NULL,
  context TEXT NOT NULL, text TEXT NOT NULL, last INTEGER NOT NULL,
  UNIQUE (path, part)
);
CREATE INDEX block_id ON block (id);
CREATE INDEX block_place ON block (thread, place, path, part);
CREATE INDEX block_day ON block (day);
CREATE VIRTUAL TABLE words USING fts5 (
  head, terms, content = 'block', content_rowid = 'number',
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);

-- The statements that memories are based on, by hash, and the lines of sources that have them.
CREATE TABLE evidence (hash TEXT, path TEXT, PRIMARY KEY (hash, path)) WITHOUT ROWID;
CREATE INDEX evidence_path ON evidence (path);
CREATE TABLE statement (
  number INTEGER, hash TEXT, first INTEGER, last INTEGER, PRIMARY KEY (number, hash, first)
) WITHOUT ROWID;
CREATE INDEX statement_hash ON statement (hash);

-- The languages whose rules made the terms, with the number of blocks written so far.
CREATE TABLE language (name TEXT PRIMARY KEY, blocks INTEGER) WITHOUT ROWID;

-- Decoded memories with values derived from them.
CREATE TABLE parsed (blob TEXT PRIMARY KEY, memory BLOB);

-- The last answer of each kind about a whole commit, and the key of what it depends on.
CREATE TABLE answer (kind TEXT PRIMARY KEY, key TEXT, value BLOB);
