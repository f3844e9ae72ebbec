package shoal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// A time is RFC 3339 in UTC with milliseconds, whatever it was made of.
func TestTime(t *testing.T) {
	moment := time.Date(2026, 11, 20, 10, 0, 0, 123_456_789, time.UTC)
	for name, c := range map[string]struct {
		time shoal.Time
		want string
	}{
		"UTC":             {shoal.At(moment), "2026-11-20T10:00:00.123Z"},
		"another zone":    {shoal.At(moment.In(time.FixedZone("", 5*3600))), "2026-11-20T10:00:00.123Z"},
		"a whole second":  {shoal.At(moment.Truncate(time.Second)), "2026-11-20T10:00:00.000Z"},
		"made without At": {shoal.Time{Time: moment.In(time.FixedZone("", -3600))}, "2026-11-20T10:00:00.123Z"},
	} {
		encoded, err := json.Marshal(map[string]any{"at": c.time, "none": (*shoal.Time)(nil)})
		if err != nil || string(encoded) != `{"at":"`+c.want+`","none":null}` || c.time.String() != c.want {
			t.Errorf("%s: %s, %v; want %s", name, encoded, err, c.want)
		}
		if text, err := c.time.MarshalText(); err != nil || string(text) != c.want {
			t.Errorf("%s as text: %s, %v", name, text, err)
		}
	}
	if at := shoal.At(moment); at.Nanosecond() != 123_456_000 || at.Location() != time.UTC {
		t.Errorf("At keeps %v; want microseconds in UTC", at.Time)
	}
	if d := time.Since(shoal.Now().Time); d < 0 || d > time.Minute {
		t.Errorf("Now is %v ago", d)
	}
}

func TestTimeFromJSON(t *testing.T) {
	before := shoal.At(time.Unix(1, 0))
	for text, want := range map[string]string{
		`"2026-11-20T10:00:00.123Z"`:            "2026-11-20T10:00:00.123Z",
		`"2026-11-20T10:00:00Z"`:                "2026-11-20T10:00:00.000Z",
		`"2026-11-20T12:00:00.123456789+02:00"`: "2026-11-20T10:00:00.123Z",
		`null`:                                  before.String(),
		`"yesterday"`:                           "",
		`""`:                                    "",
		`12`:                                    "",
		`"2026-11-20"`:                          "",
		`{}`:                                    "",
	} {
		got := before
		err := json.Unmarshal([]byte(text), &got)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%s reads as %v, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{``, `"`, `x`} {
		if err := new(shoal.Time).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q reads as a time", text)
		}
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 59 * time.Minute: "59 min", 47 * time.Hour: "47 h", 49 * time.Hour: "2 days", 400 * 24 * time.Hour: "400 days",
	} {
		if got := shoal.Roughly(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
