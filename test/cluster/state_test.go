package cluster

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// call makes one call with a key. It returns an error if there is no response.
func (n *node) call(t *testing.T, key, method, path, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, n.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := once.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// once makes calls on connections of their own. A server must answer long before its limit.
var once = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}

// get returns the status and the body of a response to an admin.
func (n *node) get(t *testing.T, path string) (status int, body string, err error) {
	t.Helper()
	return n.call(t, n.key, http.MethodGet, path, "")
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

// untilBusIsUp waits until every server says that its bus is up, and returns how long that
// took.
func (c *cluster) untilBusIsUp(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	for _, n := range c.nodes {
		until(t, "the bus is up on "+n.name, patience, func() bool { return n.metric(t, "shoal_bus_up") == 1 })
	}
	return time.Since(began)
}

// each does something to all servers.
func (c *cluster) each(do func(*node)) {
	for _, n := range c.nodes {
		do(n)
	}
}
