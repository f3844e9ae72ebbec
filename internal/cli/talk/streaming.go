package talk

import (
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// liveMessage prints one streaming message to a terminal: its text as it arrives, and each tool
// call in lines of its own. Of several messages that stream at once it prints the first; the
// others are printed when they are complete.
type liveMessage struct {
	out   *cli.Output
	space bool             // whether to name the space
	from  []shoal.EntityID // the senders to print; all if empty

	message   shoal.MessageID // the streaming message; empty without one
	part      shoal.PartID    // the part whose text was written last
	unwritten string          // the end of that text, if it may begin a control sequence
	open      bool            // whether the current line has no line break yet
}

// maxUnwritten bounds the text that is held back until a control sequence ends.
const maxUnwritten = 256

// show prints what an event adds to the message. It reports whether the event completes the
// message, which then needs no further output.
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
		// Events are missing, so the message is printed when it is complete.
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

// writeText writes more text of a part. It holds back an end that may begin a control sequence
// until more text arrives.
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

// writeIndented writes text, with lines after the first indented.
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

// writeLine writes s as a separate line.
func (l *liveMessage) writeLine(s string) error {
	if err := l.endLine(); err != nil {
		return err
	}
	l.part = ""
	return l.out.Write("  " + cli.Shorten(s, 400) + "\n")
}

// endLine ends the current line, so that something else can be printed.
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
