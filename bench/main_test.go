package main

import (
	"strings"
	"testing"
)

func TestSelectTables(t *testing.T) {
	for list, want := range map[string]string{
		"wake":         "wake",
		"posts,wake":   "wake posts",
		"models":       "parse argument added runs",
		"runs,servers": "wake posts sessions members spaces idle crowd fan reconnect gates overload refuse relay hosted page search start runs",
		"cluster":      "cluster-wake cluster-posts cluster-bus",
		"":             "wake posts sessions members spaces idle crowd fan reconnect gates overload refuse relay hosted page search start cluster-wake cluster-posts cluster-bus parse argument added runs coding-agents",
	} {
		chosen, err := selectTables(list)
		var names []string
		for _, c := range chosen {
			names = append(names, c.name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("selectTables(%q) = %q, %v, want %q", list, got, err, want)
		}
	}
	if _, err := selectTables("wake,nothing"); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("unknown table: got error %v, want one that names it", err)
	}
}

func TestWholeKinds(t *testing.T) {
	for list, whole := range map[string]bool{"": true, "models": true, "servers": true, "servers,models": true, "cluster": true, "cluster-wake": false, "wake": false, "servers,parse": false} {
		chosen, err := selectTables(list)
		if err != nil {
			t.Fatal(err)
		}
		if err := wholeKinds(chosen); (err == nil) != whole {
			t.Errorf("-write with %q: got error %v, want accepted = %v", list, err, whole)
		}
	}
}
