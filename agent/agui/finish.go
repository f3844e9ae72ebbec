package agui

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

func (p *Projection) turnFinished(s *speaker, e agent.TurnFinished) {
	p.closeMessage(s)
	p.endStep(s)
	s.ended = true
	if s.id != "" {
		p.subagentFinished(s, e)
		return
	}
	p.ended = true
	p.abandon()
	if e.Outcome == agent.Failed {
		p.out = append(p.out, Event{
			Type: RunError, Message: sentence(e.Message, "The run failed."), Code: string(e.Reason), Usage: p.usage,
		})
		return
	}
	end := Event{Type: RunFinished, ThreadID: p.thread, RunID: p.run, Outcome: p.outcome(s, e), Usage: p.usage}
	if e.Outcome == agent.Completed && e.Reason != agent.ReasonDone {
		end.Metadata = map[string]any{"reason": string(e.Reason)}
	}
	p.out = append(p.out, end)
}

// outcome says how a run ended that did not fail. A turn that waits for nothing
// but tools of the client is a success: the protocol does not know whether the
// client wants to go on.
func (p *Projection) outcome(s *speaker, e agent.TurnFinished) *Outcome {
	if e.Outcome == agent.Canceled {
		return &Outcome{Type: OutcomeCancelled}
	}
	var interrupts []Interrupt
	for _, r := range e.Pending {
		if r.Kind != agent.ClientCall && r.Answer == nil {
			interrupts = append(interrupts, p.interrupt(s, r))
		}
	}
	if len(interrupts) > 0 {
		return &Outcome{Type: OutcomeInterrupt, Interrupts: interrupts}
	}
	out := &Outcome{Type: OutcomeSuccess}
	for _, id := range p.calls {
		if !p.shown.answered(id) {
			out.PendingToolCallIDs = append(out.PendingToolCallIDs, id)
		}
	}
	return out
}

func (p *Projection) subagentFinished(s *speaker, e agent.TurnFinished) {
	switch e.Outcome {
	case agent.Completed:
		p.emit(s, Event{Type: SubagentFinished, Outcome: &Outcome{Type: OutcomeSuccess}})
	case agent.Waiting:
		out := &Outcome{Type: OutcomeSuspended}
		for _, r := range e.Pending {
			if r.Kind != agent.ClientCall && p.raised[r.ID] == "" {
				p.raised[r.ID] = s.id
				out.InterruptIDs = append(out.InterruptIDs, r.ID)
			}
		}
		p.emit(s, Event{Type: SubagentFinished, Outcome: out})
	default:
		p.emit(s, Event{Type: SubagentError, Message: sentence(e.Message, "The sub-agent failed."), Code: string(e.Reason)})
	}
}

// abandon closes sub-agents that did not end: their tools did not stop in time.
func (p *Projection) abandon() {
	var left []string
	for id, s := range p.speakers {
		if !s.ended {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	for _, id := range left {
		s := p.speakers[id]
		s.ended = true
		p.closeMessage(s)
		p.endStep(s)
		p.emit(s, Event{Type: SubagentError, Message: "The run ended before the sub-agent did."})
	}
}

// The forms of answers to requests.
var (
	permissionSchema = json.RawMessage(`{"type":"object","properties":{` +
		`"approved":{"type":"boolean"},` +
		`"reason":{"type":"string","description":"Why not; the model reads it."},` +
		`"choice":{"enum":["ask","always_allow","always_deny"],"description":"Whether later calls of the tool ask again."}},` +
		`"required":["approved"]}`)
	continuationSchema = json.RawMessage(`{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}`)
	answerSchema       = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}`)
)

// interrupt returns a request as the client sees it. s is the speaker that emitted it.
func (p *Projection) interrupt(s *speaker, r agent.Pending) Interrupt {
	out := Interrupt{ID: r.ID, SubagentRunID: p.raised[r.ID]}
	if out.SubagentRunID != "" {
		s = p.speakers[out.SubagentRunID]
	}
	if r.Call.ID != "" {
		out.ToolCallID = s.wireID(r.Call.ID)
	}
	if !r.ExpiresAt.IsZero() {
		out.ExpiresAt = r.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	switch r.Kind {
	case agent.Permission:
		out.Reason, out.ResponseSchema = "tool_call", permissionSchema
		out.Message = "May the tool " + r.Call.Name + " run?"
		out.Metadata = map[string]any{"toolCallName": r.Call.Name, "arguments": r.Call.Arguments}
		if r.Description != "" {
			out.Metadata["description"] = r.Description
		}
	case agent.Clarification:
		out.Reason, out.ResponseSchema = "input_required", answerSchema
		out.Message = sentence(r.Question, "The agent has a question.")
		if len(r.Options) > 0 {
			out.Metadata = map[string]any{"options": r.Options}
		}
	default:
		out.Reason, out.ResponseSchema = "confirmation", continuationSchema
		out.Message = "The agent has used its steps. May it go on?"
		out.Metadata = map[string]any{"step": r.Step, "maxSteps": r.MaxSteps}
	}
	return out
}

func sentence(said, otherwise string) string {
	if said == "" {
		return otherwise
	}
	return said
}

// contentOf returns a result's content: its text, or parts when it has files.
func contentOf(r agent.ToolResult) any {
	if len(r.Files) == 0 {
		return r.Text
	}
	var parts []ContentPart
	if r.Text != "" {
		parts = append(parts, ContentPart{Type: "text", Text: r.Text})
	}
	for _, f := range r.Files {
		part := ContentPart{Type: "document", Source: &PartSource{Type: "url", Value: f.URL, MimeType: f.MediaType}}
		if kind, _, _ := strings.Cut(f.MediaType, "/"); kind == "image" || kind == "audio" || kind == "video" {
			part.Type = kind
		}
		if len(f.Data) > 0 {
			part.Source.Type, part.Source.Value = "data", base64.StdEncoding.EncodeToString(f.Data)
		}
		if f.Name != "" {
			part.Metadata = map[string]any{"name": f.Name}
		}
		parts = append(parts, part)
	}
	return parts
}
