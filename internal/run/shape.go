package run

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/compose"
)

// shape returns a composed message as everybody reads it; base is what the hub
// knows of it.
func shape(base shoal.Message, m compose.Message) shoal.Message {
	base.ID, base.SpaceID, base.Status = m.ID, m.Space, m.Status
	base.Mentions = nil
	if m.Mention != "" && m.Starts && m.Mention != base.EntityID { // one that does not happen is none
		base.Mentions = []shoal.EntityID{m.Mention}
	}
	base.Parts = make([]shoal.Part, len(m.Parts))
	for i, p := range m.Parts {
		base.Parts[i] = shapePart(p)
	}
	return base
}

func shapePart(p compose.Part) shoal.Part {
	if p.Type == shoal.TextPart {
		return shoal.Part{ID: p.ID, Type: p.Type, Text: p.Text, Status: p.Status}
	}
	args := p.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return shoal.Part{
		ID: p.ID, Type: p.Type, Status: p.Status, ToolName: p.Tool, ToolCallID: p.Call, Args: args, Result: p.Result,
		Error: p.Error, Display: p.Rendering, AnsweredBy: p.AnsweredBy, EditedArgs: p.EditedArgs, Target: p.Target,
	}
}
