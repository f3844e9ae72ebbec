package guard

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Every answer names its request: as the client did, if that is fit to be
// repeated, else anew. A problem document says it, too.
func TestRequestID(t *testing.T) {
	d := newDoor(t, Options{MCPPaths: []string{"/mcp"}}, httptest.NewServer)
	key := "shoal_" + strings.Repeat("k", 43)
	for _, tt := range []struct{ sent, want string }{
		{"", "req_"},
		{"4bf92f35-77b3-4da6-a3ce.929D_0e", "4bf92f35-77b3-4da6-a3ce.929D_0e"},
		{strings.Repeat("x", 40), strings.Repeat("x", 40)},
		{strings.Repeat("x", 41), "req_"},
		{key, "req_"},
		{"two words", "req_"},
		{"<script>", "req_"},
		{"\xff\xfe", "req_"},
	} {
		if tt.sent == "" {
			tt.sent = " " // net/http sends no header that is empty
		}
		for _, path := range []string{"/v1/x", "/mcp"} {
			for _, body := range []string{"{}", "{"} {
				answered := d.send("POST", path, body, "Content-Type", jsonType, "X-Request-Id", tt.sent)
				got := answered.header.Get("X-Request-Id")
				if got != tt.want && (tt.want != "req_" || !strings.HasPrefix(got, "req_") || len(got) != 26) {
					t.Errorf("%s %s: the id %q is answered with %q, want %s", path, body, tt.sent, got, tt.want)
				}
				if body == "{" && path == "/v1/x" {
					var problem struct{ RequestID string }
					if err := json.Unmarshal([]byte(answered.body), &problem); err != nil || problem.RequestID != got {
						t.Errorf("the problem names the request %q (%v), its header %q", problem.RequestID, err, got)
					}
				}
			}
		}
	}
}

// A request with two ids gets an id of the server's.
func TestRequestIDTwice(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewServer)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/v1/x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["X-Request-Id"] = []string{"a", "b"}
	res, err := d.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header["X-Request-Id"]; len(got) != 1 || !strings.HasPrefix(got[0], "req_") {
		t.Errorf("answered with %q", got)
	}
}
