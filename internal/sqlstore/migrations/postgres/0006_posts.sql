-- A post writes less. The event that tells of a posted message names it by its seq
-- in the space, and data is empty: the message, which never changes, is in messages
-- already.
--
-- From here on spaces.last_seq counts no more: messages tell the last seq. And
-- inboxes.last_place is written when entries are removed: until then the entries
-- tell the last place.
ALTER TABLE events ADD COLUMN seq BIGINT;
