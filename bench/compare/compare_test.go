package main

import (
	"testing"

	"github.com/shoal-dev/shoal/bench/compare/mock"
)

// Every program compiles, and those with package agent end each fault as well as it can end. The
// faults of the other libraries are only printed: their authors may change them.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	model := mock.Start(answer)
	defer model.Close()
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			if err := l.build(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			if l.dir != "shoal" {
				return
			}
			for _, fault := range allFaults {
				s, err := l.play(t.Context(), model, fault)
				if err != nil {
					t.Fatal(err)
				}
				if !s.good(fault) {
					t.Errorf("%s: %s (%+v, crash %q, %d requests)", fault, s.words(fault), s.Outcome, s.crash, len(s.requests))
				}
			}
		})
	}
}
