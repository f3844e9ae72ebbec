package server

import (
	"os"
	"strings"
	"testing"
)

// Upgrades come from the releases of this module.
func TestReleasesAreOfThisModule(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	module, _, _ := strings.Cut(strings.TrimPrefix(string(text), "module "), "\n")
	if want := "https://" + module + "/releases"; releases != want {
		t.Errorf("upgrades come from %s, want %s", releases, want)
	}
}
