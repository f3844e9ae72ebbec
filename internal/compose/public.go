package compose

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// Public returns the message as members of its space read it. base is the message as
// the hub returned it last, the zero Message for a new one; Public keeps its sender,
// times and sequence number.
func (m Message) Public(base shoal.Message) shoal.Message {
	base.ID, base.SpaceID, base.Status = m.ID, m.Space, m.Status
	base.Mentions = nil
	if m.Mention != "" && m.Starts && m.Mention != base.EntityID { // a mention that starts nothing is not shown
		base.Mentions = []shoal.EntityID{m.Mention}
	}
	base.Parts = make([]shoal.Part, len(m.Parts))
	for i, p := range m.Parts {
		base.Parts[i] = p.public()
	}
	return base
}

func (p Part) public() shoal.Part {
	if p.Type == shoal.TextPart {
		return shoal.Part{ID: p.ID, Type: p.Type, Text: p.Text, Status: p.Status}
	}
	args := p.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return shoal.Part{
		ID: p.ID, Type: p.Type, Status: p.Status, ToolName: p.Tool, ToolCallID: p.Call, Args: args, Result: p.Result,
		Error: p.Error, Display: p.Rendering, AnsweredBy: p.AnsweredBy, EditedArgs: p.EditedArgs, Decision: p.Decision, Target: p.Target,
	}
}
