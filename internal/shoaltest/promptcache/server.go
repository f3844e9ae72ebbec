package promptcache

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Answer is what the model says. With Tool it is a call of that tool, with Arguments.
type Answer struct {
	Text            string
	Tool, Arguments string
}

// Request is what the server received and how it counted.
type Request struct {
	Model string
	// Segments are the pieces that the cache compares, in its order, as JSON without marks: the
	// tools, the system text, and what follows. Texts are the texts of the pieces after the
	// tools; of calls and results of tools they are empty.
	Segments, Texts []string
	// Results is how many results of tools the request has.
	Results int
	// Tokens is the size of the whole prompt, and Cached how much of it was read from the cache.
	Tokens, Cached int64

	marks []int // indices of segments with a cache_control mark
}

// Server is the provider. It is safe for concurrent use.
type Server struct {
	// URL is the beginning of the addresses: OpenAI's are below /v1, the others expect it as it is.
	URL string
	// Client reaches the server. Its connections end with the test.
	Client *http.Client

	mu       sync.Mutex
	answer   func(Request) Answer
	caches   map[string]*cache // by model and wire
	requests []Request
}

// Start starts a server that the end of the test stops. answer is called for one request at a
// time.
func Start(t testing.TB, answer func(Request) Answer) *Server {
	t.Helper()
	s := &Server{answer: answer, caches: map[string]*cache{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.handle(openAI{}))
	mux.HandleFunc("POST /v1/messages", s.handle(anthropic{}))
	mux.HandleFunc("POST /v1beta/models/{call}", s.handle(google{}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.URL, s.Client = server.URL, server.Client()
	return s
}

// Requests returns what was received so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Forget empties the caches and the list of requests.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches, s.requests = map[string]*cache{}, nil
}

// protocol is a vendor's wire, with the rules of its cache.
type protocol interface {
	// parse returns the request in the order of the cache.
	parse(path string, body []byte) (Request, error)
	// rules are those of the vendor's cache.
	rules() rules
	// write writes an answer as server-sent events.
	write(w io.Writer, a Answer, r Request)
}

func (s *Server) handle(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			var req Request
			if req, err = p.parse(r.PathValue("call"), body); err == nil {
				a := s.receive(p, r.URL.Path, &req)
				w.Header().Set("Content-Type", "text/event-stream")
				p.write(w, a, req)
				return
			}
		}
		http.Error(w, `{"error":{"message":"`+strings.ReplaceAll(err.Error(), `"`, `'`)+`"}}`, http.StatusBadRequest)
	}
}

// receive counts a request and returns the answer to it.
func (s *Server) receive(p protocol, path string, req *Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := path + " " + req.Model
	if s.caches[key] == nil {
		s.caches[key] = &cache{rules: p.rules(), known: map[[32]byte]bool{}}
	}
	s.caches[key].count(req)
	s.requests = append(s.requests, *req)
	return s.answer(*req)
}
