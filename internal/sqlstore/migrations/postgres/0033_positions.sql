-- Inboxes are positions. A message that is final has its arrival in its space (1, 2, 3 ...)
-- and its place in the order in which the messages of the session became final.
ALTER TABLE messages ADD COLUMN arrival BIGINT;
ALTER TABLE messages ADD COLUMN place BIGINT;
UPDATE messages SET arrival = final.arrival, place = final.place FROM (
  SELECT doc, ROW_NUMBER() OVER (PARTITION BY session_id, space_id ORDER BY seq) AS arrival,
    ROW_NUMBER() OVER (PARTITION BY session_id ORDER BY doc) AS place
  FROM messages WHERE status <> 'streaming') AS final
WHERE messages.doc = final.doc;
CREATE INDEX messages_arrival ON messages (session_id, space_id, arrival, entity_id) WHERE arrival IS NOT NULL;
CREATE INDEX messages_place ON messages (session_id, place) WHERE place IS NOT NULL;
CREATE INDEX messages_composed ON messages (session_id, space_id, arrival, seq) WHERE run_id IS NOT NULL AND arrival IS NOT NULL;

-- The last place of a session, if it is not that of a message.
CREATE TABLE inbox_places (
  session_id TEXT COLLATE "C" NOT NULL,
  last_place BIGINT NOT NULL,
  PRIMARY KEY (session_id)
);

-- Everything up to the arrival read_upto is read. Above it, own_above messages are the
-- member's own (up to a point that the program knows), and acked_above others are read:
-- those in read_ranges, and those with an entry that is read or outside. Messages after
-- the arrival paused_at are not for a member that is hosted or has muted the space.
ALTER TABLE members ADD COLUMN read_upto BIGINT NOT NULL DEFAULT -1;
ALTER TABLE members ADD COLUMN own_above BIGINT NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN acked_above BIGINT NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN paused_at BIGINT;
CREATE TABLE read_ranges (
  session_id TEXT COLLATE "C" NOT NULL,
  space_id TEXT COLLATE "C" NOT NULL,
  entity_id TEXT COLLATE "C" NOT NULL,
  first      BIGINT NOT NULL,
  last       BIGINT NOT NULL,
  PRIMARY KEY (session_id, space_id, entity_id, first)
);

-- Messages that an inbox tracks one by one: mentions, system messages, messages that were
-- delivered and not acknowledged, and messages that were marked as unread. acked_at is 0
-- while the entry is unread. An entry is outside if the member's positions count its
-- message as read, or not at all.
CREATE TABLE inbox_entries (
  session_id TEXT COLLATE "C" NOT NULL,
  entity_id TEXT COLLATE "C" NOT NULL,
  acked_at   BIGINT  NOT NULL,
  place      BIGINT  NOT NULL,
  space_id TEXT COLLATE "C" NOT NULL,
  seq        BIGINT  NOT NULL,
  arrival    BIGINT  NOT NULL,
  reason     TEXT    NOT NULL,
  delivery   BIGINT  NOT NULL,
  outside    BOOLEAN NOT NULL,
  PRIMARY KEY (session_id, space_id, entity_id, seq)
);

-- Without statistics, the statements below would be planned for empty tables.
ANALYZE messages;
ANALYZE members;
ANALYZE inbox;

-- The inboxes so far become positions: a member has read everything before its first unread
-- message, and between its unread messages what is in the gaps.
UPDATE members SET
  read_upto = COALESCE(
    (SELECT MIN(m.arrival) - 1 FROM inbox AS i JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq
     WHERE i.session_id = members.session_id AND i.entity_id = members.entity_id AND i.space_id = members.space_id),
    (SELECT MAX(m.arrival) FROM messages AS m WHERE m.session_id = members.session_id AND m.space_id = members.space_id AND m.arrival IS NOT NULL), 0),
  paused_at = CASE WHEN hosted OR muted THEN COALESCE(
    (SELECT MAX(m.arrival) FROM messages AS m WHERE m.session_id = members.session_id AND m.space_id = members.space_id AND m.arrival IS NOT NULL), 0) END;
INSERT INTO read_ranges (session_id, space_id, entity_id, first, last)
  SELECT session_id, space_id, entity_id, arrival + 1, next - 1 FROM (
    SELECT i.session_id, i.space_id, i.entity_id, m.arrival, COALESCE(
      LEAD(m.arrival) OVER (PARTITION BY i.session_id, i.space_id, i.entity_id ORDER BY m.arrival),
      (SELECT MAX(o.arrival) + 1 FROM messages AS o WHERE o.session_id = i.session_id AND o.space_id = i.space_id AND o.arrival IS NOT NULL)) AS next
    FROM inbox AS i JOIN members AS who ON who.session_id = i.session_id AND who.space_id = i.space_id AND who.entity_id = i.entity_id
    JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq AND m.arrival IS NOT NULL) AS unread
  WHERE next > arrival + 1;
ANALYZE read_ranges;
UPDATE members SET own_above = counted.own, acked_above = 0 - counted.inside FROM (
  SELECT m.session_id, m.space_id, m.entity_id,
    COUNT(*) FILTER (WHERE who.paused_at IS NOT NULL OR m.arrival <= (ends.last / 128) * 128) AS own,
    COUNT(*) FILTER (WHERE m.arrival <= (SELECT r.last FROM read_ranges AS r WHERE r.session_id = m.session_id AND r.space_id = m.space_id
      AND r.entity_id = m.entity_id AND r.first <= m.arrival ORDER BY r.first DESC LIMIT 1)) AS inside
  FROM messages AS m
  JOIN members AS who ON who.session_id = m.session_id AND who.space_id = m.space_id AND who.entity_id = m.entity_id AND m.arrival > who.read_upto
  JOIN (SELECT session_id, space_id, MAX(arrival) AS last FROM messages WHERE arrival IS NOT NULL GROUP BY session_id, space_id) AS ends
    ON ends.session_id = m.session_id AND ends.space_id = m.space_id
  WHERE m.arrival IS NOT NULL
  GROUP BY m.session_id, m.space_id, m.entity_id) AS counted
WHERE members.session_id = counted.session_id AND members.space_id = counted.space_id AND members.entity_id = counted.entity_id;
UPDATE members SET acked_above = acked_above + sums.total FROM (
  SELECT session_id, space_id, entity_id, SUM(last - first + 1) AS total FROM read_ranges GROUP BY session_id, space_id, entity_id) AS sums
WHERE members.session_id = sums.session_id AND members.space_id = sums.space_id AND members.entity_id = sums.entity_id;
INSERT INTO inbox_entries (session_id, entity_id, acked_at, place, space_id, seq, arrival, reason, delivery, outside)
  SELECT i.session_id, i.entity_id, 0, m.place, i.space_id, i.seq, m.arrival, i.reason, i.delivery, FALSE
  FROM inbox AS i JOIN members AS who ON who.session_id = i.session_id AND who.space_id = i.space_id AND who.entity_id = i.entity_id
  JOIN messages AS m ON m.session_id = i.session_id AND m.space_id = i.space_id AND m.seq = i.seq AND m.place IS NOT NULL
  WHERE i.reason <> 'message' OR i.delivery > 0;
CREATE UNIQUE INDEX inbox_entries_unread ON inbox_entries (session_id, entity_id, place) WHERE acked_at = 0;
ANALYZE inbox_entries;
DROP TABLE inbox;
DROP TABLE inboxes;
