package clienttest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// Skew checks that a client of another version than the server says so where it matters, and works
// where it does not. file is the one of the installed client that states its version; Skew changes it.
func Skew(t *testing.T, file string, command ...string) {
	s := apptest.Start(t)
	key := s.Agent("scout")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	stated := regexp.MustCompile(`\d+\.\d+\.\d+`)
	versions := func(client string) string {
		return "This server speaks version " + shoal.APIVersion + " of the API, and the client was built for " + client + "."
	}
	for version, want := range map[string]struct {
		refused        string
		unknown, value string
	}{
		shoal.APIVersion + ".7": {
			refused: "map[field:[InvalidError invalid_argument 422] known:[] method:[ShoalError method_not_allowed 405] path:[NotFoundError not_found 404] value:[InvalidError invalid_argument 422]]",
		},
		"1.9.0": {
			refused: "map[field:[ShoalError server_too_old 501] known:[] method:[ShoalError server_too_old 501] path:[ShoalError server_too_old 501] value:[InvalidError invalid_argument 422]]",
			unknown: "server_too_old: " + versions("1.9") + " Upgrade the server", value: versions("1.9"),
		},
		"0.9.0": {
			refused: "map[field:[ShoalError client_too_old 501] known:[] method:[ShoalError client_too_old 501] path:[ShoalError client_too_old 501] value:[InvalidError invalid_argument 422]]",
			unknown: "client_too_old: " + versions("0.9") + " Upgrade the client", value: versions("0.9"),
		},
	} {
		if err := os.WriteFile(file, stated.ReplaceAll(text, []byte(version)), 0o600); err != nil {
			t.Fatal(err)
		}
		got := drive(t, command, "skew", s.URL, key).next(func(l said) bool { return l.Refused != nil })
		if refused := fmt.Sprint(got.Refused); refused != want.refused {
			t.Errorf("%s: refused\n%s\nwant\n%s", version, refused, want.refused)
		}
		if len(got.Texts) != 4 {
			t.Fatalf("%s: the texts are %q", version, got.Texts)
		}
		for _, text := range got.Texts[:3] {
			if !strings.HasPrefix(text, want.unknown) {
				t.Errorf("%s: %s, want %s", version, text, want.unknown)
			}
		}
		if text := got.Texts[3]; !strings.Contains(text, want.value) || want.value == "" && strings.Contains(text, "version") {
			t.Errorf("%s: %s, want %s", version, text, want.value)
		}
	}
}
