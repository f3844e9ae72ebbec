package archivesql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// recordTable describes how the records of a type are stored.
type recordTable struct {
	table string
	// columns are the columns of the type's fields, in their order.
	columns []string
	// order is the order of the records in an export.
	order string
	// scan is the column of that order if no index has it for a session: then the table is
	// read from the first row of the session to its last.
	scan string
	// fixed are columns that an export does not contain, with the values to import.
	fixed [][2]string
	// from replaces the table of the query, and put replaces the insert, if one table is
	// not enough.
	from, put string
}

// recordTables are the tables of [hub.RecordTypes] except that of the session.
var recordTables = map[string]recordTable{
	"entity": {
		table: "entities", order: "id",
		columns: []string{"id", "kind", "name", "description", "external_id", "metadata", "created_at", "last_seen_at", "deleted_at", "hosted_version", "session_role", "owner_id", "last_failure", "wake_proof"},
	},
	"agent": {
		table: "hosted_agents", order: "agent_id, version",
		columns: []string{"agent_id", "version", "hash", "config", "created_at", "on_new_message", "settle_ms", "max_steps", "remote"},
	},
	"space": {
		table: "spaces", order: "id",
		columns: []string{"id", "name", "status", "summary", "admin_agent_id", "show_reasoning", "metadata", "last_seq", "created_at", "closed_at", "created_by"},
		// The last seq is read from the messages.
		from: `(SELECT s.id, s.name, s.status, s.summary, s.admin_agent_id, s.show_reasoning, s.metadata, s.created_at, s.closed_at, s.created_by, ` + schema.LastSeq + ` AS last_seq
		        FROM spaces AS s WHERE s.session_id = $1) AS shown`,
	},
	"member": {table: "members", order: "space_id, place", columns: []string{"space_id", "entity_id", "place", "joined_at", "added_by", "muted", "read_upto", "paused_at"}},
	"file": {
		table: "files", order: "id",
		columns: []string{"id", "name", "media_type", "size", "url", "by_entity", "at", "data"},
	},
	"fileInSpace": {table: "file_spaces", order: "file_id, space_id", columns: []string{"file_id", "space_id"}},
	"renderer":    {table: "renderers", order: "name, version", columns: []string{"name", "version", "hash", "size", "created_at", "page"}},
	"run": {
		table: "runs", order: "number",
		columns: []string{
			"id", "agent_id", "status", "trigger_data", "cause_root", "depth", "linked", "steps", "max_steps", "usage", "error", "created_at",
			"started_at", "ended_at", "version", "space_id", "requester", "awake", "not_before", "cancel", "generation", "conversation", "began", "ended",
			"turn", "revision", "acting_for", "activity", "remote", "part_of", "limit_reached", "trace_id", "trace_parent",
		},
		fixed: [][2]string{{"owner", "''"}},
	},
	"runInSpace": {
		table: "run_spaces", order: "r.number, w.space_id", columns: []string{"r.id", "w.space_id"},
		from: "runs AS r CROSS JOIN run_spaces AS w WHERE w.number = r.number AND r.session_id = $1",
		put: `INSERT INTO run_spaces (session_id, space_id, number)
		      SELECT r.session_id, $3, r.number FROM runs AS r WHERE r.session_id = $1 AND r.id = $2 ON CONFLICT DO NOTHING`,
	},
	"message": {
		table: "messages", order: "doc", scan: "doc",
		columns: []string{
			"space_id", "seq", "id", "entity_id", "run_id", "status", "mentions", "dropped_mentions", "created_at", "updated_at", "parts", "state", "on_behalf_of", "deleted_at", "edited_at", "reply_to", "reactions", "arrival", "place",
		},
	},
	"messageVersion": {
		table: "message_versions", order: "message_id, version",
		columns: []string{"message_id", "version", "said_at", "mentions", "dropped_mentions", "parts"},
	},
	"cause":     {table: "message_causes", order: "message_id", columns: []string{"message_id", "root", "depth", "linked", "acting_for"}},
	"readRange": {table: "read_ranges", order: "space_id, entity_id, first", columns: []string{"space_id", "entity_id", "first", "last"}},
	"inboxEntry": {
		table: "inbox_entries", order: "space_id, entity_id, seq", columns: []string{"entity_id", "place", "space_id", "seq", "reason", "delivery", "acked_at", "outside", "delivered_at", "via", "answered_by"},
		from: `(SELECT entity_id, place, space_id, seq, reason, delivery, NULLIF(acked_at, 0) AS acked_at, outside,
		       NULLIF(delivered_at, 0) AS delivered_at, via, NULLIF(answered_by, '') AS answered_by FROM inbox_entries WHERE session_id = $1) AS shown`,
		put: `INSERT INTO inbox_entries (session_id, arrival, entity_id, place, space_id, seq, reason, delivery, acked_at, outside, delivered_at, via, answered_by)
		      VALUES ($1, 0, $2, $3, $4, $5, $6, $7, COALESCE(CAST($8 AS BIGINT), 0), $9, COALESCE(CAST($10 AS BIGINT), 0), $11, COALESCE(CAST($12 AS TEXT), '')) ON CONFLICT DO NOTHING`,
	},
	"step": {
		table: "run_steps", order: "run_id, place",
		columns: []string{"run_id", "place", "done", "started_at", "ended_at", "step", "data"},
	},
	"modelText":    {table: "model_texts", order: "hash", columns: []string{"hash", "body"}},
	"modelRequest": {table: "run_requests", order: "run_id, place", columns: []string{"run_id", "place", "model", "system", "tools", "messages"}},
	"clientInput":  {table: "run_clients", order: "run_id", columns: []string{"run_id", "data"}},
	"conversation": {table: "conversations", order: "id", columns: []string{"id", "agent_id", "clock", "data", "cleared"}},
	"pendingAction": {
		table: "pending_actions", order: "number", scan: "number",
		columns: []string{
			"id", "kind", "run_id", "agent_id", "space_id", "message_id", "part_id", "tool_call_id", "tool_name", "args", "question", "options",
			"result_schema", "status", "expires_at", "created_at", "answered_by", "answered_at", "request", "hash", "requester", "target", "policy",
			"votes", "reply", "reply_space", "due", "answer", "answer_hash", "taken",
		},
	},
	"plan": {
		table: "plans", order: "id",
		columns: []string{
			"id", "agent_id", "name", "description", "instruction", "cron", "time_zone", "scheduled_at", "status", "next_run_at", "last_run_at",
			"last_run_id", "created_at", "acting_for",
		},
	},
	"goal": {
		table: "goals", order: "agent_id, place",
		columns: []string{"agent_id", "id", "place", "description", "priority", "is_long_term", "is_completed", "created_at", "updated_at"},
	},
	"memory": {
		table: "memories", order: "agent_id, place",
		columns: []string{"agent_id", "id", "place", "topic", "content", "metadata", "created_at", "updated_at", "space_id"},
	},
	"usage": {
		table: "usage", order: "run_id, step",
		columns: []string{"run_id", "step", "agent_id", "model", "at", "day", "input", "cached_input", "output", "reasoning", "cost"},
	},
}

// Columns that are converted in a special way.
const (
	partsColumn   = "parts" // with part_id and text, see messagerow.EncodeParts
	triggerColumn = "trigger_data"
)

// columnsOf returns the columns of a field.
func columnsOf(column string) []string {
	if column == partsColumn {
		return []string{"part_id", "text", partsColumn}
	}
	return []string{column}
}

// allColumns returns the columns of all fields.
func (t recordTable) allColumns() (all []string) {
	for _, column := range t.columns {
		all = append(all, columnsOf(column)...)
	}
	return all
}

func (t recordTable) selectText(d *sqlconn.Dialect) string {
	from := t.from
	if from == "" {
		from = t.table + " WHERE session_id = $1"
	}
	if t.scan != "" {
		from = fmt.Sprintf("%[1]s%[2]s WHERE session_id = $1 AND %[3]s BETWEEN (SELECT MIN(%[3]s) FROM %[1]s WHERE session_id = $1)"+
			" AND (SELECT MAX(%[3]s) FROM %[1]s WHERE session_id = $1)", t.table, d.InOrder, t.scan)
	}
	return "SELECT " + strings.Join(t.allColumns(), ", ") + " FROM " + from + " ORDER BY " + t.order
}

func (t recordTable) insertText() string {
	if t.put != "" {
		return t.put
	}
	columns := append([]string{"session_id"}, t.allColumns()...)
	values := make([]string, len(columns))
	for i := range columns {
		values[i] = "$" + strconv.Itoa(i+1)
	}
	for _, f := range t.fixed {
		columns, values = append(columns, f[0]), append(values, f[1])
	}
	return "INSERT INTO " + t.table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ") ON CONFLICT DO NOTHING"
}
