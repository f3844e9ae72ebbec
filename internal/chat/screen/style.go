package screen

import (
	"charm.land/bubbles/v2/textarea"
	"charm.land/lipgloss/v2"

	"github.com/shoal-dev/shoal/internal/chat"
)

// style is the appearance of elements, with the 16 colours that every terminal defines itself,
// and never with colour as the only sign.
type style struct {
	strong, dim, good, busy, bad, ask, bar lipgloss.Style
}

func newStyle() style {
	none := lipgloss.NewStyle()
	return style{
		strong: none.Bold(true),
		dim:    none.Faint(true),
		good:   none.Foreground(lipgloss.Green),
		busy:   none.Foreground(lipgloss.Cyan),
		bad:    none.Foreground(lipgloss.Red),
		ask:    none.Bold(true).Foreground(lipgloss.Yellow),
		bar:    none.Foreground(lipgloss.BrightBlack),
	}
}

// mark colours a state according to its sign.
func (s style) mark(m chat.Mark) string {
	text := m.String()
	switch m.Sign {
	case "":
		return text
	case "!":
		return s.ask.Render(text)
	case "✓", "●":
		return s.good.Render(text)
	case "✗", "⊘":
		return s.bad.Render(text)
	case "▸", "…", "◦":
		return s.busy.Render(text)
	}
	return s.dim.Render(text)
}

func inputStyles() textarea.Styles {
	none := lipgloss.NewStyle()
	plain := textarea.StyleState{
		Base: none, Text: none, CursorLine: none, EndOfBuffer: none, Prompt: none, Placeholder: none.Faint(true), Selection: none.Reverse(true),
	}
	return textarea.Styles{Focused: plain, Blurred: plain}
}
