package ledger_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/ledger"
)

func TestLedger(t *testing.T) {
	l := ledger.New(t, 0)
	for body, want := range map[string]int{`{"key":"job 1","step":"pay"}`: http.StatusOK, `pay`: http.StatusBadRequest} {
		for range 2 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Idempotency-Key", "one")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s: got status %d, want %d", body, res.StatusCode, want)
			}
		}
	}
	if n, other := l.Of("job 1", "pay"), l.Of("job", "1 pay"); n != 2 || other != 0 {
		t.Errorf("Of = %d, want 2; for another step %d, want 0", n, other)
	}
	if n := l.Calls("job 1", "pay"); n != 1 {
		t.Errorf("Calls = %d, want 1", n)
	}
}
