package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// standIn is a server with scripted responses, for what a real server rarely returns: a
// refusal, a late answer, a failed run. Its lines are
//
//	METHOD PATH STATUS BODY
//	METHOD PATH stream FILE
//
// where a path without /v1 is relative to the session default, and FILE contains events as
// lines TYPE DATA. Lines with the same method and path are responses in this order; the last
// one repeats. The requests are recorded in the file asked.
type standIn struct {
	script *testscript.TestScript
	mu     sync.Mutex
	lines  map[string][]string
	asked  strings.Builder
}

func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers FILE")
	}
	s := &standIn{script: ts, lines: map[string][]string{"GET /v1/me": {`200 {"role":"admin"}`}}}
	for _, l := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		cells := strings.SplitN(l, " ", 3)
		if len(cells) != 3 {
			ts.Fatalf("%q is not METHOD PATH STATUS BODY", l)
		}
		if !strings.HasPrefix(cells[1], "/v1") {
			cells[1] = "/v1/sessions/default" + cells[1]
		}
		key := cells[0] + " " + cells[1]
		s.lines[key] = append(s.lines[key], cells[2])
	}
	server := httptest.NewServer(s)
	ts.Defer(server.Close)
	ts.Setenv("SHOAL_URL", server.URL)
	ts.Setenv("SHOAL_KEY", "shoal_test")
}

// ServeHTTP writes the next response.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	query := r.URL.Query()
	query.Del("limit")
	at := r.URL.Path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	answer := s.next(r.Method+" "+at, string(body))
	status, rest, _ := strings.Cut(answer, " ")
	if status == "stream" {
		s.stream(w, r, rest)
		return
	}
	code := 404
	if _, err := fmt.Sscan(status, &code); err != nil {
		rest = `{"code":"not_found","detail":"Not found."}`
	}
	media := "application/json"
	if code/100 != 2 {
		media = "application/problem+json"
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(code)
	_, _ = io.WriteString(w, rest)
}

func (s *standIn) next(key, body string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.asked, "%s %s\n", strings.Replace(key, "/v1/sessions/default", "", 1), strings.TrimSpace(body))
	_ = os.WriteFile(s.script.MkAbs("asked"), []byte(s.asked.String()), 0o600)
	left := s.lines[key]
	if len(left) == 0 {
		return ""
	}
	if len(left) > 1 {
		s.lines[key] = left[1:]
	}
	return left[0]
}

// stream sends the events of a file and keeps the connection open.
func (s *standIn) stream(w http.ResponseWriter, r *http.Request, file string) {
	w.Header().Set("Content-Type", "text/event-stream")
	text, _ := os.ReadFile(s.script.MkAbs(file))
	for i, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, data, _ := strings.Cut(l, " ")
		_, _ = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", i+1, name, data)
	}
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
