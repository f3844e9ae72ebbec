package limit

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Principals bounds what principals do, and says so in errors. It is safe for
// concurrent use.
type Principals struct {
	rates   *Rates[principal]
	calls   *Open[principal]
	streams *Open[principal]
	refused metrics.Counters
}

// Bounds are the limits of [Principals].
type Bounds struct {
	// CallsPerSecond is how many calls a second one principal may make for ever,
	// and ten times as many at once; 0 means no limit. Admins have none.
	CallsPerSecond float64
	// CallsEach and Calls are how many calls of one principal and of all together may
	// be under way at once, waits and streams apart; 0 means no limit.
	CallsEach, Calls int
	// StreamsEach and Streams are how many streams one principal and all together
	// may have open; 0 means no limit.
	StreamsEach, Streams int
}

// DefaultBounds are limits that no honest caller meets.
var DefaultBounds = Bounds{CallsPerSecond: 1000, CallsEach: 256, Calls: 512, StreamsEach: 20, Streams: 10_000}

const (
	// remembered is how many callers the rates remember.
	remembered = 20_000
	// burst is how many seconds' calls may come at once.
	burst = 10
)

// NewPrincipals returns Principals with these bounds, which adds how much is open
// and what it has refused to m; nil is allowed.
func NewPrincipals(b Bounds, m *metrics.Set) *Principals {
	p := &Principals{
		rates:   NewRates[principal](b.CallsPerSecond, int(b.CallsPerSecond*burst), remembered),
		calls:   NewOpen[principal](b.CallsEach, b.Calls),
		streams: NewOpen[principal](b.StreamsEach, b.Streams),
		refused: m.Counters("shoal_limited_total", "Calls and streams that were refused because of a limit, by which.", "limit"),
	}
	m.GaugeFunc("shoal_streams_open", "Streams of server-sent events that are open, of all faces.", func() float64 { return float64(p.streams.Count()) })
	m.GaugeFunc("shoal_calls_under_way", "Calls that are being answered, waits and streams apart.", func() float64 { return float64(p.calls.Count()) })
	return p
}

// principal is a principal as far as it is counted: an entity with all its keys,
// else a key.
type principal struct {
	session shoal.SessionID
	entity  shoal.EntityID
	key     shoal.KeyID
}

func of(who shoal.Principal) principal {
	if who.EntityID != "" {
		return principal{session: who.SessionID, entity: who.EntityID}
	}
	return principal{session: who.SessionID, key: who.KeyID}
}

// Call counts a call at the moment it comes. RateLimited, with the time after
// which the next one will be let through, for a principal that calls too often.
func (p *Principals) Call(who shoal.Principal) error {
	if who.Admin() {
		return nil
	}
	if wait := p.rates.Take(of(who)); wait > 0 {
		p.refused.With("calls_per_second").Add(1)
		return &shoal.Error{
			Op: "limit.Call", Kind: shoal.RateLimited, RetryAfter: wait,
			Msg: fmt.Sprintf("You make more calls than the %.4g a second that one caller may make for long. Wait %v, and call less often.",
				float64(time.Second)/float64(p.rates.every), wait.Round(time.Millisecond)),
		}
	}
	return nil
}

// Begin counts a call that is under way until End. RateLimited for a principal
// that has too many, Busy when all together have: what is done at once is done soon,
// while thousands that take turns would hold each other up. Then there is nothing to
// End.
func (p *Principals) Begin(who shoal.Principal) error {
	const op = "limit.Begin"
	switch p.calls.Enter(of(who)) {
	case KeyFull:
		p.refused.With("calls_each").Add(1)
		return shoal.E(op, shoal.RateLimited, fmt.Sprintf("You have %d calls under way, as many as one caller may. Wait for their answers.", p.calls.each))
	case AllFull:
		p.refused.With("calls").Add(1)
		return &shoal.Error{
			Op: op, Kind: shoal.Busy, RetryAfter: time.Second,
			Msg: "The server has as many calls under way as it can answer soon; nothing was done. Try again in a moment.",
		}
	}
	return nil
}

// End ends what Begin has begun.
func (p *Principals) End(who shoal.Principal) {
	p.calls.Leave(of(who))
}

// Open counts a stream until Close. RateLimited for a principal that has too many,
// Busy when all together have; then there is nothing to Close.
func (p *Principals) Open(who shoal.Principal) error {
	const op = "limit.Open"
	switch p.streams.Enter(of(who)) {
	case KeyFull:
		p.refused.With("streams_each").Add(1)
		return shoal.E(op, shoal.RateLimited, fmt.Sprintf("You have %d streams open, as many as one principal may. Close one first.", p.streams.each))
	case AllFull:
		p.refused.With("streams").Add(1)
		return shoal.E(op, shoal.Busy, fmt.Sprintf("This server has %d streams open, as many as it may. Try again in a few seconds.", p.streams.all))
	}
	return nil
}

// Close closes what Open has opened.
func (p *Principals) Close(who shoal.Principal) {
	p.streams.Leave(of(who))
}

// Streams returns how many streams are open.
func (p *Principals) Streams() int { return p.streams.Count() }
