package load

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/apptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPercentile(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		p    float64
		want float64
	}{
		{[]float64{3, 1, 2}, 50, 2},
		{[]float64{4, 3, 2, 1}, 50, 2},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 99, 10},
		{[]float64{7}, 1, 7},
	} {
		if got := Percentile(c.of, c.p); got != c.want {
			t.Errorf("Percentile(%v, %v) = %v, want %v", c.of, c.p, got, c.want)
		}
	}
	if got := Percentile(nil, 50); !math.IsNaN(got) {
		t.Errorf("Percentile of nothing = %v, want NaN", got)
	}
}

func TestCursorIn(t *testing.T) {
	for answer, want := range map[string]string{
		`{"items":[],"cursor":"in:1:2","timedOut":false}`: "in:1:2",
		`{"items":[],"cursor":null,"timedOut":true}`:      "",
	} {
		if got := CursorIn([]byte(answer)); got != want {
			t.Errorf("CursorIn(%s) = %q, want %q", answer, got, want)
		}
	}
}

func TestReadersFindMarksAcrossReads(t *testing.T) {
	var r Readers
	one := Marked()
	r.Read(&pieces{[]string{"data: " + one[:9], one[9:15], one[15:] + "\n\ndata: @" + one + "\n\n: @ this is not a mark, however long it is\n\n"}})
	if got := r.Seen(); got != 2 {
		t.Errorf("found %d marks, want 2", got)
	}
}

// The marks of any stream are found, in any splitting.
func FuzzReaders(f *testing.F) {
	f.Add("data: @", 3)
	f.Add("@@@@0000", 1)
	f.Add(Marked(), 7)
	f.Fuzz(func(t *testing.T, noise string, size int) {
		if size <= 0 {
			return
		}
		text := strings.ReplaceAll(noise, "@", " ") + Marked() + strings.ReplaceAll(noise, "@", " ") + Marked()
		var parts []string
		for part := range slices.Chunk([]byte(text), size) {
			parts = append(parts, string(part))
		}
		var r Readers
		r.Read(&pieces{parts})
		if r.Seen() != 2 {
			t.Errorf("found %d marks of 2 in %q in pieces of %d", r.Seen(), text, size)
		}
	})
}

// pieces is a stream that arrives in pieces.
type pieces struct{ left []string }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; p.left[0] == "" {
		p.left = p.left[1:]
	}
	return n, nil
}

// A survey restores the state of the server.
func TestASurveyOfARealServer(t *testing.T) {
	s := apptest.Start(t)
	admin := nobody(t, s)
	before := counts(t, s)
	var found []Measurement
	survey := Survey{
		URL: s.URL, Admin: admin, Length: 50 * time.Millisecond, Waits: 5, Readers: 3,
		Report: func(f Measurement) { found = append(found, f) },
	}
	if err := survey.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name+" "+f.API)
		if f.Operations == 0 || (f.PerSecond == nil) != strings.HasPrefix(f.Name, "wake-up") || f.PerSecond != nil && *f.PerSecond <= 0 || f.P50Ms <= 0 || f.P99Ms < f.P50Ms || f.Lost != 0 {
			t.Errorf("invalid figure or lost messages: %+v", f)
		}
	}
	want := []string{
		"posts, 1 sender REST", "posts, 1 sender MCP", "posts, 64 senders REST", "posts, 64 senders MCP",
		"wake-up, 1 pair REST", "wake-up, 1 pair MCP", "wake-up, 32 pairs REST", "wake-up, 32 pairs MCP",
		"waits, 5 waits open REST",
		"streams, 1 reader, 50 posts/s REST", "streams, 3 readers, 50 posts/s REST", "streams, 3 readers, flat out REST",
	}
	if !slices.Equal(names, want) {
		t.Errorf("measured\n%q, want\n%q", names, want)
	}
	if after := counts(t, s); after != before {
		t.Errorf("got %[2]v sessions and keys after the survey, want %[1]v", before, after)
	}
}

// A failed survey does, too.
func TestAFailedSurveyLeavesNothing(t *testing.T) {
	s := apptest.Start(t)
	admin := nobody(t, s)
	before := counts(t, s)
	survey := Survey{URL: s.URL + "/nowhere", Admin: admin, Length: time.Millisecond, Waits: 1, Readers: 1, Report: func(Measurement) {}}
	err := survey.Run(t.Context())
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("Run() = %v, want a 404", err)
	}
	if after := counts(t, s); after != before {
		t.Errorf("got %[2]v sessions and keys after the survey, want %[1]v", before, after)
	}
}

// nobody returns a client with an admin key that acts as no entity.
func nobody(t *testing.T, s *apptest.Server) *client.Client {
	t.Helper()
	made, err := s.Admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(client.Options{URL: s.URL, Key: *made.Secret})
	if err != nil {
		t.Fatal(err)
	}
	return admin
}

func counts(t *testing.T, s *apptest.Server) (n [2]int) {
	t.Helper()
	for _, err := range s.Admin.Sessions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n[0]++
	}
	for _, err := range s.Admin.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n[1]++
	}
	return n
}

// Messages that arrive after the wait are counted: this detects messages that are delivered
// twice.
func TestWhatComesTwiceIsCounted(t *testing.T) {
	s := apptest.Start(t)
	w, err := NewWorld(t.Context(), nobody(t, s), shoal.DefaultSession, 4)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := NewREST(t.Context(), NewWire(s.URL), w, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	mcp, err := NewMCP(t.Context(), NewWire(s.URL), w, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer mcp.Close()
	for _, p := range []tidyPairs{rest, mcp} {
		if _, _, err := WakeAll(t.Context(), p, 2, 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if err := p.Send(t.Context(), 1, "once more", true); err != nil {
			t.Fatal(err)
		}
		if n, err := twice(t.Context(), p, 2); n != 1 || err != nil {
			t.Errorf("%T: got %d waiters with duplicates, %v; want 1", p, n, err)
		}
		if n, err := twice(t.Context(), p, 2); n != 0 || err != nil {
			t.Errorf("%T: got %d waiters with duplicates, %v; want 0", p, n, err)
		}
	}
}

// A refusal is an error with the server's message.
func TestARefusalIsAnErrorOfTheContract(t *testing.T) {
	s := apptest.Start(t)
	_, _, err := NewWire(s.URL).Do(t.Context(), "GET", "/v1/sessions/default/spaces", Header("shoal_wrong"), nil)
	if shoal.KindOf(err) != shoal.Unauthenticated {
		t.Errorf("Do() = %v, want %s", err, shoal.Unauthenticated)
	}
	if _, err := NewWire(s.URL).Open(t.Context(), "/v1/sessions/default/events", StreamHeader("shoal_wrong")); shoal.KindOf(err) != shoal.Unauthenticated {
		t.Errorf("Open() = %v, want %s", err, shoal.Unauthenticated)
	}
}
