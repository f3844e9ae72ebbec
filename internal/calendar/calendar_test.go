package calendar_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/calendar"
)

func TestNextTime(t *testing.T) {
	const friday = "2026-11-20T22:00:00Z"
	for _, c := range []struct{ about, cron, zone, after, want string }{
		{"every minute", "* * * * *", "", friday, "2026-11-20T22:01:00Z"},
		{"a moment inside a minute", "* * * * *", "", "2026-11-20T22:00:59.999Z", "2026-11-20T22:01:00Z"},
		{"after, never at", "0 22 * * *", "", friday, "2026-11-21T22:00:00Z"},
		{"a list, a range and a step", "0,30 8-18/5 * * *", "", friday, "2026-11-21T08:00:00Z"},
		{"names of days", "0 9 * * mon-fri", "", friday, "2026-11-23T09:00:00Z"},
		{"0 is Sunday", "0 9 * * 0", "", friday, "2026-11-22T09:00:00Z"},
		{"7 is Sunday", "0 9 * * 7", "", friday, "2026-11-22T09:00:00Z"},
		{"names of months", "0 0 1 JAN *", "", friday, "2027-01-01T00:00:00Z"},
		{"day of month or of week", "0 0 24 * sun", "", friday, "2026-11-22T00:00:00Z"},
		{"only in leap years", "0 0 29 2 *", "", friday, "2028-02-29T00:00:00Z"},
		{"2100 is not a leap year", "0 0 29 2 *", "", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"daily", "@daily", "", friday, "2026-11-21T00:00:00Z"},
		{"weekly", "@weekly", "", friday, "2026-11-22T00:00:00Z"},
		{"hourly in a zone of half an hour", "@hourly", "Asia/Kolkata", friday, "2026-11-20T22:30:00Z"},
		{"space around", "  0 9 * * *\t", "", friday, "2026-11-21T09:00:00Z"},
		{"a zone", "0 9 * * *", "Asia/Tokyo", friday, "2026-11-21T00:00:00Z"},
		{"a zone where it is tomorrow", "0 0 21 11 *", "Asia/Tokyo", "2026-11-20T14:00:00Z", "2026-11-20T15:00:00Z"},

		{"before clocks go forward", "30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", "2026-03-28T01:30:00Z"},
		{"02:30 does not exist: 03:30", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"},
		{"after clocks went forward", "30 2 * * *", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-30T00:30:00Z"},
		{"hourly goes on", "@hourly", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"02:30 comes twice: first", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"02:30 comes twice: second", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"02:30 comes twice, not three times", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"},
		{"midnight does not exist", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"},
		{"clocks move by half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:45:00Z"},
	} {
		t.Run(c.about, func(t *testing.T) {
			next, err := calendar.NextTime(c.cron, c.zone, at(t, c.after))
			if err != nil {
				t.Fatal(err)
			}
			if got := next.Format(time.RFC3339Nano); got != c.want {
				t.Errorf("%q in %q after %s: got %s, want %s", c.cron, c.zone, c.after, got, c.want)
			}
		})
	}
}

func TestNextTimeErrors(t *testing.T) {
	for _, c := range []struct{ about, cron, zone, field string }{
		{"nothing", "", "", "cron"},
		{"words", "every morning", "", "cron"},
		{"four fields", "0 9 * *", "", "cron"},
		{"seconds", "0 0 9 * * *", "", "cron"},
		{"a minute too late", "60 9 * * *", "", "cron"},
		{"a day that never comes", "0 0 31 2 *", "", "cron"},
		{"a zone in the expression", "TZ=Europe/Berlin 0 9 * * *", "", "cron"},
		{"a zone that breaks other parsers", "TZ=0", "", "cron"},
		{"another spelling of that", "CRON_TZ=UTC 0 9 * * *", "", "cron"},
		{"seconds in disguise", "@every 1s", "", "cron"},
		{"an interval", "@every 1h", "", "cron"},
		{"a start of the server", "@reboot", "", "cron"},
		{"far too long", strings.Repeat("1,", 5000) + "1 * * * *", "", "cron"},
		{"no zone", "0 9 * * *", "Mars/Olympus", "timeZone"},
		{"the server's own zone", "0 9 * * *", "Local", "timeZone"},
		{"a path", "0 9 * * *", "../../etc/passwd", "timeZone"},
	} {
		t.Run(c.about, func(t *testing.T) {
			next, err := calendar.NextTime(c.cron, c.zone, at(t, "2026-11-20T22:00:00Z"))
			var wrong *shoal.Error
			if !errors.As(err, &wrong) || wrong.Kind != shoal.InvalidArgument || len(wrong.Fields) != 1 || wrong.Fields[0].Location != c.field {
				t.Fatalf("%q in %q: got %v, %v", c.cron, c.zone, next, err)
			}
			if len(wrong.Msg) > 600 {
				t.Errorf("the message has %d bytes: %s", len(wrong.Msg), wrong.Msg)
			}
		})
	}
}

// For any text that a model writes, the result is either a time after the given one or an
// error message.
func FuzzNextTime(f *testing.F) {
	for _, cron := range []string{"* * * * *", "30 2 * * mon-fri", "@daily", "@every 1m", "TZ=0", "0 0 31 2 *", "*/0 * * * *", "H H * * *", "0 0 L * *", "1-70 * * * *", "@", "? ? ? ? ?", "0 0 29 2 1"} {
		for _, zone := range []string{"", "Europe/Berlin", "Australia/Lord_Howe", "x", "Local"} {
			f.Add(cron, zone, int64(1_790_000_000))
		}
	}
	f.Fuzz(func(t *testing.T, cron, zone string, seconds int64) {
		after := time.Unix(seconds%8_000_000_000, 0)
		next, err := calendar.NextTime(cron, zone, after)
		switch {
		case err != nil && shoal.KindOf(err) != shoal.InvalidArgument:
			t.Fatalf("%q in %q: %v", cron, zone, err)
		case err == nil && !next.After(after):
			t.Fatalf("%q in %q after %s has the next time %s", cron, zone, after, next)
		case err == nil && next.Location() != time.UTC:
			t.Fatalf("%q in %q has the next time %s, which is not in UTC", cron, zone, next)
		}
	})
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}
