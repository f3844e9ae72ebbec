package wakehook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/safetext"
)

const (
	// askWait is how long one call waits for a decision: well within the time after which the server
	// cancels a request about which nobody calls.
	askWait = 15 * time.Second
	// openWithin and withdrawWithin are how long opening a request and taking it back may take.
	openWithin, withdrawWithin = 10 * time.Second, 2 * time.Second
)

// terminalOnly are tools whose dialog asks for more than yes or no: an approval from elsewhere would choose
// for the person.
var terminalOnly = []string{"AskUserQuestion", "ExitPlanMode"}

// asking is a request for the permission that a dialog in the terminal asks for, too.
type asking struct {
	*waiter
	tool string
	args json.RawMessage
	hash string
	id   shoal.PendingID // empty while no request is open
}

// ask asks for a permission on the server while the dialog about it is open, and answers the dialog if
// somebody decides there. In every other case it prints nothing, so that the terminal alone decides: if it
// has answered itself, if the server cannot be reached or refuses, or if what was decided about is not
// exactly this call.
func (h *hook) ask(ctx context.Context, e event) error {
	if e.Tool == "" || slices.Contains(terminalOnly, e.Tool) {
		return nil
	}
	a := &asking{waiter: &waiter{hook: h}, tool: e.Tool, args: e.Input, hash: e.call()}
	if err := h.state.beginAsk(a.hash); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { a.watchDialog(ctx, cancel) })
	decision, err := a.decide(ctx)
	answered := ctx.Err() != nil
	cancel(nil)
	watching.Wait()
	a.withdraw()
	if left := h.state.endAsk(a.hash); err == nil {
		err = left
	}
	switch {
	case answered:
		return nil // in the terminal, whose answer counts
	case decision == nil || err != nil:
		return err
	}
	return json.NewEncoder(h.answers).Encode(answerOf(*decision))
}

// watchDialog cancels when the dialog is known to be over: its call was executed, its turn has ended, or
// Claude Code has.
func (a *asking) watchDialog(ctx context.Context, cancel context.CancelCauseFunc) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for a.state.isAsking(a.hash) && !a.owner.gone() {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
	cancel(errGone)
}

// decide waits for a decision, opens the request, and opens it again if it was canceled because the server
// could not be reached for too long. It returns nil and the reason if there can be none.
func (a *asking) decide(ctx context.Context) (decision *shoal.Decision, err error) {
	if err := a.find(ctx); err != nil {
		return nil, err
	}
	err = insist(ctx, func() (bool, error) {
		if a.id == "" {
			if err := a.open(ctx); err != nil {
				return isRefused(err), err
			}
		}
		action, err := a.session.AskPermission(ctx, a.agent, client.PermissionRequest{ID: a.id, Wait: askWait})
		switch {
		case err != nil:
			return isRefused(err), err
		case action.Status == shoal.PendingCanceled:
			a.id = ""
			return false, nil
		case action.Status == shoal.PendingOpen:
			return false, nil
		}
		a.id = "" // it is settled
		decision, err = a.decisionIn(action)
		return true, err
	})
	return decision, err
}

// open opens the request. It does not end with ctx: a request whose id is not known could not be taken back.
func (a *asking) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), openWithin)
	defer cancel()
	action, err := a.session.AskPermission(ctx, a.agent, client.PermissionRequest{ToolName: a.tool, Args: a.args})
	if err == nil {
		a.id = action.ID
	}
	return err
}

// decisionIn returns the decision about an action, if it is about exactly this call.
func (a *asking) decisionIn(action shoal.PendingAction) (*shoal.Decision, error) {
	edited := len(action.EditedArgs) > 0 && string(action.EditedArgs) != "null"
	if action.Decision == nil || edited || action.ArgsHash != a.hash || approval.ArgsHash(action.ToolName, action.Args) != a.hash {
		return nil, shoal.E("", shoal.ArgsChanged, "what was decided is not about the call that is asked for")
	}
	return action.Decision, nil
}

// withdraw takes a request back that is still open. If that fails, the server cancels it.
func (a *asking) withdraw() {
	if a.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), withdrawWithin)
	defer cancel()
	_, _ = a.session.AskPermission(ctx, a.agent, client.PermissionRequest{ID: a.id, Withdrawn: true})
}

// isRefused reports whether the server will not show the request, also if it is asked again.
func isRefused(err error) bool {
	kind := shoal.KindOf(err)
	return kind == shoal.Conflict || kind == shoal.SessionClosed || kind == shoal.TooLarge
}

// verdict is what Claude Code reads on standard output. It names nothing besides the one call: neither other
// arguments nor rules for later calls.
type verdict struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision struct {
			Behavior string `json:"behavior"`
			Message  string `json:"message,omitempty"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

func answerOf(d shoal.Decision) (v verdict) {
	v.Output.Event = permissionRequest
	if v.Output.Decision.Behavior = "allow"; !d.Approved {
		v.Output.Decision.Behavior, v.Output.Decision.Message = "deny", denial(d)
	}
	return v
}

// denial returns what the model reads.
func denial(d shoal.Decision) string {
	by := ""
	if d.By != nil {
		by = " by " + string(*d.By)
	}
	switch {
	case d.Ask != nil:
		return fmt.Sprintf("Sent back%s on Shoal with a question. The call was not executed. Question: %s", by, plain(*d.Ask))
	case d.Reason != nil && *d.Reason != "":
		return fmt.Sprintf("Permission denied%s on Shoal. The call was not executed. Reason: %s", by, plain(*d.Reason))
	}
	return fmt.Sprintf("Permission denied%s on Shoal. The call was not executed.", by)
}

func plain(text string) string { return strings.TrimSpace(safetext.Clean(text)) }
