-- The event that tells of a posted message is no row any more, but the message, with
-- the place of the event among those of its session. Only messages that were posted
-- have one: what tells of others, events says.
ALTER TABLE messages ADD COLUMN event_place BIGINT;
UPDATE messages SET event_place = told.place FROM (SELECT session_id, space_id, seq, place FROM events WHERE seq IS NOT NULL) AS told
WHERE messages.session_id = told.session_id AND messages.space_id = told.space_id AND messages.seq = told.seq;
CREATE INDEX messages_told ON messages (session_id, event_place) WHERE event_place IS NOT NULL;
DELETE FROM events WHERE seq IS NOT NULL;
ALTER TABLE events DROP COLUMN seq;
