package input

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

func TestMillisecondsAcceptAnyNumber(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30000": 30 * time.Second, "0.5": 500 * time.Microsecond, "-1": 0, "1e3": time.Second, "1e999": shoal.MaxWait, "-1e999": 0, "9223372036854775808": shoal.MaxWait,
	} {
		var m Milliseconds
		if err := m.UnmarshalJSON([]byte(text)); err != nil || time.Duration(m) != want {
			t.Errorf("%s = %v, %v; want %v", text, time.Duration(m), err, want)
		}
	}
	for _, text := range []string{`"30000"`, "true", "{}"} {
		if err := new(Milliseconds).UnmarshalJSON([]byte(text)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s is taken as a number", text)
		}
	}
}
