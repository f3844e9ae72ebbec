package cluster

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// get returns the status and the body of a response to an admin.
func (n *node) get(t *testing.T, path string) (status int, body string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+n.key)
	res, err := program.Probe.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// waits returns the number of waits that are open on a server.
func (n *node) waits(t *testing.T) int {
	t.Helper()
	return n.metric(t, "shoal_waits_open")
}

// metric returns the sum of a metric over its labels.
func (n *node) metric(t *testing.T, name string) (sum int) {
	t.Helper()
	_, body, err := n.get(t, "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, name+" ") || strings.HasPrefix(line, name+"{") {
			var value float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &value); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			sum, found = sum+int(value), true
		}
	}
	if !found {
		t.Fatalf("%s has no metric %s:\n%s", n.name, name, body)
	}
	return sum
}
