package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// form is the answer in progress, shown instead of the composer.
type form struct {
	*chat.Form
	input   textarea.Model
	sending bool
	wrong   string // the server's reason for a refusal
}

// answer opens the form for a pending action.
func (m *model) answer(p shoal.PendingAction) {
	f := &form{Form: chat.NewForm(p), input: newInput("")}
	f.input.KeyMap.InsertNewline.SetEnabled(false)
	f.input.Focus()
	m.form = f
	m.focusOn(answering)
}

// nextWaiting selects the next pending action for the person, in the current space first.
func (m *model) nextWaiting() tea.Cmd {
	waits := m.state.Waiting(m.space)
	for i, p := range waits {
		if m.timeline.selected == pendingStop(p.ID) {
			waits = append(waits[i+1:], waits[:i+1]...)
			break
		}
	}
	if len(waits) == 0 {
		waits = m.state.Waiting("")
	}
	if len(waits) == 0 {
		m.note = "nothing waits for you"
		return nil
	}
	var then tea.Cmd
	if *waits[0].SpaceID != m.space {
		then = m.open(*waits[0].SpaceID)
	}
	m.focusOn(reading)
	m.stand(pendingStop(waits[0].ID))
	return then
}

// enterField enters the typed text, and submits the answer when it is complete.
func (m *model) enterField() tea.Cmd {
	f := m.form
	if f.sending {
		return nil
	}
	f.wrong = ""
	if !m.state.Live {
		f.wrong = "the connection is lost: answers can be sent when it is back"
		return nil
	}
	if !f.Enter(f.input.Value()) {
		f.show()
		return nil
	}
	f.sending = true
	id, answer := f.Action.ID, f.Answer()
	return m.call(func(ctx context.Context) tea.Msg {
		action, err := m.session.AnswerPending(ctx, id, answer)
		return settled{id, action, err}
	})
}

// show copies the text of the current field into the input.
func (f *form) show() {
	f.input.SetValue(f.Field().Text)
}

// settledNow processes the server's response to an answer.
func (m *model) settledNow(in settled) tea.Cmd {
	mine := m.form != nil && m.form.Action.ID == in.id
	if mine {
		m.form.sending = false
	}
	switch {
	case in.err == nil:
		m.state.Settle(in.action)
		if mine {
			m.endForm("")
		}
	case errors.Is(in.err, shoal.AlreadyAnswered), errors.Is(in.err, shoal.Expired):
		if mine {
			m.endForm(sentence(in.err))
		}
	case mine:
		m.form.wrong = sentence(in.err)
	default:
		m.note = sentence(in.err)
	}
	return nil
}

// lookAtForm closes the form if somebody else has answered.
func (m *model) lookAtForm() {
	if m.form == nil || m.form.sending {
		return
	}
	p, over := m.state.Settled(m.form.Action.ID)
	if !over {
		return
	}
	says := fmt.Sprintf("this is %s already", p.Status)
	if p.AnsweredBy != nil && p.AnsweredAt != nil {
		says = fmt.Sprintf("%s has answered, %s", *p.AnsweredBy, p.AnsweredAt.In(m.zone).Format("15:04"))
	}
	m.endForm(says)
}

func (m *model) endForm(note string) {
	m.form = nil
	if note != "" {
		m.note = note
	}
	if m.focus != answering {
		return
	}
	m.focusOn(reading)
	if left := m.state.Waiting(m.space); len(left) > 0 {
		m.stand(pendingStop(left[0].ID))
	}
}

// asks returns a short description of the pending action.
func (f *form) asks() string {
	switch f.Action.Kind {
	case shoal.PendingPermission:
		return string(f.Action.AgentID) + " asks for permission: " + f.Action.ToolName
	case shoal.PendingQuestion:
		return string(f.Action.AgentID) + " asks"
	}
	return string(f.Action.AgentID) + " waits for the result of " + f.Action.ToolName
}

// about returns the subject of an answer, which is shown next to the answer at any scroll
// position.
func (m *model) about(p shoal.PendingAction, width int) []string {
	if p.Question != nil && *p.Question != "" {
		return wrap(*p.Question, width)
	}
	return m.entries(chat.Entries(p.Args), width)
}

// draw returns the form, and the position of the cursor in it.
func (f *form) draw(m *model, width int) (lines []string, x, y int) {
	lines = append(lines, m.rule("! "+cut(f.asks(), max(width-8, 8)), width))
	room := max(4, m.height/2)
	about := m.about(f.Action, width-4)
	if most := max(2, m.height/3); len(about) > most {
		about = append(about[:most-1], m.style.dim.Render("… PgUp: see all of it in the timeline"))
	}
	lines = append(lines, indent(about)...)
	room += len(about)
	from := 0
	if over := 2*len(f.Fields) + 2 - room; over > 0 { // the current field stays visible
		from = min(f.At, (over+1)/2)
	}
	for i := from; i < len(f.Fields); i++ {
		field := f.Fields[i]
		head := m.style.strong.Render(cut(field.Name, 32))
		if field.About != "" {
			head += ", " + cut(field.About, 200)
		}
		head += " "
		if len(lines)+2 > room && i > f.At {
			lines = append(lines, m.style.dim.Render(fmt.Sprintf("  … %d more", len(f.Fields)-i)))
			break
		}
		lines = append(lines, ansi.Truncate("  "+head+m.style.dim.Render("("+cut(field.Takes(), 200)+")"), width, "…"))
		if field.Offers() {
			for n, choice := range field.Choices {
				lines = append(lines, fmt.Sprintf("    %d  ", n+1)+cut(choice, width-8))
			}
		}
		if i != f.At {
			lines = append(lines, "    "+cut(field.Text, width-5))
			continue
		}
		f.input.SetWidth(width - 5)
		for n, l := range strings.Split(f.input.View(), "\n") {
			if c := f.input.Cursor(); c != nil && c.Y == n {
				x, y = c.X+4, len(lines)
			}
			lines = append(lines, map[bool]string{true: "  > ", false: "    "}[n == 0]+l)
		}
		if field.Wrong != "" {
			lines = append(lines, "    "+m.style.bad.Render("✗ "+cut(field.Wrong, width-8)))
		}
	}
	switch {
	case f.sending:
		lines = append(lines, "  "+m.style.busy.Render("… sending"))
	case f.wrong != "":
		for _, l := range wrap("✗ "+f.wrong, width-3) {
			lines = append(lines, "  "+m.style.bad.Render(l))
		}
	}
	return lines, x, y
}
