package agui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// The words of resume entries.
const (
	statusResolved  = "resolved"
	statusCancelled = "cancelled"
)

// takeAnswers finds the answer to every request that the thread waits for.
func (t *thread) takeAnswers(in *Input, pending []agent.Pending) error {
	entries := map[string]ResumeEntry{}
	for _, r := range in.Resume {
		entries[r.InterruptID] = r
	}
	var missing []string
	for _, p := range pending {
		a := agent.Answer{PendingID: p.ID}
		entry, ok := entries[p.ID]
		delete(entries, p.ID)
		var err error
		switch result := resultFor(in.Messages, p); {
		case ok && p.Kind != agent.ClientCall:
			err = entry.answer(&a, p.Kind)
		case result != nil:
			err = t.takeResult(&a, p.Kind, result)
		case p.Kind == agent.ClientCall:
			missing = append(missing, fmt.Sprintf("a tool message for the call %s of %s", p.Call.ID, p.Call.Name))
		default:
			missing = append(missing, "a resume entry for the interrupt "+p.ID)
		}
		if err != nil {
			return err
		}
		t.answers = append(t.answers, a)
	}
	if len(missing) > 0 {
		return agent.NewError("agui.Handler", agent.ErrConflict, "The thread waits for "+strings.Join(missing, " and ")+"; send all of it with the next run.")
	}
	for id := range entries {
		t.skipped = append(t.skipped, "resume entry "+id)
	}
	slices.Sort(t.skipped)
	return nil
}

// resultFor returns the tool message that answers a request, or nil. Questions
// may be answered like this too, as clients do that know no interrupts.
func resultFor(messages []Message, p agent.Pending) *Message {
	if p.Kind != agent.ClientCall && p.Kind != agent.Clarification {
		return nil
	}
	for i := range messages {
		m := &messages[i]
		if m.Role == roleTool && (m.ToolCallID == p.Call.ID || p.Via != "" && strings.HasSuffix(m.ToolCallID, "/"+p.Call.ID)) {
			return m
		}
	}
	return nil
}

// takeResult answers a call, or a question, by a tool message.
func (t *thread) takeResult(a *agent.Answer, kind agent.PendingKind, m *Message) error {
	r, skipped, err := m.result("messages")
	t.skipped = append(t.skipped, skipped...)
	a.Text = r.Text
	if kind == agent.ClientCall {
		a.Files, a.Failed = r.Files, r.Status != agent.ResultOK
	} else if strings.TrimSpace(a.Text) == "" {
		a.Text = unanswered
	}
	return err
}

// unanswered is what the model reads in place of an answer to its question.
const unanswered = "The question was not answered."

// answer puts the entry into a. An abandoned request is denied.
func (r *ResumeEntry) answer(a *agent.Answer, kind agent.PendingKind) error {
	if r.Status == statusCancelled {
		switch kind {
		case agent.Permission:
			a.Reason = "Nobody wanted to decide."
		case agent.Clarification:
			a.Text = unanswered
		}
		return nil
	}
	var said struct {
		Approved *bool                `json:"approved"`
		Reason   string               `json:"reason"`
		Choice   agent.PermissionRule `json:"choice"`
		Answer   string               `json:"answer"`
	}
	if kind != agent.Clarification || json.Unmarshal(r.Payload, &said.Answer) != nil {
		if err := json.Unmarshal(r.Payload, &said); err != nil {
			return r.wrong("", "must be an object as the interrupt's responseSchema says")
		}
	}
	switch {
	case kind == agent.Clarification && strings.TrimSpace(said.Answer) == "":
		return r.wrong(".answer", "is missing")
	case kind == agent.Clarification:
		a.Text = said.Answer
		return nil
	case said.Approved == nil:
		return r.wrong(".approved", "is missing")
	case !slices.Contains([]agent.PermissionRule{"", agent.AskEachTime, agent.AlwaysAllow, agent.AlwaysDeny}, said.Choice):
		return r.wrong(".choice", "must be ask, always_allow or always_deny")
	case said.Choice == agent.AlwaysAllow && !*said.Approved, said.Choice == agent.AlwaysDeny && *said.Approved:
		return r.wrong(".choice", "contradicts approved")
	}
	a.Approved = *said.Approved
	if kind == agent.Permission {
		a.Reason, a.Rule = said.Reason, said.Choice
	}
	return nil
}

// wrong says what is wrong with a field of the payload.
func (r *ResumeEntry) wrong(field, message string) error {
	var f faults
	f.add("resume["+r.InterruptID+"].payload"+field, message)
	return f.err()
}
