// Package attack attacks the real binary like a malicious caller, and measures the effect on
// other callers.
package attack_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// rounds is the number of measurements of each call of a bystander, enough for a stable
	// median on a busy machine.
	rounds = 15
	// slack is the allowed random increase of a median.
	slack = 40 * time.Millisecond
	// runSlack is the same for a run, which is a dozen writes and a model call in sequence.
	runSlack = 6 * slack
	// mostRSS is the limit for the resident memory of the server under attack.
	mostRSS = 400 << 20
)

// During an attack, the calls of a bystander and a revocation by the admin take at most
// twice as long as before, only the attacker is refused, and the memory of the server stays
// bounded.
func TestBystandersAreNotAffected(t *testing.T) {
	for name, attack := range map[string]func(*world, context.Context) (stop func()){
		"512 waits of two keys":                     waits,
		"60 bodies of 4 MiB without a key, held":    bodies,
		"256 uploads of one key that do not arrive": uploads,
		"lists of ids without end":                  lists,
		"2,000 connections without a call":          connections,
		"codes of invitations, guessed":             guesses,
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			quick := newVendor(t)
			close(quick.gate)
			w.host("calm", quick)
			w.ask(w.ann, "POST", "/v1/sessions/default/spaces", `{"id":"desk","name":"desk","members":["calm"]}`, 201)
			w.measure() // warm-up
			w.run(t)
			before, beforeRun := w.measure(), w.run(t)
			ctx, cancel := context.WithCancel(t.Context())
			stop := attack(w, ctx)
			during, duringRun := w.measure(), w.run(t)
			rss := w.rss()
			cancel()
			stop()
			for what, took := range during {
				if most := 2*before[what] + slack; took > most {
					t.Errorf("%s took %v, %v without the attack", what, took, before[what])
				}
			}
			if duringRun > 2*beforeRun+runSlack {
				t.Errorf("a run took %v, without the attack %v", duringRun, beforeRun)
			}
			if rss > mostRSS {
				t.Errorf("the server uses %d MiB of resident memory", rss>>20)
			}
			t.Logf("before %v and %v, during %v and %v, %d MiB", before, beforeRun, during, duringRun, rss>>20)
		})
	}
}

// measure returns the median latencies of the calls of a bystander and the admin.
func (w *world) measure() map[string]time.Duration {
	w.Helper()
	took := map[string][]time.Duration{}
	for range rounds {
		timed := func(what string, do func()) {
			began := time.Now()
			do()
			took[what] = append(took[what], time.Since(began))
		}
		timed("a post", func() {
			w.ask(w.ann, "POST", "/v1/sessions/default/spaces/hall/messages", `{"text":"hello","mentions":["bob"]}`, 201)
		})
		timed("a wait", func() {
			said := w.ask(w.bob, "POST", "/v1/sessions/default/entities/bob/wait", `{"kind":"mentions","timeoutMs":5000}`, 200)
			if !strings.Contains(said, "hello") {
				w.Errorf("the wait returned %s", said)
			}
		})
		id, _ := w.createKey(`{"role":"entity","sessionId":"default","entityId":"mallory"}`)
		timed("a revocation", func() { w.ask(w.admin, "DELETE", "/v1/keys/"+id, "", 204) })
	}
	out := map[string]time.Duration{}
	for what, all := range took {
		slices.Sort(all)
		out[what] = all[len(all)/2]
	}
	return out
}

// run returns the median duration of a run of a bystander.
func (w *world) run(t *testing.T) time.Duration {
	t.Helper()
	took := make([]time.Duration, 0, 5)
	for range cap(took) {
		took = append(took, w.answered(t))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// many runs an attack on a number of goroutines, which end with ctx.
func many(n int, do func(i int)) (stop func()) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	return all.Wait
}

// tool calls an MCP tool.
func (w *world) tool(ctx context.Context, key, name, arguments string) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", strings.NewReader(body))
	if err != nil {
		w.Error(err)
		return
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	res, err := w.crowd.Do(r)
	if err != nil {
		return // the attack is over
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // the response does not matter
}

func waits(w *world, ctx context.Context) func() {
	keys := []string{w.key("mallory"), w.key("malvin")}
	var sent sync.WaitGroup
	sent.Add(512)
	stop := many(512, func(i int) {
		sent.Done()
		for first := true; first || ctx.Err() == nil && i < 8; first = false {
			w.tool(ctx, keys[i%2], "wait_for_agents", `{"count":9999,"timeoutMs":600000}`)
		}
	})
	sent.Wait()
	return stop
}

func lists(w *world, ctx context.Context) func() {
	key := w.key("mallory")
	ids := make([]string, 50_000)
	for i := range ids {
		ids[i] = `"bob"`
	}
	arguments := `{"agentIds":[` + strings.Join(ids, ",") + `],"timeoutMs":0}`
	return many(2, func(int) {
		for ctx.Err() == nil {
			w.tool(ctx, key, "wait_for_agents", arguments)
		}
	})
}

func bodies(w *world, ctx context.Context) func() {
	return w.hold(ctx, 60, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4194304\r\n\r\n", 1<<20)
}

func uploads(w *world, ctx context.Context) func() {
	return w.hold(ctx, 256, "POST /v1/sessions/default/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+w.key("mallory")+
		"\r\nContent-Type: text/plain\r\nContent-Length: 10000000\r\n\r\n", 64<<10)
}

// connections opens more connections than the server accepts: idle ones, and some with
// half a header.
func connections(w *world, ctx context.Context) func() {
	idle := w.hold(ctx, 1000, "", 0)
	half := w.hold(ctx, 1000, "GET /v1/sessions HTTP/1.1\r\nHost: lo", 0)
	return func() { idle(); half() }
}

// hold sends the first part of a number of requests, and never the rest.
func (w *world) hold(ctx context.Context, n int, head string, size int) func() {
	var sent sync.WaitGroup
	sent.Add(n)
	body := bytes.Repeat([]byte(" "), size)
	stop := many(n, func(int) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(w.url, "http://"))
		if err == nil {
			defer conn.Close()
			_, _ = conn.Write(append([]byte(head), body...)) // a refusal may close the connection
		}
		sent.Done()
		<-ctx.Done()
	})
	sent.Wait()
	return stop
}
