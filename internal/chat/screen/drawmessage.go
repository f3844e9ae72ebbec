package screen

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

const (
	maxEntries = 8  // arguments of a tool call on a card
	maxName    = 16 // columns of their names
)

// drawMessage returns the pieces of a message. Pending actions are pieces of their own, so that
// they can be selected.
func (m *model) drawMessage(msg *chat.Message, width int) []piece {
	var waits []string
	open := map[shoal.PartID]shoal.PendingAction{}
	for _, p := range msg.Parts {
		if a, ok := m.state.PendingOf(msg, p); ok {
			open[p.ID] = a
			waits = append(waits, string(a.ID))
		}
	}
	if m.form != nil {
		waits = append(waits, "answering", string(m.form.Action.ID))
	}
	have, ok := m.timeline.drawn[msg.ID]
	now := drawn{revision: msg.Revision, width: width, waits: strings.Join(waits, " "), open: m.opened(msg)}
	if ok && have.revision == now.revision && have.width == now.width && have.waits == now.waits && have.open == now.open {
		return have.pieces
	}
	stop := messageStop(msg.ID)
	now.pieces = []piece{{key: stop, stop: stop, lines: []string{m.head(msg, width)}}}
	for _, p := range msg.Parts {
		lines, folds := m.drawPart(msg, p, open[p.ID], width, now.open)
		now.folds.add(p.Type, folds)
		next := piece{key: stop + "/" + string(p.ID), stop: stop, lines: lines}
		if a, waiting := open[p.ID]; waiting {
			next.stop = pendingStop(a.ID)
		}
		now.pieces = append(now.pieces, next)
	}
	if len(msg.Reactions) > 0 {
		row := "  "
		for _, r := range msg.Reactions {
			row += fmt.Sprintf("%s %d  ", r.Emoji, len(r.EntityIDs))
		}
		now.pieces = append(now.pieces, piece{key: stop + "/reactions", stop: stop, lines: []string{m.style.dim.Render(ansi.Truncate(row, width, "…"))}})
	}
	if msg.DeletedAt != nil {
		now.pieces = append(now.pieces, piece{key: stop + "/deleted", stop: stop, lines: []string{m.style.dim.Render("  (deleted)")}})
	}
	now.pieces = append(now.pieces, piece{key: stop + "/end", lines: []string{""}})
	m.timeline.drawn[msg.ID] = now
	return now.pieces
}

// head returns the sender, the mentions, the time and the state of a message.
func (m *model) head(msg *chat.Message, width int) string {
	head := m.style.speaker(msg.EntityID).Render(cut(m.name(msg.EntityID), width/2))
	head += "  " + m.style.dim.Render(msg.CreatedAt.In(m.zone).Format("15:04"))
	for _, id := range msg.Mentions {
		to := "@" + cut(string(id), 32)
		if id == m.state.Me {
			to = m.style.ask.Render(to)
		}
		head += " " + to
	}
	if msg.EditedAt != nil {
		head += "  " + m.style.dim.Render("(edited)")
	}
	if mark := m.state.Mark(msg.Message); mark.Sign != "" {
		head += "  " + m.style.mark(mark)
	}
	return ansi.Truncate(head, width, "…")
}

// name returns the name of a member, with the id only if another member has the same name.
func (m *model) name(id shoal.EntityID) string {
	name, doubles := m.state.Entity(id).Name, 0
	if sp := m.state.Space(m.space); sp != nil {
		for _, member := range sp.Members {
			if member.EntityID == id && member.Name != "" {
				name = member.Name
			}
		}
		for _, member := range sp.Members {
			if strings.EqualFold(member.Name, name) {
				doubles++
			}
		}
	}
	switch {
	case name == "" || strings.EqualFold(name, string(id)):
		return string(id)
	case doubles > 1:
		return name + " (@" + string(id) + ")"
	}
	return name
}

// drawPart returns the lines of a part, and whether some are hidden when its message is folded.
func (m *model) drawPart(msg *chat.Message, p shoal.Part, waits shoal.PendingAction, width int, whole open) (lines []string, folds bool) {
	mark := chat.PartMark(p)
	switch {
	case p.Private:
		return []string{m.style.dim.Render("  (something for another member)")}, false
	case p.Type == shoal.TextPart:
		lines, folds = m.fold(indent(m.style.markdown(p.Text, width-2)), whole.texts)
		if p.Text == "" {
			lines = []string{"  " + m.style.mark(mark)}
		} else if p.Status == shoal.PartInterrupted {
			lines = append(lines, "  "+m.style.mark(mark))
		}
		return lines, folds
	case p.Type == shoal.ToolPart:
		return m.card(msg, p, waits, width, whole.cards)
	case p.Type == shoal.FilePart:
		return indent(wrap(fmt.Sprintf("[file] %s (%s, %s) %s", p.Name, p.MediaType, size(p.Size), p.URL), width-2)), false
	}
	body, folds := m.fields(chat.Entries(p.Data), width-4, whole.cards)
	return m.boxed(cut("[data] "+p.Name, width-4), body, width), folds
}

// card shows a tool call: its state, arguments and result.
func (m *model) card(msg *chat.Message, p shoal.Part, waits shoal.PendingAction, width int, whole bool) (lines []string, folds bool) {
	mark := chat.PartMark(p)
	if waits.ID != "" {
		mark = chat.Mark{Sign: "!", Word: "waits for you"}
	}
	title := m.style.strong.Render(cut(p.ToolName, width-8)) + "  " + m.style.mark(mark)
	if p.AnsweredBy != "" {
		title += m.style.dim.Render(" by " + cut(string(p.AnsweredBy), 32))
	}
	if p.Target != "" {
		title += m.style.dim.Render(" for " + cut(string(p.Target), 32) + " only")
	}
	args := chat.Entries([]byte(msg.Input(p)))
	body, folds := m.fields(args, width-4, whole)
	switch {
	case waits.Kind == shoal.PendingQuestion:
		body, folds = wrap(chat.Subject(waits), width-4), false
	case waits.ID != "": // people who decide see all arguments
		body, folds = m.wholeEntries(args, width-4), false
	case p.Error != "":
		for _, l := range wrap("✗ "+p.Error, width-4) {
			body = append(body, m.style.bad.Render(l))
		}
	case len(p.Result) > 0:
		result, more := m.result(p.Result, width-4, whole)
		body, folds = append(body, result...), folds || more
	}
	if waits.ID != "" {
		body = append(body, m.style.ask.Render(cut(m.howTo(waits), width-4)))
	}
	return m.boxed(title, body, width), folds
}

// boxed draws a line at the left of a title and its body.
func (m *model) boxed(title string, body []string, width int) []string {
	lines := []string{m.style.bar.Render("  ┌ ") + title}
	for i, l := range body {
		edge := "  │ "
		if i == len(body)-1 {
			edge = "  └ "
		}
		lines = append(lines, m.style.bar.Render(edge)+l)
	}
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], width, "…")
	}
	return lines
}

// howTo returns how to answer a pending action.
func (m *model) howTo(p shoal.PendingAction) string {
	if m.form != nil && m.form.Action.ID == p.ID {
		return "you are answering below"
	}
	switch p.Kind {
	case shoal.PendingPermission:
		return "to approve or deny: Ctrl+O, Enter"
	case shoal.PendingQuestion:
		return "to answer: Ctrl+O, Enter"
	}
	return "to submit the result: Ctrl+O, Enter"
}

// entries shows the members of an object, one per line.
func (m *model) entries(all []chat.Entry, width int) []string {
	column := m.column(all)
	var lines []string
	for i, e := range all {
		if i == maxEntries {
			return append(lines, m.style.dim.Render(fmt.Sprintf("… and %d more", len(all)-i)))
		}
		name := m.entryName(e, column)
		lines = append(lines, name+cut(e.Value, width-ansi.StringWidth(name)))
	}
	return lines
}

// wholeEntries shows all members of an object, each on as many lines as necessary.
func (m *model) wholeEntries(all []chat.Entry, width int) (lines []string) {
	column := m.column(all)
	for _, e := range all {
		name := m.entryName(e, column)
		for i, l := range wrap(e.Value, width-ansi.StringWidth(name)) {
			if i > 0 {
				name = strings.Repeat(" ", ansi.StringWidth(name))
			}
			lines = append(lines, name+l)
		}
	}
	return lines
}

// column returns the width of the names of members.
func (m *model) column(all []chat.Entry) (width int) {
	for _, e := range all {
		width = max(width, ansi.StringWidth(cut(e.Name, maxName)))
	}
	return width
}

func (m *model) entryName(e chat.Entry, column int) string {
	if column == 0 {
		return ""
	}
	return m.style.dim.Render(fit(cut(e.Name, maxName), column)) + "  "
}

func (m *model) drawNotice(n chat.Notice, width int) piece {
	at := n.At.In(m.zone).Format("15:04") + " "
	paint, sign := m.style.dim, "– "
	if n.Wrong {
		paint, sign = m.style.bad, "✗ "
	}
	lines := wrap(sign+at+n.Text, width-2)
	for i := range lines {
		lines[i] = "  " + paint.Render(lines[i])
	}
	return piece{key: fmt.Sprintf("n:%d:%s", n.After, n.Text), lines: append(lines, "")}
}

func (m *model) drawThought(run shoal.RunID, thought string, width int) piece {
	lines := wrap("thinks: "+thought, width-2)
	lines = lines[max(0, len(lines)-3):]
	for i := range lines {
		lines[i] = "  " + m.style.dim.Render(lines[i])
	}
	return piece{key: "t:" + string(run), lines: append(lines, "")}
}

func (m *model) drawOutgoing(o chat.Outgoing, width int) piece {
	mark := chat.Mark{Sign: "…", Word: "on its way"}
	switch {
	case o.Wrong != "":
		mark = chat.Mark{Sign: "✗", Word: "not sent: " + cut(o.Wrong, 400)}
	case !m.state.Live:
		mark = chat.Mark{Sign: "…", Word: "is sent when the connection is back"}
	}
	lines := []string{m.style.strong.Render(cut(m.name(m.state.Me), width/2))}
	lines = append(lines, indent(wrap(o.Text, width-2))...)
	for _, l := range wrap(mark.String(), width-2) {
		lines = append(lines, "  "+m.style.mark(chat.Mark{Sign: mark.Sign, Word: strings.TrimPrefix(l, mark.Sign+" ")}))
	}
	return piece{key: "o:" + o.Key, lines: append(lines, "")}
}

// drawLoose shows the pending actions without a part.
func (m *model) drawLoose(sp *chat.Space, width int) (all []piece) {
	for _, a := range m.state.Waiting(sp.ID) {
		if m.inMessage(sp, a) {
			continue
		}
		var lines []string
		for _, l := range wrap("! "+chat.Asks(a), width-2) {
			lines = append(lines, "  "+m.style.ask.Render(l))
		}
		lines = append(lines, "  "+m.style.ask.Render(cut(m.howTo(a), width-4)), "")
		stop := pendingStop(a.ID)
		all = append(all, piece{key: stop, stop: stop, lines: lines})
	}
	return all
}

func (m *model) inMessage(sp *chat.Space, a shoal.PendingAction) bool {
	for _, msg := range sp.Messages {
		if a.MessageID == nil || msg.ID != *a.MessageID {
			continue
		}
		for _, p := range msg.Parts {
			if a.PartID != nil && p.ID == *a.PartID {
				return true
			}
		}
	}
	return false
}
