package sqlstore

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	noRun      = "There is no run %q here."
	runColumns = `r.session_id, r.id, r.agent_id, r.status, r.trigger_data, r.cause_root, r.depth, r.linked, r.steps, r.max_steps, r.usage, r.error,
	r.created_at, r.started_at, r.ended_at, r.version, r.space_id, r.requester, r.awake, r.not_before, r.cancel, r.owner, r.lease_until,
	r.generation, r.conversation, r.began, r.ended, r.turn, r.revision, r.acting_for, r.activity, r.stalled_since`
)

func runOf(r *rows) hub.StoredRun {
	run := hub.StoredRun{
		Run: shoal.Run{
			SessionID: shoal.SessionID(r.text(0)), ID: shoal.RunID(r.text(1)), AgentID: shoal.EntityID(r.text(2)), Status: shoal.RunStatus(r.text(3)),
			CauseRoot: r.text(5), Depth: int(r.int(6)), Steps: int(r.int(8)), MaxSteps: int(r.int(9)),
			PendingToolCalls: []shoal.PendingToolCall{}, ActingFor: r.idsOf(29),
			CreatedAt: r.time(12), StartedAt: r.timeOrNil(13), EndedAt: r.timeOrNil(14), StalledSince: r.timeOrNil(31),
		},
		Linked: r.bool(7), Version: int(r.int(15)), Space: shoal.SpaceID(r.text(16)), Requester: r.text(17),
		Awake: r.bool(18), NotBefore: r.time(19), Cancel: r.bool(20), Owner: r.text(21), LeaseUntil: r.timeOrNil(22),
		Generation: r.int(23), Conversation: r.text(24), Began: r.int(25), Ended: r.int(26), Turn: r.rawOrNil(27), Revision: r.int(28),
	}
	run.Trigger = r.trigger(4)
	r.decode(r.text(10), &run.Usage)
	r.decodeOrNil(11, &run.Error)
	r.decodeOrNil(30, &run.Activity)
	return run
}

// storedTrigger is a trigger with all its fields, each byte of the payload and
// all of the time.
type storedTrigger struct {
	plainTrigger
	ScheduledAt int64           `json:",omitempty"`
	Payload     json.RawMessage `json:",omitempty"`
}

type plainTrigger shoal.Trigger

func encodeTrigger(t shoal.Trigger) (string, error) {
	s := storedTrigger{plainTrigger: plainTrigger(t), Payload: t.Payload}
	if !t.ScheduledAt.IsZero() {
		s.ScheduledAt = t.ScheduledAt.UnixMicro()
	}
	return encode(s)
}

func (r *rows) trigger(i int) shoal.Trigger {
	var s storedTrigger
	r.decode(r.text(i), &s)
	t := shoal.Trigger(s.plainTrigger)
	t.Payload, t.ScheduledAt = s.Payload, shoal.Time{}
	if s.ScheduledAt != 0 {
		t.ScheduledAt = microTime(s.ScheduledAt)
	}
	return t
}

// Run implements [hub.RunTx].
func (t tx) Run(session shoal.SessionID, id shoal.RunID) (hub.StoredRun, error) {
	r, ok, err := one(t.c, runOf, `SELECT `+runColumns+` FROM runs AS r WHERE r.session_id = $1 AND r.id = $2`, session, id)
	return present(r, ok, err, "Run", noRun, id)
}

// Runs implements [hub.RunTx]. A Limit of 0 is none.
func (t tx) Runs(session shoal.SessionID, filter hub.RunFilter) ([]hub.StoredRun, error) {
	before := int64(math.MaxInt64)
	if filter.Before != "" {
		place, err := number(t.c, `SELECT number FROM runs WHERE session_id = $1 AND id = $2`, session, filter.Before)
		if err != nil || place == 0 {
			return []hub.StoredRun{}, err
		}
		before = place
	}
	live := len(filter.Status) > 0 && !slices.ContainsFunc(filter.Status, shoal.RunStatus.Ended)
	var b clauses
	if filter.Space != "" && !live {
		b.add(`SELECT `+runColumns+` FROM run_spaces AS w CROSS JOIN runs AS r
			WHERE r.number = w.number AND w.session_id = ? AND w.space_id = ? AND w.number < ?`, session, filter.Space, before)
	} else {
		b.add(`SELECT `+runColumns+` FROM runs AS r WHERE r.session_id = ? AND r.number < ?`, session, before)
	}
	if live { // few of all runs, which have an index of their own
		b.add(` AND r.ended_at IS NULL`)
		if filter.Space != "" {
			b.add(` AND EXISTS (SELECT 1 FROM run_spaces AS w WHERE w.session_id = r.session_id AND w.space_id = ? AND w.number = r.number)`, filter.Space)
		}
	}
	if filter.Agent != "" {
		b.add(` AND r.agent_id = ?`, filter.Agent)
	}
	if len(filter.Status) > 0 {
		addIn(&b, ` AND r.status IN (?)`, filter.Status)
	}
	if filter.Trigger != "" {
		b.add(` AND r.trigger_data LIKE ?`, `{"Type":"`+string(filter.Trigger)+`"%`)
	}
	// The numbers of the runs of a time are found in an index, so that those of other
	// times are not looked at.
	if filter.Since != nil {
		b.add(` AND r.created_at >= ? AND r.number >= (SELECT MIN(n.number) FROM runs AS n WHERE n.session_id = ? AND n.created_at >= ?)`,
			filter.Since, session, filter.Since)
	}
	if filter.Until != nil {
		b.add(` AND r.created_at < ? AND r.number <= (SELECT MAX(n.number) FROM runs AS n WHERE n.session_id = ? AND n.created_at < ?)`,
			filter.Until, session, filter.Until)
	}
	if filter.Reader != "" {
		b.add(` AND EXISTS (SELECT 1 FROM run_spaces AS seen WHERE seen.number = r.number AND seen.space_id IN `+mySpaces+`)`, session, filter.Reader)
	}
	limit := orAll(filter.Limit)
	if filter.Space != "" && !live {
		b.add(` ORDER BY w.number DESC` + upTo(limit))
	} else {
		b.add(` ORDER BY r.number DESC` + upTo(limit))
	}
	return listFirst(t.c, limit, runOf, b.text.String(), b.args...)
}

// InsertRun implements [hub.RunTx].
func (t tx) InsertRun(r hub.StoredRun) error {
	columns, err := runValues(r)
	if err != nil {
		return err
	}
	n, err := t.c.exec(
		`INSERT INTO runs (session_id, id, agent_id, created_at, status, trigger_data, cause_root, depth, linked, steps, max_steps, usage, error,
		   started_at, ended_at, version, space_id, requester, awake, not_before, cancel, owner, lease_until, generation, conversation, began, ended,
		   turn, revision, acting_for, activity, stalled_since)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,
		   $31, $32)
		 ON CONFLICT DO NOTHING`, append([]any{r.SessionID, r.ID, r.AgentID, r.CreatedAt}, columns...)...)
	if err == nil && n == 0 {
		err = taken("InsertRun", "The run id %q is taken.", r.ID)
	}
	if err != nil || r.Space == "" {
		return err
	}
	return t.inSpace(r.SessionID, r.ID, r.Space)
}

// inSpace notes that a run began in a space or wrote to it.
func (t tx) inSpace(session shoal.SessionID, run shoal.RunID, space shoal.SpaceID) error {
	_, err := t.c.exec(`INSERT INTO run_spaces (session_id, space_id, number)
		SELECT r.session_id, $3, r.number FROM runs AS r WHERE r.session_id = $1 AND r.id = $2 ON CONFLICT DO NOTHING`, session, run, space)
	return err
}

// runValues are the columns of a run that can change.
func runValues(r hub.StoredRun) ([]any, error) {
	trigger, err := encodeTrigger(r.Trigger)
	if err != nil {
		return nil, err
	}
	usage, err := encode(r.Usage)
	if err != nil {
		return nil, err
	}
	failure, err := encodeOrNil(r.Error)
	if err != nil {
		return nil, err
	}
	actingFor, err := idsOrNull(r.ActingFor)
	if err != nil {
		return nil, err
	}
	activity, err := encodeOrNil(r.Activity)
	if err != nil {
		return nil, err
	}
	return []any{
		r.Status, trigger, r.CauseRoot, r.Depth, r.Linked, r.Steps, r.MaxSteps, usage, failure, r.StartedAt, r.EndedAt, r.Version, r.Space,
		r.Requester, r.Awake, r.NotBefore, r.Cancel, r.Owner, r.LeaseUntil, r.Generation, r.Conversation, r.Began, r.Ended, orNull(r.Turn), r.Revision,
		actingFor, activity, r.StalledSince,
	}, nil
}

// UpdateRun implements [hub.RunTx]. Agent and CreatedAt do not change.
func (t tx) UpdateRun(r hub.StoredRun) error {
	columns, err := runValues(r)
	if err != nil {
		return err
	}
	n, err := t.c.exec(
		`UPDATE runs SET status = $3, trigger_data = $4, cause_root = $5, depth = $6, linked = $7, steps = $8, max_steps = $9, usage = $10, error = $11,
		   started_at = $12, ended_at = $13, version = $14, space_id = $15, requester = $16, awake = $17, not_before = $18, cancel = $19, owner = $20,
		   lease_until = $21, generation = $22, conversation = $23, began = $24, ended = $25, turn = $26, revision = $27, acting_for = $28, activity = $29, stalled_since = $30
		 WHERE session_id = $1 AND id = $2`, append([]any{r.SessionID, r.ID}, columns...)...)
	if err == nil && n == 0 {
		err = missing("UpdateRun", noRun, r.ID)
	}
	return err
}

// ClaimableRuns implements [hub.RunTx].
func (t tx) ClaimableRuns(at shoal.Time, limit int) ([]hub.StoredRun, error) {
	// Who asks is an expression, so that the few runs that are awake or held are looked
	// at and not all of them in the order of an index.
	return listFirst(t.c, limit, runOf, `SELECT `+runColumns+` FROM (
		SELECT waiting.number, waiting.place + COALESCE(held.n, 0) AS turn FROM (
			SELECT r.number, r.session_id || ' ' || r.requester AS who, ROW_NUMBER() OVER (PARTITION BY r.session_id || ' ' || r.requester ORDER BY r.number) AS place
			FROM runs AS r WHERE r.awake AND r.not_before <= $1 AND (r.lease_until IS NULL OR r.lease_until <= $1)`+shownRun+`
		) AS waiting LEFT JOIN (
			SELECT h.session_id || ' ' || h.requester AS who, COUNT(*) AS n FROM runs AS h
			WHERE h.lease_until IS NOT NULL AND h.lease_until > $1 GROUP BY h.session_id || ' ' || h.requester
		) AS held ON held.who = waiting.who
		ORDER BY turn, waiting.number`+upTo(limit)+`
	) AS turns CROSS JOIN runs AS r WHERE r.number = turns.number ORDER BY turns.turn, turns.number`, at)
}

// HeldRuns implements [hub.RunTx]. The oldest come first.
func (t tx) HeldRuns(owner string) ([]hub.StoredRun, error) {
	var b clauses
	b.add(`SELECT ` + runColumns + ` FROM runs AS r WHERE r.lease_until IS NOT NULL`)
	if owner != "" {
		b.add(` AND r.owner = ?`, owner)
	}
	b.add(` ORDER BY r.number`)
	return list(t.c, runOf, b.text.String(), b.args...)
}

// NextClaim implements [hub.RunTx]. It is in the past for a run that is claimable
// already.
func (t tx) NextClaim() (*shoal.Time, error) {
	return t.earliest(`SELECT MIN(CASE WHEN r.lease_until > r.not_before THEN r.lease_until ELSE r.not_before END) FROM runs AS r WHERE r.awake` + shownRun)
}

// shownRun leaves out the runs of hidden sessions.
var shownRun = fmt.Sprintf(shown, "r")

// earliest returns the time that a query answers, nil for NULL.
func (t tx) earliest(query string, args ...any) (*shoal.Time, error) {
	at, _, err := one(t.c, func(r *rows) *shoal.Time { return r.timeOrNil(0) }, query, args...)
	return at, err
}

// RunSpaces implements [hub.RunTx].
func (t tx) RunSpaces(session shoal.SessionID, run shoal.RunID) ([]shoal.SpaceID, error) {
	spaces := []shoal.SpaceID{}
	_, err := list(t.c, func(r *rows) struct{} {
		if space := shoal.SpaceID(r.text(0)); !slices.Contains(spaces, space) {
			spaces = append(spaces, space)
		}
		return struct{}{}
	}, `SELECT m.space_id FROM messages AS m WHERE m.session_id = $1 AND m.run_id = $2 ORDER BY m.doc`, session, run)
	return spaces, err
}
