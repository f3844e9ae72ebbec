package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// copyTo copies the files of a server that is down. Keys stay for their owner's eyes:
// the server refuses others.
func copyTo(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	keys, err := filepath.Glob(filepath.Join(to, "*.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := os.Chmod(key, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// replaceBy puts files in the place of those of a server that is down.
func replaceBy(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(to, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	copyTo(t, from, to)
}

func followFrom(space shoal.SpaceID, cursor shoal.Cursor) client.FollowOptions {
	return client.FollowOptions{Space: space, After: cursor}
}

// fileFault is what is done to a file of a server that is down. Of the log only the
// end may be missed afterwards; of the database nothing.
type fileFault struct {
	name string
	log  bool
	do   func(b []byte, word string, dice *rand.Rand) []byte
}

var fileFaults = []fileFault{
	{"a flipped bit in the database", false, flip},
	{"a random byte in a text of the database", false, scribble},
	{"the database truncated", false, cutShort},
	{"a flipped bit in the log", true, flip},
	{"the log truncated", true, cutShort},
}

func flip(b []byte, _ string, dice *rand.Rand) []byte {
	b[dice.IntN(len(b))] ^= 1 << dice.IntN(8)
	return b
}

// scribble changes a byte of a word that one message has, in one of the places where
// it stands.
func scribble(b []byte, word string, dice *rand.Rand) []byte {
	var places []int
	for at := 0; ; {
		n := bytes.Index(b[at:], []byte(word))
		if n < 0 {
			break
		}
		places = append(places, at+n)
		at += n + 1
	}
	if len(places) > 0 { // a long text may be torn apart by a page's end
		b[places[dice.IntN(len(places))]+dice.IntN(len(word))] ^= 0x15
	}
	return b
}

func cutShort(b []byte, _ string, dice *rand.Rand) []byte { return b[:dice.IntN(len(b))] }

// verdict is how a server behaves on damaged files.
type verdict int

const (
	refusedToStart verdict = iota
	reportedWhenRead
	servedWhole
	servedPrefix
)

// Files that are damaged while the server is down: it refuses to start and says why,
// or it serves what was there, or says where it cannot; of a log it may miss the end.
func TestDamagedFiles(t *testing.T) {
	for _, o := range damageFiles(t, newServer(t, productBinary(t)), fileFaults, times(t, "SHOAL_DAMAGES", 4), randomSeed(t)) {
		report(t, o)
	}
}

// damageFiles harms copies of the files that a server under load has left, each in so
// many places.
func damageFiles(t *testing.T, s *server, fileFaults []fileFault, each int, seed uint64) (all []outcome) {
	t.Helper()
	s.start(t)
	w := newWorld(t, s, seed, 1)
	w.live(t, 700*time.Millisecond, s.kill)
	logged := t.TempDir() // the database with its log, as a kill leaves them
	copyTo(t, s.data, logged)
	s.start(t)
	w.finish(t)
	if len(w.found) > 0 {
		t.Fatal(w.found)
	}
	for i, h := range fileFaults {
		o := outcome{fault: h.name}
		var seen [4]int
		for n := range each {
			from, file := s.data, "shoal.db"
			if h.log {
				from, file = logged, "shoal.db-wal"
			}
			v, wrong := damage(t, w, from, file, h, random(seed, uint64(i*1000+n)))
			seen[v]++
			for _, text := range wrong {
				o.found = append(o.found, fmt.Sprintf("SHOAL_FAULT_SEED=%d SHOAL_DAMAGES=%d: %s", seed, n+1, text))
			}
			o.count++
			o.operations++
		}
		o.note = fmt.Sprintf("%d refused to start, %d said so when read, %d served all, %d missed the end of the log", seen[0], seen[1], seen[2], seen[3])
		all = append(all, o)
	}
	return all
}

// damage harms a copy of a server's files and starts a server on it.
func damage(t *testing.T, w *world, from, file string, h fileFault, dice *rand.Rand) (v verdict, wrong []string) {
	t.Helper()
	s := newServer(t, w.server.binary)
	s.env = w.server.env
	copyTo(t, from, s.data)
	defer func() {
		s.kill()
		_ = os.RemoveAll(s.data) // many copies are many megabytes
	}()
	path := filepath.Join(s.data, file)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, h.do(b, w.anyWord(dice), dice), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.tryStart(t.Context()); err != nil {
		output := err.Error()
		if !strings.Contains(output, filepath.Join(s.data, "shoal.db")) || !strings.Contains(output, "damaged") {
			wrong = append(wrong, fmt.Sprintf("refusal: %s: it says neither which file is damaged nor what to do: %s", h.name, output))
		}
		return refusedToStart, wrong
	}
	other := &world{server: s, key: w.key, http: w.http}
	other.admin = other.session(t, w.key)
	v = servedWhole
	for _, r := range w.rooms {
		var got verdict
		got, wrong = other.compare(t.Context(), r.id, w.timeline[r.id], h, wrong)
		v = worse(v, got)
	}
	for _, list := range []string{"spaces", "agents", "runs?limit=200"} {
		if status, _ := other.get(t.Context(), list); status >= 300 {
			v = worse(v, reportedWhenRead)
		}
	}
	return v, wrong
}

// anyWord returns the last word of some message's text, a number that no other has.
func (w *world) anyWord(dice *rand.Rand) string {
	timeline := w.timeline[w.rooms[dice.IntN(len(w.rooms))].id]
	words := strings.Fields(timeline[dice.IntN(len(timeline))].Text())
	return words[len(words)-1]
}

// worse is the stronger of two verdicts.
func worse(a, b verdict) verdict {
	if a == reportedWhenRead || b == reportedWhenRead {
		return reportedWhenRead
	}
	return max(a, b)
}

// compare holds a timeline against what it was. A page that cannot be read is read
// message by message: it shows what stands before and behind the damage.
func (w *world) compare(ctx context.Context, space shoal.SpaceID, want []seen, h fileFault, wrong []string) (verdict, []string) {
	v, limit := servedWhole, shoal.MaxPage
	for n := 0; n < len(want); {
		page := client.MessagesOptions{After: int64(n), Limit: limit}
		if n == 0 {
			page.Before, page.After = int64(limit)+1, 0
		}
		got, err := w.admin.Messages(ctx, space, page)
		switch {
		case errors.Is(err, shoal.NotFound) && h.log, len(got) == 0 && err == nil && h.log:
			return worse(v, servedPrefix), wrong
		case err != nil && limit > 1:
			limit = 1
			continue
		case err != nil:
			v = reportedWhenRead
			n++
			limit = shoal.MaxPage
			continue
		case len(got) == 0:
			return v, append(wrong, fmt.Sprintf("lost: %s: %s ends after %d of %d messages, and nobody is told", h.name, space, n, len(want)))
		}
		for i, m := range got {
			if n+i >= len(want) || see(m).bytes != want[n+i].bytes {
				return v, append(wrong, fmt.Sprintf("changed: %s: served is %s, which was not stored", h.name, see(m).bytes))
			}
		}
		n += len(got)
	}
	return v, wrong
}

// get asks for a list.
func (w *world) get(ctx context.Context, list string) (status int, body string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.url()+"/v1/sessions/default/"+list, nil)
	if err != nil {
		return 599, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	res, err := w.http.Do(req)
	if err != nil {
		return 599, err.Error()
	}
	defer func() { _ = res.Body.Close() }() // read completely
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 599, err.Error()
	}
	return res.StatusCode, string(b)
}
