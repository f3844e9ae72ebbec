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

// Measurement is the result of one measurement: the number of operations, their rate, and the
// duration of one for its caller. PerSecond is nil for paced operations, whose rate has no
// meaning. Lost is the number of deliveries that did not happen exactly once.
type Measurement struct {
	Name       string   `json:"name"`
	API        string   `json:"face"`
	Operations int      `json:"operations"`
	PerSecond  *float64 `json:"perSecond"`
	P50Ms      float64  `json:"p50Ms"`
	P99Ms      float64  `json:"p99Ms"`
	Lost       int64    `json:"lost"`
}

// The measurements of a survey.
const (
	SurveyPosts   = "posts"
	SurveyWakes   = "wakes"
	SurveyWaits   = "waits"
	SurveyStreams = "streams"
)

// Survey measures a server that others may use at the same time. It creates everything in a
// session of its own.
type Survey struct {
	URL string
	// Admin is a client with an admin key that acts as no entity.
	Admin *client.Client
	// Only lists the measurements to make; empty means all.
	Only []string
	// Length is the duration of each measurement of posts and streams.
	Length time.Duration
	// Waits and Readers are the numbers of concurrent waits and streams.
	Waits, Readers int
	// Report is called with each figure immediately.
	Report func(Measurement)
}

const (
	surveySenders = 64
	surveyAtOnce  = 32
	surveyTimes   = 40
	// surveyPosts limits the posts of one sender: by default a server accepts a burst of ten
	// thousand calls from one caller.
	surveyPosts  = 4000
	surveySettle = time.Second
	surveyWarmUp = 300 * time.Millisecond
	surveyPace   = 20 * time.Millisecond
	// surveyTidy is the time-out for deleting the session.
	surveyTidy = time.Minute

	faceREST = "REST"
	faceMCP  = "MCP"
)

// Run makes the measurements and deletes its session at the end, also after a failure or the
// end of ctx. It stops at the first failure.
func (s Survey) Run(ctx context.Context) (err error) {
	session, err := s.Admin.CreateSession(ctx, shoal.NewSession{Name: "Measurement, deleted at its end"})
	if err != nil {
		return err
	}
	defer func() {
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), surveyTidy)
		defer cancel()
		if left := s.Admin.Session(session.ID).Delete(tidy); left != nil {
			err = errors.Join(err, fmt.Errorf("the session %s of the measurement was not deleted; delete it with DELETE /v1/sessions/%s: %w", session.ID, session.ID, left))
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

// report reports a figure from the duration of each operation in µs and the total time, which is
// 0 if a rate has no meaning.
func (s Survey) report(name, transport string, took []float64, all time.Duration, lost int64) {
	f := Measurement{Name: name, API: transport, Operations: len(took), Lost: lost}
	if all > 0 {
		perSecond := thousandths(float64(len(took)) / all.Seconds())
		f.PerSecond = &perSecond
	}
	if len(took) > 0 {
		f.P50Ms, f.P99Ms = thousandths(Percentile(took, 50)/1e3), thousandths(Percentile(took, 99)/1e3)
	}
	s.Report(f)
}

// thousandths removes digits beyond the precision of the clock.
func thousandths(v float64) float64 { return math.Round(v*1000) / 1000 }

// tidyPairs can also detect duplicate deliveries.
type tidyPairs interface {
	Pairs
	Unread(ctx context.Context, i int) ([]byte, error)
}

// forEachTransport calls do with both transports.
func forEachTransport(rest *REST, mcp *MCP, do func(transport string, p tidyPairs) error) error {
	if err := do(faceREST, rest); err != nil {
		return err
	}
	return do(faceMCP, mcp)
}

// twice acknowledges the deliveries to the waiters of the pairs, and returns the number of
// waiters with duplicates.
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
		err := forEachTransport(rest, mcp, func(transport string, p tidyPairs) error {
			began := time.Now()
			took, err := Post(ctx, p, senders, s.Length, surveyPosts)
			if err == nil {
				s.report("posts, "+counted(senders, "sender"), transport, took, time.Since(began), 0)
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
		err := forEachTransport(rest, mcp, func(transport string, p tidyPairs) error {
			took, err := Wake(ctx, p, pairs, surveyTimes)
			if err != nil {
				return err
			}
			again, err := twice(ctx, p, pairs)
			s.report("wake-up, "+counted(pairs, "pair"), transport, took, 0, again)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waits starts many waits, wakes all, and counts duplicates.
func (s Survey) waits(ctx context.Context, rest *REST, _ *MCP) error {
	took, all, err := WakeAll(ctx, rest, s.Waits, surveySettle)
	if err != nil {
		return err
	}
	again, err := twice(ctx, rest, s.Waits)
	s.report("waits, "+counted(s.Waits, "wait")+" open", faceREST, took, all, again)
	return err
}

// streams publishes to one reader and to many, at a constant rate and as fast as possible.
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
		s.report(name, faceREST, all.Took(), took, all.Missing(sent))
	}
	return err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
