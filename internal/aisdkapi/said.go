package aisdkapi

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
)

// said is what a client says: a message of its user, or answers to what waits for it.
type said struct {
	user    []uiMessage // what follows the last message of the assistant
	answers []answer
	// continues is the id of the message of the assistant that goes on with the answers.
	continues string
}

// answer is the answer to a call of a tool.
type answer struct {
	call   string // the id of the call
	action string // the id of the pending action, of an approval
	shoal.PendingAnswer
	// newest means that the answer belongs to what the client was asked for last. Only then it is one
	// that has to be accepted: earlier ones were given with earlier requests.
	newest bool
}

// said returns what follows the last message of the assistant, or the answers in it if nothing follows.
func (in *request) said() (out said, err error) {
	last := -1
	for i, m := range in.Messages {
		if m.Role == roleAssistant {
			last = i
		}
	}
	for _, m := range in.Messages[last+1:] {
		if m.Role == roleUser {
			out.user = append(out.user, m)
		}
	}
	if len(out.user) > 0 {
		return out, nil
	}
	if last >= 0 && in.Trigger != regenerate {
		m := in.Messages[last]
		out.answers, out.continues = m.answers(), m.ID
	}
	if len(out.answers) == 0 {
		err = shoal.Invalid("messages", "must end with a message of the user, or with a message of the assistant that has the output of a tool or the response to an approval")
	}
	return out, err
}

// answers returns the answers in a message of the assistant. What the server executes has none.
func (m uiMessage) answers() (out []answer) {
	step := 0 // where the last step begins
	for i, p := range m.Parts {
		if p.Type == "step-start" {
			step = i
		}
	}
	for i, p := range m.Parts {
		if !p.isTool() {
			continue
		}
		a := answer{call: p.ToolCallID, newest: i >= step}
		executed := p.ProviderExecuted != nil && *p.ProviderExecuted
		switch {
		case p.State == approvalResponded && p.Approval != nil && p.Approval.Approved != nil:
			a.action, a.Approved = p.Approval.ID, p.Approval.Approved
			if p.Approval.Reason != "" {
				a.Reason = &p.Approval.Reason
			}
		case executed:
			continue
		case p.State == outputAvailable:
			if a.Result = p.Output; len(a.Result) == 0 {
				a.Result = json.RawMessage("null")
			}
		case p.State == outputFailed:
			text := p.ErrorText
			if text == "" {
				text = "The tool failed."
			}
			a.Error = &text
		default:
			continue
		}
		out = append(out, a)
	}
	return out
}

// to returns the answer in the form that an action of this kind takes.
func (a answer) to(kind shoal.PendingKind) shoal.PendingAnswer {
	if kind != shoal.PendingQuestion {
		return a.PendingAnswer
	}
	text := exchange.Plain(a.Result)
	if a.Error != nil {
		text = *a.Error
	}
	if text == "" {
		text = "The question was not answered."
	}
	return shoal.PendingAnswer{Answer: &text}
}

// held is what a client says that it has of the messages of agents.
type held struct {
	texts map[shoal.PartID]string
	parts map[shoal.PartID]bool
	calls map[string]uiPart // by the id of the call
	// closed are the calls that are not in the message that the stream continues: the client takes nothing more
	// about them.
	closed map[string]bool
}

func newHeld() held {
	return held{texts: map[shoal.PartID]string{}, parts: map[shoal.PartID]bool{}, calls: map[string]uiPart{}, closed: map[string]bool{}}
}

// holds returns what the client has. With continues, the last message is one that the stream continues.
func (in *request) holds(continues bool) held {
	h := newHeld()
	for i, m := range in.Messages {
		if m.Role != roleAssistant {
			continue
		}
		for _, p := range m.Parts {
			switch {
			case p.isTool():
				h.calls[p.ToolCallID] = p
				h.closed[p.ToolCallID] = !continues || i < len(in.Messages)-1
			case p.Provider != nil && p.Text != nil:
				h.texts[p.Provider.Shoal.PartID] += *p.Text
			case p.Provider != nil:
				h.parts[p.Provider.Shoal.PartID] = true
			case p.ID != "":
				h.parts[shoal.PartID(p.ID)] = true
			}
		}
	}
	return h
}

// draft returns messages of the user as they are posted, with the content of files in files. ignore is
// called for each part that cannot be posted.
func draft(messages []uiMessage, ignore func(what, why string)) (d shoal.Draft, files []attachment, err error) {
	for _, m := range messages {
		for i, p := range m.Parts {
			switch {
			case p.Type == "text" && p.Text != nil && *p.Text != "":
				d.Parts = append(d.Parts, shoal.Text(*p.Text))
			case p.Type == "text" || p.Type == "step-start":
			case p.Type == "file":
				part, content, err := file(p)
				if err != nil {
					return d, nil, err
				}
				if content != nil {
					files = append(files, attachment{len(d.Parts), content})
				}
				d.Parts = append(d.Parts, part)
			default:
				ignore(fmt.Sprintf("messages.parts[%d]", i), fmt.Sprintf("A part of the type %q cannot be posted. Send text and files.", p.Type))
			}
		}
	}
	if len(d.Parts) == 0 {
		err = shoal.Invalid("messages", "must end with a message that has text or a file")
	}
	return d, slices.Clip(files), err
}
