package main

import (
	"context"
	"strconv"

	"github.com/shoal-dev/shoal/internal/load"
)

// sdkSide is a server with two trivial tools on an MCP SDK.
type sdkSide struct {
	load.Tools
	server *process
	row    string
}

// newSDKSide returns a side without clients.
func newSDKSide(p *process, row string) *sdkSide {
	return &sdkSide{load.Tools{Wire: load.NewWire(p.url())}, p, row}
}

func (s *sdkSide) name() string      { return s.row }
func (s *sdkSide) process() *process { return s.server }

func (s *sdkSide) open(ctx context.Context, pairs int) error {
	return s.Join(ctx, make([]string, 2*pairs))
}

func (s *sdkSide) Send(ctx context.Context, i int, text string, wake bool) error {
	in := sdkSend{Content: text}
	if wake {
		in.To = strconv.Itoa(i)
	}
	_, err := s.Tool(ctx, 2*i, "send_message", in)
	return err
}

func (s *sdkSide) Wait(ctx context.Context, i int) ([]byte, error) {
	return s.Tool(ctx, 2*i+1, "wait_for_mentions", sdkWait{strconv.Itoa(i)})
}
