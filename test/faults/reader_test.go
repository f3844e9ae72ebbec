package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// reader follows one space or all of its spaces. A lasting reader follows one stream across
// all lives of the server; another reader connects in each life with the last cursor that
// it has received.
type reader struct {
	session *client.Session
	space   shoal.SpaceID // empty for all
	lasting bool

	mu      sync.Mutex
	stream  stream
	cursor  shoal.Cursor
	at      map[shoal.SpaceID]int64
	wrong   []string
	changed chan struct{} // capacity 1
}

// run follows until ctx ends or the server refuses it.
func (r *reader) run(ctx context.Context) {
	r.mu.Lock()
	from := client.FollowOptions{Space: r.space, After: r.cursor}
	r.mu.Unlock()
	for ev, err := range r.session.Follow(ctx, from) {
		if err == nil {
			err = r.take(ev)
		}
		if err != nil && !errors.Is(err, client.ErrUnreachable) {
			r.mu.Lock()
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %v", r.stream.name, err))
			r.mu.Unlock()
		}
	}
}

func (r *reader) take(got shoal.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ev := event{}
	switch got.Type {
	case shoal.EventSnapshot:
		var data shoal.SnapshotData
		if err := json.Unmarshal(got.Data, &data); err != nil {
			return err
		}
		ev = event{space: data.Space.ID, snapshot: true, lastSeq: data.Space.LastSeq}
		for _, m := range data.Messages {
			ev.messages = append(ev.messages, see(m))
		}
	case shoal.EventMessageCreated:
		var data shoal.MessageData
		if err := json.Unmarshal(got.Data, &data); err != nil {
			return err
		}
		ev = event{space: data.Message.SpaceID, messages: []seen{see(data.Message)}}
	}
	if got.Cursor != "" && (r.space != "" || got.Type != shoal.EventSnapshot) {
		r.cursor = got.Cursor
	}
	if ev.space == "" {
		return nil // not about messages
	}
	r.stream.events = append(r.stream.events, ev)
	r.at[ev.space] = ev.lastSeq
	if !ev.snapshot {
		r.at[ev.space] = ev.messages[0].Seq
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
	return nil
}

// has reports whether the reader has received everything up to the given ends.
func (r *reader) has(ends map[shoal.SpaceID]int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, space := range r.stream.spaces {
		if r.at[space] < ends[space] {
			return false
		}
	}
	return true
}

// so returns what the reader has received so far.
func (r *reader) so() (*stream, []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := r.stream
	return &copied, r.wrong
}
