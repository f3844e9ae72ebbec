package talk

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// live shows a person one composite message as it grows: its text as it comes,
// each tool call in lines of its own. Of several that grow at once it shows the
// first; the others are shown when they are whole.
type live struct {
	out   *cli.Output
	space bool             // whether to name the space
	from  []shoal.EntityID // whose messages, everybody's if empty

	message shoal.MessageID // which message; empty for none
	part    shoal.PartID    // whose text was written last
	held    string          // of that text, what may be the beginning of a control sequence
	open    bool            // whether the line under way has no end yet
}

// maxHeld bounds how much text waits for the end of a control sequence.
const maxHeld = 256

// take shows what e tells about the message, and reports whether e is its end: a
// message that needs not be shown any more.
func (l *live) take(e shoal.Event) (whole bool, err error) {
	switch e.Type {
	case shoal.EventMessageCreated, shoal.EventMessageCompleted:
		data, err := view.Decode[shoal.MessageData](e)
		if err != nil {
			return false, err
		}
		if e.Type == shoal.EventMessageCompleted {
			return l.end(data.Message)
		}
		return false, l.begin(data.Message)
	case shoal.EventSnapshot:
		// What was missed is not told: the message comes whole, once it is.
		l.message = ""
		return false, l.pause()
	case shoal.EventTextDelta:
		data, err := view.Decode[shoal.DeltaData](e)
		if err != nil || l.message == "" || data.MessageID != l.message {
			return false, err
		}
		return false, l.text(data.PartID, data.Delta)
	}
	head, note, err := view.PartNote(e)
	if err != nil || note == "" || l.message == "" || head.MessageID != l.message {
		return false, err
	}
	return false, l.line(note)
}

func (l *live) begin(m shoal.Message) error {
	if l.message != "" || m.Status != shoal.MessageStreaming || len(l.from) > 0 && !slices.Contains(l.from, m.EntityID) {
		return nil
	}
	if err := l.pause(); err != nil {
		return err
	}
	l.message, l.part = m.ID, ""
	l.open = true
	return l.out.Write(view.MessageHead(l.out, m, l.space) + ": ")
}

func (l *live) end(m shoal.Message) (bool, error) {
	if m.ID != l.message {
		return false, nil
	}
	if m.Status != shoal.MessageCompleted {
		if err := l.line("[" + string(m.Status) + "]"); err != nil {
			return true, err
		}
	}
	err := l.pause()
	l.message = ""
	return true, err
}

// text writes more of a part's text. What may become a control sequence with what
// follows waits for that.
func (l *live) text(part shoal.PartID, delta string) error {
	if part != l.part {
		if err := l.flush(); err != nil {
			return err
		}
		if l.part != "" {
			if err := l.pause(); err != nil {
				return err
			}
		}
		l.part = part
	}
	l.held += delta
	cut := strings.LastIndexFunc(l.held, safetext.Introduces)
	if cut < 0 || len(l.held)-cut > maxHeld {
		cut = len(l.held)
	}
	ready := l.held[:cut]
	l.held = l.held[cut:]
	return l.put(safetext.Clean(ready))
}

// put writes text whose lines are indented below the head.
func (l *live) put(s string) error {
	if s == "" {
		return nil
	}
	if !l.open {
		s = "  " + s
	}
	l.open = true
	return l.out.Write(strings.ReplaceAll(s, "\n", "\n  "))
}

// line writes one line of its own.
func (l *live) line(s string) error {
	if err := l.pause(); err != nil {
		return err
	}
	l.part = ""
	return l.out.Write("  " + cli.Shorten(s, 400) + "\n")
}

// pause ends the line under way, so that something else can be shown.
func (l *live) pause() error {
	if err := l.flush(); err != nil || !l.open {
		return err
	}
	l.open = false
	return l.out.Write("\n")
}

func (l *live) flush() error {
	rest := safetext.Clean(l.held)
	l.held = ""
	return l.put(rest)
}
