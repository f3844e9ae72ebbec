package peer

import (
	"context"
	"strconv"

	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/internal/load"
)

// SDK is a server with two trivial tools on an MCP SDK.
type SDK struct {
	load.Tools
	server *process.Process
	row    string
}

// NewSDK returns a side without clients.
func NewSDK(p *process.Process, row string) *SDK {
	return &SDK{load.Tools{Wire: load.NewWire(p.URL())}, p, row}
}

// Name implements [Side].
func (s *SDK) Name() string { return s.row }

// Process implements [Side].
func (s *SDK) Process() *process.Process { return s.server }

// Prepare implements [Side].
func (s *SDK) Prepare(ctx context.Context, pairs int) error {
	return s.Join(ctx, make([]string, 2*pairs))
}

// Send implements [load.Pairs].
func (s *SDK) Send(ctx context.Context, i int, text string, wake bool) error {
	in := SendInput{Content: text}
	if wake {
		in.To = strconv.Itoa(i)
	}
	_, err := s.Tool(ctx, 2*i, "send_message", in)
	return err
}

// Wait implements [load.Pairs].
func (s *SDK) Wait(ctx context.Context, i int) ([]byte, error) {
	return s.Tool(ctx, 2*i+1, "wait_for_mentions", WaitInput{ID: strconv.Itoa(i)})
}
