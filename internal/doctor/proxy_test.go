package doctor_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/doctor"
)

func TestAnotherVersionAndAnotherClock(t *testing.T) {
	w := newWorld(t)
	w.o.Version = "2.0.0"
	w.expect("version", doctor.Warn, "the server is 1.2.3, this command line 2.0.0")
	w.through(func(res *http.Response) error {
		res.Header.Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		return nil
	})
	w.expect("clock", doctor.Warn, "are 1h0m")
}

// through puts a proxy before the server that changes answers.
func (w *world) through(change func(*http.Response) error) {
	w.Helper()
	to, err := url.Parse(w.server.URL())
	if err != nil {
		w.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = to.Host },
		FlushInterval:  -1,
		ModifyResponse: change,
	})
	w.Cleanup(proxy.CloseClientConnections)
	w.o.URL = proxy.URL
}

func TestAProxyThatKeepsEvents(t *testing.T) {
	w := newWorld(t)
	w.through(func(res *http.Response) error {
		if strings.HasSuffix(res.Request.URL.Path, "/events") {
			res.Body = buffered{res.Body}
		}
		return nil
	})
	found := w.expect("events", doctor.Fail, "something on the way keeps them")
	if !strings.Contains(found["events"].Try, "buffering") {
		t.Errorf("%+v", found["events"])
	}
}

// buffered is a body that is read whole before any of it is passed on.
type buffered struct{ io.ReadCloser }

func (b buffered) Read(p []byte) (int, error) {
	all, err := io.ReadAll(b.ReadCloser)
	if err != nil {
		return 0, err
	}
	return copy(p, all), io.EOF
}

func TestAProxyThatCutsWaits(t *testing.T) {
	w := newWorld(t)
	w.through(func(res *http.Response) error {
		if strings.HasSuffix(res.Request.URL.Path, "/wait") {
			res.StatusCode, res.Status = http.StatusGatewayTimeout, "504 Gateway Timeout"
			res.Header.Set("Content-Type", "text/html")
		}
		return nil
	})
	w.expect("wait", doctor.Fail, "504 Gateway Timeout")
}

func TestAProxyThatKnowsOneEraOnly(t *testing.T) {
	w := newWorld(t)
	w.through(func(res *http.Response) error {
		if res.Request.URL.Path == "/mcp" && res.Request.Header.Get("Mcp-Method") != "" {
			res.StatusCode, res.Status = http.StatusBadRequest, "400 Bad Request"
		}
		return nil
	})
	found := w.expect("MCP 2026-07-28", doctor.Fail, "server/discover is answered with 400 Bad Request")
	if found["MCP 2025-11-25"].Status != doctor.OK {
		t.Errorf("%+v", found)
	}
}

func TestSomethingElseAnswers(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	w := &world{T: t, o: doctor.Options{URL: other.URL}}
	w.expect("server", doctor.Fail, "is not a Shoal server")
}
