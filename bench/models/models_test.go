package models

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// Every reader receives every delta: one that misses some would be the fastest.
func TestReadersReceiveEveryDelta(t *testing.T) {
	server := httptest.NewServer(playedHandler())
	defer server.Close()
	for _, p := range []played{{deltas: 50}, {tool: true, deltas: 50}} {
		overHTTP := source{p, server.URL + p.path(), server.Client()}
		memory := &http.Client{Transport: inMemory{p.stream(), played{deltas: 1}.stream()}}
		for where, from := range map[string]source{"over HTTP": overHTTP, "in memory": {p, "http://played/v1", memory}} {
			for _, r := range readers {
				read, err := r.open(from)
				if err == nil {
					err = read.readAll(t.Context(), p)
				}
				if err != nil {
					t.Errorf("%s of %s %s: %v", r.name, p.kind(), where, err)
				}
			}
		}
		model, err := recordOf(t.Context(), overHTTP)
		if err != nil {
			t.Fatal(err)
		}
		read, err := agentOn(model, p)
		if err == nil {
			err = read.readAll(t.Context(), p)
		}
		if err != nil {
			t.Errorf("%s of %s: %v", loopRow, p.kind(), err)
		}
	}
}

func TestMeasureReaderFailsOnMissedDelta(t *testing.T) {
	p := played{deltas: 50}
	lazy := reader(func(context.Context) (int, int, error) { return 49, p.bytes(), nil })
	if _, err := measureReader(t.Context(), p, 0, lazy); err == nil {
		t.Error("measureReader accepted 49 of 50 deltas, want an error")
	}
}

func TestServeOrders(t *testing.T) {
	var got []order
	var out strings.Builder
	orders := `{"tool":true,"path":"/v1/tool/3","deltas":3,"bytes":23,"seconds":0.5}` + "\n" + `{"path":"/v1/text/4","deltas":4,"bytes":20}` + "\n"
	err := serveOrders(strings.NewReader(orders), &out, func(o order) (reading, error) {
		got = append(got, o)
		return reading{Deltas: float64(o.Deltas)}, nil
	})
	if err != nil || !slices.Equal(got, []order{played{true, 3}.order(0.5), played{false, 4}.order(0)}) {
		t.Errorf("got orders %v, error %v", got, err)
	}
	answers := json.NewDecoder(strings.NewReader(out.String()))
	for _, want := range []float64{3, 4} {
		var found reading
		if err := answers.Decode(&found); err != nil || found.Deltas != want {
			t.Errorf("got reading %v, error %v, want %v deltas", found, err, want)
		}
	}
	if err := serveOrders(strings.NewReader(orders), io.Discard, func(order) (reading, error) { return reading{}, io.ErrUnexpectedEOF }); err == nil {
		t.Error("serveOrders returned nil after a failed order, want an error")
	}
}

func TestStreamingRuns(t *testing.T) {
	for _, name := range []string{paceRow, agentReader} {
		synctest.Test(t, func(t *testing.T) {
			c, err := newStreamingRuns(name)
			if err != nil {
				t.Fatal(err)
			}
			found, err := c.measure(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			if want := 10 * runsRate * runsWindow.Seconds(); found.Deltas < want-10 || found.Deltas > want+10 {
				t.Errorf("%s: %v deltas, want %v", name, found.Deltas, want)
			}
			if found.Goroutines != 10 || found.Left != 0 {
				t.Errorf("%s: %v goroutines for 10 runs, %v left", name, found.Goroutines, found.Left)
			}
		})
	}
}

// Leaked goroutines are counted.
func TestStreamingRunsCountLeakedGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := newStreamingRuns(paceRow)
		if err != nil {
			t.Fatal(err)
		}
		c.agent, err = agent.New(&c.model, agent.Options{Middleware: []agent.Middleware{{
			Name: "leak", AfterTurn: func(context.Context, agent.TurnFinished) {
				go func() { <-time.After(time.Minute) }()
			},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := c.measure(t.Context(), 2)
		if err != nil || found.Left != 2 {
			t.Errorf("%v goroutines left, %v; want 2", found.Left, err)
		}
		<-time.After(time.Minute) // until the leaked goroutines end
	})
}
