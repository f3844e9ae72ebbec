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
	t := r.report.add(&table{
		title: fmt.Sprintf("A delta from the model to a reader's stream, %d runs at %d/s", relayRuns, relayRate),
		note: "The model is simulated by a process of its own; each delta carries the time at which it was sent. The floor reads each chunk and writes its delta as an event. " +
			"Shoal's row is a run of a hosted agent that writes into a space: composed, checked, with offsets, drafts stored. Added is the time beyond reading the model directly. " + aiVersions(ctx) + ".",
		ratios: []ratio{{addedP50, relayRow, "added ÷ floor"}, {cpuCol, relayRow, "CPU ÷ floor"}, {cpuCol, aiServerRow, "CPU ÷ AI SDK"}},
		shown:  []string{addedP50, p50, p99, cpuCol},
	})
	for range r.rounds {
		for _, row := range []string{modelRow, relayRow, restRow, aiServerRow} {
			if err := r.relayRound(ctx, t, row); err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
		}
	}
	r.report.atMost(3, "× floor", t.ratio(addedP50, restRow, relayRow), t.title+", added p50").withTarget(1.5)
	r.report.atMost(0.5, "× AI SDK", t.ratio(cpuCol, restRow, aiServerRow), t.title+", CPU of a delta").withTarget(0.3)
	return nil
}

// relayRound runs a round of one row with processes of its own.
func (r *run) relayRound(ctx context.Context, t *table, name string) error {
	model, err := r.startPlayedModel(ctx)
	if err != nil {
		return err
	}
	defer model.stop()
	f, err := r.relayFan(ctx, name, model)
	if errors.Is(err, errNoNode) {
		r.log.Print(err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() {
		if f.process() != model {
			f.process().stop()
		}
		f.Close()
	}()
	for i := range relayRuns {
		if err := f.follow(i); err != nil {
			return err
		}
	}
	if s, ours := f.side.(*restSide); ours {
		if err := s.trigger(ctx, relayRuns); err != nil {
			return err
		}
	}
	load.Pause(ctx, time.Second) // until all of them stream
	f.Forget()
	before := cpu(f.process().pid())
	load.Pause(ctx, relayWindow)
	used := cpu(f.process().pid()) - before
	took := f.Took()
	if least := 0.95 * relayRuns * relayRate * relayWindow.Seconds(); float64(len(took)) < least {
		return fmt.Errorf("got %d deltas, want at least %.0f", len(took), least)
	}
	row := t.row(name)
	row.add(p50, load.Percentile(took, 50))
	row.add(p99, load.Percentile(took, 99))
	row.cpu, row.ops = row.cpu+used, row.ops+float64(len(took))
	if direct := t.row(modelRow).rounds[p50]; name != modelRow {
		row.add(addedP50, load.Percentile(took, 50)-direct[len(direct)-1])
	}
	return ctx.Err()
}

// relayFan starts the server of a row and returns it with the way its readers connect.
func (r *run) relayFan(ctx context.Context, name string, model *process) (*fan, error) {
	get := func(c net.Conn, _ int) error { return request(c, http.MethodGet, "/stream", http.Header{}, nil) }
	floor := func(p *process) *fan { return &fan{side: newFloorSide(p), Readers: new(load.Readers), connect: get} }
	switch name {
	case modelRow:
		return &fan{side: newFloorSide(model), Readers: new(load.Readers), connect: func(c net.Conn, _ int) error {
			return request(c, http.MethodPost, pacedPath(plainText), http.Header{"Content-Type": {"application/json"}}, []byte(`{}`))
		}}, nil
	case relayRow:
		p, err := startProcess(ctx, r.self, "relay", "-addr", "ADDR", "-model", model.url())
		if err != nil {
			return nil, err
		}
		return floor(p), nil
	case aiServerRow:
		node, err := installNode(ctx, aiDir)
		if err != nil {
			return nil, err
		}
		p, err := startProcess(ctx, node, filepath.Join(aiDir, "server.mjs"), "ADDR", model.url()+strings.TrimSuffix(pacedPath(plainText), "/chat/completions"))
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
	f := &fan{side: s, Readers: new(load.Readers)}
	if err = s.open(ctx, 1); err == nil {
		f.connect, err = s.readerConnector(ctx, relayRuns, hostedSpace)
	}
	if err == nil {
		err = s.createHostedAgents(ctx, model.url(), relayRuns, relayRate)
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
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) { relayStream(w, r, *model+pacedPath(plainText)) })
	return serve(ctx, *addr, mux)
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
