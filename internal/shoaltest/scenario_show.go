package shoaltest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// The formats of the output: short, and the same in every run.

func join[T ~string](ids []T) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, ",")
}

// since formats a time as the duration since the start of the scenario.
func (s *stage) since(t time.Time) string { return "+" + t.Sub(s.start).String() }

// name returns the number of a message: msg1 is the first that was printed.
func (s *stage) name(id shoal.MessageID) string {
	if s.messages[id] == "" {
		s.messages[id] = "msg" + strconv.Itoa(len(s.messages)+1)
	}
	return s.messages[id]
}

func place(m shoal.Message) string { return fmt.Sprintf("%s#%d", m.SpaceID, m.Seq) }

func line(m shoal.Message) string {
	out := fmt.Sprintf("%s %s %q", place(m), m.EntityID, m.Text())
	if len(m.Mentions) > 0 {
		out += " mentions=" + join(m.Mentions)
	}
	if len(m.DroppedMentions) > 0 {
		out += " dropped=" + join(m.DroppedMentions)
	}
	if m.ReplyTo != nil {
		out += " reply"
	}
	for _, r := range m.Reactions {
		out += fmt.Sprintf(" %s=%s", r.Emoji, join(r.EntityIDs))
	}
	if m.EditedAt != nil {
		out += " edited"
	}
	if m.DeletedAt != nil {
		out += " deleted"
	}
	return out
}

func (s *stage) entity(e shoal.Entity) string {
	out := fmt.Sprintf("%s %s %s", e.ID, e.Kind, e.State)
	if e.Name != string(e.ID) {
		out += fmt.Sprintf(" name=%q", e.Name)
	}
	if e.ExternalID != nil {
		out += " external=" + *e.ExternalID
	}
	if e.WaitEndsAt != nil {
		out += " until " + s.since(e.WaitEndsAt.Time)
	}
	if e.LastFailure != nil {
		out += fmt.Sprintf(" failed (%s in %s)", e.LastFailure.Code, s.runName(e.LastFailure.RunID))
	}
	if e.Wake != nil && (e.Wake.Since != nil || e.Wake.Reason != "" && !e.Hosted) {
		out += " (" + e.Wake.Text + ")"
	}
	if e.StalledSince != nil {
		out += " stalled since " + s.since(e.StalledSince.Time)
	}
	return out
}

func space(p shoal.Space) string {
	ids := make([]shoal.EntityID, len(p.Members))
	names := []string{}
	for i, m := range p.Members {
		ids[i] = m.EntityID
		if m.Name != string(m.EntityID) {
			names = append(names, fmt.Sprintf("%s=%q", m.EntityID, m.Name))
		}
	}
	out := fmt.Sprintf("%s %s members=%s", p.ID, p.Status, join(ids))
	if len(names) > 0 {
		out += " names " + strings.Join(names, ",")
	}
	if p.Name != string(p.ID) {
		out += fmt.Sprintf(" name=%q", p.Name)
	}
	if p.AdminAgentID != nil {
		out += " admin=" + string(*p.AdminAgentID)
	}
	if p.LastSeq > 0 {
		out += fmt.Sprintf(" last=%d", p.LastSeq)
	}
	if p.UnreadCount > 0 {
		out += fmt.Sprintf(" unread=%d", p.UnreadCount)
	}
	if p.Muted {
		out += " muted"
	}
	if p.MentionCount > 0 {
		out += fmt.Sprintf(" mentions=%d", p.MentionCount)
	}
	if p.Summary != nil {
		out += fmt.Sprintf(" summary=%q", *p.Summary)
	}
	return out
}

func session(s shoal.Session) string { return fmt.Sprintf("session %s %s", s.ID, s.Status) }

func (s *stage) key(k shoal.Key) string {
	out := string(k.Role)
	if k.EntityID != nil {
		out += " " + string(*k.EntityID)
	}
	if k.SessionID != nil {
		out += " in " + string(*k.SessionID)
	}
	if k.ExpiresAt != nil {
		out += " until " + s.since(k.ExpiresAt.Time)
	}
	return out
}

// cursor formats the cursor of an event without the epoch of the database.
func cursor(c shoal.Cursor) string {
	if _, place, ok := strings.Cut(string(c), "."); ok {
		return " @" + place
	}
	return ""
}

// event formats an event from its data alone, as its followers receive it.
func (s *stage) event(ev shoal.Event) (string, error) {
	var data struct {
		shoal.EventHead
		Space    *shoal.Space         `json:"space"`
		Members  []shoal.Member       `json:"members"`
		Messages []shoal.Message      `json:"messages"`
		Message  *shoal.Message       `json:"message"`
		Member   *shoal.Member        `json:"member"`
		Entity   *shoal.Entity        `json:"entity"`
		Run      *shoal.Run           `json:"run"`
		Step     *shoal.Step          `json:"step"`
		Pending  *shoal.PendingAction `json:"pendingAction"`
		Receipts []shoal.Receipt      `json:"deliveries"`
		About    shoal.MessageID      `json:"messageId"`
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return "", err
	}
	if data.Type != ev.Type {
		return "", fmt.Errorf("an event of type %s says that it is %q", ev.Type, data.Type)
	}
	out := string(ev.Type)
	switch {
	case ev.Type == shoal.EventDeliveryUpdated:
		out += " " + s.name(data.About)
		for _, r := range data.Receipts {
			out += ", " + s.receipt(r)
		}
	case ev.Type == shoal.EventSnapshot && data.Space != nil:
		out += " " + space(*data.Space)
		for _, m := range data.Messages {
			out += fmt.Sprintf(" #%d", m.Seq)
		}
	case data.Space != nil:
		out += " " + space(*data.Space)
	case data.Message != nil:
		out += " " + line(*data.Message)
	case data.Member != nil:
		out += fmt.Sprintf(" %s %s", *data.SpaceID, data.Member.EntityID)
	case data.Entity != nil:
		out += " " + s.entity(*data.Entity)
	case data.Run != nil:
		out += " " + s.run(*data.Run)
	case data.Step != nil:
		out += fmt.Sprintf(" %s %d", s.runName(*data.RunID), data.Step.Index)
	case data.Pending != nil:
		out += fmt.Sprintf(" %s %s %s", s.runName(data.Pending.RunID), data.Pending.ToolCallID, data.Pending.Status)
	}
	return out + cursor(ev.Cursor), nil
}
