package remoterun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Report is what a program that calls tools reports with one call.
type Report struct {
	// Line has no number. A card, permission or question without a callId gets one: that of the
	// request which asks the same and whose answer [Server.Await] has not returned, otherwise a new one. A card must be one of the configuration.
	Line shoal.WorkLine
	// Text are the pieces of a text that one line cannot hold. They have the other fields of Line,
	// and are empty for any other type than [shoal.WorkText].
	Text []string
	// Key makes the report repeatable: one with the key of an earlier report of the run is ignored.
	// It may be empty.
	Key string
}

// Progress is what a report has led to.
type Progress struct {
	shoal.WorkReceipt
	// CallID is the call of a card, permission or question.
	CallID string
}

// Append stores a report about a run, as Work does, for programs that do not number lines. It starts
// the turn if that has not started, and extends the lease. A report that ends the run succeeds again
// after it. Errors are those of Work, without the number of a line.
func (s *Server) Append(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id ClaimID, in Report) (out Progress, err error) {
	r, err := s.o.Hub.Runs.ProgramRun(ctx, caller, session, id.Run)
	if err != nil {
		return out, err
	}
	if r.Status.Ended() {
		out.Status = r.Status
		return out, endedAgain(r, id, in.Line)
	}
	err = s.hold(ctx, r, id.Generation, func(x *running) error {
		if in.Key == "" || !x.machine.keys[in.Key] {
			if out.CallID, err = x.append(ctx, in); err != nil {
				return err
			}
		}
		out.N, out.Status = x.n, x.status
		if x.machine.end != nil {
			return nil
		}
		if err := x.renew(ctx, true); err != nil {
			return err
		}
		until := shoal.At(x.until)
		out.LeaseUntil = &until
		return nil
	})
	if errors.Is(err, runs.ErrLeaseLost) {
		err = staleError(0)
	}
	return out, withoutNumber(err)
}

// endedAgain returns nil if a line ends a run that has ended in this way already.
func endedAgain(r storage.Run, id ClaimID, l shoal.WorkLine) error {
	st, err := stateOf(r)
	if err != nil {
		return err
	}
	as := map[shoal.WorkType]shoal.RunStatus{shoal.WorkTurnEnded: shoal.RunCompleted, shoal.WorkFailed: shoal.RunFailed}[l.Type]
	if st.Remote.Claim == id.Generation && r.Status == as {
		return nil
	}
	return endedError(r)
}

// append numbers and stores the lines of a report.
func (x *running) append(ctx context.Context, in Report) (call string, err error) {
	l := in.Line
	if isRequestLine(l) {
		if l.CallID == "" {
			l.CallID = x.callFor(l)
		}
		if err := x.checkCard(l); err != nil {
			return "", err
		}
	}
	var lines []shoal.WorkLine
	if !x.machine.inTurn && l.Type != shoal.WorkFailed {
		lines = append(lines, shoal.WorkLine{Type: shoal.WorkTurnStarted})
	}
	if l.Type == shoal.WorkTurnEnded {
		lines = append(lines, x.done()...)
	}
	for _, piece := range in.Text {
		part := l
		part.Delta, part.End = piece, false
		lines = append(lines, part)
	}
	if len(in.Text) == 0 {
		lines = append(lines, l)
	} else {
		lines[len(lines)-1].End = l.End
	}
	for i := range lines {
		lines[i].N = x.n + 1 + int64(i)
		if err := checkLine(lines[i]); err != nil {
			return "", err
		}
	}
	entries := entriesOf(lines)
	entries[len(entries)-1].Key = in.Key
	return l.CallID, x.input(ctx, entries, x.n+int64(len(lines)))
}

// isRequestLine reports whether a line shows a card, or asks for something.
func isRequestLine(l shoal.WorkLine) bool {
	return l.Type == shoal.WorkCard || l.Type == shoal.WorkPermission || l.Type == shoal.WorkQuestion
}

// callFor returns the call of the request that asks the same as a line and whose answer the program
// does not have, or a new one.
func (x *running) callFor(l shoal.WorkLine) string {
	for _, k := range x.machine.order {
		same := k.Type == l.Type && (l.Type == shoal.WorkQuestion && k.Title == l.Text || k.Tool == l.Tool && k.Title == l.Title && sameJSON(k.Args, argsOf(l)))
		if same && (k.asked || k.Answer != nil && !k.read) {
			return k.CallID
		}
	}
	for n := len(x.machine.order) + 1; ; n++ {
		if id := string(l.Type) + "-" + strconv.Itoa(n); x.machine.calls[id] == nil {
			return id
		}
	}
}

// argsOf returns the arguments of a line as its call has them.
func argsOf(l shoal.WorkLine) []byte {
	if len(l.Args) == 0 || string(l.Args) == "null" {
		return []byte("{}")
	}
	return l.Args
}

// done returns the lines with which the tool calls end that were permitted, and whose program says
// nothing more about them: it ends its turn.
func (x *running) done() (out []shoal.WorkLine) {
	for _, k := range x.machine.order {
		if k.Type == shoal.WorkPermission && !k.asked && (k.State == shoal.ToolPending || k.State == shoal.ToolRunning) {
			out = append(out, shoal.WorkLine{Type: shoal.WorkTool, CallID: k.CallID, State: shoal.ToolDone})
		}
	}
	return out
}

// checkCard refuses a card that the configuration does not have, or whose arguments do not fit it.
func (x *running) checkCard(l shoal.WorkLine) error {
	if l.Type != shoal.WorkCard {
		return nil
	}
	var names []string
	for _, t := range x.config.Tools {
		if names = append(names, t.Name); t.Name != l.Tool {
			continue
		}
		if x.s.o.FitsSchema == nil || len(t.InputSchema) == 0 {
			return nil
		}
		if err := x.s.o.FitsSchema("args", t.InputSchema, argsOf(l)); err != nil {
			return shoal.Invalid("args", fmt.Sprintf("do not fit the card %s: %v", t.Name, err))
		}
		return nil
	}
	if len(names) == 0 {
		return shoal.Invalid("card", fmt.Sprintf("%q is unknown: the configuration of this agent has no cards. Write text instead", l.Tool))
	}
	slices.Sort(names)
	return shoal.Invalid("card", fmt.Sprintf("%q is unknown: this agent has the cards %v", l.Tool, names))
}

// cardsOf returns the cards of a configuration.
func cardsOf(c *agentconfig.Config) []Card {
	out := []Card{}
	for _, t := range c.Tools {
		out = append(out, Card{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return out
}

// lineLocation is where [lineError] says that an error is.
const lineLocation = "line"

// withoutNumber returns an error of a line for a program that does not number lines.
func withoutNumber(err error) error {
	var e *shoal.Error
	if !errors.As(err, &e) || e.Kind != shoal.InvalidArgument || len(e.Fields) != 1 {
		return err
	}
	var n int64
	if _, scan := fmt.Sscanf(e.Fields[0].Location, "line %d", &n); scan != nil {
		return err
	}
	return shoal.Invalid(lineLocation, e.Fields[0].Message)
}
