package process

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/shoal-dev/shoal/internal/harness"
)

// Conversation is a process whose output is read by one goroutine, and the turns that come of it.
// It is what the drivers have in common.
type Conversation struct {
	*Process
	Turns *harness.Turns
	read  chan struct{} // closed when all output has been handled
}

// Converse starts a program. The caller must call Read, and Close in the end.
func Converse(command []string, dir string, env []string) (*Conversation, error) {
	p, err := Start(command, dir, env)
	if err != nil {
		return nil, err
	}
	return &Conversation{Process: p, Turns: harness.NewTurns(), read: make(chan struct{})}, nil
}

// Read starts the goroutine that handles the output with read until that ends. Then the turns fail.
// It must be called exactly once.
func (c *Conversation) Read(read func(io.Reader) error) {
	go func() {
		defer close(c.read)
		_ = read(c.Stdout) // what follows something unreadable is lost with the process
		_ = c.Stdout.Close()
		c.Kill() // without its output it is of no use
		c.Turns.Fail(c.ExitError())
	}()
}

// Open prepares the conversation with open. If that fails, it ends the process and returns the
// error: an [harness.ExitError] if the process has ended by itself.
func (c *Conversation) Open(open func() error) error {
	err := open()
	if err == nil {
		return nil
	}
	_ = c.Close() // it has failed anyway
	if errors.Is(err, harness.ErrClosed) {
		return c.ExitError()
	}
	return err
}

// Turn runs a turn: send sends the prompt, and interrupt asks the harness to end the turn. It is
// what [harness.Session] promises.
func (c *Conversation) Turn(ctx context.Context, send func() error, interrupt func()) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		if err := c.Turns.Begin(); err != nil {
			yield(nil, err)
			return
		}
		if err := send(); err != nil {
			yield(nil, c.ExitError())
			return
		}
		c.Turns.Range(ctx, interrupt, c.Kill)(yield)
	}
}

// Done is closed when the process has ended and its output has been handled.
func (c *Conversation) Done() <-chan struct{} { return c.read }

// Close ends the process, with all that it has started, and waits for its end.
func (c *Conversation) Close() error {
	c.Turns.Fail(&harness.ExitError{Reason: "it was stopped"})
	c.Stop()
	<-c.read
	return nil
}
