package view

import "github.com/shoal-dev/shoal/internal/cli"

// Connection tells a person once that the connection is lost.
type Connection struct {
	Output *cli.Output
	IsLost bool
}

func (l *Connection) Lost(cause error) {
	if !l.IsLost {
		l.Output.Note("%s; trying again", cli.ErrorText(cause))
	}
	l.IsLost = true
}

func (l *Connection) Restored() { l.IsLost = false }
