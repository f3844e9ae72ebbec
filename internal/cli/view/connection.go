package view

import "github.com/shoal-dev/shoal/internal/cli"

// Connection notes the loss of a connection once, until it is restored.
type Connection struct {
	Output *cli.Output
	IsLost bool // whether the connection is lost
}

// Lost records a lost connection. The first call since Restored prints the cause.
func (l *Connection) Lost(cause error) {
	if !l.IsLost {
		l.Output.Note("%s; trying again", cli.ErrorText(cause))
	}
	l.IsLost = true
}

// Restored records that the connection works again.
func (l *Connection) Restored() { l.IsLost = false }
