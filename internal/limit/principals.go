package limit

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Principals applies the limits to principals and returns errors for people. It is safe for
// concurrent use.
type Principals struct {
	rates   *Rates[Caller]
	calls   *Open
	streams *Open
	uploads *Open
	refused metrics.Counters
	// tooOften is the first sentence for a caller over its rate.
	tooOften string

	mu      sync.Mutex
	watched []*Open // all global limits
}

// Bounds are the limits of [Principals].
type Bounds struct {
	// CallsPerSecond is the continuous rate of one principal; ten times as many calls may
	// come at once. 0 means no limit. Admins have no limit.
	CallsPerSecond float64
	// CallsEach and Calls limit the concurrent calls of one principal and of all together,
	// without waits and streams; 0 means no limit.
	CallsEach, Calls int
	// StreamsEach and Streams limit the open streams of one principal and of all together;
	// 0 means no limit.
	StreamsEach, Streams int
	// UploadsEach and Uploads limit the files and exports that one caller and all together
	// transfer concurrently; 0 means no limit.
	UploadsEach, Uploads int
}

// DefaultBounds are limits that well-behaved callers do not reach.
var DefaultBounds = Bounds{CallsPerSecond: 1000, CallsEach: 256, Calls: 512, StreamsEach: 20, Streams: 10_000, UploadsEach: 8, Uploads: 64}

const (
	// remembered is the number of callers that the rates remember.
	remembered = 20_000
	// burst is the number of seconds whose calls may come at once.
	burst = 10
)

// NewPrincipals returns Principals with the given limits. It registers metrics of usage and
// refusals with m, which may be nil.
func NewPrincipals(b Bounds, m *metrics.Set) *Principals {
	p := &Principals{
		rates:   NewRates[Caller](b.CallsPerSecond, int(b.CallsPerSecond*burst), remembered),
		calls:   NewOpen(b.CallsEach, b.Calls),
		streams: NewOpen(b.StreamsEach, b.Streams),
		uploads: NewOpen(b.UploadsEach, b.Uploads),
		refused: m.Counters("shoal_limited_total", "Calls and streams that were refused because of a limit, by which.", "limit"),
	}
	if p.rates != nil {
		p.tooOften = fmt.Sprintf("You make more calls than the %.4g a second that one caller may make for long.", float64(time.Second)/float64(p.rates.every))
	}
	p.Watch(p.calls, p.streams, p.uploads)
	m.GaugeFunc("shoal_uploads_open", "Files and exports that clients are sending.", func() float64 { return float64(p.uploads.Count()) })
	m.GaugeFunc("shoal_streams_open", "Streams of server-sent events that are open, of all transports.", func() float64 { return float64(p.streams.Count()) })
	m.GaugeFunc("shoal_calls_under_way", "Calls that are being answered, waits and streams apart.", func() float64 { return float64(p.calls.Count()) })
	return p
}

// Watch adds limits of other packages to [Principals.Refusing].
func (p *Principals) Watch(bounds ...*Open) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = append(p.watched, bounds...)
}

// Watched returns all global limits of the server.
func (p *Principals) Watched() []*Open {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.watched)
}

// Refusing returns for how long a global limit has refused callers that use little of it, 0
// if none was refused recently.
func (p *Principals) Refusing() (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.watched {
		longest = max(longest, o.Refusing())
	}
	return longest
}

// Call counts a call when it arrives. For a principal over its rate it returns RateLimited
// with the time until the next permitted call.
func (p *Principals) Call(caller shoal.Principal) error {
	if caller.Admin() {
		return nil
	}
	return p.rateError(p.rates.Take(Of(caller)))
}

// Peek returns the error with which Call would refuse a caller now, or Begin if the call is to be
// one of the concurrent calls. It counts the refusal, but no call. It is for refusals before the
// body of a request is read: Call and Begin still decide.
func (p *Principals) Peek(c Caller, concurrent bool) error {
	if c.admin {
		return nil
	}
	if err := p.rateError(p.rates.Peek(c)); err != nil || !concurrent {
		return err
	}
	return p.callError(p.calls.Peek(c))
}

// rateError returns the error for a caller that has to wait until its next call, or nil.
func (p *Principals) rateError(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	p.refused.With("calls_per_second").Add(1)
	return &shoal.Error{
		Op: "limit.Call", Kind: shoal.RateLimited, RetryAfter: wait,
		Msg: p.tooOften + " Wait " + wait.Round(time.Millisecond).String() + ", and call less often.",
	}
}

// Begin counts a concurrent call until End. It returns RateLimited for a principal with too
// many, and Busy when the global limit is reached: a bounded number of concurrent calls
// finishes soon, while thousands would slow each other down. After an error, End must not be
// called.
func (p *Principals) Begin(caller shoal.Principal) error {
	return p.callError(p.calls.Enter(Of(caller)))
}

// callError returns the error for a verdict on a concurrent call, or nil.
func (p *Principals) callError(v Verdict) error {
	const op = "limit.Begin"
	switch v {
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

// End ends a call of Begin.
func (p *Principals) End(caller shoal.Principal) {
	p.calls.Leave(Of(caller))
}

// Open counts a stream until Close. It returns RateLimited for a principal with too many, and
// Busy when the global limit is reached. After an error, Close must not be called.
func (p *Principals) Open(caller shoal.Principal) error {
	const op = "limit.Open"
	switch p.streams.Enter(Of(caller)) {
	case KeyFull:
		p.refused.With("streams_each").Add(1)
		return shoal.E(op, shoal.RateLimited, fmt.Sprintf("You have %d streams open, as many as one principal may. Close one first.", p.streams.each))
	case AllFull:
		p.refused.With("streams").Add(1)
		return shoal.E(op, shoal.Busy, fmt.Sprintf("This server has %d streams open, as many as it may. Try again in a few seconds.", p.streams.all))
	}
	return nil
}

// Close ends a stream of Open.
func (p *Principals) Close(caller shoal.Principal) {
	p.streams.Leave(Of(caller))
}

// Upload counts a file or an export of a caller until Uploaded. It returns RateLimited for a
// principal with too many, and Busy when the global limit is reached. After an error, Uploaded
// must not be called.
func (p *Principals) Upload(caller shoal.Principal) error {
	const op = "limit.Upload"
	switch p.uploads.Enter(Of(caller)) {
	case KeyFull:
		p.refused.With("uploads_each").Add(1)
		return shoal.E(op, shoal.RateLimited, fmt.Sprintf("You are sending %d files at once, as many as one caller may. Wait until one has arrived.", p.uploads.each))
	case AllFull:
		p.refused.With("uploads").Add(1)
		return &shoal.Error{
			Op: op, Kind: shoal.Busy, RetryAfter: time.Second,
			Msg: "The server is receiving as many files as it can at once; nothing was done. Try again in a moment.",
		}
	}
	return nil
}

// Uploaded ends a transfer of Upload.
func (p *Principals) Uploaded(caller shoal.Principal) {
	p.uploads.Leave(Of(caller))
}

// Streams returns the number of open streams.
func (p *Principals) Streams() int { return int(p.streams.Count()) }
