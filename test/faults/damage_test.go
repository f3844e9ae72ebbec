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
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// copyTo copies the files of a stopped server. Key files get the mode 0600: the server
// refuses others.
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

// replaceBy replaces the files of a stopped server.
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

// fileFault is a kind of damage to a file of a stopped server. If the log is damaged, its
// end may be missing afterwards; of the database nothing may be missing.
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

// scribble changes a byte of a word that only one message contains, in one of its
// occurrences.
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
	if len(places) > 0 { // a long text may be split across pages
		b[places[dice.IntN(len(places))]+dice.IntN(len(word))] ^= 0x15
	}
	return b
}

func cutShort(b []byte, _ string, dice *rand.Rand) []byte { return b[:dice.IntN(len(b))] }

// verdict is the behaviour of a server with damaged files.
type verdict int

const (
	refusedToStart verdict = iota
	reportedWhenRead
	servedWhole
	servedPrefix
)

// Files are damaged while the server is stopped: it refuses to start and reports why, or
// it serves every message unchanged, or it reports an error for a damaged one. Of a
// damaged log the end may be missing.
func TestDamagedFiles(t *testing.T) {
	for _, o := range damageFiles(t, program.NewServer(t, productBinary(t)), fileFaults, times(t, "SHOAL_DAMAGES", 4), randomSeed(t)) {
		report(t, o)
	}
}

// damageFiles damages copies of the files of a server under load, each kind of damage each
// times.
func damageFiles(t *testing.T, s *program.Server, fileFaults []fileFault, each int, seed uint64) (all []outcome) {
	t.Helper()
	s.Start(t)
	w := newWorld(t, s, seed, 1)
	w.live(t, 700*time.Millisecond, s.Kill)
	logged := t.TempDir() // the database and its log after a kill
	copyTo(t, s.Data, logged)
	s.Start(t)
	w.finish(t)
	if len(w.Found) > 0 {
		t.Fatal(w.Found)
	}
	for i, h := range fileFaults {
		o := outcome{fault: h.name}
		var seen [4]int
		for n := range each {
			from, file := s.Data, "shoal.db"
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
		o.note = fmt.Sprintf("%d refused to start, %d reported the damage when read, %d served every message, %d lost the end of the log", seen[0], seen[1], seen[2], seen[3])
		all = append(all, o)
	}
	return all
}

// damage damages a copy of a server's files and starts a server with it.
func damage(t *testing.T, w *world, from, file string, h fileFault, dice *rand.Rand) (v verdict, wrong []string) {
	t.Helper()
	s := program.NewServer(t, w.server.Binary)
	s.Env = w.server.Env
	copyTo(t, from, s.Data)
	defer func() {
		s.Kill()
		_ = os.RemoveAll(s.Data) // the copies are large
	}()
	path := filepath.Join(s.Data, file)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, h.do(b, w.anyWord(dice), dice), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TryStart(t.Context()); err != nil {
		output := err.Error()
		if !strings.Contains(output, filepath.Join(s.Data, "shoal.db")) || !strings.Contains(output, "damaged") {
			wrong = append(wrong, fmt.Sprintf("refusal: %s: the error does not name the damaged file: %s", h.name, output))
		}
		return refusedToStart, wrong
	}
	other := &world{server: s, Crowd: &crowd.Crowd{URL: s.URL(), Key: w.Key, HTTP: w.HTTP}}
	other.Admin = other.Session(t, w.Key)
	v = servedWhole
	for _, r := range w.Rooms {
		var got verdict
		got, wrong = other.compare(t.Context(), r.ID, w.Timeline[r.ID], h, wrong)
		v = worse(v, got)
	}
	for _, list := range []string{"spaces", "agents", "runs?limit=200"} {
		if status, _ := other.get(t.Context(), list); status >= 300 {
			v = worse(v, reportedWhenRead)
		}
	}
	return v, wrong
}

// anyWord returns the last word of a random message, which is unique to it.
func (w *world) anyWord(dice *rand.Rand) string {
	timeline := w.Timeline[w.Rooms[dice.IntN(len(w.Rooms))].ID]
	words := strings.Fields(timeline[dice.IntN(len(timeline))].Text())
	return words[len(words)-1]
}

// worse returns the stronger of two verdicts.
func worse(a, b verdict) verdict {
	if a == reportedWhenRead || b == reportedWhenRead {
		return reportedWhenRead
	}
	return max(a, b)
}

// compare compares a timeline with its state before the damage. If a page cannot be read,
// it reads its messages one by one, which shows the ones before and after the damage.
func (w *world) compare(ctx context.Context, space shoal.SpaceID, want []crowd.Seen, h fileFault, wrong []string) (verdict, []string) {
	v, limit := servedWhole, shoal.MaxPage
	for n := 0; n < len(want); {
		page := client.MessagesOptions{After: int64(n), Limit: limit}
		if n == 0 {
			page.Before, page.After = int64(limit)+1, 0
		}
		got, err := w.Admin.Messages(ctx, space, page)
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
			return v, append(wrong, fmt.Sprintf("lost: %s: %s ends after %d of %d messages without an error", h.name, space, n, len(want)))
		}
		for i, m := range got {
			if n+i >= len(want) || crowd.See(m).Bytes != want[n+i].Bytes {
				return v, append(wrong, fmt.Sprintf("changed: %s: got %s, which was not stored", h.name, crowd.See(m).Bytes))
			}
		}
		n += len(got)
	}
	return v, wrong
}

// get reads a list.
func (w *world) get(ctx context.Context, list string) (status int, body string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL()+"/v1/sessions/default/"+list, nil)
	if err != nil {
		return 599, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+w.Key)
	res, err := w.HTTP.Do(req)
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
