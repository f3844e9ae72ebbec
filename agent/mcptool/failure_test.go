package mcptool_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/mcptool"
)

// A server that was restarted does not know the session any more: the call is
// made on a new one, once.
func TestCallAfterServerRestart(t *testing.T) {
	first, second := newShop(), newShop()
	url, replace := serve(t, first.sessions())
	c := connect(t, mcptool.Server{Name: "shop", URL: url})
	echo := find(t, c.Tools(), "echo")
	call(t, echo, `{"text":"a"}`)
	replace(second.sessions())
	for session := range first.server.Sessions() {
		session.Close()
	}
	if got := call(t, echo, `{"text":"b"}`); got.Text != "b" || first.calls.Load() != 1 || second.calls.Load() != 1 {
		t.Errorf("echo = %+v after %d and %d calls", got, first.calls.Load(), second.calls.Load())
	}
}

func TestDeadServerProcessIsRestarted(t *testing.T) {
	c := connect(t, process("server"))
	_, err := find(t, c.Tools(), "die").Call(t.Context(), agent.ToolCall{})
	if err == nil || !strings.Contains(err.Error(), "MCP server shop (stdio, ") {
		t.Errorf("err = %v", err)
	}
	if got := call(t, find(t, c.Tools(), "echo"), `{"text":"again"}`); got.Text != "again" {
		t.Errorf("echo = %+v", got)
	}
}

// A call that may have taken effect is made again only if that does no harm.
func TestOnlyIdempotentCallsAreRetried(t *testing.T) {
	for name, want := range map[string]int32{"look": 2, "echo": 1} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			inner := s.stateless()
			var cut atomic.Bool
			url, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				if bytes.Contains(body, []byte(`"tools/call"`)) && cut.CompareAndSwap(false, true) {
					inner.ServeHTTP(httptest.NewRecorder(), r) // the effect is there, the answer is not
					if err := hijack(w); err != nil {
						t.Error(err)
					}
					return
				}
				inner.ServeHTTP(w, r)
			}))
			c := connect(t, mcptool.Server{Name: "shop", URL: url})
			out, err := find(t, c.Tools(), name).Call(t.Context(), agent.ToolCall{Arguments: map[string]string{"look": "{}", "echo": `{"text":"x"}`}[name]})
			if got := s.calls.Load(); got != want {
				t.Errorf("%d calls at the server, want %d", got, want)
			}
			if (want == 2) != (err == nil) {
				t.Errorf("Call = %+v, %v", out, err)
			}
		})
	}
}

const secret = "very-secret-token"

func TestInvalidServers(t *testing.T) {
	answer := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		handler http.Handler
		want    string
	}{
		"unauthorized": {answer(401, "text/plain", "no "+secret), "answered 401 Unauthorized"},
		"broken":       {answer(500, "text/plain", "oops"), "answered 500 Internal Server Error"},
		"no such path": {http.NotFoundHandler(), "answered 404 Not Found"},
		"garbage":      {answer(200, "application/json", "{{{ "+secret), "failed: "},
		"web page":     {answer(200, "text/html", "<html>"), `answered with "text/html", which is not MCP`},
		"not MCP":      {answer(200, "application/json", `{"jsonrpc":"2.0","id":999,"result":{}}`), "did not answer in time"},
		"hanging": {http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the request is not noticed
			<-r.Context().Done()
		}), "did not answer in time"},
		"redirecting": {http.RedirectHandler("http://127.0.0.1:1/?key="+secret, http.StatusTemporaryRedirect), "cannot be reached: "},
	} {
		for _, transport := range []mcptool.Transport{mcptool.HTTP, mcptool.SSE} {
			t.Run(name+" "+string(transport), func(t *testing.T) {
				url, _ := serve(t, c.handler)
				_, err := mcptool.Connect(t.Context(), mcptool.Server{
					Name: "shop", URL: url + "/mcp?key=" + secret, Transport: transport,
					Headers: map[string]string{"Authorization": "Bearer " + secret}, Timeout: 500 * time.Millisecond,
				})
				place := "MCP server shop (" + string(transport) + ", " + strings.TrimPrefix(url, "http://") + ") "
				if err == nil || !strings.Contains(err.Error(), place) || strings.Contains(err.Error(), secret) {
					t.Fatalf("err = %v", err)
				}
				if transport == mcptool.HTTP && !strings.Contains(err.Error(), c.want) {
					t.Errorf("err = %v, want one with %q", err, c.want)
				}
			})
		}
	}
}

func TestUnreachableServers(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	failing := process("failing")
	failing.Env = append(failing.Env, "SHOP_KEY="+secret)
	deaf := process("deaf")
	deaf.Timeout = 300 * time.Millisecond
	for name, c := range map[string]struct {
		server mcptool.Server
		want   string
	}{
		"no listener": {mcptool.Server{Name: "shop", URL: gone.URL + "?key=" + secret}, "cannot be reached: "},
		"no program":  {mcptool.Server{Name: "shop", Command: []string{"shoal-no-such-program"}}, "executable file not found"},
		"exits":       {failing, "it wrote: cannot open the shop: key … is wrong"},
		"deaf":        {deaf, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mcptool.Connect(t.Context(), c.server)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("err = %v, want one with %q", err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mcptool.Connect(ctx, process("deaf")); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestConnectNamesTheWrongField(t *testing.T) {
	for want, server := range map[string]mcptool.Server{
		"Name":      {URL: "http://127.0.0.1"},
		"URL":       {Name: "s", URL: "ftp://host/" + secret},
		"Command":   {Name: "s", Command: []string{"x"}, URL: "http://127.0.0.1"},
		"Transport": {Name: "s", URL: "http://127.0.0.1", Transport: "pigeon"},
		"Timeout":   {Name: "s", URL: "http://127.0.0.1", Timeout: -1},
	} {
		_, err := mcptool.Connect(t.Context(), server)
		if agent.KindOf(err) != agent.ErrInvalidArgument || !strings.Contains(err.Error(), want+" ") || strings.Contains(err.Error(), secret) {
			t.Errorf("err = %v, want one about %s", err, want)
		}
	}
}

// What a server redirects to does not see the headers that are for the server.
func TestHeadersAreSentOnlyToTheServer(t *testing.T) {
	s := newShop()
	var elsewhere, here atomic.Pointer[http.Header]
	other, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		elsewhere.Store(&h)
		s.stateless().ServeHTTP(w, r)
	}))
	url, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		here.Store(&h)
		http.Redirect(w, r, other, http.StatusTemporaryRedirect)
	}))
	c := connect(t, mcptool.Server{Name: "shop", URL: url, Headers: map[string]string{"X-Key": secret}})
	if len(c.Tools()) == 0 || here.Load().Get("X-Key") != secret || elsewhere.Load().Get("X-Key") != "" {
		t.Errorf("headers here %v, elsewhere %v", *here.Load(), *elsewhere.Load())
	}
}

func TestServerProcessGetsMinimalEnvironment(t *testing.T) {
	t.Setenv("SHOAL_SECRET", secret)
	server := process("server")
	server.Env = append(server.Env, "SHOP=open")
	got := call(t, find(t, connect(t, server).Tools(), "env"), "").Text
	if strings.Contains(got, secret) || !strings.Contains(got, "SHOP=open") || (os.Getenv("PATH") != "" && !strings.Contains(got, "PATH=")) {
		t.Errorf("environment: %s", got)
	}
}
