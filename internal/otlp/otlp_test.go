package otlp_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/otlp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output is a log that is written concurrently.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// sender is a Telemetry with what it logs and counts.
type sender struct {
	*otlp.Telemetry
	t   *testing.T
	log output
	set *metrics.Set
}

func start(t *testing.T, endpoint string) *sender {
	t.Helper()
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3") // three spans are sent at once, and together
	s := &sender{t: t, set: metrics.New()}
	var err error
	s.Telemetry, err = otlp.Start(otlp.Options{Endpoint: endpoint, Headers: map[string]string{"X-Key": "k"}, Version: "1", Node: "n", Log: slog.New(slog.NewTextHandler(&s.log, nil)), Metrics: s.set})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// turns records so many turns of a run.
func (s *sender) turns(n int) {
	o := s.Observer(otlp.Run{Session: "default", ID: "run_1", Space: "shop", Agent: "bot"})
	for range n {
		_, end := o.Start(s.t.Context(), agent.Operation{Kind: agent.OpTurn, Agent: "bot"})
		end(agent.OperationResult{Outcome: agent.Completed})
	}
}

// stop stops within d and fails if the counters are not these.
func (s *sender) stop(d time.Duration, counters ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	s.Stop(ctx)
	var text strings.Builder
	if err := s.set.Write(&text); err != nil {
		s.t.Fatal(err)
	}
	for _, line := range counters {
		if !strings.Contains(text.String(), "\n"+line+"\n") {
			s.t.Errorf("%q is not in\n%s", line, text.String())
		}
	}
}

// A receiver that takes connections and never answers holds up no run, and not the end of
// the server. It is logged once.
func TestASilentReceiver(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	s := start(t, "http://user:canary@"+l.Addr().String())
	s.turns(20_000) // would not return if one waited: nothing is ever sent
	s.stop(300*time.Millisecond, "shoal_otlp_spans_recorded_total 20000", "shoal_otlp_spans_sent_total 0")
	if log := s.log.String(); strings.Count(log, "path=v1/traces") != 1 || strings.Contains(log, "canary") {
		t.Errorf("the log is\n%s", log)
	}
}

// Answers of a receiver, one after the other, and what becomes of the spans.
func TestAnswersOfTheReceiver(t *testing.T) {
	type answer struct {
		status int
		body   string
	}
	for name, c := range map[string]struct {
		answers []answer // of the requests for traces; the last one repeats
		sent    string
		log     []string // levels
		asked   int      // requests for traces
	}{
		"accepted":           {[]answer{{200, ""}}, "3", nil, 1},
		"busy at first":      {[]answer{{503, ""}, {429, ""}, {200, ""}}, "3", nil, 3},
		"refused for good":   {[]answer{{401, "who?"}}, "0", []string{"WARN"}, 1},
		"moved":              {[]answer{{307, ""}}, "0", []string{"WARN"}, 1},
		"one is rejected":    {[]answer{{200, "\x0a\x02\x08\x01"}}, "2", nil, 1},
		"stopped meanwhile":  {[]answer{{503, ""}}, "0", []string{"WARN"}, 2}, // of which Stop brings one forward
		"an answer of noise": {[]answer{{200, "\xff\xff\xff"}}, "3", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			asked := 0
			done := make(chan struct{}, 10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if r.Header.Get("X-Key") != "k" || r.Header.Get("Content-Type") != "application/x-protobuf" {
					t.Errorf("the headers are %v", r.Header)
				}
				mu.Lock()
				defer mu.Unlock()
				if r.URL.Path != "/base/v1/traces" {
					return
				}
				a := c.answers[min(asked, len(c.answers)-1)]
				if asked++; asked >= len(c.answers) {
					defer func() { done <- struct{}{} }()
				}
				w.Header().Set("Location", "/elsewhere")
				if name == "stopped meanwhile" {
					w.Header().Set("Retry-After", "9")
				}
				w.WriteHeader(a.status)
				_, _ = io.WriteString(w, a.body)
			}))
			defer server.Close()
			s := start(t, server.URL+"/base/")
			s.turns(3)
			<-done // Stop ends the retries
			s.stop(10*time.Second, "shoal_otlp_spans_sent_total "+c.sent)
			if asked != c.asked {
				t.Errorf("%d requests", asked)
			}
			log := s.log.String()
			if n := strings.Count(log, "level="); n != len(c.log) {
				t.Errorf("%d lines were logged:\n%s", n, log)
			}
			for _, level := range c.log {
				if strings.Count(log, "level="+level) != 1 {
					t.Errorf("the log is\n%s", log)
				}
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"api-key=a%20b,x = y":     "api-key:a b x:y",
		"Authorization=Basic%20 ": "Authorization:Basic ",
		"secret":                  "wrong",
		"a=%zz":                   "wrong",
		"=b":                      "wrong",
	} {
		headers, err := otlp.ParseHeaders(text)
		var got []string
		for _, name := range []string{"Authorization", "api-key", "x"} {
			if value, ok := headers[name]; ok {
				got = append(got, name+":"+value)
			}
		}
		if err != nil {
			got = []string{"wrong"}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error has the text: %v", err)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for endpoint, good := range map[string]bool{
		"http://127.0.0.1:4318": true, "https://otlp.example.com/otlp": true, "https://u:p@otlp.example.com": true,
		"127.0.0.1:4318": false, "grpc://127.0.0.1:4317": false, "http://": false, "http://x/?a=b": false, "": false,
	} {
		if _, err := otlp.CheckEndpoint(endpoint); (err == nil) != good {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
