package screen

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// places is the list for switching to another space.
type places struct {
	typed string
	at    int
}

// choose opens the list, or closes it.
func (m *model) choose() {
	if m.focus == choosing {
		m.focusOn(m.before)
		return
	}
	if m.focus == answering {
		m.endForm("")
	}
	m.before, m.places = m.focus, places{}
	m.focusOn(choosing)
}

// found returns the spaces whose name or id contains the typed text.
func (m *model) found() (all []*chat.Space) {
	typed := strings.ToLower(m.places.typed)
	for _, sp := range m.state.Spaces() {
		if strings.Contains(strings.ToLower(sp.Name+" "+string(sp.ID)), typed) {
			all = append(all, sp)
		}
	}
	return all
}

func (m *model) choosingKey(k tea.KeyPressMsg) tea.Cmd {
	all := m.found()
	switch k.String() {
	case "esc":
		m.focusOn(m.before)
	case "up", "shift+tab":
		m.places.at = max(0, m.places.at-1)
	case "down", "tab":
		m.places.at = min(len(all)-1, m.places.at+1)
	case "enter":
		if m.places.at < len(all) {
			m.focusOn(m.before)
			then := m.open(all[m.places.at].ID)
			m.focusOn(writing)
			return then
		}
	case "backspace":
		if r := []rune(m.places.typed); len(r) > 0 {
			m.places = places{typed: string(r[:len(r)-1])}
		}
	default:
		if k.Text != "" {
			m.places = places{typed: m.places.typed + safetext.Line(k.Text)}
		}
	}
	return nil
}

func (m *model) drawPlaces(l layout) []string {
	lines := []string{"", "  " + m.style.strong.Render("Go to: ") + m.places.typed, ""}
	all := m.found()
	if len(all) == 0 {
		lines = append(lines, "  "+m.style.dim.Render("no matching space"))
	}
	room := max(1, l.body-len(lines))
	from := max(0, m.places.at-room+1)
	for i, sp := range all[from:min(len(all), from+room)] {
		line := m.spaceLine(sp, min(l.middle, 48), from+i == m.places.at)
		if !strings.EqualFold(string(sp.ID), sp.Name) {
			line += m.style.dim.Render(" " + cut(string(sp.ID), 24))
		}
		lines = append(lines, line)
	}
	return lines
}

// help lists the keys and their effects.
var help = [][2]string{
	{"Enter", "sends what you write; Alt+Enter starts a new line"},
	{"@", "mentions a member: ↑ ↓ choose, Tab or Enter takes"},
	{"Esc", "from writing to reading, and back"},
	{"J  K", "next and previous message or pending action (also ↓ ↑)"},
	{"Enter", "when reading: shows a long message whole, and folds it"},
	{"PgUp  PgDn", "scroll; Home and End go to the ends"},
	{"Ctrl+O", "goes to the next pending action; Enter answers it"},
	{"N", "opens the next space with unread messages"},
	{"Shift+N", "opens the next space that mentions you"},
	{"Ctrl+K", "goes to another space"},
	{"Ctrl+F", "searches all spaces; also /search WORDS, or / when reading"},
	{"Ctrl+X", "stops the agent that is active here; also /stop AGENT"},
	{".", "shows or hides the members"},
	{":json VALUE", "in an answer: the whole result as JSON"},
	{":error TEXT", "in an answer: report why there is no result"},
	{"Ctrl+C", "leaves; agents continue to work"},
}

func helpLines(width int, s style) []string {
	lines := []string{"", "  " + s.strong.Render("Keys"), ""}
	for _, h := range help {
		lines = append(lines, "  "+fit(s.strong.Render(fmt.Sprintf("%-12s", h[0])), 13)+cut(h[1], width-16))
	}
	return lines
}
