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
	// retryFor is how long a line is tried again while the server is away.
	retryFor = 2 * time.Minute
	retryInterval  = time.Second
)

// lineChat is a conversation in lines: what is said is printed once, each part when
// it is whole, and what is typed is sent or done, one line after the other.
type lineChat struct {
	shell   *cli.Shell
	session *client.Session
	state   *chat.State
	as      shoal.EntityID
	space   shoal.SpaceID
	lines   int  // how many earlier messages are printed
	interactive  bool // whether somebody types

	printed printed
	connection    view.Connection
	numbers map[shoal.PendingID]int  // of what waits, to be typed instead of its id
	form    *chat.Form               // what is being answered field by field
	busy    bool                     // whether the line before is not done yet
	fetching bool                     // whether missing messages are being fetched
	listed  bool                     // whether it is known what waits
	acks    int                      // how many acknowledgements are on their way
	unseen  map[shoal.MessageID]bool // what was sent, and its event is not printed yet, for programs
	inputEnded    bool                     // whether nothing more is typed
	failed  error                    // the first line that failed
	results chan func(context.Context) error
}

func newLineChat(sh *cli.Shell, session *client.Session, as shoal.EntityID, c *ChatCommand, person bool) *lineChat {
	return &lineChat{
		shell: sh, session: session, state: chat.New(as), as: as, space: c.Space, lines: max(0, min(c.Lines, shoal.DefaultPage)), interactive: person,
		connection: view.Connection{Output: sh.Output}, numbers: map[shoal.PendingID]int{}, unseen: map[shoal.MessageID]bool{}, results: make(chan func(context.Context) error, 8),
	}
}

// batch is what the stream brought.
type batch struct {
	feed.Batch
	err error
}

// run goes on until the input ends and what it asked for is done.
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

// readLines hands on the lines of the input. Nothing interrupts it while it waits for
// one: then it ends with the process.
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

// result is the end of the input: a failure if a line failed and nobody saw it.
func (l *lineChat) result() error {
	if l.failed == nil || l.interactive {
		return nil
	}
	return shoal.E("", shoal.KindOf(l.failed), "a line was not done; see above")
}

// handleBatch takes what the stream brought, and prints what is new of it.
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

// openFirstSpace opens the first space, once it is known where something waits, and leaves
// one that is gone.
func (l *lineChat) openFirstSpace(ctx context.Context) error {
	switch {
	case !l.state.Ready:
		return nil
	case l.printed.space != "" && l.state.Space(l.space) == nil:
		return shoal.E("", shoal.NotFound, fmt.Sprintf("%s is no member of %s any more", l.as, l.space))
	case l.printed.space != "" || l.space == "" && !l.listed:
		return nil
	case l.space == "":
		if l.space = l.state.Choose(app.Welcome); l.space == "" {
			return shoal.E("", shoal.NotFound, fmt.Sprintf("%s is a member of no space; `shoal spaces create NAME` makes one", l.as))
		}
	}
	return l.join(ctx, l.space)
}

// join shows another space: its last messages, and what waits in it.
func (l *lineChat) join(ctx context.Context, id shoal.SpaceID) error {
	sp := l.state.Space(id)
	if sp == nil {
		return shoal.E("", shoal.NotFound, fmt.Sprintf("%s is no member of a space %q; /spaces lists those that there are", l.as, id))
	}
	l.space = id
	l.printed = newPrinted(sp, l.lines)
	l.shell.Output.Note("%s (%s), %s; /help lists what can be typed", sp.Name, sp.ID, count(len(sp.Members), "member"))
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
