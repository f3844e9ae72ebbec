package cli

import (
	"context"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
)

func newCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	return context.WithCancelCause(t.Context())
}

func TestMoments(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"90m":                       "2026-11-20T11:30:00.000Z",
		"30d":                       "2026-12-20T10:00:00.000Z",
		"2027-01-31T00:00:00+02:00": "2027-01-30T22:00:00.000Z",
		"0s":                        "",
		"-1h":                       "",
		"-3d":                       "",
		"tomorrow":                  "",
		"99999999999999999d":        "",
		"":                          "",
	} {
		got, err := ParseTime("--expires", in, now, 1)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("moment(%q) = %v, %v, want %q", in, got, err, want)
		}
	}
	if got, err := ParseTime("--since", "2d", now, -1); err != nil || got.String() != "2026-11-18T10:00:00.000Z" {
		t.Errorf("two days ago = %v, %v", got, err)
	}
}

// A terminal gets relative times, a pipe gets absolute ones.
func TestTimesByReader(t *testing.T) {
	hour := shoal.At(time.Now().Add(-time.Hour))
	month := shoal.At(time.Now().Add(30 * 24 * time.Hour))
	person, program := &Output{Terminal: true}, &Output{}
	if past, next := person.FormatTime(&hour, "never"), person.FormatTime(&month, "never"); past != "1 h ago" || next != "in 30 days" {
		t.Errorf("a person sees %q and %q", past, next)
	}
	if got := program.FormatTime(&hour, "never"); got != hour.String() {
		t.Errorf("a program sees %q", got)
	}
	if got := person.FormatTime(nil, "never"); got != "never" {
		t.Errorf("none is %q", got)
	}
}

func TestRedacted(t *testing.T) {
	for in, want := range map[string]string{
		"sqlite:///var/lib/shoal.db":           "sqlite:///var/lib/shoal.db",
		"postgres://u:hunter2@h/db":            "postgres://u:xxxxx@h/db",
		"postgres://h/db?password=hunter2&a=b": "postgres://h/db?a=b&password=xxxxx",
		"postgres://u:hunter2%zz@h/db":         "set, but not a valid URL",
	} {
		if got := redacted(in); got != want {
			t.Errorf("redacted(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true,
		"": false, "0.0.0.0": false, "10.0.0.1": false, "localhost.example": false, "127.0.0.1.example": false,
	} {
		if got := app.Loopback(host); got != want {
			t.Errorf("app.Loopback(%q) = %v", host, got)
		}
	}
}
