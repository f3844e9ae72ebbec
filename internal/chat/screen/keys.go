package screen

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// focusOn moves the keyboard focus.
func (m *model) focusOn(to focus) {
	m.focus = to
	if to == writing {
		m.composer.Focus()
		m.timeline.selected = ""
	} else {
		m.composer.Blur()
	}
}

// key handles one key press.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	m.note = ""
	switch k.String() {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+k":
		m.choose()
		return nil
	case "ctrl+o":
		if m.timeline.space != "" {
			return m.nextWaiting()
		}
		return nil
	case "ctrl+x":
		return m.stop("")
	case "ctrl+f":
		return m.openSearch("")
	case "pgup":
		if m.scroll(-m.layout().body + 1) {
			return m.older()
		}
		return nil
	case "pgdown":
		m.scroll(m.layout().body - 1)
		return m.read()
	}
	switch m.focus {
	case reading:
		return m.readingKey(k)
	case choosing:
		return m.choosingKey(k)
	case answering:
		return m.answeringKey(k)
	case searching:
		return m.searchingKey(k)
	case helping:
		m.focusOn(m.before)
		return nil
	}
	return m.writingKey(k)
}

func (m *model) writingKey(k tea.KeyPressMsg) tea.Cmd {
	picks := m.picks()
	some := len(picks.Members) > 0
	switch k.String() {
	case "esc":
		if some {
			m.unpicked = m.beforeCursor()
			return nil
		}
		m.focusOn(reading)
		return nil
	case "tab":
		if some {
			m.take(picks)
			return nil
		}
		m.focusOn(reading)
		return nil
	case "up", "down":
		if some {
			m.pick += map[string]int{"up": len(picks.Members) - 1, "down": 1}[k.String()]
			m.pick %= len(picks.Members)
			return nil
		}
	case "home", "end":
		if m.composer.Value() == "" {
			return m.readingKey(k)
		}
	case "enter":
		if some && m.isIncomplete(picks) {
			m.take(picks)
			return nil
		}
		return m.submit()
	}
	if m.mute() != "" {
		return nil
	}
	var then tea.Cmd
	m.composer, then = m.composer.Update(k)
	m.unpicked = ""
	return then
}

// isIncomplete reports whether the mention before the cursor is incomplete. Enter then
// completes it instead of sending the message.
func (m *model) isIncomplete(c chat.Completion) bool {
	word := m.beforeCursor()[c.From+1:]
	return !slices.ContainsFunc(c.Members, func(member shoal.Member) bool { return strings.EqualFold(string(member.EntityID), word) })
}

// submit sends the composed message.
func (m *model) submit() tea.Cmd {
	text := strings.TrimSpace(m.composer.Value())
	sp := m.state.Space(m.space)
	if text == "" || sp == nil || m.mute() != "" {
		return nil
	}
	m.composer.Reset()
	if then, ok := m.command(text); ok {
		return then
	}
	if strings.HasPrefix(text, "//") {
		text = text[1:]
	}
	m.timeline.unread = 0
	return m.send(text, chat.Mentions(text, m.state.Mentionable(sp)))
}

func (m *model) paste(p tea.PasteMsg) tea.Cmd {
	var then tea.Cmd
	switch {
	case m.focus == answering && m.form != nil:
		m.form.input, then = m.form.input.Update(p)
	case m.focus == choosing:
		m.places.typed += strings.TrimSpace(p.Content)
	case m.focus == searching:
		m.search.typed += safetext.Line(strings.TrimSpace(p.Content))
	case m.mute() == "":
		m.focusOn(writing)
		m.composer, then = m.composer.Update(p)
	}
	return then
}

func (m *model) readingKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "j", "J", "down":
		m.step(1)
		return m.read()
	case "k", "K", "up":
		m.step(-1)
		if keys := stops(m.pieces(m.layout().middle)); len(keys) > 0 && keys[0] == m.timeline.selected {
			return m.older()
		}
	case "n":
		return m.nextSpace(func(sp *chat.Space) bool { return sp.UnreadCount > 0 }, "no unread messages in other spaces")
	case "N":
		return m.nextSpace(func(sp *chat.Space) bool { return sp.MentionCount > 0 }, "no mentions in other spaces")
	case ".":
		m.panel = map[bool]panel{true: hidden, false: shown}[m.layout().right > 0]
	case "/":
		return m.openSearch("")
	case "?":
		m.before = reading
		m.focusOn(helping)
	case "home", "g":
		m.scroll(-1 << 20)
		return m.older()
	case "end", "G":
		m.scroll(1 << 20)
		return m.read()
	case "enter":
		return m.chosen()
	case "esc", "i", "r", "R", "tab":
		m.focusOn(writing)
	}
	return nil
}

// chosen acts on the selection: it opens the form of a pending action, and folds or unfolds a
// long message.
func (m *model) chosen() tea.Cmd {
	for _, p := range m.state.Waiting(m.space) {
		if m.timeline.selected == pendingStop(p.ID) {
			m.answer(p)
			return nil
		}
	}
	if !m.toggleFold() {
		m.focusOn(writing)
	}
	return nil
}

// nextSpace opens the next space for which has returns true.
func (m *model) nextSpace(has func(*chat.Space) bool, none string) tea.Cmd {
	for _, sp := range m.state.Spaces() {
		if sp.ID != m.space && has(sp) {
			then := m.open(sp.ID)
			m.focusOn(reading)
			return then
		}
	}
	m.note = none
	return nil
}

func (m *model) answeringKey(k tea.KeyPressMsg) tea.Cmd {
	f := m.form
	if f == nil {
		m.focusOn(reading)
		return nil
	}
	switch k.String() {
	case "esc":
		if !f.sending {
			m.endForm("")
		}
		return nil
	case "enter":
		return m.enterField()
	case "up", "shift+tab":
		f.Move(f.input.Value(), -1)
		f.show()
		return nil
	case "down", "tab":
		f.Move(f.input.Value(), 1)
		f.show()
		return nil
	}
	if f.sending {
		return nil
	}
	var then tea.Cmd
	f.input, then = f.input.Update(k)
	f.wrong = ""
	return then
}
