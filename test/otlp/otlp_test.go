// Package otlp has a server send traces and metrics of runs to the receiver of the
// OpenTelemetry Collector, a program of others (receiver, which `make setup` builds). The
// models of the agents are played over the wire by aimock (../models/hosted.mjs).
package otlp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/otlp"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience ends a test that has failed anyway.
const patience = 40 * time.Second

// received is a request in OTLP's JSON, as far as the test reads it.
type received struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes attrs }
		ScopeSpans []struct{ Spans []span }
	}
	ResourceMetrics []struct {
		ScopeMetrics []struct {
			Metrics []struct {
				Name string
				Sum  struct {
					DataPoints []struct {
						AsInt      string
						Attributes attrs
					}
				}
				Histogram struct {
					DataPoints []struct {
						Count                           string
						Sum                             float64
						BucketCounts                    []string
						ExplicitBounds                  []float64
						StartTimeUnixNano, TimeUnixNano string
					}
				}
			}
		}
	}
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	Attributes                          attrs
	Status                              struct{ Code int }
	Links                               []struct {
		TraceID, SpanID string
		Flags           int
	}
}

type attrs []struct {
	Key   string
	Value struct{ StringValue, IntValue string }
}

func (a attrs) get(key string) string {
	for _, kv := range a {
		if kv.Key == key {
			return kv.Value.StringValue + kv.Value.IntValue
		}
	}
	return ""
}

// world is what the receiver has got, by the names of spans and metrics.
type world struct {
	spans    map[string][]span
	tokens   map[string]string // by agent
	buckets  int
	resource attrs
	text     strings.Builder
	run      shoal.Run
}

// ran has an agent with a sub-agent answer a message on a server, stops the server, and
// returns what the receiver has got by then.
func ran(t *testing.T, content bool) *world {
	t.Helper()
	var models struct{ URL string }
	stop, err := program.Serve("../models/hosted.mjs", &models)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stop() }()
	addr := program.FreeAddr(t)
	receiver := program.StartLines(t, program.Installed(t, ".cache/bin/otlp-receiver"), addr)
	receiver.Next(patience, new(struct{}))

	config := app.Config{
		Addr: "127.0.0.1:0", Data: t.TempDir(), Keys: func(string) string { return "" }, Node: "n1", Version: "7.7",
		OTLP: "http://" + addr, OTLPContent: content,
	}
	server, err := app.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	end := func() {
		if !stopped {
			stopped = true
			server.Stop()
		}
	}
	defer end()
	apptest.Script(t, server, "helper", "[]", "say A secret of the helper.")
	apptest.Host(t, server, "bot", `{"version":"1.0","agent":{"id":"bot","name":"Bot","system":"s"},
		"model":{"provider":"openai","name":"puppet","baseURL":"`+models.URL+`/v1"},
		"tools":[{"name":"ask","description":"Asks.","executionType":"ai-agent","execution":{"agentConfig":"helper"}}]}`)
	key, err := app.ReadAdminKey(config.Data)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(client.Options{URL: server.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	s := admin.Session(shoal.DefaultSession)
	if _, err := s.AddMember(t.Context(), app.Welcome, "bot"); err != nil {
		t.Fatal(err)
	}
	said := `A secret of Ann. [[{"name":"ask","args":{"prompt":"How?"}}]]`
	if _, err := s.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(said)}, Mentions: []shoal.EntityID{"bot"}}); err != nil {
		t.Fatal(err)
	}
	w := &world{spans: map[string][]span{}, tokens: map[string]string{}}
	for until := time.Now().Add(patience); !w.run.Status.Ended(); <-time.After(10 * time.Millisecond) {
		for w.run, err = range s.Runs(t.Context(), client.RunsOptions{Agent: "bot"}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if time.Now().After(until) {
			t.Fatalf("the run is %+v", w.run)
		}
	}
	end() // sends what is left
	_ = receiver.In.Close()
	for line := range receiver.Out {
		w.text.Write(line)
		var r received
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		w.add(r)
	}
	return w
}

func (w *world) add(r received) {
	for _, from := range r.ResourceSpans {
		w.resource = from.Resource.Attributes
		for _, scope := range from.ScopeSpans {
			for _, s := range scope.Spans {
				w.spans[s.Name] = append(w.spans[s.Name], s)
			}
		}
	}
	for _, from := range r.ResourceMetrics {
		for _, scope := range from.ScopeMetrics {
			for _, m := range scope.Metrics {
				for _, p := range m.Sum.DataPoints {
					if m.Name == "agent.usage.input_tokens" {
						w.tokens[p.Attributes.get("gen_ai.agent.name")] = p.AsInt
					}
				}
				for _, p := range m.Histogram.DataPoints {
					if m.Name == "gen_ai.client.operation.duration" && len(p.BucketCounts) == len(p.ExplicitBounds)+1 && p.Count != "0" {
						w.buckets++
					}
				}
			}
		}
	}
}

// A run is one trace in the receiver: the turn, its steps, the model calls in them, the tool
// calls, and the turn of a sub-agent below the call that it works for.
func TestATraceOfARun(t *testing.T) {
	w := ran(t, false)
	if w.run.Status != shoal.RunCompleted {
		t.Fatalf("the run is %+v", w.run)
	}
	one := func(name string) span {
		t.Helper()
		if len(w.spans[name]) != 1 {
			t.Fatalf("the receiver has %d spans %q in\n%s", len(w.spans[name]), name, w.text.String())
		}
		return w.spans[name][0]
	}
	turn, tool, sub := one("invoke_agent bot"), one("execute_tool ask"), one("invoke_agent helper")
	if turn.ParentSpanID != "" || sub.ParentSpanID != tool.SpanID {
		t.Errorf("the turn is below %q, the sub-agent's below %q, its call is %q", turn.ParentSpanID, sub.ParentSpanID, tool.SpanID)
	}
	chats, steps := w.spans["chat puppet"], w.spans["agent.step"]
	if len(chats) != 2 || len(steps) != 3 {
		t.Fatalf("%d model calls, %d steps", len(chats), len(steps))
	}
	for _, chat := range chats {
		if !slices.ContainsFunc(steps, func(s span) bool { return s.SpanID == chat.ParentSpanID && s.ParentSpanID == turn.SpanID }) {
			t.Errorf("the model call %+v is in no step of the turn", chat)
		}
		if chat.Kind != 3 || chat.Attributes.get("gen_ai.usage.input_tokens") != "300" || chat.Attributes.get("gen_ai.provider.name") != "openai" {
			t.Errorf("the model call is %+v", chat)
		}
	}
	want := otlp.Run{Session: shoal.DefaultSession, ID: w.run.ID}.TraceID()
	if w.run.TraceID != want {
		t.Errorf("the run says that its trace is %q", w.run.TraceID)
	}
	for name, spans := range w.spans {
		for _, s := range spans {
			if s.TraceID != want || s.Attributes.get("shoal.run.id") != string(w.run.ID) || s.Attributes.get("shoal.space.id") != string(app.Welcome) || s.Attributes.get("shoal.agent.id") != "bot" {
				t.Errorf("%s belongs to another run: %+v", name, s)
			}
		}
	}
	for key, value := range map[string]string{"service.name": "shoal", "service.version": "7.7", "service.instance.id": "n1"} {
		if got := w.resource.get(key); got != value {
			t.Errorf("%s = %q", key, got)
		}
	}
	if w.tokens["bot"] != "600" || w.buckets == 0 {
		t.Errorf("%s input tokens, %d series of durations", w.tokens["bot"], w.buckets)
	}
	if strings.Contains(w.text.String(), "A secret of") {
		t.Errorf("texts were sent:\n%s", w.text.String())
	}
}

// With --otlp-content the texts are in the spans.
func TestATraceWithTexts(t *testing.T) {
	w := ran(t, true)
	for _, text := range []string{"A secret of Ann", "A secret of the helper"} {
		if !strings.Contains(w.text.String(), text) {
			t.Errorf("%q was not sent:\n%s", text, w.text.String())
		}
	}
}
