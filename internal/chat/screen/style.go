package screen

import (
	"hash/fnv"
	"image/color"

	"charm.land/bubbles/v2/textarea"
	"charm.land/lipgloss/v2"

	"github.com/shoal-dev/shoal"
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

// speakers are the colours of names. Yellow and red mean something else.
var speakers = []color.Color{lipgloss.Cyan, lipgloss.Green, lipgloss.Magenta, lipgloss.Blue, lipgloss.BrightCyan, lipgloss.BrightGreen, lipgloss.BrightMagenta, lipgloss.BrightBlue}

// speaker is the appearance of the name of a participant, always the same one.
func (s style) speaker(id shoal.EntityID) lipgloss.Style {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // documented to never fail
	return s.strong.Foreground(speakers[h.Sum32()%uint32(len(speakers))])
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
