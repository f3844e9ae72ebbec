package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Figure is what one measurement found: so many operations, how many a second, and
// what one took as its caller saw it. PerSecond is nil where they were made with
// pauses, so that it would say nothing. Lost is how many of those that are delivered
// did not happen, or not once.
type Figure struct {
	Name       string   `json:"name"`
	Face       string   `json:"face"`
	Operations int      `json:"operations"`
	PerSecond  *float64 `json:"perSecond"`
	P50Ms      float64  `json:"p50Ms"`
	P99Ms      float64  `json:"p99Ms"`
	Lost       int64    `json:"lost"`
}

// What a survey can measure.
const (
	SurveyPosts   = "posts"
	SurveyWakes   = "wakes"
	SurveyWaits   = "waits"
	SurveyStreams = "streams"
)

// Survey measures a server that others may be using, too: what it makes is in a
// session of its own.
type Survey struct {
	URL string
	// Admin calls with an admin's key and acts as nobody.
	Admin *client.Client
	// Only names what is measured, everything if empty.
	Only []string
	// Length is how long posts and streams are measured, each time.
	Length time.Duration
	// Waits and Readers are how many waits and streams are open at once.
	Waits, Readers int
	// Tell is called with each figure as it is found.
	Tell func(Figure)
}

const (
	surveySenders = 64
	surveyAtOnce  = 32
	surveyTimes   = 40
	// surveyPosts bounds the posts of one sender: a server lets one caller make ten
	// thousand calls at once, unless it is told otherwise.
	surveyPosts  = 4000
	surveySettle = time.Second
	surveyWarmUp = 300 * time.Millisecond
	surveyPace   = 20 * time.Millisecond
	// surveyTidy is how long the session may take to be deleted.
	surveyTidy = time.Minute

	faceREST = "REST"
	faceMCP  = "MCP"
)

// Run measures, and deletes what it has made when it is done, also when it failed or
// ctx ended. The first failure ends it.
func (s Survey) Run(ctx context.Context) (err error) {
	session, err := s.Admin.CreateSession(ctx, shoal.NewSession{Name: "A measurement; it is deleted when it is done"})
	if err != nil {
		return err
	}
	defer func() {
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), surveyTidy)
		defer cancel()
		if left := s.Admin.Session(session.ID).Delete(tidy); left != nil {
			err = errors.Join(err, fmt.Errorf("the session %s of the measurement stays, and can be deleted with DELETE /v1/sessions/%s: %w", session.ID, session.ID, left))
		}
	}()
	pairs := surveySenders
	if s.wants(SurveyWaits) {
		pairs = max(pairs, s.Waits)
	}
	w, err := NewWorld(ctx, s.Admin, session.ID, 2*pairs)
	if err != nil {
		return err
	}
	rest, err := NewREST(ctx, NewWire(s.URL), w, pairs)
	if err != nil {
		return err
	}
	defer rest.Close()
	mcp, err := NewMCP(ctx, NewWire(s.URL), w, surveySenders)
	if err != nil {
		return err
	}
	defer func() {
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), surveyTidy)
		defer cancel()
		err = errors.Join(err, mcp.Leave(tidy))
		mcp.Close()
	}()
	if _, err := Post(ctx, rest, surveySenders, surveyWarmUp, surveyPosts); err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context, *REST, *MCP) error
	}{{SurveyPosts, s.posts}, {SurveyWakes, s.wakes}, {SurveyWaits, s.waits}, {SurveyStreams, s.streams}} {
		if !s.wants(part.name) {
			continue
		}
		if err := part.measure(ctx, rest, mcp); err != nil {
			return fmt.Errorf("measuring %s: %w", part.name, err)
		}
	}
	return nil
}

func (s Survey) wants(part string) bool { return len(s.Only) == 0 || slices.Contains(s.Only, part) }

// tell makes a figure of what each operation took, in µs, and all of them together, 0 if
// that says nothing.
func (s Survey) tell(name, face string, took []float64, all time.Duration, lost int64) {
	f := Figure{Name: name, Face: face, Operations: len(took), Lost: lost}
	if all > 0 {
		perSecond := thousandths(float64(len(took)) / all.Seconds())
		f.PerSecond = &perSecond
	}
	if len(took) > 0 {
		f.P50Ms, f.P99Ms = thousandths(Percentile(took, 50)/1e3), thousandths(Percentile(took, 99)/1e3)
	}
	s.Tell(f)
}

// thousandths leaves out what no clock has measured.
func thousandths(v float64) float64 { return math.Round(v*1000) / 1000 }

// tidyPairs can also look for what a waiter was given twice.
type tidyPairs interface {
	Pairs
	Unread(ctx context.Context, i int) ([]byte, error)
}

// faces calls do with both.
func faces(rest *REST, mcp *MCP, do func(face string, p tidyPairs) error) error {
	if err := do(faceREST, rest); err != nil {
		return err
	}
	return do(faceMCP, mcp)
}

// twice acknowledges what the waiters of so many pairs have got, and returns how many of
// them are given something again.
func twice(ctx context.Context, p tidyPairs, pairs int) (n int64, err error) {
	again := make([]bool, pairs)
	err = each(pairs, func(i int) error {
		answer, err := p.Unread(ctx, i)
		again[i] = CursorIn(answer) != ""
		return err
	})
	for _, is := range again {
		if is {
			n++
		}
	}
	return n, err
}

func (s Survey) posts(ctx context.Context, rest *REST, mcp *MCP) error {
	for _, senders := range []int{1, surveySenders} {
		err := faces(rest, mcp, func(face string, p tidyPairs) error {
			began := time.Now()
			took, err := Post(ctx, p, senders, s.Length, surveyPosts)
			if err == nil {
				s.tell("posts, "+counted(senders, "sender"), face, took, time.Since(began), 0)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s Survey) wakes(ctx context.Context, rest *REST, mcp *MCP) error {
	for _, pairs := range []int{1, surveyAtOnce} {
		err := faces(rest, mcp, func(face string, p tidyPairs) error {
			took, err := Wake(ctx, p, pairs, surveyTimes)
			if err != nil {
				return err
			}
			again, err := twice(ctx, p, pairs)
			s.tell("wake-up, "+counted(pairs, "pair"), face, took, 0, again)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waits opens many waits, wakes all, and looks whether anybody got anything twice.
func (s Survey) waits(ctx context.Context, rest *REST, _ *MCP) error {
	took, all, err := WakeAll(ctx, rest, s.Waits, surveySettle)
	if err != nil {
		return err
	}
	again, err := twice(ctx, rest, s.Waits)
	s.tell("waits, "+counted(s.Waits, "wait")+" open", faceREST, took, all, again)
	return err
}

// streams publishes to one reader and to many, paced and flat out.
func (s Survey) streams(ctx context.Context, rest *REST, _ *MCP) error {
	for i, of := range []struct {
		readers int
		pace    time.Duration
		how     string
	}{{1, surveyPace, "50 posts/s"}, {s.Readers, surveyPace, "50 posts/s"}, {s.Readers, 0, "flat out"}} {
		if err := s.stream(ctx, rest, i, of.readers, of.pace, "streams, "+counted(of.readers, "reader")+", "+of.how); err != nil {
			return err
		}
	}
	return nil
}

func (s Survey) stream(ctx context.Context, rest *REST, space, readers int, pace time.Duration, name string) error {
	keys, err := rest.Services(ctx, readers)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var all Readers
	defer all.Close()
	defer cancel()
	for i := range readers {
		stream, err := rest.Open(ctx, rest.EventsPath(SpaceID(space)), StreamHeader(keys[i/StreamsEach]))
		if err != nil {
			return err
		}
		all.Follow(stream)
	}
	sent, took, err := all.Publish(ctx, Fan{Length: s.Length, Pace: pace, Ahead: surveySenders, Publish: func(ctx context.Context, text string) error {
		return rest.Send(ctx, space, text, false)
	}})
	if err == nil {
		s.tell(name, faceREST, all.Took(), took, all.Missing(sent))
	}
	return err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
