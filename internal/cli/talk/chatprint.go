package talk

import (
	"context"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/chat/feed"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// printed records what was printed of a space, so that everything is printed exactly once,
// whichever call or event delivered it.
type printed struct {
	space   shoal.SpaceID
	done    int64 // every message up to this seq is printed
	parts   map[shoal.PartID]bool
	ends    map[shoal.MessageID]bool
	notices map[string]bool
}

// newPrinted returns a record by which only the last messages of a space remain to be printed.
func newPrinted(sp *chat.Space, last int) printed {
	p := printed{space: sp.ID, parts: map[shoal.PartID]bool{}, ends: map[shoal.MessageID]bool{}, notices: map[string]bool{}}
	p.done = sp.LastSeq
	if shown := sp.Messages[max(0, len(sp.Messages)-last):]; len(shown) > 0 {
		p.done = shown[0].Seq - 1
	}
	for _, n := range sp.Notices {
		p.notices[noticeKey(n)] = true
	}
	return p
}

func noticeKey(n chat.Notice) string { return n.At.String() + n.Text }

// markPrinted records a message as printed.
func (p *printed) markPrinted(m shoal.Message) {
	p.ends[m.ID] = true
	for _, part := range m.Parts {
		p.parts[partKey(m, part)] = true
	}
}

// partKey returns a key that is unique among all messages. The ids of posted parts are unique
// only within their message.
func partKey(m shoal.Message, p shoal.Part) shoal.PartID { return shoal.PartID(m.ID) + "/" + p.ID }

// printNew prints what is new in the space, and fetches messages that are missing.
func (l *lineChat) printNew(ctx context.Context) error {
	sp := l.state.Space(l.space)
	if sp == nil || l.shell.Output.JSON {
		return nil
	}
	if from := sp.Missing(); from > l.printed.done {
		l.fetchMissing(ctx, from-1)
	}
	whole := true
	for _, m := range sp.Messages {
		if m.Seq <= l.printed.done {
			continue
		}
		if whole && m.Seq != l.printed.done+1 {
			l.fetchMissing(ctx, l.printed.done)
			return nil
		}
		over, err := l.printMessage(m.Message)
		if err != nil {
			return err
		}
		if whole = whole && over; whole {
			l.printed.done = m.Seq
		}
	}
	for _, n := range sp.Notices {
		if key := noticeKey(n); !l.printed.notices[key] {
			l.printed.notices[key] = true
			l.shell.Output.Note("%s", n.Text)
		}
	}
	for _, p := range l.state.Waiting("") {
		if l.numbers[p.ID] != 0 {
			continue
		}
		if err := l.printPending(p); err != nil {
			return err
		}
	}
	l.acknowledge(ctx)
	return nil
}

// fetchMissing fetches messages that are missing after a seq.
func (l *lineChat) fetchMissing(ctx context.Context, after int64) {
	if l.fetching {
		return
	}
	l.fetching = true
	space := l.space
	l.startCall(ctx, func(ctx context.Context) func(context.Context) error {
		got, err := l.session.Messages(ctx, space, feed.Page(after+1))
		if err != nil {
			sleep(ctx, retryInterval)
		}
		return func(ctx context.Context) error {
			l.fetching = false
			l.state.Fill(got)
			return l.printNew(ctx)
		}
	})
}

// printMessage prints the complete parts of a message that are not printed yet, and reports
// whether the message is complete and printed.
func (l *lineChat) printMessage(m shoal.Message) (over bool, err error) {
	if l.interactive && l.busy && m.EntityID == l.as {
		return false, nil // it may be the line that is being posted
	}
	head := string(m.EntityID)
	if len(m.Mentions) > 0 {
		head += " → " + cli.JoinIDs(m.Mentions, "@", " ")
	}
	for _, p := range m.Parts {
		key := partKey(m, p)
		if l.printed.parts[key] {
			continue
		}
		if !settledPart(p) {
			return false, nil // later parts are printed after it
		}
		l.printed.parts[key] = true
		if err := l.printText(head + ": " + view.PartText(p)); err != nil {
			return false, err
		}
	}
	if m.Status == shoal.MessageStreaming {
		return false, nil
	}
	if m.Status != shoal.MessageCompleted && !l.printed.ends[m.ID] {
		err = l.printText(head + ": [" + string(m.Status) + "]")
	}
	l.printed.ends[m.ID] = true
	return true, err
}

// settledPart reports whether a part is final. A part that the caller may not see counts as
// final.
func settledPart(p shoal.Part) bool {
	switch p.Status {
	case shoal.PartStreaming, shoal.PartInputStreaming, shoal.PartRunning, shoal.PartRequiresAction:
		return p.Private
	}
	return true
}

// printText prints a text and indents all its lines but the first.
func (l *lineChat) printText(text string) error {
	text = strings.TrimRight(safetext.Clean(text), "\n")
	return l.shell.Output.Write(strings.ReplaceAll(text, "\n", "\n  ") + "\n")
}

// acknowledge marks the printed messages as read.
func (l *lineChat) acknowledge(ctx context.Context) {
	seq := l.state.Read(l.space)
	if seq == 0 {
		return
	}
	space := l.space
	l.acks++
	l.startCall(ctx, func(ctx context.Context) func(context.Context) error {
		_ = l.session.MarkRead(ctx, space, seq) // the next acknowledgement includes them
		return func(context.Context) error {
			l.acks--
			return nil
		}
	})
}

// numberOf returns the number of a pending action. It never changes.
func (l *lineChat) numberOf(id shoal.PendingID) int {
	if l.numbers[id] == 0 {
		l.numbers[id] = len(l.numbers) + 1
	}
	return l.numbers[id]
}

// printPending prints a pending action and the commands that answer it.
func (l *lineChat) printPending(p shoal.PendingAction) error {
	n := l.numberOf(p.ID)
	how := map[shoal.PendingKind]string{
		shoal.PendingPermission: "/approve %d or /deny %[1]d", shoal.PendingQuestion: "/answer %d TEXT",
	}[p.Kind]
	if how == "" {
		how = "/answer %d, or /answer %[1]d JSON"
	}
	where := ""
	if p.SpaceID != nil && *p.SpaceID != l.space {
		where = "[" + string(*p.SpaceID) + "] "
	}
	return l.printText(fmt.Sprintf("! %d %s%s; %s", n, where, safetext.Line(chat.Asks(p)), fmt.Sprintf(how, n)))
}

// printElsewhere prints the outcomes of pending actions and the mentions of the user in other
// spaces.
func (l *lineChat) printElsewhere(e shoal.Event) error {
	switch e.Type {
	case shoal.EventPendingSettled:
		data, err := view.Decode[shoal.PendingData](e)
		if _, printed := l.numbers[data.PendingAction.ID]; err == nil && printed {
			err = l.printText(fmt.Sprintf("! %d %s", l.numberOf(data.PendingAction.ID), view.PendingOutcome(data.PendingAction)))
		}
		return err
	case shoal.EventMessageCreated, shoal.EventMessageCompleted:
		data, err := view.Decode[shoal.MessageData](e)
		if err != nil {
			return err
		}
		for _, id := range data.Message.Mentions {
			if id == l.as && data.Message.SpaceID != l.space && data.Message.Status != shoal.MessageStreaming {
				l.shell.Output.Note("%s mentioned you in %s; /join %s", data.Message.EntityID, data.Message.SpaceID, data.Message.SpaceID)
			}
		}
	}
	return nil
}

// printEvents prints the events of the space with --json.
func (l *lineChat) printEvents(b feed.Batch) error {
	for e := range b.Events {
		head, err := view.Decode[shoal.EventHead](e)
		if err != nil {
			return err
		}
		if head.SpaceID != nil && *head.SpaceID == l.space {
			if err := view.PrintEvent(l.shell.Output, e); err != nil {
				return err
			}
		}
		if e.Type != shoal.EventMessageCreated {
			continue
		}
		data, err := view.Decode[shoal.MessageData](e)
		if err != nil {
			return err
		}
		delete(l.unseen, data.Message.ID)
	}
	return nil
}
