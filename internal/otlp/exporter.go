package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/metrics"
)

const (
	// maxRequest is the size up to which spans share a request: receivers refuse bodies of
	// some 20 MiB.
	maxRequest = 4 << 20
	// maxAnswer is how much of an answer is read.
	maxAnswer = 64 << 10
	// firstRetry is the delay of the first retry; it doubles.
	firstRetry = 500 * time.Millisecond
)

// exporter sends requests to a receiver.
type exporter struct {
	base           *url.URL
	headers        map[string]string
	client         *http.Client
	log            *slog.Logger
	recorded, sent *metrics.Number

	ctx      context.Context // ends when Stop gives up
	cancel   context.CancelFunc
	stopping chan struct{} // closed when Stop is called
	drained  chan struct{} // closed when no more spans come

	mu      sync.Mutex
	failing map[string]bool // by path: a receiver may accept one kind only
}

// CheckEndpoint returns the URL of a receiver, or an error that says what is wrong with it.
func CheckEndpoint(endpoint string) (*url.URL, error) {
	at, err := url.Parse(endpoint)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, shoal.E("otlp.CheckEndpoint", shoal.InvalidArgument, "--otlp is not the URL of a receiver of OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces and /v1/metrics are added to it.")
	}
	return at, nil
}

// ParseHeaders reads headers in the form of OTEL_EXPORTER_OTLP_HEADERS: name=value pairs,
// separated by commas, with percent-encoded values. The error does not contain the text.
func ParseHeaders(s string) (map[string]string, error) {
	out := map[string]string{}
	for i, pair := range strings.Split(s, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, text, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(text))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" {
			return nil, shoal.E("otlp.ParseHeaders", shoal.InvalidArgument, fmt.Sprintf("Pair %d of OTEL_EXPORTER_OTLP_HEADERS is not name=value with a percent-encoded value.", i+1))
		}
		out[name] = value
	}
	return out, nil
}

func newExporter(o Options) (*exporter, error) {
	base, err := CheckEndpoint(o.Endpoint)
	if err != nil {
		return nil, err
	}
	e := &exporter{
		stopping: make(chan struct{}), drained: make(chan struct{}), failing: map[string]bool{},
		base: base, headers: o.Headers, log: o.Log,
		client: &http.Client{
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: 2 * time.Minute, TLSHandshakeTimeout: exportTimeout},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		recorded: o.Metrics.Counter("shoal_otlp_spans_recorded_total", "Spans of runs that were recorded for --otlp."),
		sent:     o.Metrics.Counter("shoal_otlp_spans_sent_total", "Spans that the receiver of --otlp has accepted; of the others, up to 2048 wait, and the rest is lost."),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e, nil
}

// close ends every request and waits for their senders.
func (e *exporter) close() {
	e.cancel()
	<-e.drained
	e.client.CloseIdleConnections()
}

// send sends a request, until the receiver accepts it, refuses it for good, or ctx ends. It
// returns how many of its items the receiver rejected.
func (e *exporter) send(ctx context.Context, path string, body []byte) (rejected int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	for delay := firstRetry; ; delay *= 2 {
		last := e.stops()
		var after time.Duration
		var again bool
		rejected, after, again, err = e.attempt(ctx, path, body)
		if err == nil || !again || last || !e.pause(ctx, max(after, delay/2+rand.N(delay/2))) {
			break
		}
	}
	e.report(path, err)
	return rejected, err
}

// stops reports whether Stop was called.
func (e *exporter) stops() bool {
	select {
	case <-e.stopping:
		return true
	default:
		return false
	}
}

// pause waits until the next attempt, which Stop brings forward. It reports false if there is
// no time for one.
func (e *exporter) pause(ctx context.Context, d time.Duration) bool {
	if until, ok := ctx.Deadline(); ok && time.Until(until) < d {
		return false
	}
	select {
	case <-time.After(d):
		return true
	case <-e.stopping:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt sends a request once. again says whether another attempt makes sense, after that
// time.
func (e *exporter) attempt(ctx context.Context, path string, body []byte) (rejected int64, after time.Duration, again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return 0, 0, false, err
	}
	for name, value := range e.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := e.client.Do(r)
	if err != nil {
		return 0, 0, true, err
	}
	defer func() { _ = answer.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // the status says it all
	switch {
	case answer.StatusCode/100 == 2:
		return rejectedOf(said), 0, false, nil
	case slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, answer.StatusCode):
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // a date, or none: the usual delay
		return 0, time.Duration(seconds) * time.Second, true, errors.New(answer.Status)
	}
	return 0, 0, false, errors.New(answer.Status)
}

// rejectedOf reads ExportTraceServiceResponse.partial_success.rejected_spans, and the field of
// the same number for metrics, from an answer.
func rejectedOf(answer []byte) int64 {
	partial, _ := protowire.ConsumeBytes(field(answer, 1))
	n, _ := protowire.ConsumeVarint(field(partial, 1))
	return int64(n)
}

// field returns a message from the value of its first field with that number, nil without.
func field(b []byte, want protowire.Number) []byte {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil
		}
		if b = b[size:]; n == want {
			return b
		}
		if size = protowire.ConsumeFieldValue(n, kind, b); size < 0 {
			return nil
		}
		b = b[size:]
	}
	return nil
}

// report logs when the receiver begins to fail, and when it works again.
func (e *exporter) report(path string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	failed := err != nil
	if failed == e.failing[path] {
		return
	}
	e.failing[path] = failed
	if failed {
		e.log.Warn("the receiver of --otlp does not accept what runs record; they continue, and it is lost meanwhile", "path", path, "error", err)
	} else {
		e.log.Info("the receiver of --otlp accepts what runs record again", "path", path)
	}
}

// spanExporter sends spans.
type spanExporter struct{ *exporter }

// ExportSpans implements [sdktrace.SpanExporter]. It returns no error: it has logged it.
func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	var batch [][]byte
	size := 0
	for i, s := range spans {
		encoded := span(s)
		batch, size = append(batch, encoded), size+len(encoded)
		if next := i + 1; next < len(spans) && size < maxRequest && spans[next].InstrumentationScope() == s.InstrumentationScope() {
			continue
		}
		rejected, err := e.send(ctx, "v1/traces", spansRequest(s.Resource(), s.InstrumentationScope(), batch))
		if err == nil {
			e.sent.Add(float64(int64(len(batch)) - rejected))
		}
		batch, size = nil, 0
	}
	return nil
}

// Shutdown implements [sdktrace.SpanExporter]. It is called once, last.
func (e spanExporter) Shutdown(context.Context) error {
	close(e.drained)
	return nil
}

// metricExporter sends metrics.
type metricExporter struct{ *exporter }

// Temporality implements [metric.Exporter].
func (metricExporter) Temporality(metric.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}

// Aggregation implements [metric.Exporter].
func (metricExporter) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(k)
}

// Export implements [metric.Exporter]. It returns no error: it has logged it.
func (e metricExporter) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	if len(all.ScopeMetrics) > 0 {
		_, _ = e.send(ctx, "v1/metrics", metricsRequest(all))
	}
	return nil
}

// ForceFlush implements [metric.Exporter].
func (metricExporter) ForceFlush(context.Context) error { return nil }

// Shutdown implements [metric.Exporter].
func (metricExporter) Shutdown(context.Context) error { return nil }

// newSpanID returns a random id.
func newSpanID() (id trace.SpanID) {
	for !id.IsValid() {
		for i := range id {
			id[i] = byte(rand.Uint32())
		}
	}
	return id
}
