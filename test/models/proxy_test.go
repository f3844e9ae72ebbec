package models_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// proxy connects one agent with aimock. It passes every request on and
// every answer back, except that the fault of an attempt may change either. It
// counts the attempts and keeps what was asked.
type proxy struct {
	URL    string
	test   string // how aimock's journal calls this proxy
	client *http.Client

	mu     sync.Mutex
	asked  []asked
	faults []fault // of the attempts to come, in order
	rest   fault   // of all attempts after those
	paused bool    // nothing goes wrong
}

// asked is a request as the agent sent it.
type asked struct {
	path string
	body []byte
	at   time.Time
}

// fault is what goes wrong with one attempt. The zero value is: nothing.
type fault struct {
	name string
	// ask changes the request to aimock.
	ask func(http.Header)
	// answer puts something else in the place of aimock's answer; it is done when
	// it returns.
	answer func(w http.ResponseWriter, r *http.Request, a answered)
}

// answered is aimock's answer, as far as it came.
type answered struct {
	status int
	header http.Header
	body   []byte
	cut    bool // aimock broke off
}

// newProxy starts a proxy whose attempts have these faults, and all later ones
// the last argument's.
func newProxy(t *testing.T, faults []fault, rest fault) *proxy {
	t.Helper()
	p := &proxy{test: t.Name(), faults: faults, rest: rest, client: &http.Client{Transport: &http.Transport{}}}
	server := httptest.NewServer(p)
	t.Cleanup(func() {
		server.CloseClientConnections() // of an answer that never ends
		server.Close()
		p.client.CloseIdleConnections()
	})
	p.URL = server.URL
	return p
}

// attempts returns what was asked so far.
func (p *proxy) attempts() []asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[:len(p.asked):len(p.asked)]
}

func (p *proxy) admit(r *http.Request, body []byte) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, asked{path: r.URL.Path, body: body, at: time.Now()})
	switch {
	case p.paused:
		return fault{}
	case len(p.faults) == 0:
		return p.rest
	}
	f := p.faults[0]
	p.faults = p.faults[1:]
	return f
}

// pause stops the faults, or lets them go on.
func (p *proxy) pause(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = on
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent went away
	}
	f := p.admit(r, body)
	a, err := p.forward(r, body, f)
	switch {
	case err != nil && r.Context().Err() != nil:
	case err != nil:
		panic(http.ErrAbortHandler) // aimock hung up: so does the proxy
	case f.answer != nil:
		f.answer(w, r, a)
	default:
		relay(w, a)
	}
}

// forward asks aimock. An answer that aimock cuts short is not an error.
func (p *proxy) forward(r *http.Request, body []byte, f fault) (answered, error) {
	to := *r.URL
	to.Scheme, to.Host = aimock.Scheme, aimock.Host
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to.String(), bytes.NewReader(body))
	if err != nil {
		return answered{}, err
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding")
	req.Header.Set("X-Test-Id", p.test)
	req.Header.Set("X-AIMock-Strict", "true") // check the thoughts that go back
	if f.ask != nil {
		f.ask(req.Header)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer resp.Body.Close()
	a := answered{status: resp.StatusCode, header: resp.Header.Clone()}
	a.header.Del("Content-Length")
	a.body, err = io.ReadAll(resp.Body)
	a.cut = errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !a.cut {
		return answered{}, err
	}
	return a, nil
}

// begin sends status and headers.
func begin(w http.ResponseWriter, a answered) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	flush(w)
}

func flush(w http.ResponseWriter) {
	// A writer that cannot flush would be a mistake of this file: httptest's can.
	if err := http.NewResponseController(w).Flush(); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// send writes bytes in pieces, so that the agent sees events come in parts and
// several at once.
func send(w http.ResponseWriter, body []byte) {
	size := max(97, len(body)/200)
	for len(body) > 0 {
		n := min(size, len(body))
		if _, err := w.Write(body[:n]); err != nil {
			panic(http.ErrAbortHandler) // the agent hung up
		}
		flush(w)
		body = body[n:]
	}
}

// relay sends an answer as it is.
func relay(w http.ResponseWriter, a answered) {
	begin(w, a)
	send(w, a.body)
	if a.cut {
		panic(http.ErrAbortHandler)
	}
}

// The faults that aimock has of its own.

func chaos(kind string) fault {
	return fault{name: "aimock's " + kind, ask: func(h http.Header) { h.Set("X-AIMock-Chaos-"+kind, "1") }}
}

func late(d time.Duration) fault {
	return fault{name: "no first byte", ask: func(h http.Header) {
		h.Set("X-AIMock-Chaos-Latency", strconv.FormatInt(d.Milliseconds(), 10))
	}}
}

// vendorSays has aimock answer with one of the errors of server.mjs.
func vendorSays(what string) fault {
	return fault{name: what, ask: func(h http.Header) { h.Set("X-AIMock-Context", what) }}
}

// retryAfter sets the header of an answer that f asks for; empty takes it away.
func retryAfter(f fault, value string) fault {
	f.name += ", Retry-After " + strconv.Quote(value)
	f.answer = func(w http.ResponseWriter, _ *http.Request, a answered) {
		a.header.Del("Retry-After")
		if value != "" {
			a.header.Set("Retry-After", value)
		}
		relay(w, a)
	}
	return f
}

// The faults that it takes bytes to make.

func bytesFault(name string, answer func(w http.ResponseWriter, r *http.Request, a answered)) fault {
	return fault{name: name, answer: answer}
}

// cutAt ends the connection in the middle of the answer, after a share of it.
func cutAt(share float64) fault {
	return bytesFault("cut", func(w http.ResponseWriter, _ *http.Request, a answered) {
		a.body, a.cut = a.body[:int(share*float64(len(a.body)))], true
		relay(w, a)
	})
}

// endAt ends the answer there as if it were whole.
func endAt(share float64) fault {
	return bytesFault("ended early", func(w http.ResponseWriter, _ *http.Request, a answered) {
		a.body = a.body[:int(share*float64(len(a.body)))]
		relay(w, a)
	})
}

// garbled breaks the JSON of an event in the middle of the answer.
func garbled() fault {
	return bytesFault("garbled", func(w http.ResponseWriter, _ *http.Request, a answered) {
		at := len(a.body) / 2
		if next := bytes.Index(a.body[at:], []byte(`data: {`)); next >= 0 {
			at += next
		} else {
			at = bytes.LastIndex(a.body, []byte(`data: {`))
		}
		a.body = bytes.Join([][]byte{a.body[:at], []byte(`data: {"`), a.body[at+len(`data: {`):]}, nil)
		relay(w, a)
	})
}

// asPage answers as the proxy of a hotel does.
func asPage() fault {
	return bytesFault("a page", func(w http.ResponseWriter, _ *http.Request, a answered) {
		a.header.Set("Content-Type", "text/html; charset=utf-8")
		a.body = []byte("<!DOCTYPE html><title>Welcome</title><p>Please accept our terms of use.</p>\n")
		relay(w, a)
	})
}

// emptied answers 200 and nothing.
func emptied() fault {
	return bytesFault("empty", func(w http.ResponseWriter, _ *http.Request, a answered) {
		a.body = nil
		relay(w, a)
	})
}

// stallAt says nothing more after a share of the answer, and holds the line.
func stallAt(share float64) fault {
	return bytesFault("stall", func(w http.ResponseWriter, r *http.Request, a answered) {
		begin(w, a)
		send(w, a.body[:int(share*float64(len(a.body)))])
		<-r.Context().Done()
	})
}

// endless repeats a piece of text from the middle of the answer until the agent
// hangs up.
func endless() fault {
	return bytesFault("endless", func(w http.ResponseWriter, _ *http.Request, a answered) {
		begin(w, a)
		at := len(a.body) / 2
		from := at + bytes.Index(a.body[at:], []byte("\n\n")) + 2
		to := from + bytes.Index(a.body[from:], []byte("\n\n")) + 2
		send(w, a.body[:to])
		for {
			send(w, bytes.Repeat(a.body[from:to], 100))
		}
	})
}

// rewritten puts other bytes where aimock's differ from the vendor's: pairs of
// old and new. Without pairs nothing is wrong.
func rewritten(pairs ...string) fault {
	if len(pairs) == 0 {
		return fault{}
	}
	return bytesFault("rewritten", func(w http.ResponseWriter, _ *http.Request, a answered) {
		for i := 0; i < len(pairs); i += 2 {
			if !bytes.Contains(a.body, []byte(pairs[i])) {
				http.Error(w, "aimock's answer holds no "+pairs[i], http.StatusTeapot)
				return
			}
			a.body = bytes.ReplaceAll(a.body, []byte(pairs[i]), []byte(pairs[i+1]))
		}
		relay(w, a)
	})
}
