package mcpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The key goes no further than this package, and no client sets our own mark.
func TestTheSDKSeesNoKey(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
	for _, name := range []string{"Authorization", "Cookie", callMark} {
		r.Header.Set(name, "secret")
	}
	r.Header.Set(sessionHeader, "kept")
	q := &request{r: r}
	if got := q.forSDK().Header; len(got) != 1 || got.Get(sessionHeader) != "kept" {
		t.Errorf("the SDK sees %v", got)
	}
	if r.Header.Get("Authorization") != "secret" {
		t.Error("the request itself was changed")
	}
}
