package screen

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// Widths of the columns, and the terminal widths from which they are shown.
const (
	spacesWidth  = 22
	membersWidth = 28
	spacesFrom   = 72
	membersFrom  = 112
	gutter       = 2
)

// layout is the division of the screen.
type layout struct {
	left, middle, right int // columns; 0 if not shown
	body, below         int // rows of the timeline, and of the area below it
}

func (m *model) layout() layout {
	var l layout
	if m.width >= spacesFrom {
		l.left = spacesWidth
	}
	switch {
	case m.panel == shown && m.width < membersFrom:
		l.left, l.right = 0, min(membersWidth, m.width/2)
	case m.panel == shown, m.panel == whenWide && m.width >= membersFrom:
		l.right = membersWidth
	}
	l.middle = m.width - gutter
	if l.left > 0 {
		l.middle -= l.left + 1
	}
	if l.right > 0 {
		l.middle -= l.right + 1
	}
	l.middle = max(l.middle, 8)
	l.below = len(m.drawBelow(max(m.width, 8)))
	l.body = max(1, m.height-2-l.below)
	return l
}

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.draw(), "\n"))
	v.AltScreen, v.ReportFocus = true, true
	v.WindowTitle = "shoal"
	v.Cursor = m.cursor()
	return v
}

// draw returns the lines of the screen: a bar, the columns, the area below, and the available
// keys.
func (m *model) draw() []string {
	l := m.layout()
	lines := append([]string{m.bar()}, m.drawBody(l)...)
	lines = append(lines, m.drawBelow(m.width)...)
	lines = append(lines, m.foot())
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], m.width, "")
	}
	if over := len(lines) - m.height; over > 0 { // only on very small screens
		lines = lines[over:]
	}
	return lines
}

// bar returns the current space and the state of the connection.
func (m *model) bar() string {
	live := m.style.good.Render("● live")
	switch {
	case !m.state.Ready && !m.state.Live:
		live = m.style.busy.Render("… connecting")
	case !m.state.Live:
		live = m.style.bad.Render("✗ connection lost, trying again")
	}
	where := m.style.strong.Render("shoal")
	if sp := m.state.Space(m.space); sp != nil {
		where = m.style.strong.Render(cut(sp.Name, 40))
		if !strings.EqualFold(string(sp.ID), sp.Name) {
			where += m.style.dim.Render(" " + cut(string(sp.ID), 32))
		}
		if sp.Status == shoal.SpaceStatusClosed {
			where += m.style.ask.Render("  closed")
		}
	}
	room := m.width - ansi.StringWidth(live) - 1
	where = ansi.Truncate(where, room, "…")
	return where + strings.Repeat(" ", max(1, room-ansi.StringWidth(where)+1)) + live
}

func (m *model) drawBody(l layout) []string {
	middle := m.drawMiddle(l)
	var left, right []string
	if l.left > 0 {
		left = m.drawSpaces(l)
	}
	if l.right > 0 {
		right = m.drawMembers(l)
	}
	side := m.style.bar.Render("│")
	lines := make([]string, l.body)
	for i := range lines {
		if l.left > 0 {
			lines[i] = fit(at(left, i), l.left) + side
		}
		lines[i] += fit(at(middle, i), l.middle+gutter)
		if l.right > 0 {
			lines[i] += side + fit(at(right, i), l.right)
		}
	}
	return lines
}

// drawMiddle returns the timeline, or the view that covers it.
func (m *model) drawMiddle(l layout) []string {
	switch m.focus {
	case choosing:
		return m.drawPlaces(l)
	case searching:
		return m.drawSearch(l)
	case helping:
		return helpLines(l.middle+gutter, m.style)
	}
	if m.timeline.space == "" {
		return []string{"", m.style.dim.Render("  opening …")}
	}
	rows, _ := m.timeline.window(m.pieces(l.middle), l.body)
	lines := make([]string, 0, l.body)
	for range l.body - len(rows) {
		lines = append(lines, "")
	}
	for _, r := range rows {
		edge := "  "
		if m.focus == reading && r.stop != "" && r.stop == m.timeline.selected {
			edge = m.style.busy.Render("▌ ")
		}
		lines = append(lines, edge+r.text)
	}
	return lines
}

// drawSpaces lists the spaces with their pending actions, mentions and unread counts.
func (m *model) drawSpaces(l layout) []string {
	lines := []string{m.style.dim.Render("SPACES"), ""}
	for _, sp := range m.state.Spaces() {
		lines = append(lines, m.spaceLine(sp, l.left, sp.ID == m.space))
	}
	return lines
}

func (m *model) spaceLine(sp *chat.Space, width int, here bool) string {
	var counts []string
	if n := len(m.state.Waiting(sp.ID)); n > 0 {
		counts = append(counts, m.style.ask.Render(fmt.Sprintf("!%d", n)))
	}
	if sp.MentionCount > 0 {
		counts = append(counts, m.style.ask.Render(fmt.Sprintf("@%d", sp.MentionCount)))
	}
	if sp.UnreadCount > 0 {
		counts = append(counts, m.style.strong.Render(fmt.Sprint(sp.UnreadCount)))
	}
	tail := strings.Join(counts, " ")
	head := "  "
	if here {
		head = m.style.busy.Render("▌ ")
	}
	name := cut(sp.Name, width-4-ansi.StringWidth(tail))
	switch {
	case sp.UnreadCount > 0 || here:
		name = m.style.strong.Render(name)
	case sp.Status == shoal.SpaceStatusClosed:
		name = m.style.dim.Render(name)
	}
	head += name
	return head + strings.Repeat(" ", max(1, width-1-ansi.StringWidth(head)-ansi.StringWidth(tail))) + tail
}

func (m *model) drawMembers(l layout) []string {
	lines := []string{m.style.dim.Render(" MEMBERS"), ""}
	sp := m.state.Space(m.space)
	if sp == nil {
		return lines
	}
	for _, member := range sp.Members {
		lines = append(lines, " "+m.style.strong.Render(cut(m.name(member.EntityID), l.right-2)))
		mark := chat.StateMark(m.state.Entity(member.EntityID).State)
		says := m.style.mark(mark)
		if mark.Sign == "" {
			says = m.style.dim.Render(string(member.Kind))
		}
		if m.state.Entity(member.EntityID).Hosted {
			says += m.style.dim.Render(", hosted agent")
		}
		lines = append(lines, "   "+says)
	}
	if !sp.Complete() {
		lines = append(lines, m.style.dim.Render(fmt.Sprintf(" and %d more", sp.MemberCount-int64(len(sp.Members)))))
	}
	return lines
}

// foot returns the last line: the latest note, or the available keys.
func (m *model) foot() string {
	if m.note != "" {
		return m.style.ask.Render(cut(m.note, m.width))
	}
	var says []string
	if below := m.below(); below != "" {
		says = append(says, below)
	}
	if n := len(m.state.Waiting("")); n > 0 && m.focus != answering {
		says = append(says, fmt.Sprintf("! %d for you: Ctrl+O", n))
	}
	hint := map[focus]string{
		writing:   "Enter sends · Esc reads · Ctrl+K spaces · Ctrl+C leaves",
		reading:   "J/K move · N next unread · . members · Esc writes · ? keys",
		choosing:  "Enter opens · Esc back",
		answering: "Enter goes on · ↑↓ fields · Esc later",
		helping:   "Esc back",
		searching: "Enter searches · ↑↓ choose, Enter opens · Esc back",
	}[m.focus]
	if who := m.writingAgent(); who != "" && (m.focus == writing || m.focus == reading) {
		hint = "Ctrl+X stops " + cut(m.name(who), 24) + " · " + hint
	}
	if _, whole, folds := m.selectedFold(); m.focus == reading && folds {
		hint = map[bool]string{true: "Enter folds", false: "Enter shows all"}[whole] + " · " + hint
	}
	if m.form != nil && m.focus == answering && m.form.Action.Kind == shoal.PendingClientTool {
		hint += " · :json VALUE · :error TEXT"
	}
	line := m.style.dim.Render(hint)
	if len(says) > 0 {
		line = m.style.ask.Render(strings.Join(says, " · ")) + m.style.dim.Render(" · "+hint)
	}
	return ansi.Truncate(line, m.width, "…")
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// fit pads or truncates a line to exactly width columns.
func fit(line string, width int) string {
	line = ansi.Truncate(line, width, "…")
	return line + strings.Repeat(" ", max(0, width-ansi.StringWidth(line)))
}
