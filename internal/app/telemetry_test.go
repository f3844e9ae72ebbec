package app

import (
	"strings"
	"testing"
)

// Settings of --otlp that cannot work are refused before the start, and their secrets are not
// in what is logged.
func TestSettingsOfTheReceiver(t *testing.T) {
	keys := func(headers string) func(string) string {
		return func(name string) string {
			if name == headersVariable {
				return headers
			}
			return ""
		}
	}
	for _, c := range []struct {
		config Config
		wrong  string // in the error
	}{
		{Config{OTLP: "http://127.0.0.1:4318", OTLPContent: true, Keys: keys("key=a%20b")}, ""},
		{Config{OTLP: "127.0.0.1:4318"}, "--otlp is not"},
		{Config{OTLPContent: true}, "--otlp-content needs"},
		{Config{OTLP: "http://127.0.0.1:4318", Keys: keys("canary")}, headersVariable},
	} {
		c.config.Data = t.TempDir()
		err := c.config.Check()
		if (err == nil) != (c.wrong == "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
	c := Config{OTLP: "http://u:one@127.0.0.1:4318", Keys: keys("a=two,b=three")}
	if got := strings.Join(c.otlpSecrets(), " "); !strings.HasPrefix(got, "one ") || !strings.Contains(got, "two") || !strings.Contains(got, "three") {
		t.Errorf("the secrets are %q", got)
	}
}
