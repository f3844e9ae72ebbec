package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

const (
	fullDisk    = "8m"             // the size of the disk
	freedSpace  = 3 << 20          // the space that is freed later, at least
	resumeLimit = 20 * time.Second // within which posts must succeed after space is freed
	heldFull    = 500 * time.Millisecond
)

// The disk is full under load: posts are refused with 507 and not stored, reads continue,
// and posts succeed again when space is freed.
func TestDiskFull(t *testing.T) {
	const fault = "disk full"
	seed := randomSeed(t)
	dir := t.TempDir()
	if !mount(t, fault, dir, "-t", "tmpfs", "-o", "size="+fullDisk, "tmpfs") {
		return
	}
	o := fillRepeatedly(t, productBinary(t), nil, dir, times(t, "SHOAL_FULL_DISKS", 2), seed)
	o.fault = fault
	report(t, o)
}

// fillRepeatedly starts a new server in each round, fills its disk, and frees space again.
func fillRepeatedly(t *testing.T, binary string, env []string, dir string, rounds int, seed uint64) (o outcome) {
	t.Helper()
	slowest := time.Duration(0)
	for n := range rounds {
		data := filepath.Join(dir, fmt.Sprintf("data-%d", n))
		s := program.NewServerIn(t, binary, data)
		s.Env = env
		s.Start(t)
		w := newWorld(t, s, seed+uint64(n), 0)
		w.Uncounted = true
		reserve, ballast := filepath.Join(dir, "reserve"), filepath.Join(dir, "ballast")
		if err := os.WriteFile(reserve, make([]byte, freedSpace), 0o600); err != nil {
			t.Fatal(err)
		}
		l := w.live(t, 300*time.Millisecond, func() {
			if err := fill(ballast); err != nil {
				t.Fatal(err)
			}
			w.Found = append(w.Found, w.whileFull(t)...)
			if err := errors.Join(os.Remove(ballast), os.Remove(reserve)); err != nil {
				t.Fatal(err)
			}
			took, wrong := w.untilPosted(t)
			w.Found, slowest = append(w.Found, wrong...), max(slowest, took)
		})
		if l.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", s.Process.ProcessState))
		}
		w.finish(t)
		w.Close()
		s.Kill()
		if len(w.Found) > 0 {
			t.Logf("SHOAL_FAULT_SEED=%d: %d findings in round %d", seed, len(w.Found), n)
		}
		o.count, o.operations, o.found, o.slowest = o.count+1, o.operations+w.Operations(), append(o.found, w.Found...), max(o.slowest, s.Slowest)
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
		if len(o.found) > 0 {
			break
		}
	}
	o.note = fmt.Sprintf("posts succeed again after at most %v", slowest.Round(time.Millisecond))
	return o
}

// fill writes a file until the disk is full.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	piece := make([]byte, 64<<10)
	for len(piece) > 0 {
		if _, err = f.Write(piece); err != nil {
			piece = piece[:len(piece)/2]
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return f.Close()
}

// probe posts as the operator, outside of the history.
func (w *world) probe(ctx context.Context, key string) (status int, body string, err error) {
	text, err := json.Marshal(map[string]any{"text": key})
	if err != nil {
		return 0, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL()+"/v1/sessions/default/spaces/"+string(crowd.Probed)+"/messages", strings.NewReader(string(text)))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+w.Key)
	req.Header.Set("X-Shoal-Entity", string(shoal.Operator))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := w.HTTP.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }() // read completely
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, string(answer), err
}

// whileFull checks a server whose disk is full: it must refuse posts with the right error
// and continue to serve reads.
func (w *world) whileFull(t *testing.T) (wrong []string) {
	t.Helper()
	began := time.Now()
	refused := false
	for n := 0; time.Since(began) < resumeLimit && (!refused || time.Since(began) < heldFull); n++ {
		status, body, err := w.probe(t.Context(), fmt.Sprintf("probe-%d-%d", time.Now().UnixNano(), n))
		switch {
		case err != nil:
			return append(wrong, fmt.Sprintf("full: a post got no response: %v", err))
		case status == http.StatusInsufficientStorage && strings.Contains(body, string(shoal.StorageFull)):
			refused = true
		case status >= 300 && status != http.StatusServiceUnavailable:
			return append(wrong, fmt.Sprintf("full: a post returned %d %s", status, body))
		}
		crowd.Pause(t.Context(), 20*time.Millisecond)
	}
	if !refused {
		wrong = append(wrong, "full: no post was refused with 507 storage_full")
	}
	if _, err := w.Admin.Messages(t.Context(), w.Rooms[0].ID, client.MessagesOptions{Limit: 10}); err != nil {
		wrong = append(wrong, fmt.Sprintf("full: a timeline cannot be read: %v", err))
	}
	ctx, cancel := context.WithTimeout(t.Context(), resumeLimit)
	defer cancel()
	for ev, err := range w.Admin.Follow(ctx, client.FollowOptions{Space: w.Rooms[0].ID}) {
		if err != nil || ev.Type != shoal.EventSnapshot {
			wrong = append(wrong, fmt.Sprintf("full: a stream starts with %v %v", ev.Type, err))
		}
		break
	}
	return wrong
}

// untilPosted waits until a post succeeds again.
func (w *world) untilPosted(t *testing.T) (took time.Duration, wrong []string) {
	t.Helper()
	began := time.Now()
	for n := 0; ; n++ {
		status, body, err := w.probe(t.Context(), fmt.Sprintf("again-%d-%d", time.Now().UnixNano(), n))
		switch {
		case err == nil && status == http.StatusCreated:
			return time.Since(began), nil
		case time.Since(began) > resumeLimit:
			return time.Since(began), []string{fmt.Sprintf("full: %v after space was freed a post returns %d %s (%v)", time.Since(began), status, body, err)}
		}
		crowd.Pause(t.Context(), 10*time.Millisecond)
	}
}
