package keep_test

import (
	"testing"

	"github.com/shoal-dev/shoal/internal/keep"
)

func TestTimesOfASession(t *testing.T) {
	const hour = keep.LeastMs
	server := keep.Retention{MessagesForMs: 10 * hour, PromptsForMs: 30 * hour}
	for _, c := range []struct {
		of               keep.Retention
		problems, beyond int
		within           keep.Retention
	}{
		{keep.Retention{}, 0, 0, server},
		{keep.Retention{MessagesForMs: hour, RunsForMs: keep.MostMs, PromptsForMs: 30 * hour}, 0, 0, keep.Retention{MessagesForMs: hour, RunsForMs: keep.MostMs, PromptsForMs: 30 * hour}},
		{keep.Retention{MessagesForMs: 10*hour + 1, PromptsForMs: 31 * hour}, 0, 2, server},
		{keep.Retention{MessagesForMs: hour - 1, RunsForMs: keep.MostMs + 1, PromptsForMs: -hour}, 3, 0, keep.Retention{MessagesForMs: hour - 1, RunsForMs: keep.MostMs + 1, PromptsForMs: -hour}},
	} {
		if got := c.of.Problems(); len(got) != c.problems {
			t.Errorf("%+v: the problems are %v", c.of, got)
		}
		if got := c.of.Beyond(server); len(got) != c.beyond {
			t.Errorf("%+v: beyond the server are %v", c.of, got)
		}
		if got := c.of.Within(server); got != c.within {
			t.Errorf("%+v: what holds is %+v", c.of, got)
		}
	}
	ms := int64(0)
	if got := (keep.RetentionChange{RunsForMs: &ms}).Apply(keep.Retention{MessagesForMs: 1, RunsForMs: 2}); got != (keep.Retention{MessagesForMs: 1}) {
		t.Errorf("the change makes it %+v", got)
	}
}

func TestTimesAsPeopleWriteThem(t *testing.T) {
	const hour = keep.LeastMs
	for text, want := range map[string]int64{"30d": 720 * hour, "1d": 24 * hour, "12h": 12 * hour, "1h30m": hour * 3 / 2, "90s": 90_000, "forever": 0} {
		got, err := keep.Parse(text)
		if got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if again, err := keep.Parse(keep.Text(got)); again != want || err != nil {
			t.Errorf("%s is written as %s and read as %v, %v", text, keep.Text(got), again, err)
		}
	}
	for ms, want := range map[int64]string{hour: "1h", 36 * hour: "36h", 48 * hour: "2d", 90 * 60_000: "1h30m", 90_000: "1m30s", 0: "forever"} {
		if got := keep.Text(ms); got != want {
			t.Errorf("%d is %q, want %q", ms, got, want)
		}
	}
	for _, text := range []string{"", "0", "0d", "-1d", "30", "d", "1.5d", "99999999999d", "-12h", "1ns", "always", "30 d"} {
		if got, err := keep.Parse(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
