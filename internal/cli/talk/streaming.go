package talk

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// liveMessage shows a person one composite message as it grows: its text as it comes,
// each tool call in lines of its own. Of several that grow at once it shows the
// first; the others are shown when they are whole.
type liveMessage struct {
	out   *cli.Output
	space bool             // whether to name the space
	from  []shoal.EntityID // whose messages, everybody's if empty

	message   shoal.MessageID // which message; empty for none
	part      shoal.PartID    // whose text was written last
	unwritten string          // of that text, what may be the beginning of a control sequence
	open      bool            // whether the line under way has no end yet
}

// maxUnwritten bounds how much text waits for the end of a control sequence.
const maxUnwritten = 256

// show shows what e tells about the message, and reports whether e is its end: a
// message that needs not be shown any more.
func (l *liveMessage) show(e shoal.Event) (whole bool, err error) {
	switch e.Type {
	case shoal.EventMessageCreated, shoal.EventMessageCompleted:
		data, err := view.Decode[shoal.MessageData](e)
		if err != nil {
			return false, err
		}
		if e.Type == shoal.EventMessageCompleted {
			return l.finish(data.Message)
		}
		return false, l.start(data.Message)
	case shoal.EventSnapshot:
		// What was missed is not told: the message comes whole, once it is.
		l.message = ""
		return false, l.endLine()
	case shoal.EventTextDelta:
		data, err := view.Decode[shoal.DeltaData](e)
		if err != nil || l.message == "" || data.MessageID != l.message {
			return false, err
		}
		return false, l.writeText(data.PartID, data.Delta)
	}
	head, note, err := view.PartNote(e)
	if err != nil || note == "" || l.message == "" || head.MessageID != l.message {
		return false, err
	}
	return false, l.writeLine(note)
}

func (l *liveMessage) start(m shoal.Message) error {
	if l.message != "" || m.Status != shoal.MessageStreaming || len(l.from) > 0 && !slices.Contains(l.from, m.EntityID) {
		return nil
	}
	if err := l.endLine(); err != nil {
		return err
	}
	l.message, l.part = m.ID, ""
	l.open = true
	return l.out.Write(view.MessageHead(l.out, m, l.space) + ": ")
}

func (l *liveMessage) finish(m shoal.Message) (bool, error) {
	if m.ID != l.message {
		return false, nil
	}
	if m.Status != shoal.MessageCompleted {
		if err := l.writeLine("[" + string(m.Status) + "]"); err != nil {
			return true, err
		}
	}
	err := l.endLine()
	l.message = ""
	return true, err
}

// writeText writes more of a part's text. What may become a control sequence with what
// follows waits for that.
func (l *liveMessage) writeText(part shoal.PartID, delta string) error {
	if part != l.part {
		if err := l.flush(); err != nil {
			return err
		}
		if l.part != "" {
			if err := l.endLine(); err != nil {
				return err
			}
		}
		l.part = part
	}
	l.unwritten += delta
	cut := strings.LastIndexFunc(l.unwritten, safetext.Introduces)
	if cut < 0 || len(l.unwritten)-cut > maxUnwritten {
		cut = len(l.unwritten)
	}
	ready := l.unwritten[:cut]
	l.unwritten = l.unwritten[cut:]
	return l.writeIndented(safetext.Clean(ready))
}

// writeIndented writes text whose lines are indented below the head.
func (l *liveMessage) writeIndented(s string) error {
	if s == "" {
		return nil
	}
	if !l.open {
		s = "  " + s
	}
	l.open = true
	return l.out.Write(strings.ReplaceAll(s, "\n", "\n  "))
}

// writeLine writes one line of its own.
func (l *liveMessage) writeLine(s string) error {
	if err := l.endLine(); err != nil {
		return err
	}
	l.part = ""
	return l.out.Write("  " + cli.Shorten(s, 400) + "\n")
}

// endLine ends the line under way, so that something else can be shown.
func (l *liveMessage) endLine() error {
	if err := l.flush(); err != nil || !l.open {
		return err
	}
	l.open = false
	return l.out.Write("\n")
}

func (l *liveMessage) flush() error {
	rest := safetext.Clean(l.unwritten)
	l.unwritten = ""
	return l.writeIndented(rest)
}
