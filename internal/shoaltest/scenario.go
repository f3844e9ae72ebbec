package shoaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/calendar"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/storytest"
)

// Play runs every scenario that pattern matches, each as a subtest. With update it rewrites
// the outputs instead of comparing them.
func Play(t *testing.T, pattern string, update bool) {
	storytest.Play(t, pattern, 1, update, func(t *testing.T, file, text string) (got string) {
		synctest.Test(t, func(t *testing.T) { got = play(t, file, text) })
		return got
	})
}

// play runs a scenario and returns its text with the actual outputs.
func play(t *testing.T, file, text string) string {
	s := newStage(t)
	defer s.stop()
	return s.play(file, text)
}

func (s *stage) play(file, text string) string {
	t := s.t
	s.folder = filepath.Dir(file)
	var out strings.Builder
	inBlock, skipping := false, false
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case skipping && trimmed != "":
			continue // an output of an earlier run
		case trimmed == "----":
			if !inBlock {
				t.Fatalf("%s:%d: ---- without a command before it", file, n+1)
			}
			fmt.Fprintf(&out, "%s\n%s", line, s.takeOutput())
			inBlock, skipping = false, true
			continue
		case trimmed == "":
			if inBlock {
				t.Fatalf("%s:%d: the block has no ----", file, n+1)
			}
			skipping = false
		case strings.HasPrefix(trimmed, "#"):
		default:
			inBlock = true
			if err := s.do(trimmed); err != nil {
				t.Fatalf("%s:%d: %s: %v", file, n+1, trimmed, err)
			}
		}
		fmt.Fprintln(&out, line)
	}
	return out.String()
}

// stage is the state of a running scenario: its hub and its output.
type stage struct {
	t     *testing.T
	store *gate
	bus   *Listeners
	hub   *hub.Hub
	start time.Time
	out   bytes.Buffer

	messages  map[shoal.MessageID]string
	keys      map[string]shoal.KeyID
	asked     map[string]shoal.PendingID // by tool
	waits     []*stageWait
	followers map[string]*stageFollower

	naming    sync.Mutex // guards the names of runs
	runNames  map[shoal.RunID]string
	runIDs    map[string]shoal.RunID
	leases    map[shoal.RunID]runs.Lease
	planNames map[shoal.PlanID]string

	hosting
}

func newStage(t *testing.T) *stage { return newStageOf(t, nil) }

// newStageOf returns a stage whose runs are executed, or not if executor is nil.
func newStageOf(t *testing.T, executor *Executor) *stage {
	s := &stage{
		hosting: hosting{executor: executor},
		t:       t, store: &gate{Store: OpenSQLite(t)}, bus: &Listeners{Bus: localbus.New()}, start: time.Now(),
		messages: map[shoal.MessageID]string{}, keys: map[string]shoal.KeyID{}, followers: map[string]*stageFollower{},
		runNames: map[shoal.RunID]string{}, runIDs: map[string]shoal.RunID{}, leases: map[shoal.RunID]runs.Lease{}, planNames: map[shoal.PlanID]string{},
	}
	s.open(0)
	return s
}

// open starts a hub that keeps a number of events of a space; 0 means the default.
func (s *stage) open(keepEvents int) {
	s.hub = hub.New(hub.Options{Store: s.store, Bus: s.bus, KeepEvents: keepEvents, NextTime: calendar.NextTime, FitsSchema: s.fits()})
	if err := s.hub.Start(context.Background()); err != nil {
		s.t.Fatalf("start the hub: %v", err)
	}
	s.execute()
}

// stop ends all waits and followers, and the hub, and checks that nothing remains.
func (s *stage) stop() {
	s.store.release()
	s.idle()
	for _, w := range s.waits {
		w.cancel()
		<-w.ended
	}
	for _, f := range s.followers {
		f.close()
	}
	if n := s.bus.Open(); n != 0 {
		s.t.Errorf("%d subscriptions are open, but nobody waits or follows", n)
	}
	s.hub.Stop()
}

// do executes one command and waits for everything that follows from it.
func (s *stage) do(line string) error {
	c, err := parse(line)
	if err != nil {
		return err
	}
	verb, known := verbs[c.verb]
	if !known {
		return fmt.Errorf("there is no command %q", c.verb)
	}
	err = verb(s, c)
	if failed := c.unused(); failed != nil && err == nil {
		err = failed
	}
	var refused *shoal.Error
	if errors.As(err, &refused) {
		s.say("%s", errorText(err))
		err = nil
	}
	synctest.Wait()
	s.printWaits()
	return err
}

// say adds a line to the output, without parts that differ between runs.
func (s *stage) say(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), s.store.Epoch(), "EPOCH")
	for name, id := range s.keys {
		line = strings.ReplaceAll(line, string(id), name)
	}
	line = named(named(line, s.messages), s.planNames)
	s.naming.Lock()
	line = named(line, s.runNames)
	s.naming.Unlock()
	fmt.Fprintln(&s.out, s.stabilize(line))
}

// named replaces ids by names.
func named[T ~string](line string, names map[T]string) string {
	for id, name := range names {
		line = strings.ReplaceAll(line, string(id), name)
	}
	return line
}

// takeOutput returns the output since the last call.
func (s *stage) takeOutput() string {
	defer s.out.Reset()
	return s.out.String()
}

// errorText formats an error as its kind and its message.
func errorText(err error) string {
	var e *shoal.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: %s", e.Kind, e.Msg)
	}
	return err.Error()
}
