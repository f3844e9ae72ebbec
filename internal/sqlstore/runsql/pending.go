package runsql

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/schema"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

const (
	noPending      = "Pending action %q not found."
	pendingColumns = `p.session_id, p.id, p.kind, p.run_id, p.agent_id, p.space_id, p.message_id, p.part_id, p.tool_call_id, p.tool_name, p.args,
	p.question, p.options, p.result_schema, p.status, p.expires_at, p.created_at, p.answered_by, p.answered_at,
	p.request, p.hash, p.requester, p.target, p.policy, p.votes, p.reply, p.due, p.answer, p.answer_hash, p.taken`
	fromPending = `SELECT ` + pendingColumns + ` FROM pending_actions AS p`
)

func pendingOf(r *sqlconn.Rows) storage.Pending {
	p := storage.Pending{
		PendingAction: shoal.PendingAction{
			ID: shoal.PendingID(r.Text(1)), Kind: shoal.PendingKind(r.Text(2)), RunID: shoal.RunID(r.Text(3)), AgentID: shoal.EntityID(r.Text(4)),
			SpaceID: sqlconn.TextOrNil[shoal.SpaceID](r, 5), MessageID: sqlconn.TextOrNil[shoal.MessageID](r, 6), PartID: sqlconn.TextOrNil[shoal.PartID](r, 7),
			ToolCallID: r.Text(8), ToolName: r.Text(9), Args: r.RawOrNil(10), Question: sqlconn.TextOrNil[string](r, 11), ResultSchema: r.RawOrNil(13),
			Status: shoal.PendingStatus(r.Text(14)), ExpiresAt: r.TimeOrNil(15), CreatedAt: r.Time(16),
			AnsweredBy: sqlconn.TextOrNil[shoal.EntityID](r, 17), AnsweredAt: r.TimeOrNil(18),
		},
		Session: shoal.SessionID(r.Text(0)), Request: r.Text(19), Hash: r.Text(20), Requester: r.Text(21), Target: shoal.EntityID(r.Text(22)),
		Due: r.TimeOrNil(26), AnswerHash: r.Text(28), Taken: r.Bool(29),
	}
	r.DecodeOrNil(12, &p.Options)
	r.Decode(r.Text(23), &p.Policy)
	if p.Policy.Votes == nil { // the first release stored only the ids of the approvers
		for _, id := range sqlconn.SplitIDs(r.Text(24)) {
			yes := true
			p.Policy.Votes = append(p.Policy.Votes, storage.Vote{EntityID: id, At: p.CreatedAt, Answer: shoal.PendingAnswer{Approved: &yes}})
		}
	}
	r.DecodeOrNil(25, &p.Reply)
	r.DecodeOrNil(27, &p.Answer)
	return p
}

// Pending implements [hub.PendingTx].
func (t *Tx) Pending(session shoal.SessionID, id shoal.PendingID) (storage.Pending, error) {
	p, ok, err := sqlconn.One(t.c, pendingOf, fromPending+` WHERE p.session_id = $1 AND p.id = $2`, session, id)
	return sqlconn.OrNotFound(p, ok, err, "Pending", noPending, id)
}

// pendingValues returns the values of the columns that can change.
func pendingValues(p storage.Pending) ([]any, error) {
	var options, replySpace any
	var err error
	if p.Options != nil {
		options, err = sqlconn.Encode(p.Options)
	}
	if err != nil {
		return nil, err
	}
	policy, err := sqlconn.Encode(p.Policy)
	if err != nil {
		return nil, err
	}
	reply, err := sqlconn.EncodeOrNil(p.Reply)
	if err != nil {
		return nil, err
	}
	if p.Reply != nil {
		replySpace = p.Reply.Space
	}
	answer, err := sqlconn.EncodeOrNil(p.Answer)
	if err != nil {
		return nil, err
	}
	return []any{
		p.SpaceID, p.MessageID, p.PartID, p.ToolCallID, p.ToolName, sqlconn.RawOrNull(p.Args), p.Question, options, sqlconn.RawOrNull(p.ResultSchema),
		p.Status, p.ExpiresAt, p.AnsweredBy, p.AnsweredAt, p.Request, p.Hash, p.Requester, p.Target, policy, sqlconn.JoinIDs(voters(p)),
		reply, replySpace, p.Due, answer, p.AnswerHash, p.Taken,
	}, nil
}

// voters returns the entities whose votes the policy contains.
func voters(p storage.Pending) []shoal.EntityID {
	var ids []shoal.EntityID
	for _, v := range p.Policy.Votes {
		ids = append(ids, v.EntityID)
	}
	return ids
}

// InsertPending implements [hub.PendingTx].
func (t *Tx) InsertPending(p storage.Pending) error {
	columns, err := pendingValues(p)
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`INSERT INTO pending_actions (session_id, id, kind, run_id, agent_id, created_at, space_id, message_id, part_id, tool_call_id, tool_name, args,
		   question, options, result_schema, status, expires_at, answered_by, answered_at, request, hash, requester, target, policy, votes,
		   reply, reply_space, due, answer, answer_hash, taken)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,
		   $29, $30, $31) ON CONFLICT DO NOTHING`, append([]any{p.Session, p.ID, p.Kind, p.RunID, p.AgentID, p.CreatedAt}, columns...)...)
	if err == nil && n == 0 {
		err = sqlconn.AlreadyExists("InsertPending", "The id %q of a pending action is taken.", p.ID)
	}
	return err
}

// UpdatePending implements [hub.PendingTx]. Kind, run, agent and CreatedAt do not
// change.
func (t *Tx) UpdatePending(p storage.Pending) error {
	columns, err := pendingValues(p)
	if err != nil {
		return err
	}
	n, err := t.c.Exec(
		`UPDATE pending_actions SET space_id = $3, message_id = $4, part_id = $5, tool_call_id = $6, tool_name = $7, args = $8, question = $9,
		   options = $10, result_schema = $11, status = $12, expires_at = $13, answered_by = $14, answered_at = $15, request = $16, hash = $17,
		   requester = $18, target = $19, policy = $20, votes = $21, reply = $22, reply_space = $23, due = $24, answer = $25, answer_hash = $26,
		   taken = $27
		 WHERE session_id = $1 AND id = $2`, append([]any{p.Session, p.ID}, columns...)...)
	if err == nil && n == 0 {
		err = sqlconn.NotFound("UpdatePending", noPending, p.ID)
	}
	return err
}

// PendingOf implements [hub.PendingTx]. A run has few pending actions, so they are sorted here.
func (t *Tx) PendingOf(session shoal.SessionID, run shoal.RunID) ([]storage.Pending, error) {
	type numbered struct {
		number  int64
		pending storage.Pending
	}
	all, err := sqlconn.List(t.c, func(r *sqlconn.Rows) numbered { return numbered{r.Int(30), pendingOf(r)} },
		`SELECT `+pendingColumns+`, p.number FROM pending_actions AS p WHERE p.session_id = $1 AND p.run_id = $2`, session, run)
	slices.SortFunc(all, func(a, b numbered) int { return int(a.number - b.number) })
	opened := make([]storage.Pending, len(all))
	for i, n := range all {
		opened[i] = n.pending
	}
	return opened, err
}

// PendingActions implements [hub.PendingTx]. A Limit of 0 means no limit.
func (t *Tx) PendingActions(session shoal.SessionID, filter storage.PendingFilter) ([]storage.Pending, error) {
	var b sqlconn.Builder
	b.Add(fromPending+` WHERE p.session_id = ? AND p.kind NOT IN ('reply', 'timer')`, session)
	switch {
	case !filter.Newest:
		b.Add(` AND p.id > ?`, filter.After)
	case filter.After != "":
		b.Add(` AND p.id < ?`, filter.After)
	}
	switch {
	case len(filter.Status) == 1 && filter.Status[0] == shoal.PendingOpen:
		b.Add(` AND p.status = 'open'`) // as in the indexes of open actions
	case len(filter.Status) > 0:
		sqlconn.AddIn(&b, ` AND p.status IN (?)`, filter.Status)
	}
	if filter.Space != "" {
		b.Add(` AND p.space_id = ?`, filter.Space)
	}
	if filter.Run != "" {
		b.Add(` AND p.run_id = ?`, filter.Run)
	}
	if filter.Agent != "" {
		b.Add(` AND p.agent_id = ?`, filter.Agent)
	}
	if filter.Reader != "" {
		b.Add(` AND p.space_id IN `+schema.SpacesOf, session, filter.Reader)
	}
	limit, order := sqlconn.OrUnlimited(filter.Limit), ` ORDER BY p.id`
	if filter.Newest {
		order += ` DESC`
	}
	b.Add(order + sqlconn.Limit(limit))
	return sqlconn.ListFirst(t.c, limit, pendingOf, b.Text(), b.Args...)
}

// ReplyWaits implements [hub.PendingTx]. The oldest come first.
func (t *Tx) ReplyWaits(session shoal.SessionID, space shoal.SpaceID) ([]storage.Pending, error) {
	return sqlconn.List(t.c, pendingOf, fromPending+` WHERE p.session_id = $1 AND p.reply_space = $2 AND p.status = 'open' ORDER BY p.number`, session, space)
}

// DuePending implements [hub.PendingTx]. The longest due come first.
func (t *Tx) DuePending(at shoal.Time, limit int) ([]storage.Pending, error) {
	return sqlconn.ListFirst(t.c, limit, pendingOf, fromPending+` WHERE p.status = 'open' AND p.due <= $1`+pendingNotImporting+` ORDER BY p.due`+sqlconn.Limit(limit), at)
}

// NextDue implements [hub.PendingTx].
func (t *Tx) NextDue() (*shoal.Time, error) {
	return t.earliest(`SELECT MIN(p.due) FROM pending_actions AS p WHERE p.status = 'open' AND p.due IS NOT NULL` + pendingNotImporting)
}
