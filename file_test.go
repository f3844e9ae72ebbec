package shoal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

func TestCheckRenderer(t *testing.T) {
	for page, want := range map[string]shoal.Kind{
		"<p>": "", strings.Repeat("x", shoal.MaxRenderer): "", "": shoal.InvalidArgument, "\xff": shoal.InvalidArgument,
		strings.Repeat("x", shoal.MaxRenderer+1): shoal.TooLarge,
	} {
		if err := shoal.CheckRenderer([]byte(page)); (err == nil) != (want == "") || want != "" && !errors.Is(err, want) {
			t.Errorf("%.20q of %d bytes: %v, want %q", page, len(page), err, want)
		}
	}
}
