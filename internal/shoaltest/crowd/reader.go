package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Reader follows one space or all of its spaces. A lasting reader follows one stream across
// all lives of the server; another reader connects in each life with the last cursor that
// it has received.
type Reader struct {
	Session *client.Session
	Space   shoal.SpaceID // empty for all
	Lasting bool

	mu      sync.Mutex
	Stream  Stream
	Cursor  shoal.Cursor
	at      map[shoal.SpaceID]int64
	wrong   []string
	changed chan struct{} // capacity 1
}

// Run follows until ctx ends or the server refuses it.
func (r *Reader) Run(ctx context.Context) {
	r.mu.Lock()
	from := client.FollowOptions{Space: r.Space, After: r.Cursor}
	r.mu.Unlock()
	for ev, err := range r.Session.Follow(ctx, from) {
		if err == nil {
			err = r.take(ev)
		}
		if err != nil && !errors.Is(err, client.ErrUnreachable) {
			r.mu.Lock()
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %v", r.Stream.Name, err))
			r.mu.Unlock()
		}
	}
}

func (r *Reader) take(got shoal.Event) error {
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
			ev.messages = append(ev.messages, See(m))
		}
	case shoal.EventMessageCreated:
		var data shoal.MessageData
		if err := json.Unmarshal(got.Data, &data); err != nil {
			return err
		}
		ev = event{space: data.Message.SpaceID, messages: []Seen{See(data.Message)}}
	}
	if got.Cursor != "" && (r.Space != "" || got.Type != shoal.EventSnapshot) {
		r.Cursor = got.Cursor
	}
	if ev.space == "" {
		return nil // not about messages
	}
	ev.origin = origin(got)
	r.Stream.events = append(r.Stream.events, ev)
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

// origin describes where an event of a stream comes from.
func origin(ev shoal.Event) string {
	return fmt.Sprintf("%s with the cursor %q at %s", ev.Type, ev.Cursor, time.Now().Format("15:04:05.000"))
}

// has reports whether the reader has received everything up to the given ends.
func (r *Reader) has(ends map[shoal.SpaceID]int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, space := range r.Stream.spaces {
		if r.at[space] < ends[space] {
			return false
		}
	}
	return true
}

// so returns what the reader has received so far.
func (r *Reader) so() (*Stream, []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := r.Stream
	return &copied, r.wrong
}
