-- The index of the search, made anew from the messages. It is kept for blocks of
-- 4096 messages: docs are the numbers of messages in their block, each two
-- characters of base64. A word may also be what a filter asks for, such as
-- from:ann, or stand for two words that follow each other. The index may say too
-- much, never too little: what it proposes is compared with the message.
--
-- The tables keep their rowids: docs are long, and a search for a word must not
-- read those of the words beside it.
DROP TABLE search;
CREATE TABLE search_blocks (
  session_id TEXT   NOT NULL,
  block      BIGINT NOT NULL,
  first_at   BIGINT NOT NULL,
  last_at    BIGINT NOT NULL,
  docs       TEXT   NOT NULL,
  PRIMARY KEY (session_id, block)
);
CREATE TABLE search_words (
  session_id TEXT   NOT NULL,
  block      BIGINT NOT NULL,
  word       TEXT   NOT NULL,
  docs       TEXT   NOT NULL,
  PRIMARY KEY (session_id, block, word)
);
DELETE FROM late;
UPDATE store SET indexed = 0;
