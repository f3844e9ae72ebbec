package aisdkapi

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// part is a part of a message as far as the client has it.
type part struct {
	kind partKind
	id   string // of the text, or of the call
	tool string // of a call
	from from
	text []byte // of a text or reasoning; of a call the arguments
	base int    // how many bytes of the text the client has from an earlier stream

	shown bool // in this stream
	open  bool // more of it may follow
	whole bool // nothing more of it follows: a call has its arguments

	// These belong to a call. The client is asked to execute it, or to approve it by the approval's id;
	// and it has the output.
	asked    bool
	approval *approval
	output   *chunk
	settled  bool

	single *chunk // a file or data
}

// partKind is what a part is.
type partKind int

// The kinds of parts.
const (
	textPart partKind = iota
	reasoningPart
	callPart
	singlePart
)

// start returns the chunk that begins the part.
func (x *part) start() chunk {
	provider := &origin{x.from}
	switch x.kind {
	case reasoningPart:
		return chunk{Type: reasoningStart, ID: x.id, Provider: provider}
	case callPart:
		return chunk{Type: inputStart, ToolCallID: x.id, ToolName: x.tool, Provider: provider}
	case textPart, singlePart:
	}
	return chunk{Type: textStart, ID: x.id, Provider: provider}
}

// piece returns the chunk for more of the part.
func (x *part) piece(text string) chunk {
	switch x.kind {
	case reasoningPart:
		return chunk{Type: "reasoning-delta", ID: x.id, Delta: text}
	case callPart:
		return chunk{Type: "tool-input-delta", ToolCallID: x.id, InputTextDelta: text}
	case textPart, singlePart:
	}
	return chunk{Type: "text-delta", ID: x.id, Delta: text}
}

// end returns the chunk that ends the part.
func (x *part) end() chunk {
	switch x.kind {
	case reasoningPart:
		return chunk{Type: "reasoning-end", ID: x.id}
	case callPart:
		return x.available()
	case textPart, singlePart:
	}
	return chunk{Type: "text-end", ID: x.id}
}

// available returns the chunk with the whole arguments of a call. Clients call their own tools when they read
// one that is not executed by the server, so it says so until the client is asked.
func (x *part) available() chunk {
	elsewhere := !x.asked
	return chunk{Type: inputAvailable, ToolCallID: x.id, ToolName: x.tool, Input: object(x.text), ProviderExecuted: &elsewhere, Provider: &origin{x.from}}
}

// request returns the chunk that asks the client for its approval.
func (x *part) request() chunk {
	return chunk{Type: "tool-approval-request", ToolCallID: x.id, ApprovalID: x.approval.ID, Reason: x.approval.Reason}
}

// decided returns the chunk for the decision of somebody else.
func (x *part) decided() chunk {
	return chunk{Type: "tool-approval-response", ApprovalID: x.approval.ID, Approved: x.approval.Approved}
}

// object returns arguments as JSON: those of a call that ended before they were complete may be none.
func object(text []byte) json.RawMessage {
	if !json.Valid(text) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// ui returns the part as clients store it.
func (x *part) ui() uiPart {
	text, provider := string(x.text), &origin{x.from}
	switch x.kind {
	case textPart, reasoningPart:
		out := uiPart{Type: "text", Text: &text, State: "done", Provider: provider}
		if x.kind == reasoningPart {
			out.Type = "reasoning"
		}
		if !x.whole {
			out.State = "streaming"
		}
		return out
	case singlePart:
		return uiPart{Type: x.single.Type, ID: x.single.ID, URL: x.single.URL, MediaType: x.single.MediaType, Data: x.single.Data, Filename: x.from.Name, Provider: x.single.Provider}
	case callPart:
	}
	elsewhere := !x.asked
	out := uiPart{Type: toolPrefix + x.tool, ToolCallID: x.id, State: inputStreaming, ProviderExecuted: &elsewhere, CallProvider: provider}
	if x.whole {
		out.State, out.Input, out.Approval = inputComplete, object(x.text), x.approval
		if x.approval != nil {
			out.State = approvalRequested
		}
	}
	if x.output != nil {
		out.Output, out.ErrorText, out.State = x.output.Output, x.output.ErrorText, outputAvailable
		switch x.output.Type {
		case outputError:
			out.State = outputFailed
		case denied:
			out.State = outputDenied
		}
	}
	return out
}

// fromOf returns where a part is.
func fromOf(h shoal.PartHead, run shoal.RunID, agent shoal.EntityID) from {
	return from{PartID: h.PartID, MessageID: h.MessageID, RunID: run, EntityID: agent}
}
