// Package mock is the model of the comparison: a server on a local port that speaks two wires of
// OpenAI, chat completions and responses. What it answers is decided by a question's first word,
// the results of tools that the request has, and how often it was asked the same.
package mock

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Call is a call of a tool.
type Call struct{ ID, Name, Arguments string }

// Answer is what the model says in one response.
type Answer struct {
	Status int      // with another one than 0 nothing but an error
	Deltas []string // of text
	Calls  []Call
	Cut    bool // the connection ends before the response does
}

// Result is the result of a tool call in a request.
type Result struct{ ID, Text string }

// Request is what the model was sent.
type Request struct {
	Question string
	Results  []Result
	// Closed is set if the model may call no tool.
	Closed bool
	// Attempt counts the requests with the same question and number of results, from 0.
	Attempt int
}

// Server is the model. It is safe for concurrent use.
type Server struct {
	// URL is the base URL of both wires.
	URL    string
	server *httptest.Server

	mu       sync.Mutex
	answer   func(Request) Answer
	requests []Request
}

// Start starts a model, which Close stops.
func Start(answer func(Request) Answer) *Server {
	s := &Server{answer: answer}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.handle(chat{}))
	mux.HandleFunc("POST /v1/responses", s.handle(responses{}))
	s.server = httptest.NewServer(mux)
	s.URL = s.server.URL + "/v1"
	return s
}

// Close stops the model.
func (s *Server) Close() { s.server.Close() }

// Take returns the requests since it was called last, and forgets them.
func (s *Server) Take() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

// wire is one of OpenAI's.
type wire interface {
	parse(body []byte) (Request, error)
	write(w io.Writer, a Answer)
}

func (s *Server) handle(on wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		req, err := on.parse(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a := s.receive(req)
		if a.Status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(a.Status)
			_, _ = io.WriteString(w, `{"error":{"message":"Rate limit reached.","type":"requests","code":"rate_limit_exceeded"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		on.write(w, a)
		if a.Cut {
			_ = http.NewResponseController(w).Flush() // panics below if it fails
			panic(http.ErrAbortHandler)
		}
	}
}

func (s *Server) receive(req Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, before := range s.requests {
		if before.Question == req.Question && len(before.Results) == len(req.Results) {
			req.Attempt++
		}
	}
	s.requests = append(s.requests, req)
	return s.answer(req)
}

// quoted returns a value as JSON.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}

// plain returns the text of content, which is a string or a list of parts.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	var all strings.Builder
	for _, p := range parts {
		all.WriteString(p.Text)
	}
	return all.String()
}

type chat struct{}

func (chat) parse(body []byte) (r Request, err error) {
	var in struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
			ID      string `json:"tool_call_id"`
		}
		Choice json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	r.Closed = string(in.Choice) == `"none"`
	for _, m := range in.Messages {
		switch {
		case m.Role == "tool":
			r.Results = append(r.Results, Result{m.ID, plain(m.Content)})
		case m.Role == "user" && r.Question == "":
			r.Question = plain(m.Content)
		}
	}
	return r, nil
}

func (chat) write(w io.Writer, a Answer) {
	chunk := func(delta, finish string) {
		_, _ = fmt.Fprintf(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"played",`+
			`"system_fingerprint":"fp_1","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null}`+"\n\n", delta, finish)
	}
	chunk(`{"role":"assistant","content":""}`, "null")
	for _, d := range a.Deltas {
		chunk(`{"content":`+quoted(d)+`}`, "null")
	}
	for i, c := range a.Calls {
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, i, quoted(c.ID), quoted(c.Name)), "null")
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quoted(c.Arguments)), "null")
	}
	if a.Cut {
		return
	}
	finish := `"stop"`
	if len(a.Calls) > 0 {
		finish = `"tool_calls"`
	}
	chunk(`{}`, finish)
	_, _ = io.WriteString(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"played","choices":[],`+
		`"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`+"\n\ndata: [DONE]\n\n")
}
