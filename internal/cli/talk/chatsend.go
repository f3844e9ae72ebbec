package talk

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/cli"
)

// listPending requests the pending actions if the known ones may be outdated.
func (l *lineChat) listPending(ctx context.Context) {
	if !l.state.PendingStale() {
		return
	}
	l.startCall(ctx, func(ctx context.Context) func(context.Context) error {
		all, err := cli.Collect(l.session.PendingActions(ctx, client.PendingOptions{}))
		if err != nil {
			sleep(ctx, retryInterval)
		}
		return func(ctx context.Context) error {
			if err != nil {
				l.state.PendingFailed()
			} else {
				l.state.PendingList(all.Items)
				l.listed = true
			}
			l.listPending(ctx) // they may be outdated again
			if err := l.openFirstSpace(ctx); err != nil || l.printed.space == "" {
				return err
			}
			return l.printNew(ctx)
		}
	})
}

// startCall runs call in a goroutine, and the function that it returns in the main loop.
func (l *lineChat) startCall(ctx context.Context, call func(context.Context) func(context.Context) error) {
	go func() {
		done := call(ctx)
		select {
		case l.results <- done:
		case <-ctx.Done():
		}
	}()
}

// runLine makes the call of an input line. The next line waits until it is done.
func (l *lineChat) runLine(ctx context.Context, call func(context.Context) (func() error, error)) {
	l.busy = true
	l.startCall(ctx, func(ctx context.Context) func(context.Context) error {
		done, err := call(ctx)
		return func(ctx context.Context) error {
			l.busy = false
			if err != nil {
				l.reportFailure(err)
			} else if err := done(); err != nil {
				return err
			}
			return l.printNew(ctx)
		}
	})
}

// reportFailure reports that an input line failed. The chat continues.
func (l *lineChat) reportFailure(err error) {
	if l.failed == nil {
		l.failed = err
	}
	f := cli.Describe("chat", err)
	if f.Code == cli.KindUsage || f.Code == shoal.NotFound {
		f.Hint = "/help lists the commands"
	}
	l.shell.Output.ReportFailure(f)
}

// post posts an input line as a message. It retries for retryFor while the server is
// unreachable or busy.
func (l *lineChat) post(ctx context.Context, text string) {
	sp := l.state.Space(l.space)
	draft := shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: chat.Mentions(text, l.state.Mentionable(sp))}
	key := client.IdempotencyKey(rand.Text())
	l.runLine(ctx, func(ctx context.Context) (func() error, error) {
		ctx, cancel := context.WithTimeout(ctx, retryFor)
		defer cancel()
		for {
			m, err := l.session.Post(ctx, sp.ID, draft, key)
			if err == nil {
				return func() error { return l.handleSent(m) }, nil
			}
			if !errors.Is(err, client.ErrUnreachable) && !errors.Is(err, shoal.Busy) {
				return nil, err
			}
			if sleep(ctx, retryInterval); ctx.Err() != nil {
				return nil, err
			}
		}
	})
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (l *lineChat) handleSent(m shoal.Message) error {
	if sp := l.state.Space(m.SpaceID); l.shell.Output.JSON && (sp == nil || sp.LastSeq < m.Seq) {
		l.unseen[m.ID] = true
		return nil
	}
	l.state.Put(m)
	for _, id := range m.SkippedAgents {
		l.shell.Output.Note("%s is already running and does not act on this message", id)
	}
	if l.interactive {
		l.printed.markPrinted(m) // the terminal shows the line as it was typed
	}
	return nil
}
