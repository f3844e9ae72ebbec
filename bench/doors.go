package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

// door is a protocol for chat clients: a request starts a run, and its response is the stream.
type door struct {
	row  string
	path func(session, space string) string
	body func(agent string) map[string]any
	// space names the space in a header, for a protocol whose path does not.
	space bool
}

// doors are the protocols that are measured beside the event stream of the space.
var doors = []door{
	{
		row:  "Shoal AG-UI",
		path: func(session, space string) string { return "/agui/" + session + "/" + space },
		body: func(agent string) map[string]any {
			message := map[string]any{"id": "m", "role": "user", "content": "Go on."}
			return map[string]any{"threadId": "t", "runId": "r", "messages": []any{message}, "forwardedProps": map[string]any{"mentions": []string{agent}}}
		},
	},
	{
		row:  "Shoal AI SDK",
		path: func(session, space string) string { return "/ai-sdk/" + session + "/" + space },
		body: func(agent string) map[string]any {
			parts := []any{map[string]any{"type": "text", "text": "Go on."}}
			return map[string]any{"messages": []any{map[string]any{"id": "m", "role": "user", "parts": parts}}, "mentions": []string{agent}}
		},
	},
	{
		row:  "Shoal OpenAI",
		path: func(string, string) string { return "/openai/v1/chat/completions" },
		body: func(agent string) map[string]any {
			return map[string]any{"model": agent, "stream": true, "messages": []any{map[string]any{"role": "user", "content": "Go on."}}}
		},
		space: true,
	},
}

// findDoor returns the door of a row, nil if the row is not one.
func findDoor(row string) *door {
	for i := range doors {
		if doors[i].row == row {
			return &doors[i]
		}
	}
	return nil
}

// doorConnector returns the function that starts the run of the i-th hosted agent over a door, as a0.
func (s *restSide) doorConnector(d *door) func(net.Conn, int) error {
	return func(c net.Conn, i int) error {
		space := string(hostedSpace(i))
		body, err := json.Marshal(d.body(fmt.Sprintf("hosted-%d", i)))
		if err != nil {
			return err
		}
		header := load.Header(s.Keys[0])
		if d.space {
			header.Set("X-Shoal-Space", space)
		}
		return request(c, http.MethodPost, d.path(string(s.ID), space), header, body)
	}
}

// doorGates limits what a delta costs over a door to a multiple of what it costs on the event stream of the
// space.
func (r *run) doorGates(t *report.Table) {
	for _, d := range doors {
		r.Report.AtMost(1.5, "× event stream", t.Ratio(report.CPUMicros, d.row, restRow), t.Title+", CPU of a delta over "+d.row)
	}
}
