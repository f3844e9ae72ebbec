package process

import (
	"io"

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

// Done is closed when the process has ended and its output has been handled.
func (c *Conversation) Done() <-chan struct{} { return c.read }

// Close ends the process, with all that it has started, and waits for its end.
func (c *Conversation) Close() error {
	c.Turns.Fail(&harness.ExitError{Reason: "it was stopped"})
	c.Stop()
	<-c.read
	return nil
}
