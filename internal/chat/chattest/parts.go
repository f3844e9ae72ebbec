package chattest

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/shoal-dev/shoal"
)

// at returns the head of an event of a part, and the server's part, which it creates if
// necessary.
func (w *World) at(what shoal.EventType, a []string) (shoal.PartHead, *shoal.Part) {
	m := w.Message(shoal.SpaceID(a[1]), a[2])
	h := shoal.PartHead{EventHead: w.head(what, a[1]), MessageID: m.ID, PartID: shoal.PartID(a[3])}
	for i := range m.Parts {
		if m.Parts[i].ID == h.PartID {
			return h, &m.Parts[i]
		}
	}
	m.Parts = append(m.Parts, shoal.Part{ID: h.PartID, Type: shoal.TextPart, Status: shoal.PartStreaming})
	return h, &m.Parts[len(m.Parts)-1]
}

func (w *World) part(a []string) []shoal.Event {
	switch a[0] {
	case "tool":
		h, p := w.at(shoal.EventToolInputStart, a)
		p.Type, p.ToolName, p.ToolCallID, p.Status = shoal.ToolPart, a[4], a[3], shoal.PartInputStreaming
		return event(h.Type, shoal.ToolInputData{PartHead: h, ToolName: a[4], ToolCallID: a[3]})
	case "hide":
		h, p := w.at(shoal.EventToolInputStart, a)
		p.Type, p.Private, h.Private = shoal.ToolPart, true, true
		return event(h.Type, shoal.ToolInputData{PartHead: h})
	}
	h, _ := w.at(shoal.EventTextStart, a)
	return event(h.Type, shoal.TextData{PartHead: h})
}

func (w *World) delta(a []string) []shoal.Event {
	offset, err := strconv.Atoi(a[4])
	if err != nil {
		panic(err)
	}
	what := shoal.EventTextDelta
	if a[0] == "input" {
		what = shoal.EventToolInputDelta
	}
	h, _ := w.at(what, a)
	return event(what, shoal.DeltaData{PartHead: h, Offset: offset, Delta: a[5]})
}

func (w *World) think(a []string) []shoal.Event {
	d := shoal.DeltaData{Delta: a[3]}
	d.EventHead = w.head(shoal.EventReasoningDelta, a[1])
	run := shoal.RunID(a[2])
	d.RunID = &run
	return event(shoal.EventReasoningDelta, d)
}

func (w *World) end(a []string) []shoal.Event {
	h, p := w.at(shoal.EventTextEnd, a)
	p.Text, p.Status = a[4], shoal.PartDone
	if a[5] != "" {
		p.Status = shoal.PartStatus(a[5])
	}
	return event(h.Type, shoal.TextData{PartHead: h, Text: p.Text, Status: p.Status})
}

func (w *World) call(a []string) []shoal.Event {
	h, p := w.at(shoal.EventToolInputAvailable, a)
	p.Type, p.ToolName, p.ToolCallID, p.Args, p.Status = shoal.ToolPart, a[4], a[3], json.RawMessage(a[5]), shoal.PartRunning
	return event(h.Type, shoal.ToolInputData{PartHead: h, ToolName: a[4], ToolCallID: a[3], Args: p.Args})
}

// result is the event of a tool result or a tool error.
func (w *World) result(a []string) []shoal.Event {
	what, by := shoal.EventToolOutputAvailable, shoal.EntityID(a[5])
	if a[0] == "error" {
		what, by = shoal.EventToolOutputError, shoal.EntityID(a[6])
	}
	h, p := w.at(what, a)
	p.AnsweredBy = by
	d := shoal.ToolOutputData{PartHead: h, ToolName: p.ToolName, ToolCallID: p.ToolCallID}
	if by != "" {
		d.AnsweredBy = &by
	}
	if a[0] == "error" {
		p.Status, p.Error = shoal.PartStatus(a[4]), a[5]
		d.Error = &p.Error
	} else {
		p.Status, p.Result = shoal.PartDone, json.RawMessage(a[4])
		d.Result = p.Result
	}
	d.Status = p.Status
	return event(what, d)
}

func (w *World) withdraw(a []string) []shoal.Event {
	what := shoal.EventPartReset
	if a[0] == "remove" {
		what = shoal.EventPartRemoved
	}
	h, p := w.at(what, a)
	if a[0] == "remove" {
		m := w.Message(shoal.SpaceID(a[1]), a[2])
		m.Parts = slices.DeleteFunc(m.Parts, func(have shoal.Part) bool { return have.ID == p.ID })
	}
	offset := 0
	if a[4] != "" {
		offset, _ = strconv.Atoi(a[4]) // 0 for an invalid number
	}
	return event(what, shoal.PartResetData{PartHead: h, Offset: offset})
}

func (w *World) waits(a []string) []shoal.Event {
	space := shoal.SpaceID(a[3])
	p := shoal.PendingAction{
		ID: shoal.PendingID(a[1]), Kind: shoal.PendingKind(a[2]), RunID: "run_1", AgentID: "bot", SpaceID: &space, ToolName: a[6],
		Args: json.RawMessage(a[7]), Status: shoal.PendingOpen, CreatedAt: w.now(),
	}
	if len(a) > 8 && a[8] != "" {
		p.ResultSchema = json.RawMessage(a[8])
	}
	if a[4] != "-" {
		m := w.Message(space, a[4])
		part := shoal.PartID(a[5])
		p.MessageID, p.PartID = &m.ID, &part
		_, of := w.at("", []string{"", a[3], a[4], a[5]})
		of.Status = shoal.PartRequiresAction
		w.pending[p.ID] = p
		return append(w.tellPending(shoal.EventPendingOpened, p), w.tell(shoal.EventMessageUpdated, m)...)
	}
	w.pending[p.ID] = p
	return w.tellPending(shoal.EventPendingOpened, p)
}

func (w *World) asks(a []string) []shoal.Event {
	space := shoal.SpaceID(a[2])
	p := shoal.PendingAction{
		ID: shoal.PendingID(a[1]), Kind: shoal.PendingQuestion, RunID: "run_1", AgentID: "bot", SpaceID: &space, ToolName: "ask_user",
		Args: json.RawMessage("{}"), Question: &a[3], Status: shoal.PendingOpen, CreatedAt: w.now(),
	}
	for _, option := range a[4:] {
		if option != "" {
			p.Options = append(p.Options, option)
		}
	}
	w.pending[p.ID] = p
	return w.tellPending(shoal.EventPendingOpened, p)
}

func (w *World) settled(a []string) []shoal.Event {
	p := w.pending[shoal.PendingID(a[1])]
	by, at := shoal.EntityID(a[2]), w.now()
	p.Status, p.AnsweredBy, p.AnsweredAt = shoal.PendingAnswered, &by, &at
	w.pending[p.ID] = p
	return w.tellPending(shoal.EventPendingSettled, p)
}

func (w *World) tellPending(what shoal.EventType, p shoal.PendingAction) []shoal.Event {
	return event(what, shoal.PendingData{EventHead: w.head(what, string(*p.SpaceID)), PendingAction: p})
}

func (w *World) run(a []string) []shoal.Event {
	what := shoal.EventType("run." + a[3])
	d := shoal.RunData{EventHead: w.head(what, a[1])}
	d.Run = shoal.Run{ID: shoal.RunID(a[2]), AgentID: "bot", Status: shoal.RunStatus(a[3]), Trigger: shoal.Trigger{Type: shoal.PlanTrigger}}
	if a[3] == "resumed" {
		d.Run.Status = shoal.RunRunning
	}
	if a[4] != "" {
		d.Run.Error = &shoal.RunError{Code: a[4], Message: a[5]}
	}
	return event(what, d)
}

func (w *World) member(a []string) []shoal.Event {
	what := map[string]shoal.EventType{"joined": shoal.EventMemberJoined, "left": shoal.EventMemberLeft}[a[0]]
	return event(what, shoal.MemberData{EventHead: w.head(what, a[1]), Member: member(a[2])})
}

// made is the event of a created or renamed space; it contains no members.
func (w *World) made(a []string) []shoal.Event {
	sp := w.spaces[shoal.SpaceID(a[1])]
	if sp == nil {
		sp = &shoal.Space{ID: shoal.SpaceID(a[1]), Status: shoal.SpaceStatusOpen, CreatedAt: w.now()}
		w.spaces[sp.ID] = sp
	}
	sp.Name = a[2]
	told := *sp
	told.Members = []shoal.Member{}
	return event(shoal.EventSpaceUpdated, shoal.SpaceData{EventHead: w.head(shoal.EventSpaceUpdated, a[1]), Space: told})
}

func (w *World) closed(a []string) []shoal.Event {
	sp := *w.spaces[shoal.SpaceID(a[1])]
	sp.Status, sp.Summary, sp.UnreadCount, sp.MentionCount, sp.Members = shoal.SpaceStatusClosed, &a[2], 0, 0, []shoal.Member{}
	return event(shoal.EventSpaceClosed, shoal.SpaceData{EventHead: w.head(shoal.EventSpaceClosed, a[1]), Space: sp})
}

func (w *World) entity(a []string) []shoal.Event {
	m := member(a[1])
	e := shoal.Entity{ID: m.EntityID, Kind: m.Kind, Name: m.Name, State: shoal.State(a[2]), Hosted: m.Kind == shoal.Agent}
	if a[3] != "" {
		e.Name = a[3]
	}
	return event(shoal.EventEntityUpdated, shoal.EntityData{EventHead: w.head(shoal.EventEntityUpdated, ""), Entity: e})
}

// deleted removes the content of a message.
func (w *World) deleted(a []string) []shoal.Event {
	m := w.Message(shoal.SpaceID(a[1]), a[2])
	at := w.now()
	m.Parts, m.Mentions, m.DeletedAt = []shoal.Part{}, []shoal.EntityID{}, &at
	return w.tell(shoal.EventMessageUpdated, m)
}
