package spacetool

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// keptTexts is how many texts that nobody saw an agent is shown of runs in which it only spoke:
// the newest, each once.
const keptTexts = 5

// Arrange returns the messages of a request in the order in which they are sent. conversation is
// what the run sees of its own conversation, with its input and its steps; trigger is the ID of
// the last message of the input, which the block <you> precedes.
//
// With a shared history, that comes first. Of what precedes the input only what the agent did in
// runs that the history covers remains, as far as the history does not show it. The conversation
// is not changed.
func (p *Prompt) Arrange(conversation []agent.Message, trigger string) []agent.Message {
	at := max(0, slices.IndexFunc(conversation, func(m agent.Message) bool { return m.ID == trigger }))
	past, unseen := conversation[:at], ""
	if p.Shared != nil {
		did, texts := p.own(past)
		past, unseen = slices.Concat(p.Shared, did, p.only), unseenTexts(texts)
	}
	if p.you.Parts == nil { // made once: a recorder knows what it has encoded by its address
		p.you = agent.Say(strings.TrimSuffix(p.You, endOfYou) + unseen + endOfYou)
	}
	now := slices.Clone(conversation[at:])
	if len(now) > 0 && now[0].ID == trigger {
		if p.first.Parts == nil {
			p.first = p.brief(now[0])
		}
		now[0] = p.first
	}
	return slices.Concat(past, []agent.Message{p.you}, now)
}

// brief returns the trigger in the form of the shared history, if it says the same as when the run
// began: it may have been edited since.
func (p *Prompt) brief(m agent.Message) agent.Message {
	if p.Shared == nil || len(m.Parts) == 0 {
		return m
	}
	_, began, _ := strings.Cut(m.Parts[0].Text, ">") // attributes contain none
	if _, now, found := strings.Cut(p.now, ">"); !found || now != began {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	m.Parts[0].Text = p.now
	return m
}

// own returns what the agent did in earlier runs and the shared history does not show: the runs that
// did more than speak, each after a message that names what started it, and of the others the texts
// that nobody saw.
func (p *Prompt) own(past []agent.Message) (out []agent.Message, texts []string) {
	for len(past) > 0 {
		inputs := slices.IndexFunc(past, func(m agent.Message) bool { return m.Role != agent.User })
		if inputs < 0 {
			break // of this run
		}
		steps := slices.IndexFunc(past[inputs:], func(m agent.Message) bool { return m.Role == agent.User })
		if steps < 0 {
			steps = len(past) - inputs
		}
		did := past[inputs : inputs+steps]
		started := ""
		if inputs > 0 {
			started, _, _ = strings.Cut(MessageKey(past[inputs-1]), " ")
		}
		past = past[inputs+steps:]
		if !p.since[started] {
			continue
		}
		unseen := p.unseen(did)
		if !slices.ContainsFunc(unseen, func(m agent.Message) bool { return len(m.Calls()) > 0 }) {
			for _, m := range unseen {
				text := strings.TrimSpace(m.Text())
				texts = append(slices.DeleteFunc(texts, func(t string) bool { return t == text }), text)
			}
			continue
		}
		var b strings.Builder
		element(&b, "earlierRun", "What you did in it, but for what the history shows, follows.", "startedBy", started)
		out = append(append(out, agent.Say(b.String())), unseen...)
	}
	return out, texts[max(0, len(texts)-keptTexts):]
}

// unseenTexts returns the section of the block <you> with texts of the agent that nobody saw, ""
// without any.
func unseenTexts(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# What you wrote and nobody saw\n\n")
	for _, text := range texts {
		element(&b, "unseen", text)
	}
	return b.String()
}

// unseen returns the messages of a run without what the shared history shows: texts, and calls of
// sendSpaceMessage that were made and waited for no reply, with their results. A message that
// loses a part loses its thoughts, too, which providers accept only with what followed them.
func (p *Prompt) unseen(did []agent.Message) []agent.Message {
	failed := map[string]bool{}
	for _, m := range did {
		for _, r := range m.Results() {
			failed[r.CallID] = r.Status != agent.ResultOK
		}
	}
	gone := map[string]bool{}
	shown := func(part agent.Part) bool {
		switch part.Type {
		case agent.TextPart:
			text := strings.TrimSpace(part.Text)
			return text == "" || p.mine[text]
		case agent.CallPart:
			send, err := ParseSend(part.Call.Arguments)
			gone[part.Call.ID] = part.Call.Name == SendTool && err == nil && send.Wait == nil && send.SpaceID == p.space &&
				p.mine[strings.TrimSpace(send.Text)] && !failed[part.Call.ID]
			return gone[part.Call.ID]
		case agent.ResultPart:
			return gone[part.Result.CallID]
		}
		return false
	}
	var out []agent.Message
	for _, m := range did {
		rest := slices.DeleteFunc(slices.Clone(m.Parts), shown)
		if len(rest) < len(m.Parts) {
			rest = slices.DeleteFunc(rest, func(part agent.Part) bool { return part.Type == agent.ReasoningPart })
			m.Parts = rest
		}
		if slices.ContainsFunc(rest, func(part agent.Part) bool { return part.Type != agent.ReasoningPart }) {
			out = append(out, m)
		}
	}
	return out
}
