package aguiapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// answer hands in the tool messages and the resume entries for what waits. One
// that comes too late is named to the client; one that does not fit is refused.
func (x *protocolRun) answer(ctx context.Context) error {
	taken := map[string]bool{}
	if x.brings() {
		open, err := x.Waiting(ctx)
		if err != nil {
			return err
		}
		for _, p := range open {
			if err := x.settle(ctx, p, taken); err != nil {
				return err
			}
		}
	}
	return x.late(ctx, taken)
}

// brings reports whether the client brings any answer.
func (x *protocolRun) brings() bool {
	return len(x.in.Resume) > 0 || slices.ContainsFunc(x.in.Messages, func(m agui.Message) bool { return m.Role == roleTool })
}

// settle answers p, if the client brings an answer to it.
func (x *protocolRun) settle(ctx context.Context, p shoal.PendingAction, taken map[string]bool) error {
	for i, m := range x.in.Messages {
		if m.Role != roleTool || m.ToolCallID != exchange.CallID(p.RunID, p.ToolCallID) || p.Kind == shoal.PendingPermission {
			continue
		}
		taken[m.ToolCallID] = true
		return x.handIn(ctx, p, toolAnswer(p.Kind, m), fmt.Sprintf("messages[%d]", i))
	}
	for i, r := range x.in.Resume {
		if r.InterruptID != string(p.ID) {
			continue
		}
		at := fmt.Sprintf("resume[%d]", i)
		a, err := resumeAnswer(p.Kind, r, at)
		if err != nil {
			return err
		}
		taken[r.InterruptID] = true
		return x.handIn(ctx, p, a, at)
	}
	return nil
}

// tooLate are the ways in which an answer is in vain and nobody's fault.
var tooLate = []shoal.Kind{shoal.AlreadyAnswered, shoal.Expired, shoal.RunNotWaiting, shoal.NotFound}

// handIn settles p and shows its run.
func (x *protocolRun) handIn(ctx context.Context, p shoal.PendingAction, a shoal.PendingAnswer, at string) error {
	_, err := x.Hub.Pending.Answer(ctx, x.Who, x.Session, p.ID, a)
	if err := x.forgive(err, at); err != nil {
		return err
	}
	return x.Want(ctx, p.RunID)
}

// forgive notes an answer that came too late, and returns any other error at its
// place in the input.
func (x *protocolRun) forgive(err error, at string) error {
	switch {
	case err == nil:
		return nil
	case slices.Contains(tooLate, shoal.KindOf(err)):
		x.ignore(at, "It came too late: nothing waits for it any more.")
		return nil
	}
	var e *shoal.Error
	if errors.As(err, &e) && len(e.Fields) > 0 {
		told := *e
		told.Fields = slices.Clone(e.Fields)
		for i := range told.Fields {
			told.Fields[i].Location = "body." + at + "." + told.Fields[i].Location
		}
		return &told
	}
	return err
}

// late repeats the answers of the newest tool messages to what waits no longer: the
// client may have sent them before and lost what followed.
func (x *protocolRun) late(ctx context.Context, taken map[string]bool) error {
	first := 0
	for i, m := range x.in.Messages {
		if m.Role == roleUser || m.Role == roleAssistant {
			first = i + 1
		}
	}
	for i, m := range x.in.Messages[first:] {
		if m.Role != roleTool || taken[m.ToolCallID] {
			continue
		}
		at := fmt.Sprintf("messages[%d]", first+i)
		run, call, ours := exchange.ParseCallID(m.ToolCallID)
		if !ours {
			x.ignore(at, "It answers no call of this server.")
			continue
		}
		_, err := x.Hub.Pending.AnswerCall(ctx, x.Who, x.Session, run, call, toolAnswer(shoal.PendingClientTool, m))
		if err := x.forgive(err, at); err != nil {
			return err
		}
		if err := x.Want(ctx, run); err != nil && !errors.Is(err, shoal.NotFound) {
			return err
		}
	}
	for i, r := range x.in.Resume {
		if !taken[r.InterruptID] {
			x.ignore(fmt.Sprintf("resume[%d]", i), "Nothing with this id waits for the caller.")
		}
	}
	return nil
}

// unanswered is what an agent reads in place of an answer to its question.
const unanswered = "The question was not answered."

// toolAnswer returns the answer that a tool message contains. Content that is not JSON
// becomes a string.
func toolAnswer(kind shoal.PendingKind, m agui.Message) shoal.PendingAnswer {
	text := contentOf(m)
	switch {
	case kind == shoal.PendingQuestion:
		if strings.TrimSpace(text) == "" {
			text = unanswered
		}
		return shoal.PendingAnswer{Answer: &text}
	case m.Error != "":
		return shoal.PendingAnswer{Error: &m.Error}
	}
	return shoal.PendingAnswer{Result: exchange.Result(text)}
}

// contentOf returns the text of a message.
func contentOf(m agui.Message) string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []agui.ContentPart
	_ = json.Unmarshal(m.Content, &parts) // what is neither has no text
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// resumeAnswer is a resume entry as an answer. One that nobody wanted to give
// denies.
func resumeAnswer(kind shoal.PendingKind, r agui.ResumeEntry, at string) (a shoal.PendingAnswer, err error) {
	var said struct {
		Approved *bool   `json:"approved"`
		Reason   *string `json:"reason"`
		Choice   string  `json:"choice"`
		Answer   string  `json:"answer"`
	}
	canceled := r.Status == "cancelled"
	if !canceled && kind != shoal.PendingClientTool {
		if kind != shoal.PendingQuestion || json.Unmarshal(r.Payload, &said.Answer) != nil {
			if json.Unmarshal(r.Payload, &said) != nil {
				return a, shoal.Invalid("body."+at+".payload", "must be an object as the interrupt's responseSchema says")
			}
		}
	}
	switch kind {
	case shoal.PendingQuestion:
		if said.Answer == "" {
			said.Answer = unanswered
		}
		a.Answer = &said.Answer
	case shoal.PendingPermission:
		if canceled {
			no, why := false, "Nobody wanted to decide."
			return shoal.PendingAnswer{Approved: &no, Reason: &why}, nil
		}
		a.Approved, a.Reason = said.Approved, said.Reason
		if remember := map[string]string{"always_allow": "allow", "always_deny": "deny"}[said.Choice]; remember != "" {
			a.Remember = &shoal.Remember{Decision: remember}
		}
	default:
		if canceled {
			gone := "Nobody wanted to answer."
			return shoal.PendingAnswer{Error: &gone}, nil
		}
		a.Result = r.Payload
	}
	return a, nil
}
