package spacetool

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// historyText is how many characters of an older message a model sees, triggerText
	// of the trigger: all of whatever can be posted.
	historyText = 8 << 10
	triggerText = 2 * shoal.MaxContent
	// blocksLooked is how many runs back the end of the conversation is searched for.
	blocksLooked = 50
)

// Pictures are the media types of the files whose content models receive; of other files
// they receive the names.
var Pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Input returns what a run begins with: the messages of the trigger's space that the
// agent's conversation does not hold yet, at most as many as context.history says
// and the newest of those before the trigger, and then the trigger. Each is a user
// message of its own. The error is that of reading.
func Input(ctx context.Context, r *Run) ([]agent.Message, error) {
	t := r.Run.Trigger
	var b strings.Builder
	switch t.Type {
	case shoal.PlanTrigger:
		whole(&b, "plan", t.Instruction, "id", string(t.PlanID), "name", t.PlanName, "scheduledAt", t.ScheduledAt.String())
		return []agent.Message{agent.Say(b.String())}, nil
	case shoal.ServiceTrigger:
		whole(&b, "service", string(t.Payload), "name", t.ServiceName)
		return []agent.Message{agent.Say(b.String())}, nil
	}
	var out []agent.Message
	err := r.read(ctx, func(tx storage.Tx) (err error) {
		out, err = r.timeline(tx)
		return err
	})
	return out, err
}

// timeline is the input of a run that a message started.
func (r *Run) timeline(tx storage.Tx) ([]agent.Message, error) {
	t := r.Run.Trigger
	trigger, err := tx.Message(r.session(), t.SpaceID, t.MessageID)
	in := false
	if err == nil {
		in, err = tx.IsMember(r.session(), t.SpaceID, r.agent())
	}
	if shoal.KindOf(err) == shoal.NotFound || err == nil && !in {
		// The run may see only what the trigger itself contains.
		return []agent.Message{r.triggerAlone()}, nil
	}
	if err != nil {
		return nil, err
	}
	older, err := r.unheld(tx, trigger)
	if err != nil {
		return nil, err
	}
	who, err := r.senders(tx, t.SpaceID, append(slices.Clone(older), trigger))
	if err != nil {
		return nil, err
	}
	var out []agent.Message
	for _, m := range r.visible(older) {
		told, err := r.message(m, who, historyText)
		if err != nil {
			return nil, err
		}
		out = append(out, told)
	}
	now := r.visible([]shoal.Message{trigger})
	if len(now) == 0 {
		return append(out, r.triggerAlone()), nil
	}
	told, err := r.message(now[0], who, triggerText)
	return append(out, told), err
}

// unheld returns the newest messages before the trigger that the conversation does
// not hold, the oldest first.
func (r *Run) unheld(tx storage.Tx, trigger shoal.Message) ([]shoal.Message, error) {
	limit := r.Config.Context.History
	if limit <= 0 || trigger.Seq <= 1 {
		return nil, nil
	}
	messages, err := tx.Messages(r.session(), trigger.SpaceID, storage.Page{Before: trigger.Seq, Limit: limit})
	if err == nil && r.After > 0 {
		return slices.DeleteFunc(messages, func(m shoal.Message) bool { return m.Seq <= r.After || m.EntityID == r.agent() }), nil
	}
	if err != nil || !r.Config.Context.Conversation {
		return messages, err
	}
	known, err := r.known(tx)
	if err != nil {
		return nil, err
	}
	held := map[shoal.RunID]bool{}
	for _, m := range messages {
		if m.EntityID != r.agent() || m.RunID == nil {
			continue
		}
		if run, err := tx.Run(r.session(), *m.RunID); err == nil {
			held[*m.RunID] = r.holds(run)
		} else if shoal.KindOf(err) != shoal.NotFound {
			return nil, err
		}
	}
	return slices.DeleteFunc(messages, func(m shoal.Message) bool {
		return m.Seq <= known || m.EntityID == r.agent() && m.RunID != nil && held[*m.RunID]
	}), nil
}

// known is the place of the last message of the timeline that the conversation got
// as an input: a run's input reaches up to its trigger.
func (r *Run) known(tx storage.Tx) (seq int64, err error) {
	runs, err := tx.Runs(r.session(), storage.RunFilter{
		Agent: r.agent(), Space: r.Run.Space, Limit: blocksLooked,
		Status: []shoal.RunStatus{shoal.RunCompleted, shoal.RunFailed, shoal.RunCanceled},
	})
	if err != nil {
		return 0, err
	}
	for _, run := range runs {
		if run.Space != r.Run.Space || !r.holds(run) {
			continue
		}
		m, err := tx.Message(r.session(), run.Space, run.Trigger.MessageID)
		if err != nil && shoal.KindOf(err) != shoal.NotFound {
			return 0, err
		}
		seq = max(seq, m.Seq)
	}
	return seq, nil
}

// holds reports whether another run is a part of the conversation that this one
// sees.
func (r *Run) holds(other storage.Run) bool {
	return other.Conversation == r.Run.Conversation && len(other.Turn) > 0 && other.Began > 0 && other.Ended > 0 && other.Ended < r.Run.Began
}

// message converts one message of the timeline to a text and the pictures among its files.
// A picture is the path of its file on this server; package picture replaces it with the
// bytes when a request is sent to a model.
func (r *Run) message(m shoal.Message, who senders, most int) (agent.Message, error) {
	text, parts, err := shown(m, most)
	if err != nil {
		return agent.Message{}, err
	}
	mentions := make([]string, len(m.Mentions))
	for i, id := range m.Mentions {
		mentions[i] = string(id)
	}
	var b strings.Builder
	space, sender, at := string(m.SpaceID), who[m.EntityID], m.CreatedAt.String()
	if r.listed != nil {
		// Agents with other tools pay for the history that agents share once more, so it leaves out
		// what the system text says: the space, and the names and kinds of its members.
		space, at = "", m.CreatedAt.UTC().Format(time.RFC3339)
		if r.listed[m.EntityID] {
			sender.name, sender.kind = "", ""
		}
	}
	tag(&b, "message", "id", string(m.ID), "spaceId", space, "senderId", string(m.EntityID), "sender", sender.name,
		"senderType", sender.kind, "you", yes(m.EntityID == r.agent()), "mentions", strings.Join(mentions, ","), "onBehalfOf", list(m.OnBehalfOf),
		"replyTo", string(or(m.ReplyTo, "")), "status", unusual(m.Status), "edited", moment(m.EditedAt), "reactions", reactions(m.Reactions), "at", at)
	b.WriteString(">" + escape(text))
	for _, part := range parts {
		b.WriteString("\n<part>" + escape(part) + "</part>")
	}
	b.WriteString("</message>")
	out := agent.Message{Role: agent.User, Parts: []agent.Part{agent.Text(b.String())}, CreatedAt: m.CreatedAt.Time}
	for _, p := range m.Parts {
		if session, _, here := p.File(); here && session == r.session() && slices.Contains(Pictures, p.MediaType) {
			out.Parts = append(out.Parts, agent.Part{Type: agent.FilePart, File: &agent.File{Name: p.Name, MediaType: p.MediaType, URL: p.URL}})
		}
	}
	return out, nil
}

// MessageKey identifies the message of a space that a message of an input shows, in
// the state that it shows: two inputs that show a message in the same status have the
// same key. It is empty for any other message to a model.
func MessageKey(m agent.Message) string {
	if m.Role != agent.User || len(m.Parts) == 0 {
		return ""
	}
	opening, _, _ := strings.Cut(m.Parts[0].Text, ">") // attributes contain none
	rest, isMessage := strings.CutPrefix(opening, `<message id="`)
	id, rest, whole := strings.Cut(rest, `"`)
	if !isMessage || !whole {
		return ""
	}
	_, status, _ := strings.Cut(rest, ` status="`)
	status, _, _ = strings.Cut(status, `"`)
	return id + " " + status
}

// reactions lists the reactions with the entities that made them.
func reactions(all []shoal.Reaction) string {
	each := make([]string, len(all))
	for i, r := range all {
		each[i] = r.Emoji + " " + list(r.EntityIDs)
	}
	return strings.Join(each, " ")
}

// moment is a time that may be missing.
func moment(at *shoal.Time) string {
	if at == nil {
		return ""
	}
	return at.String()
}

// unusual is the status of a message that is not whole.
func unusual(s shoal.MessageStatus) string {
	if s == shoal.MessageCompleted {
		return ""
	}
	return string(s)
}

// triggerAlone converts the trigger if its message can no longer be read.
func (r *Run) triggerAlone() agent.Message {
	t := r.Run.Trigger
	var b strings.Builder
	whole(&b, "message", t.MessageContent, "id", string(t.MessageID), "spaceId", string(t.SpaceID), "senderId", string(t.SenderEntityID),
		"sender", t.SenderName, "senderType", string(t.SenderType))
	return agent.Say(b.String())
}

// whole writes an element with a text as it is.
func whole(b *strings.Builder, name, text string, pairs ...string) {
	tag(b, name, pairs...)
	b.WriteString(">" + escape(text) + "</" + name + ">")
}
