package clients_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// refuse is a proxy that lets nothing through, so that a client that needs
// another machine fails. When the test has failed, it reports the requested hosts.
func refuse(t *testing.T) (url string) {
	t.Helper()
	var mu sync.Mutex
	asked := map[string]int{}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Host]++
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(func() {
		proxy.Close()
		t.Logf("other machines that were asked for, in vain: %v", asked)
	})
	return proxy.URL
}
