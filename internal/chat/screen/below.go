package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// maxPicks is how many members a mention that is being written offers at once.
const maxPicks = 5

// drawBelow returns what stands under the timeline: the composer with the members
// that a mention may become, or the form of what is answered.
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

// mute says why nothing can be written; empty if something can.
func (m *model) mute() string {
	sp := m.state.Space(m.space)
	switch {
	case sp == nil:
		return ""
	case sp.Status == shoal.SpaceShut && sp.Summary != nil && *sp.Summary != "":
		return "closed: " + *sp.Summary
	case sp.Status == shoal.SpaceShut:
		return "closed: nobody writes here any more"
	case !m.state.Member(sp):
		return "you are no member: `shoal spaces add " + string(sp.ID) + " " + string(m.state.Me) + "` lets you write"
	}
	return ""
}

// cursor is where the terminal's cursor stands, nil where nothing is typed.
func (m *model) cursor() *tea.Cursor {
	l := m.layout()
	x, y, typing := m.typing(l)
	y -= max(0, 2+l.body+l.below-m.height) // what does not fit is cut off above
	if !typing || y < 0 || y >= m.height || x >= m.width {
		return nil
	}
	return tea.NewCursor(x, y)
}

// typing is where the next character goes.
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
	case m.focus != writing || m.mute() != "":
		return 0, 0, false
	}
	c := m.composer.Cursor()
	if c == nil {
		return 0, 0, false
	}
	return c.X + 2, top + l.below - m.composer.Height() + c.Y, true
}

// picks are the members that the mention before the cursor may become.
func (m *model) picks() chat.Completion {
	sp := m.state.Space(m.space)
	if m.focus != writing || sp == nil {
		return chat.Completion{}
	}
	before := m.beforeCursor()
	if before == m.unpicked && m.unpicked != "" {
		return chat.Completion{}
	}
	c, ok := chat.Complete(before, sp.Members, m.state.Me)
	if !ok {
		return chat.Completion{}
	}
	m.pick = min(m.pick, len(c.Members)-1)
	return c
}

// beforeCursor is what was written up to the cursor.
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
