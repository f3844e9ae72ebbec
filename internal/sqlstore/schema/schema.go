// Package schema contains the SQL that several packages of the store share: which rows of the
// tables belong together.
package schema

import "fmt"

// SpacesOf selects the spaces that an entity is in. Its arguments are a session and the
// entity.
const SpacesOf = `(SELECT space_id FROM members WHERE session_id = ? AND entity_id = ?)`

// LastSeq is the seq of the last message of the space s. It is read from the messages, so
// that a post need not write to its space. The column last_seq of spaces is not used.
const LastSeq = `(SELECT COALESCE(MAX(m.seq), 0) FROM messages AS m WHERE m.session_id = s.session_id AND m.space_id = s.id)`

// AddRunSpace records that run $2 of session $1 began in space $3 or wrote to it.
const AddRunSpace = `INSERT INTO run_spaces (session_id, space_id, number)
		SELECT r.session_id, $3, r.number FROM runs AS r WHERE r.session_id = $1 AND r.id = $2 ON CONFLICT DO NOTHING`

// NotImporting returns the condition that the session of a row of table is not being
// imported, for queries over all sessions.
func NotImporting(table string) string {
	return fmt.Sprintf(` AND NOT EXISTS (SELECT 1 FROM sessions AS hidden WHERE hidden.id = %s.session_id AND hidden.status = 'importing')`, table)
}

// EraseSession are the statements that remove everything that belongs to session $1. The
// search index comes first: its rows are found through the messages.
var EraseSession = []string{
	`DELETE FROM late WHERE doc IN (SELECT doc FROM messages WHERE session_id = $1)`,
	`DELETE FROM request_spending WHERE session_id = $1`,
	`DELETE FROM search_blocks WHERE session_id = $1`,
	`DELETE FROM search_words WHERE session_id = $1`,
	`DELETE FROM messages WHERE session_id = $1`,
	`DELETE FROM inbox_entries WHERE session_id = $1`,
	`DELETE FROM inbox_places WHERE session_id = $1`,
	`DELETE FROM read_ranges WHERE session_id = $1`,
	`DELETE FROM explicit_keys WHERE session_id = $1`,
	`DELETE FROM events WHERE session_id = $1`,
	`DELETE FROM event_floors WHERE session_id = $1`,
	`DELETE FROM lineage_places WHERE session_id = $1`,
	`DELETE FROM members WHERE session_id = $1`,
	`DELETE FROM spaces WHERE session_id = $1`,
	`DELETE FROM deleted_spaces WHERE session_id = $1`,
	`DELETE FROM entities WHERE session_id = $1`,
	`DELETE FROM keys WHERE session_id = $1`,
	`DELETE FROM revoked_keys WHERE session_id = $1`,
	`DELETE FROM invites WHERE session_id = $1`,
	`DELETE FROM oauth_grants WHERE session_id = $1`,
	`DELETE FROM push_subscriptions WHERE session_id = $1`,
	`DELETE FROM runner_agents WHERE session_id = $1`,
	`DELETE FROM answers WHERE session_id = $1`,
	`DELETE FROM hosted_agents WHERE session_id = $1`,
	`DELETE FROM message_causes WHERE session_id = $1`,
	`DELETE FROM message_versions WHERE session_id = $1`,
	`DELETE FROM runs WHERE session_id = $1`,
	`DELETE FROM run_spaces WHERE session_id = $1`,
	`DELETE FROM run_steps WHERE session_id = $1`,
	`DELETE FROM model_texts WHERE session_id = $1`,
	`DELETE FROM run_requests WHERE session_id = $1`,
	`DELETE FROM run_clients WHERE session_id = $1`,
	`DELETE FROM run_work WHERE session_id = $1`,
	`DELETE FROM conversations WHERE session_id = $1`,
	`DELETE FROM pending_actions WHERE session_id = $1`,
	`DELETE FROM remembered_decisions WHERE session_id = $1`,
	`DELETE FROM plans WHERE session_id = $1`,
	`DELETE FROM goals WHERE session_id = $1`,
	`DELETE FROM memories WHERE session_id = $1`,
	`DELETE FROM usage WHERE session_id = $1`,
	`DELETE FROM files WHERE session_id = $1`,
	`DELETE FROM file_spaces WHERE session_id = $1`,
	`DELETE FROM renderers WHERE session_id = $1`,
	`DELETE FROM erasures WHERE session_id = $1`,
}

// OwnStride is the number of arrivals after which the own messages of members are added to
// their counts. Migrations and exports depend on it.
const OwnStride = 128

// LastPlace is the last place that was assigned in session $1.
const LastPlace = `SELECT MAX(place) FROM (SELECT MAX(m.place) AS place FROM messages AS m WHERE m.session_id = $1 AND m.place IS NOT NULL
		UNION ALL SELECT last_place FROM inbox_places WHERE session_id = $1) AS ends`
