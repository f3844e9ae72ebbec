package aisdkapi

import (
	"fmt"
	"strings"
	"testing"
)

// reducer is what a client makes of chunks: it minds their order as the official one does.
type reducer struct {
	t     *testing.T
	parts []*reduced
	text  map[string]*reduced // what is open
	input map[string]bool     // whose arguments are open
}

// reduced is a part of the client's message.
type reduced struct {
	kind, id, text, state string
	approval              string
}

func newReducer(t *testing.T) *reducer {
	return &reducer{t: t, text: map[string]*reduced{}, input: map[string]bool{}}
}

func (r *reducer) find(id string) *reduced {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if r.parts[i].kind == "call" && r.parts[i].id == id {
			return r.parts[i]
		}
	}
	r.t.Helper()
	r.t.Fatalf("no call %s", id)
	return nil
}

// see takes chunks.
func (r *reducer) see(chunks []chunk) {
	r.t.Helper()
	for _, c := range chunks {
		if !r.seeText(c) && !r.seeCall(c) {
			r.seeRest(c)
		}
	}
}

func (r *reducer) seeText(c chunk) bool {
	r.t.Helper()
	kind, what, ok := strings.Cut(c.Type, "-")
	if !ok || kind != "text" && kind != "reasoning" {
		return false
	}
	open := r.text[c.ID]
	switch {
	case what == "start" && open == nil:
		r.text[c.ID] = &reduced{kind: kind, id: c.ID, state: "streaming"}
		r.parts = append(r.parts, r.text[c.ID])
	case what == "delta" && open != nil && c.Delta != "":
		open.text += c.Delta
	case what == "end" && open != nil:
		open.state = "done"
		delete(r.text, c.ID)
	default:
		r.t.Fatalf("%+v, open: %v", c, open != nil)
	}
	return true
}

func (r *reducer) seeCall(c chunk) bool {
	r.t.Helper()
	switch c.Type {
	case inputStart:
		r.input[c.ToolCallID] = true
		r.parts = append(r.parts, &reduced{kind: "call", id: c.ToolCallID, state: inputStreaming})
	case "tool-input-delta":
		if !r.input[c.ToolCallID] || c.InputTextDelta == "" {
			r.t.Fatalf("%+v is not open", c)
		}
		r.find(c.ToolCallID).text += c.InputTextDelta
	case inputAvailable:
		x := r.find(c.ToolCallID)
		if x.text, x.state = string(c.Input), inputComplete; !*c.ProviderExecuted {
			x.state = "asked"
		}
		delete(r.input, c.ToolCallID)
	case "tool-approval-request":
		r.find(c.ToolCallID).state = approvalRequested
		r.find(c.ToolCallID).approval = c.ApprovalID
	case "tool-approval-response":
		for _, x := range r.parts {
			if x.approval == c.ApprovalID {
				x.state = fmt.Sprint("responded ", *c.Approved)
			}
		}
	case "tool-output-available":
		r.find(c.ToolCallID).state = "output " + string(c.Output)
	case outputError:
		if c.ErrorText == "" {
			r.t.Fatalf("%+v has no text", c)
		}
		r.find(c.ToolCallID).state = "error " + c.ErrorText
	case denied:
		r.find(c.ToolCallID).state = outputDenied
	default:
		return false
	}
	return true
}

func (r *reducer) seeRest(c chunk) {
	r.t.Helper()
	switch {
	case c.Type == "start-step":
		r.parts = append(r.parts, &reduced{kind: "step"})
	case c.Type == "reset-step":
		at := len(r.parts)
		for at > 0 && r.parts[at-1].kind != "step" {
			at--
		}
		r.parts, r.text, r.input = r.parts[:at], map[string]*reduced{}, map[string]bool{}
	case c.Type == "file":
		r.parts = append(r.parts, &reduced{kind: c.Type, text: c.URL})
	case strings.HasPrefix(c.Type, "data-"):
		r.parts = append(r.parts, &reduced{kind: c.Type, text: fmt.Sprintf("%s", c.Data)})
	default:
		r.t.Fatalf("an unknown chunk %+v", c)
	}
}

// String writes the message in short.
func (r *reducer) String() string {
	var all []string
	for _, x := range r.parts {
		if x.kind != "step" {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", x.kind, x.text, x.state)))
		}
	}
	return strings.Join(all, "|")
}
