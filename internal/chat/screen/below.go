package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// maxPicks is the number of members that the completion of a mention offers at once.
const maxPicks = 5

// drawBelow returns the area below the timeline: the composer with the candidates of a mention,
// or the form of an answer.
func (m *model) drawBelow(width int) []string {
	if m.form != nil && m.focus == answering {
		lines, _, _ := m.form.draw(m, width)
		return lines
	}
	var lines []string
	picks := m.picks()
	from := min(max(0, m.pick-maxPicks+1), max(0, len(picks.Members)-maxPicks))
	for i, member := range picks.Members[from:min(len(picks.Members), from+maxPicks)] {
		head := "  "
		name := "@" + string(member.EntityID)
		if from+i == m.pick {
			head = m.style.busy.Render("▌ ")
			name = m.style.strong.Render(name)
		}
		mark := chat.StateMark(m.state.Entity(member.EntityID).State)
		lines = append(lines, ansi.Truncate(head+name+"  "+m.style.dim.Render(cut(member.Name, 40))+"  "+m.style.mark(mark), width, "…"))
	}
	top := m.style.bar.Render(strings.Repeat("─", width))
	if why := m.mute(); why != "" {
		return append(append(lines, top), "  "+m.style.dim.Render(cut(why, width-3)))
	}
	m.composer.SetWidth(width - 3)
	lines = append(lines, top)
	for i, l := range strings.Split(m.composer.View(), "\n") {
		lines = append(lines, map[bool]string{true: "> ", false: "  "}[i == 0]+l)
	}
	return lines
}

// mute returns why messages cannot be written; empty if they can.
func (m *model) mute() string {
	sp := m.state.Space(m.space)
	switch {
	case sp == nil:
		return ""
	case sp.Status == shoal.SpaceStatusClosed && sp.Summary != nil && *sp.Summary != "":
		return "closed: " + *sp.Summary
	case sp.Status == shoal.SpaceStatusClosed:
		return "this space is closed"
	case !m.state.Member(sp):
		return "you are not a member: run `shoal spaces add " + string(sp.ID) + " " + string(m.state.Me) + "` to write here"
	}
	return ""
}

// cursor returns the position of the terminal's cursor, nil if there is no input.
func (m *model) cursor() *tea.Cursor {
	l := m.layout()
	x, y, typing := m.typing(l)
	y -= max(0, 2+l.body+l.below-m.height) // lines that do not fit are cut off at the top
	if !typing || y < 0 || y >= m.height || x >= m.width {
		return nil
	}
	return tea.NewCursor(x, y)
}

// typing returns the position of the next typed character.
func (m *model) typing(l layout) (x, y int, ok bool) {
	top := 1 + l.body
	switch {
	case m.focus == answering && m.form != nil:
		_, x, y = m.form.draw(m, m.width)
		return x, top + y, true
	case m.focus == choosing:
		if l.left > 0 {
			x = l.left + 1
		}
		return x + gutter + len("Go to: ") + ansi.StringWidth(m.places.typed), 2, true
	case m.focus == searching:
		if l.left > 0 {
			x = l.left + 1
		}
		return min(x+gutter+len(searchLabel)+ansi.StringWidth(m.search.typed), m.width-1), 2, true
	case m.focus != writing || m.mute() != "":
		return 0, 0, false
	}
	c := m.composer.Cursor()
	if c == nil {
		return 0, 0, false
	}
	return c.X + 2, top + l.below - m.composer.Height() + c.Y, true
}

// picks returns the candidates of the mention before the cursor.
func (m *model) picks() chat.Completion {
	sp := m.state.Space(m.space)
	if m.focus != writing || sp == nil {
		return chat.Completion{}
	}
	before := m.beforeCursor()
	if before == m.unpicked && m.unpicked != "" {
		return chat.Completion{}
	}
	c, ok := chat.Complete(before, m.state.Mentionable(sp), m.state.Me)
	if !ok {
		return chat.Completion{}
	}
	m.pick = min(m.pick, len(c.Members)-1)
	return c
}

// beforeCursor returns the text before the cursor.
func (m *model) beforeCursor() string {
	lines := strings.Split(m.composer.Value(), "\n")
	at := min(m.composer.Line(), len(lines)-1)
	line := []rune(lines[at])
	return strings.Join(append(lines[:at:at], string(line[:min(m.composer.Column(), len(line))])), "\n")
}

// take completes the mention before the cursor.
func (m *model) take(c chat.Completion) {
	before := m.beforeCursor()
	id := string(c.Members[m.pick].EntityID)
	for range []rune(before[c.From+1:]) {
		m.composer, _ = m.composer.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	m.composer.InsertString(id + " ")
	m.pick = 0
}
