package tracecontext_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/tracecontext"
)

const (
	trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	span  = "00f067aa0ba902b7"
	valid = "00-" + trace + "-" + span + "-01"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct{ sent, want string }{
		"sampled":                    {valid, valid},
		"not sampled":                {"00-" + trace + "-" + span + "-00", "00-" + trace + "-" + span + "-00"},
		"random and sampled":         {"00-" + trace + "-" + span + "-03", "00-" + trace + "-" + span + "-03"},
		"flags that nobody knows":    {"00-" + trace + "-" + span + "-fd", "00-" + trace + "-" + span + "-01"},
		"a later version":            {"cc-" + trace + "-" + span + "-01", valid},
		"a later version, longer":    {"01-" + trace + "-" + span + "-01-what.the-future/brings", valid},
		"nothing":                    {"", ""},
		"the version without end":    {"0", ""},
		"version ff":                 {"ff-" + trace + "-" + span + "-01", ""},
		"a version of letters":       {"0g-" + trace + "-" + span + "-01", ""},
		"version 00, longer":         {valid + "-more", ""},
		"a later one, glued":         {"01-" + trace + "-" + span + "-011", ""},
		"too short":                  {valid[:54], ""},
		"trace of zeros":             {"00-" + strings.Repeat("0", 32) + "-" + span + "-01", ""},
		"parent of zeros":            {"00-" + trace + "-" + strings.Repeat("0", 16) + "-01", ""},
		"large letters":              {strings.ToUpper(valid), ""},
		"other characters":           {"00-" + trace + "-" + span[:15] + "\n-01", ""},
		"flags of letters":           {"00-" + trace + "-" + span + "-0x", ""},
		"other separators":           {strings.ReplaceAll(valid, "-", "."), ""},
		"a dash too far":             {"00-" + trace[:31] + "--" + span + "-01", ""},
		"a large one":                {"01-" + trace + "-" + span + "-01-" + strings.Repeat("x", 1<<20), valid},
		"a large one of version 00":  {valid + strings.Repeat("-", 1<<20), ""},
		"letters that fold to hex":   {"00-" + trace[:29] + "\u212a-" + span + "-01", ""},
		"spaces around it":           {" " + valid, ""},
		"two in one":                 {valid + "," + valid, ""},
		"the header of another kind": {"0af7651916cd43dd8448eb211c80319c:b7ad6b7169203331:0:1", ""},
	} {
		got, ok := tracecontext.Parse(c.sent)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, c.want)
		}
	}
}

// A request has what it was sent, unless that is invalid or there are two.
func TestHandler(t *testing.T) {
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"one":     {[]string{valid}, valid},
		"none":    {nil, ""},
		"invalid": {[]string{"x"}, ""},
		"two":     {[]string{valid, valid}, ""},
	} {
		got := "not called"
		h := tracecontext.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = tracecontext.Of(r.Context()) }))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		for _, header := range c.sent {
			r.Header.Add("traceparent", header)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What Parse returns, it accepts again.
func FuzzParse(f *testing.F) {
	f.Add(valid)
	f.Add("cc-" + trace + "-" + span + "-ff-x")
	f.Fuzz(func(t *testing.T, header string) {
		parent, ok := tracecontext.Parse(header)
		if again, fine := tracecontext.Parse(parent); ok != fine || again != parent || ok && len(parent) != tracecontext.Size {
			t.Errorf("%q is %q, which is %q", header, parent, again)
		}
	})
}
