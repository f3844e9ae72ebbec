package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal/internal/load"
)

// side is a server with its clients, as the tables of pairs use it.
type side interface {
	load.Pairs
	name() string
	process() *process
	// open creates what the given number of pairs needs.
	open(ctx context.Context, pairs int) error
}

type floorSide struct {
	load.Wire
	server *process
}

func newFloorSide(p *process) floorSide { return floorSide{load.NewWire(p.url()), p} }

func (s floorSide) name() string                    { return floorRow }
func (s floorSide) process() *process               { return s.server }
func (s floorSide) open(context.Context, int) error { return nil }

func (s floorSide) Send(ctx context.Context, i int, text string, wake bool) error {
	path := "/send"
	if wake {
		path += "?to=" + strconv.Itoa(i)
	}
	_, _, err := s.Do(ctx, http.MethodPost, path, nil, []byte(text))
	return err
}

func (s floorSide) Wait(ctx context.Context, i int) ([]byte, error) {
	body, _, err := s.Do(ctx, http.MethodGet, "/wait?id="+strconv.Itoa(i), nil, nil)
	return body, err
}

// missingError reports that a program is not installed on this machine, so that its row
// is left out.
type missingError string

func (e missingError) Error() string { return string(e) }

// peer is a row of the tables that compare pairs; start starts its server.
type peer struct {
	name  string
	start func(context.Context) (side, error)
}

func (r *run) peers() []peer {
	connect := func(start func(context.Context) (*process, error), as func(*process) side) func(context.Context) (side, error) {
		return func(ctx context.Context) (side, error) {
			p, err := start(ctx)
			if err != nil {
				return nil, err
			}
			return as(p), nil
		}
	}
	return []peer{
		{floorRow, connect(r.startFloor, func(p *process) side { return newFloorSide(p) })},
		{sdkRow, connect(r.startSDK, func(p *process) side { return newSDKSide(p, sdkRow) })},
		{tsRow, connect(r.startTS, func(p *process) side { return newSDKSide(p, tsRow) })},
		{restRow, connect(r.startNewShoal, func(p *process) side { return &restSide{server: p} })},
		{mcpRow, connect(r.startNewShoal, func(p *process) side { return &toolSide{server: p} })},
		{postgresRow, func(ctx context.Context) (side, error) { return r.startPostgres(ctx) }},
		{natsRow, func(ctx context.Context) (side, error) { return r.startNATSSide(ctx) }},
		{redisRow, func(ctx context.Context) (side, error) { return r.startRedis(ctx) }},
	}
}

// sides starts the servers that a table compares and prepares them for the given number
// of pairs. Servers that are not installed are left out. done stops the others.
func (r *run) sides(ctx context.Context, pairs int) (all []side, done func(), err error) {
	done = func() {
		for _, s := range all {
			s.process().stop()
		}
	}
	for _, p := range r.peers() {
		if !r.wants(p.name) {
			continue
		}
		s, err := p.start(ctx)
		var missing missingError
		if errors.As(err, &missing) {
			r.log.Print(err)
			continue
		}
		if err == nil {
			all = append(all, s)
			err = s.open(ctx, pairs)
		}
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return all, done, nil
}

func (r *run) startNewShoal(ctx context.Context) (*process, error) {
	return r.startShoal(ctx, r.newPath("shoal"))
}
