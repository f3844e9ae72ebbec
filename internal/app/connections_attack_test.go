package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// An attacker's many times more connections than the server may have, idle,
// with half a header, detached and streaming, with a key and without, cost others
// nothing: each of a bystander's calls on a new connection is served, and so is the
// admin's removal of the attacker.
func TestConnectionsOfOneAttacker(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		t.Run(map[bool]string{false: "without a key", true: "with a key"}[keyed], func(t *testing.T) {
			s, key := apptest.Run(t, app.Config{MaxCallsPerSecond: -1})
			const most = 96
			app.LimitConnections(s, most)
			admin, err := client.New(client.Options{URL: s.URL(), Key: key, As: shoal.Operator})
			if err != nil {
				t.Fatal(err)
			}
			mallory, ann := apptest.Key(t, admin, "mallory"), apptest.Key(t, admin, "ann")
			address := strings.TrimPrefix(s.URL(), "http://")
			header := ""
			if keyed {
				header = "Authorization: Bearer " + mallory + "\r\n"
			}
			hold := func(text string) net.Conn {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				_, _ = io.WriteString(conn, text) // of a connection that the server has ended already
				return conn
			}
			wait := `{"kind":"mentions","timeoutMs":600000}`
			texts := []string{
				"",                            // nothing
				"GET /v1/sessions HTTP/1.1\r", // half a header
				"GET /v1/sessions/default/entities HTTP/1.1\r\nHost: " + address + "\r\n" + header + "\r\n", // idle after an answer
				"GET /v1/sessions/default/events HTTP/1.1\r\nHost: " + address + "\r\n" + header + "\r\n",   // a stream
				"POST /v1/sessions/default/entities/mallory/wait HTTP/1.1\r\nHost: " + address + "\r\n" + header + // a wait
					"Content-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(wait)) + "\r\n\r\n" + wait,
			}
			for round := range 10 {
				for range most / 2 {
					for _, text := range texts {
						hold(text)
					}
				}
				if status := fresh(t, s.URL(), ann, "GET", "/v1/sessions/default/entities", ""); status != http.StatusOK {
					t.Errorf("round %d: a bystander's call answers %d", round, status)
				}
				if status := fresh(t, s.URL(), ann, "POST", "/v1/sessions/default/spaces", `{"name":"x"}`); status != http.StatusCreated {
					t.Errorf("round %d: a bystander's change answers %d", round, status)
				}
				if status := fresh(t, s.URL(), ann, "POST", "/v1/sessions/default/entities/ann/wait", `{"kind":"mentions","timeoutMs":200}`); status != http.StatusOK {
					t.Errorf("round %d: a bystander's wait answers %d", round, status)
				}
			}
			if status := fresh(t, s.URL(), key, "DELETE", "/v1/sessions/default/entities/mallory", ""); status >= 300 {
				t.Errorf("the admin cannot remove the attacker: %d", status)
			}
			if status := fresh(t, s.URL(), mallory, "GET", "/v1/sessions/default/entities", ""); status != http.StatusUnauthorized {
				t.Errorf("the attacker is served: %d", status)
			}
		})
	}
}

// fresh makes a call on a connection of its own, and returns the status, 0 if there was
// no answer.
func fresh(t *testing.T, url, key, method, path, body string) int {
	t.Helper()
	c := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(t.Context(), method, url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := c.Do(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}
