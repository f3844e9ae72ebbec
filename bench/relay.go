package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/models"
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	relayRuns   = 20
	relayRate   = 50 // deltas/s of each
	relayWindow = 3 * time.Second

	modelRow    = "the model alone"
	relayRow    = "floor (net/http, encoding/json)"
	aiServerRow = "Vercel AI SDK, streamText to a UI stream"

	addedP50 = "added p50 µs"
)

// relays measures servers between a model and the reader of a stream: the time from the
// moment at which the model sends a delta until the reader receives it.
func (r *run) relays(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("A delta from the model to a reader's stream, %d runs at %d/s", relayRuns, relayRate),
		Note: "The model is simulated by a process of its own; each delta carries the time at which it was sent. The floor reads each chunk and writes its delta as an event. " +
			"Shoal's row is a run of a hosted agent that writes into a space: composed, checked, with offsets, drafts stored; the rows of other protocols are the same run, whose reader has started it over that protocol. Added is the time beyond reading the model directly. " + models.Versions(ctx) + ".",
		Ratios: []report.Ratio{{Metric: addedP50, Base: relayRow, Heading: "added ÷ floor"}, {Metric: report.CPUMicros, Base: relayRow, Heading: "CPU ÷ floor"}, {Metric: report.CPUMicros, Base: aiServerRow, Heading: "CPU ÷ AI SDK"}, {Metric: report.CPUMicros, Base: restRow, Heading: "CPU ÷ REST"}},
		Shown:  []string{addedP50, report.P50, report.P99, report.CPUMicros},
	})
	rows := []string{modelRow, relayRow, restRow, aiServerRow}
	for _, d := range doors {
		rows = append(rows, d.row)
	}
	for range r.Rounds {
		for _, row := range rows {
			if err := r.relayRound(ctx, t, row); err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
		}
	}
	r.Report.AtMost(3, "× floor", t.Ratio(addedP50, restRow, relayRow), t.Title+", added p50").WithTarget(1.5)
	r.Report.AtMost(0.5, "× AI SDK", t.Ratio(report.CPUMicros, restRow, aiServerRow), t.Title+", CPU of a delta").WithTarget(0.3)
	r.doorGates(t)
	return nil
}

// relayRound runs a round of one row with processes of its own.
func (r *run) relayRound(ctx context.Context, t *report.Table, name string) error {
	model, err := models.StartModel(ctx, r.Self)
	if err != nil {
		return err
	}
	defer model.Stop()
	f, err := r.relayFan(ctx, name, model)
	if errors.Is(err, process.ErrNoNode) {
		r.Log.Print(err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() {
		if f.Process() != model {
			f.Process().Stop()
		}
		f.Close()
	}()
	for i := range relayRuns {
		if err := f.follow(i); err != nil {
			return err
		}
	}
	if s, ours := f.Side.(*restSide); ours && findDoor(name) == nil {
		if err := s.trigger(ctx, relayRuns); err != nil {
			return err
		}
	}
	load.Pause(ctx, time.Second) // until all of them stream
	f.Forget()
	before := process.CPU(f.Process().PID())
	load.Pause(ctx, relayWindow)
	used := process.CPU(f.Process().PID()) - before
	took := f.Took()
	if least := 0.95 * relayRuns * relayRate * relayWindow.Seconds(); float64(len(took)) < least {
		return fmt.Errorf("got %d deltas, want at least %.0f", len(took), least)
	}
	row := t.Row(name)
	row.AddLatencies(took)
	row.AddCPU(used, float64(len(took)))
	if direct := t.Row(modelRow).Rounds[report.P50]; name != modelRow {
		row.Add(addedP50, load.Percentile(took, 50)-direct[len(direct)-1])
	}
	return ctx.Err()
}

// relayFan starts the server of a row and returns it with the way its readers connect.
func (r *run) relayFan(ctx context.Context, name string, model *process.Process) (*fan, error) {
	get := func(c net.Conn, _ int) error { return request(c, http.MethodGet, "/stream", http.Header{}, nil) }
	floor := func(p *process.Process) *fan {
		return &fan{Side: peer.NewFloor(p), Readers: new(load.Readers), connect: get}
	}
	switch name {
	case modelRow:
		return &fan{Side: peer.NewFloor(model), Readers: new(load.Readers), connect: func(c net.Conn, _ int) error {
			return request(c, http.MethodPost, pacedPath(models.PlainText), http.Header{"Content-Type": {"application/json"}}, []byte(`{}`))
		}}, nil
	case relayRow:
		p, err := process.Start(ctx, r.Self, "relay", "-addr", "ADDR", "-model", model.URL())
		if err != nil {
			return nil, err
		}
		return floor(p), nil
	case aiServerRow:
		node, err := process.InstallNode(ctx, models.NodeDir)
		if err != nil {
			return nil, err
		}
		p, err := process.Start(ctx, node, filepath.Join(models.NodeDir, "server.mjs"), "ADDR", model.URL()+strings.TrimSuffix(pacedPath(models.PlainText), "/chat/completions"))
		if err != nil {
			return nil, err
		}
		return floor(p), nil
	}
	p, err := r.startNewShoal(ctx)
	if err != nil {
		return nil, err
	}
	s := &restSide{server: p}
	f := &fan{Side: s, Readers: new(load.Readers)}
	if err = s.Prepare(ctx, 1); err == nil {
		if d := findDoor(name); d != nil {
			f.connect = s.doorConnector(d)
		} else {
			f.connect, err = s.readerConnector(ctx, relayRuns, hostedSpace)
		}
	}
	if err == nil {
		err = s.createHostedAgents(ctx, model.URL(), relayRuns, relayRate)
	}
	return f, err
}

func pacedPath(space string) string {
	return fmt.Sprintf("/v1/paced/%d/%s/chat/completions", relayRate, space)
}

// serveRelay runs the floor of a relay:
//
//	GET /readyz
//	GET /stream   calls the model and sends each delta as an event
func serveRelay(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("relay", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "the `address` to listen on")
	model := flags.String("model", "", "the `URL` of the model")
	if err := flags.Parse(args); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) { relayStream(w, r, *model+pacedPath(models.PlainText)) })
	return driver.Serve(ctx, *addr, mux)
}

func relayStream(w http.ResponseWriter, r *http.Request, url string) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, url, strings.NewReader(`{}`))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	_ = flush() // a disconnected client is detected below
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if json.Unmarshal(data, &chunk) != nil || len(chunk.Choices) == 0 {
			continue
		}
		event, err := json.Marshal(map[string]string{"type": "text-delta", "delta": chunk.Choices[0].Delta.Content})
		if err == nil {
			_, err = fmt.Fprintf(w, "event: text-delta\ndata: %s\n\n", event)
		}
		if err != nil || flush() != nil {
			return
		}
	}
}
