package main

import (
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/talk"
)

// The time that wait takes without --timeout is that of the server, not a copy of it.
func TestWaitHasTheDefaultOfTheServer(t *testing.T) {
	chosen, err := cli.NewParser(new(commands)).Parse([]string{"wait"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := chosen.Selected().Target.Interface().(talk.WaitCommand).Timeout, shoal.DefaultWait; got != want {
		t.Errorf("shoal wait waits %v, want %v", got, want)
	}
}
