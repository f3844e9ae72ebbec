package shoaltest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// stageFollower reads events until it is closed or they end.
type stageFollower struct {
	hides map[shoal.EventType]bool
	close func()

	mu     sync.Mutex
	events []shoal.Event
	last   shoal.Cursor
	ended  error
}

func follow(s *stage, c *command) error {
	name := c.word()
	caller, session := s.actor(c, c.word())
	hides := map[shoal.EventType]bool{shoal.EventEntityUpdated: !c.flag("presence"), shoal.EventDeliveryUpdated: !c.flag("receipts")}
	after, err := s.after(c.option("after"))
	if err != nil {
		return err
	}
	return s.followOn(name, caller, feed.FollowRequest{Session: session, Space: shoal.SpaceID(c.word()), After: after}, hides)
}

// followOn starts a follower and replaces an older one of the same name.
func (s *stage) followOn(name string, caller shoal.Principal, req feed.FollowRequest, hides map[shoal.EventType]bool) error {
	f := &stageFollower{hides: hides}
	if before := s.followers[name]; before != nil {
		before.close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	source, err := s.hub.Events.Follow(ctx, caller, req)
	if err != nil {
		cancel()
		return err
	}
	done := make(chan struct{})
	f.close = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	s.followers[name] = f
	go func() {
		defer close(done)
		defer source.Close()
		f.read(ctx, source)
	}()
	return nil
}

// after returns the cursor after which to follow.
func (s *stage) after(word string) (shoal.Cursor, error) {
	if place, ok := strings.CutPrefix(word, "@"); ok {
		return shoal.Cursor(s.store.Epoch() + "." + place), nil
	}
	if f := s.followers[word]; f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.last == "" {
			return "", fmt.Errorf("the follower %q has had no event", word)
		}
		return f.last, nil
	}
	return shoal.Cursor(word), nil
}

func (f *stageFollower) read(ctx context.Context, source *feed.Follower) {
	for {
		events, err := source.Next(ctx, time.Now().Add(time.Hour))
		f.mu.Lock()
		for _, ev := range events {
			if !f.hides[ev.Type] {
				f.events = append(f.events, ev)
			}
			if ev.Cursor != "" {
				f.last = ev.Cursor
			}
		}
		f.ended = err
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func events(s *stage, c *command) error {
	f, err := s.follower(c)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) == 0 && f.ended == nil {
		s.say("nothing")
	}
	for i, ev := range f.events {
		if i+1 < len(f.events) && continuesDelta(ev, f.events[i+1]) {
			continue // the division of a text into deltas depends on the speed of its reader
		}
		line, err := s.event(ev)
		if err != nil {
			return err
		}
		s.say("%s", line)
	}
	f.events = nil
	if f.ended != nil {
		s.say("the end: %s", errorText(f.ended))
	}
	return nil
}

func unfollow(s *stage, c *command) error {
	f, err := s.follower(c)
	if err == nil {
		f.close()
	}
	return err
}

func (s *stage) follower(c *command) (*stageFollower, error) {
	name := c.word()
	if f := s.followers[name]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("there is no follower %q", name)
}
