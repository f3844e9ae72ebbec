package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// side is one server as its clients use it. Pair i is a sender and a waiter.
type side interface {
	name() string
	process() *process
	// open makes whatever that many pairs need.
	open(ctx context.Context, pairs int) error
	// send returns when the message of pair i is stored; with wake its waiter is
	// mentioned.
	send(ctx context.Context, i int, text string, wake bool) error
	// wait returns the answer that holds the next message for the waiter of pair
	// i. One wait of a pair at a time.
	wait(ctx context.Context, i int) ([]byte, error)
}

// wire sends requests to one server.
type wire struct {
	*process
	http *http.Client
}

func newWire(p *process) wire {
	return wire{p, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true}}}
}

// do makes a call and returns its body and header.
func (w wire) do(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url()+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if header != nil {
		req.Header = header
	}
	res, err := w.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, answer)
	}
	return answer, res.Header, err
}

// text returns a message of 256 bytes that begins with this moment.
func text() string {
	b := bytes.Repeat([]byte{'x'}, 256)
	copy(b, fmt.Sprintf("%019d ", time.Now().UnixNano()))
	return string(b)
}

type floorSide struct{ wire }

func (s floorSide) name() string                    { return floorRow }
func (s floorSide) process() *process               { return s.wire.process }
func (s floorSide) open(context.Context, int) error { return nil }

func (s floorSide) send(ctx context.Context, i int, text string, wake bool) error {
	path := "/send"
	if wake {
		path += "?to=" + strconv.Itoa(i)
	}
	_, _, err := s.do(ctx, http.MethodPost, path, nil, []byte(text))
	return err
}

func (s floorSide) wait(ctx context.Context, i int) ([]byte, error) {
	body, _, err := s.do(ctx, http.MethodGet, "/wait?id="+strconv.Itoa(i), nil, nil)
	return body, err
}

// sides starts the servers that a table compares, with whatever that many pairs
// need. done ends them.
func (r *run) sides(ctx context.Context, pairs int) (all []side, done func(), err error) {
	done = func() {
		for _, s := range all {
			s.process().stop()
		}
	}
	starts := []struct {
		name  string
		begin func(context.Context) (*process, error)
		speak func(wire) side
	}{
		{floorRow, r.beginFloor, func(w wire) side { return floorSide{w} }},
		{sdkRow, r.beginSDK, func(w wire) side { return &sdkSide{mcpSide: mcpSide{wire: w}} }},
		{restRow, r.beginNewShoal, func(w wire) side { return &restSide{wire: w} }},
		{mcpRow, r.beginNewShoal, func(w wire) side { return &toolSide{mcpSide: mcpSide{wire: w}} }},
	}
	for _, s := range starts {
		if !r.wants(s.name) {
			continue
		}
		p, err := s.begin(ctx)
		if err != nil {
			done()
			return nil, nil, err
		}
		all = append(all, s.speak(newWire(p)))
		if err := all[len(all)-1].open(ctx, pairs); err != nil {
			done()
			return nil, nil, fmt.Errorf("%s: %w", all[len(all)-1].name(), err)
		}
	}
	return all, done, nil
}

func (r *run) beginNewShoal(ctx context.Context) (*process, error) {
	return r.beginShoal(ctx, r.fresh("shoal"))
}
