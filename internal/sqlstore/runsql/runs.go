package runsql

import (
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noRun      = "Run %q not found."
	runColumns = `r.session_id, r.id, r.agent_id, r.status, r.trigger_data, r.cause_root, r.depth, r.linked, r.steps, r.max_steps, r.usage, r.error,
	r.created_at, r.started_at, r.ended_at, r.version, r.space_id, r.requester, r.awake, r.not_before, r.cancel, r.owner, r.lease_until,
	r.generation, r.conversation, r.began, r.ended, r.turn, r.revision, r.acting_for, r.activity, r.stalled_since, r.remote, r.part_of, r.limit_reached, r.trace_id, r.trace_parent`
)

func runOf(r *sqlconn.Rows) storage.Run {
	run := storage.Run{
		Run: shoal.Run{
			SessionID: shoal.SessionID(r.Text(0)), ID: shoal.RunID(r.Text(1)), AgentID: shoal.EntityID(r.Text(2)), Status: shoal.RunStatus(r.Text(3)),
			CauseRoot: r.Text(5), Depth: int(r.Int(6)), Steps: int(r.Int(8)), MaxSteps: int(r.Int(9)),
			PendingToolCalls: []shoal.PendingToolCall{}, ActingFor: r.IDs(29),
			CreatedAt: r.Time(12), StartedAt: r.TimeOrNil(13), EndedAt: r.TimeOrNil(14), StalledSince: r.TimeOrNil(31), PartOf: sqlconn.TextOrNil[shoal.RunID](r, 33),
			LimitReached: textOrEmpty(r, 34), TraceID: textOrEmpty(r, 35),
		},
		Linked: r.Bool(7), Version: int(r.Int(15)), Space: shoal.SpaceID(r.Text(16)), Requester: r.Text(17),
		Awake: r.Bool(18), NotBefore: r.Time(19), Cancel: r.Bool(20), Owner: r.Text(21), LeaseUntil: r.TimeOrNil(22),
		Generation: r.Int(23), Conversation: r.Text(24), Began: r.Int(25), Ended: r.Int(26), Turn: r.RawOrNil(27), Revision: r.Int(28), Remote: r.Bool(32), TraceParent: textOrEmpty(r, 36),
	}
	run.Trigger = DecodeTrigger(r, 4)
	r.Decode(r.Text(10), &run.Usage)
	r.DecodeOrNil(11, &run.Error)
	r.DecodeOrNil(30, &run.Activity)
	return run
}

func textOrEmpty(r *sqlconn.Rows, i int) string {
	if r.Null(i) {
		return ""
	}
	return r.Text(i)
}

// Run implements [hub.RunTx].
func (t *Tx) Run(session shoal.SessionID, id shoal.RunID) (storage.Run, error) {
	r, ok, err := sqlconn.One(t.c, runOf, `SELECT `+runColumns+` FROM runs AS r WHERE r.session_id = $1 AND r.id = $2`, session, id)
	return sqlconn.OrNotFound(r, ok, err, "Run", noRun, id)
}

// Runs implements [hub.RunTx]. A Limit of 0 means no limit.
func (t *Tx) Runs(session shoal.SessionID, filter storage.RunFilter) ([]storage.Run, error) {
	before := int64(math.MaxInt64)
	if filter.Before != "" {
		place, err := sqlconn.Number(t.c, `SELECT number FROM runs WHERE session_id = $1 AND id = $2`, session, filter.Before)
		if err != nil || place == 0 {
			return []storage.Run{}, err
		}
		before = place
	}
	live := len(filter.Status) > 0 && !slices.ContainsFunc(filter.Status, shoal.RunStatus.Ended)
	var b sqlconn.Builder
	if filter.Space != "" && !live {
		b.Add(`SELECT `+runColumns+` FROM run_spaces AS w CROSS JOIN runs AS r
			WHERE r.number = w.number AND w.session_id = ? AND w.space_id = ? AND w.number < ?`, session, filter.Space, before)
	} else {
		b.Add(`SELECT `+runColumns+` FROM runs AS r WHERE r.session_id = ? AND r.number < ?`, session, before)
	}
	if live { // there are few, and they have an index of their own
		b.Add(` AND r.ended_at IS NULL`)
		if filter.Space != "" {
			b.Add(` AND EXISTS (SELECT 1 FROM run_spaces AS w WHERE w.session_id = r.session_id AND w.space_id = ? AND w.number = r.number)`, filter.Space)
		}
	}
	if filter.Agent != "" {
		b.Add(` AND r.agent_id = ?`, filter.Agent)
	}
	if len(filter.Status) > 0 {
		sqlconn.AddIn(&b, ` AND r.status IN (?)`, filter.Status)
	}
	if filter.Trigger != "" {
		b.Add(` AND r.trigger_data LIKE ?`, `{"Type":"`+string(filter.Trigger)+`"%`)
	}
	// An index gives the range of numbers of the runs of that time, so that runs of other
	// times are not read.
	if filter.Since != nil {
		b.Add(` AND r.created_at >= ? AND r.number >= (SELECT MIN(n.number) FROM runs AS n WHERE n.session_id = ? AND n.created_at >= ?)`,
			filter.Since, session, filter.Since)
	}
	if filter.Until != nil {
		b.Add(` AND r.created_at < ? AND r.number <= (SELECT MAX(n.number) FROM runs AS n WHERE n.session_id = ? AND n.created_at < ?)`,
			filter.Until, session, filter.Until)
	}
	if filter.Reader != "" {
		b.Add(` AND EXISTS (SELECT 1 FROM run_spaces AS seen WHERE seen.number = r.number AND seen.space_id IN `+schema.SpacesOf+`)`, session, filter.Reader)
	}
	limit := sqlconn.OrUnlimited(filter.Limit)
	if filter.Space != "" && !live {
		b.Add(` ORDER BY w.number DESC` + sqlconn.Limit(limit))
	} else {
		b.Add(` ORDER BY r.number DESC` + sqlconn.Limit(limit))
	}
	return sqlconn.ListFirst(t.c, limit, runOf, b.Text(), b.Args...)
}

// InsertRun implements [hub.RunTx].
func (t *Tx) InsertRun(r storage.Run) error {
	columns, err := runValues(r)
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`INSERT INTO runs (session_id, id, agent_id, created_at, status, trigger_data, cause_root, depth, linked, steps, max_steps, usage, error,
		   started_at, ended_at, version, space_id, requester, awake, not_before, cancel, owner, lease_until, generation, conversation, began, ended,
		   turn, revision, acting_for, activity, stalled_since, remote, part_of, limit_reached, trace_id, trace_parent)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,
		   $31, $32, $33, $34, $35, $36, $37)
		 ON CONFLICT DO NOTHING`, append([]any{r.SessionID, r.ID, r.AgentID, r.CreatedAt}, columns...)...)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertRun", "The run id %q is taken.", r.ID)
	}
	if err != nil || r.Space == "" {
		return err
	}
	_, err = t.c.Exec(schema.AddRunSpace, r.SessionID, r.ID, r.Space)
	return err
}

// runValues returns the values of the columns that can change.
func runValues(r storage.Run) ([]any, error) {
	trigger, err := EncodeTrigger(r.Trigger)
	if err != nil {
		return nil, err
	}
	usage, err := sqlconn.Encode(r.Usage)
	if err != nil {
		return nil, err
	}
	failure, err := sqlconn.EncodeOrNil(r.Error)
	if err != nil {
		return nil, err
	}
	actingFor, err := sqlconn.IDsOrNull(r.ActingFor)
	if err != nil {
		return nil, err
	}
	activity, err := sqlconn.EncodeOrNil(r.Activity)
	if err != nil {
		return nil, err
	}
	return []any{
		r.Status, trigger, r.CauseRoot, r.Depth, r.Linked, r.Steps, r.MaxSteps, usage, failure, r.StartedAt, r.EndedAt, r.Version, r.Space,
		r.Requester, r.Awake, r.NotBefore, r.Cancel, r.Owner, r.LeaseUntil, r.Generation, r.Conversation, r.Began, r.Ended, sqlconn.RawOrNull(r.Turn), r.Revision,
		actingFor, activity, r.StalledSince, r.Remote, r.PartOf, sqlconn.IDOrNull(r.LimitReached), sqlconn.IDOrNull(r.TraceID), sqlconn.IDOrNull(r.TraceParent),
	}, nil
}

// UpdateRun implements [hub.RunTx]. Agent and CreatedAt do not change.
func (t *Tx) UpdateRun(r storage.Run) error {
	columns, err := runValues(r)
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`UPDATE runs SET status = $3, trigger_data = $4, cause_root = $5, depth = $6, linked = $7, steps = $8, max_steps = $9, usage = $10, error = $11,
		   started_at = $12, ended_at = $13, version = $14, space_id = $15, requester = $16, awake = $17, not_before = $18, cancel = $19, owner = $20,
		   lease_until = $21, generation = $22, conversation = $23, began = $24, ended = $25, turn = $26, revision = $27, acting_for = $28, activity = $29, stalled_since = $30, remote = $31, part_of = $32, limit_reached = $33, trace_id = $34, trace_parent = $35
		 WHERE session_id = $1 AND id = $2`, append([]any{r.SessionID, r.ID}, columns...)...)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("UpdateRun", noRun, r.ID)
	}
	return err
}

// claimable selects what ClaimableRuns returns.
var claimable = ` FROM runs AS r WHERE r.awake AND NOT r.remote AND r.not_before <= $1 AND (r.lease_until IS NULL OR r.lease_until <= $1)` + runNotImporting

// ClaimableRuns implements [hub.RunTx]. The leased runs are counted only if several
// requesters wait.
func (t *Tx) ClaimableRuns(at shoal.Time, limit int) ([]storage.Run, error) {
	requesters, err := sqlconn.Number(t.c, `SELECT COUNT(*) FROM (SELECT DISTINCT r.session_id, r.requester`+claimable+` LIMIT 2) AS waiting`, at)
	switch {
	case err != nil || requesters == 0:
		return []storage.Run{}, err
	case requesters == 1:
		return sqlconn.ListFirst(t.c, limit, runOf, `SELECT `+runColumns+claimable+` ORDER BY r.number`+sqlconn.Limit(limit), at)
	}
	// The requester is an expression, so that the database reads the few runs that are awake
	// or leased, and not all runs in the order of an index.
	return sqlconn.ListFirst(t.c, limit, runOf, `SELECT `+runColumns+` FROM (
		SELECT waiting.number, waiting.place + COALESCE(held.n, 0) AS turn FROM (
			SELECT r.number, r.session_id || ' ' || r.requester AS who, ROW_NUMBER() OVER (PARTITION BY r.session_id || ' ' || r.requester ORDER BY r.number) AS place`+claimable+`
		) AS waiting LEFT JOIN (
			SELECT h.session_id || ' ' || h.requester AS who, COUNT(*) AS n FROM runs AS h
			WHERE h.lease_until IS NOT NULL AND h.lease_until > $1 GROUP BY h.session_id || ' ' || h.requester
		) AS held ON held.who = waiting.who
		ORDER BY turn, waiting.number`+sqlconn.Limit(limit)+`
	) AS turns CROSS JOIN runs AS r WHERE r.number = turns.number ORDER BY turns.turn, turns.number`, at)
}

// HeldRuns implements [hub.RunTx]. The oldest come first.
func (t *Tx) HeldRuns(owner string) ([]storage.Run, error) {
	var b sqlconn.Builder
	b.Add(`SELECT ` + runColumns + ` FROM runs AS r WHERE r.lease_until IS NOT NULL`)
	if owner != "" {
		b.Add(` AND r.owner = ?`, owner)
	}
	b.Add(` ORDER BY r.number`)
	return sqlconn.List(t.c, runOf, b.Text(), b.Args...)
}

// WokenRuns implements [hub.RunTx]. The oldest come first. A run with an owner is leased.
func (t *Tx) WokenRuns(owner string) ([]storage.Run, error) {
	return sqlconn.List(t.c, runOf, `SELECT `+runColumns+` FROM runs AS r WHERE r.awake AND r.owner = $1 ORDER BY r.number`, owner)
}

// ExpiredRuns implements [hub.RunTx]. The oldest come first.
func (t *Tx) ExpiredRuns(at shoal.Time) ([]storage.Run, error) {
	return sqlconn.List(t.c, runOf, `SELECT `+runColumns+` FROM runs AS r WHERE r.lease_until IS NOT NULL AND r.lease_until <= $1 AND NOT r.remote ORDER BY r.number`, at)
}

// NextExpiry implements [hub.RunTx].
func (t *Tx) NextExpiry() (*shoal.Time, error) {
	return t.earliest(`SELECT MIN(r.lease_until) FROM runs AS r WHERE r.lease_until IS NOT NULL AND NOT r.remote`)
}

// NextClaim implements [hub.RunTx]. The time is in the past if a
// run is claimable now.
func (t *Tx) NextClaim() (*shoal.Time, error) {
	return t.earliest(`SELECT MIN(CASE WHEN r.lease_until > r.not_before THEN r.lease_until ELSE r.not_before END) FROM runs AS r WHERE r.awake AND NOT r.remote` + runNotImporting)
}

// earliest returns the time in the first column of a query, nil for NULL.
func (t *Tx) earliest(query string) (*shoal.Time, error) {
	at, _, err := sqlconn.One(t.c, func(r *sqlconn.Rows) *shoal.Time { return r.TimeOrNil(0) }, query)
	return at, err
}

// RunSpaces implements [hub.RunTx].
func (t *Tx) RunSpaces(session shoal.SessionID, run shoal.RunID) ([]shoal.SpaceID, error) {
	spaces := []shoal.SpaceID{}
	_, err := sqlconn.List(t.c, func(r *sqlconn.Rows) struct{} {
		if space := shoal.SpaceID(r.Text(0)); !slices.Contains(spaces, space) {
			spaces = append(spaces, space)
		}
		return struct{}{}
	}, `SELECT m.space_id FROM messages AS m WHERE m.session_id = $1 AND m.run_id = $2 ORDER BY m.doc`, session, run)
	return spaces, err
}
