package talk

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/chat/feed"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

const (
	// retryFor is how long posting a line is retried while the server is unreachable.
	retryFor      = 2 * time.Minute
	retryInterval = time.Second
)

// lineChat is a chat in lines. It prints every part of a message once, when the part is
// complete, and executes the input lines one after the other. One goroutine, that of run, uses
// its fields.
type lineChat struct {
	shell       *cli.Shell
	session     *client.Session
	state       *chat.State
	as          shoal.EntityID
	space       shoal.SpaceID
	lines       int  // how many earlier messages to print
	interactive bool // whether the input is a terminal

	printed    printed
	connection view.Connection
	numbers    map[shoal.PendingID]int  // numbers of pending actions, which the user can type instead of ids
	form       *chat.Form               // the pending action that is being answered field by field
	busy       bool                     // whether an input line is being executed
	fetching   bool                     // whether missing messages are being fetched
	listed     bool                     // whether the pending actions are known
	acks       int                      // how many acknowledgements are in flight
	unseen     map[shoal.MessageID]bool // with --json: posted messages whose event is not printed yet
	inputEnded bool                     // whether the input has ended
	failed     error                    // the error of the first line that failed
	results    chan func(context.Context) error
}

func newLineChat(sh *cli.Shell, session *client.Session, as shoal.EntityID, c *ChatCommand, person bool) *lineChat {
	return &lineChat{
		shell: sh, session: session, state: chat.New(as), as: as, space: c.Space, lines: max(0, min(c.Lines, shoal.DefaultPage)), interactive: person,
		connection: view.Connection{Output: sh.Output}, numbers: map[shoal.PendingID]int{}, unseen: map[shoal.MessageID]bool{}, results: make(chan func(context.Context) error, 8),
	}
}

// batch is a batch of events, or the error that ended the stream.
type batch struct {
	feed.Batch
	err error
}

// run runs the chat until the input has ended and its lines are done.
func (l *lineChat) run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	stream := feed.Start(ctx, l.session)
	defer stream.Stop()
	defer end()
	batches, typed := make(chan batch), make(chan string)
	go follow(ctx, stream, batches)
	go l.readLines(ctx, typed)
	for !l.inputEnded || l.acks > 0 || len(l.unseen) > 0 {
		ready := typed
		if l.busy || l.printed.space == "" || !l.listed {
			ready = nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case b := <-batches:
			if b.err != nil {
				return b.err
			}
			if err := l.handleBatch(ctx, b.Batch); err != nil {
				return err
			}
		case do := <-l.results:
			if err := do(ctx); err != nil {
				return err
			}
		case text, more := <-ready:
			if !more {
				typed, l.inputEnded = nil, true
				break
			}
			if err := l.execute(ctx, text); err != nil {
				return err
			}
			if l.inputEnded {
				typed = nil
			}
		}
	}
	return l.result()
}

func follow(ctx context.Context, stream *feed.Feed, to chan<- batch) {
	for {
		b, err := stream.Next(ctx)
		select {
		case to <- batch{b, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// readLines sends the lines of the input to a channel, which it closes in the end. A read of
// the input cannot be interrupted, so the goroutine may last as long as the process.
func (l *lineChat) readLines(ctx context.Context, to chan<- string) {
	defer close(to)
	in := bufio.NewReader(l.shell.In)
	for {
		text, err := in.ReadString('\n')
		if text != "" {
			select {
			case to <- strings.TrimRight(text, "\r\n"):
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// result returns an error if a line of a script failed. A person has seen the error.
func (l *lineChat) result() error {
	if l.failed == nil || l.interactive {
		return nil
	}
	return shoal.E("", shoal.KindOf(l.failed), "an input line failed; see above")
}

// handleBatch applies a batch of events to the state and prints what is new.
func (l *lineChat) handleBatch(ctx context.Context, b feed.Batch) error {
	if cause := b.Lost(); cause != nil {
		l.connection.Lost(cause)
	}
	away := l.connection.IsLost
	if err := b.Into(l.state); err != nil {
		return err
	}
	if l.state.Live && away {
		l.connection.Restored()
		l.shell.Output.Note("reconnected")
	}
	l.listPending(ctx)
	if err := l.openFirstSpace(ctx); err != nil || l.printed.space == "" {
		return err
	}
	if l.shell.Output.JSON {
		return l.printEvents(b)
	}
	if err := l.printNew(ctx); err != nil {
		return err
	}
	for e := range b.Events {
		if err := l.printElsewhere(e); err != nil {
			return err
		}
	}
	return nil
}

// openFirstSpace opens the first space once the pending actions are known, because one in
// which something is waiting comes first. It fails if the user has left the
// open space.
func (l *lineChat) openFirstSpace(ctx context.Context) error {
	switch {
	case !l.state.Ready:
		return nil
	case l.printed.space != "" && l.state.Space(l.space) == nil:
		return shoal.E("", shoal.NotFound, fmt.Sprintf("You (%s) have left %s or were removed from it", l.as, l.space))
	case l.printed.space != "" || l.space == "" && !l.listed:
		return nil
	case l.space == "":
		if l.space = l.state.Choose(app.Welcome); l.space == "" {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("You (%s) are not a member of any space; create one with `shoal spaces create NAME`", l.as))
		}
	}
	return l.join(ctx, l.space)
}

// join switches to a space and prints its last messages and pending actions.
func (l *lineChat) join(ctx context.Context, id shoal.SpaceID) error {
	sp := l.state.Space(id)
	if sp == nil {
		return shoal.E("", shoal.NotFound, fmt.Sprintf("You (%s) are not a member of a space %q; /spaces lists your spaces", l.as, id))
	}
	l.space = id
	l.printed = newPrinted(sp, l.lines)
	l.shell.Output.Note("%s (%s), %s; /help lists the commands", sp.Name, sp.ID, count(int(sp.MemberCount), "member"))
	if l.shell.Output.JSON {
		return nil
	}
	return l.printNew(ctx)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
