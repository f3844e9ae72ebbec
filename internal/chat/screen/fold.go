package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// A text of more than foldFrom lines is folded to foldTo.
const (
	foldFrom = 24
	foldTo   = 16
)

// add notes that a part of a message hides something when it is folded.
func (o *open) add(of shoal.PartType, folds bool) {
	if of == shoal.TextPart {
		o.texts = o.texts || folds
	} else {
		o.cards = o.cards || folds
	}
}

// opened returns what of a message is shown whole. A text that was read while it was written does
// not lose its end when it is complete.
func (m *model) opened(msg *chat.Message) open {
	whole := m.timeline.unfolded[msg.ID]
	return open{texts: whole || m.timeline.watched[msg.ID] || msg.Status == shoal.MessageStreaming, cards: whole}
}

// watch remembers the messages that are being written while the space is open.
func (m *model) watch() {
	sp := m.state.Space(m.space)
	if sp == nil {
		return
	}
	for _, msg := range sp.Messages {
		if msg.Status == shoal.MessageStreaming {
			m.timeline.watched[msg.ID] = true
		}
	}
}

// selectedFold returns the selected message if it can be folded, and whether it is shown whole.
func (m *model) selectedFold() (id shoal.MessageID, whole, ok bool) {
	id = shoal.MessageID(strings.TrimPrefix(m.timeline.selected, messageStop("")))
	now, known := m.timeline.drawn[id]
	if !known || now.folds == (open{}) {
		return id, false, false
	}
	return id, m.timeline.unfolded[id] || now.open.texts && !now.folds.cards, true
}

// toggleFold folds the selected message, or shows it whole. It reports whether the message can be
// folded.
func (m *model) toggleFold() bool {
	id, whole, ok := m.selectedFold()
	if !ok {
		return false
	}
	if whole {
		delete(m.timeline.unfolded, id)
		delete(m.timeline.watched, id)
	} else {
		m.timeline.unfolded[id] = true
	}
	m.stand(m.timeline.selected)
	return true
}

// fold shortens the lines of a long text, and reports whether they are too many.
func (m *model) fold(lines []string, whole bool) (shown []string, folds bool) {
	if len(lines) <= foldFrom || whole {
		return lines, len(lines) > foldFrom
	}
	more := m.style.dim.Render(fmt.Sprintf("  … %d more lines: select the message, Enter shows them", len(lines)-foldTo))
	return append(lines[:foldTo:foldTo], more), true
}

// fields shows the members of an object: each on one line, or whole.
func (m *model) fields(all []chat.Entry, width int, whole bool) (lines []string, folds bool) {
	short, long := m.entries(all, width), m.wholeEntries(all, width)
	if whole {
		return long, !slices.Equal(short, long)
	}
	return short, !slices.Equal(short, long)
}

// result shows the result of a tool: on one line, or whole with a line for each member of an
// object.
func (m *model) result(raw []byte, width int, whole bool) (lines []string, folds bool) {
	short := cut(string(raw), width-2)
	folds = ansi.StringWidth(string(raw)) > width-2 || strings.ContainsRune(string(raw), '\n')
	if !whole || !folds {
		return []string{"→ " + short}, folds
	}
	long := m.wholeEntries(chat.Entries(raw), width-2)
	for i := range long {
		long[i] = map[bool]string{true: "→ ", false: "  "}[i == 0] + long[i]
	}
	return long, true
}
