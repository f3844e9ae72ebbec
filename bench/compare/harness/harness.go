// Package harness is what the agents of the comparison have in common: what they are asked and
// say, what their tools do, and how their use of the processor and of memory is measured. It is
// not counted as a part of any of them.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// What every agent is built with.
const (
	Model        = "gpt-4.1-mini" // a name that all libraries know
	Key          = "no-key"
	Instructions = "Answer in one sentence."
	WeatherIs    = "Returns the weather of a city."
	AddIs        = "Adds two numbers."
	MaxCalls     = 20 // of the model in one turn
)

// Ask runs one turn on a new conversation and shows the text of the model as it arrives.
type Ask func(ctx context.Context, question string, screen *Screen) error

// Screen is what a user sees: text, the last of which belongs to a message that is still written.
type Screen struct{ text, message strings.Builder }

// Show adds a piece of text.
func (s *Screen) Show(text string) { s.message.WriteString(text) }

// End ends a message. If it is discarded, its text is taken back.
func (s *Screen) End(discarded bool) {
	if !discarded {
		s.text.WriteString(s.message.String())
	}
	s.message.Reset()
}

// Text returns what is on the screen.
func (s *Screen) Text() string { return s.text.String() + s.message.String() }

// Outcome is what one turn did.
type Outcome struct {
	Text  string        `json:"text"`
	Error string        `json:"error"`
	Tools int64         `json:"tools"` // calls of a tool that were executed
	After time.Duration `json:"after"` // from the cancellation to the end of the turn
}

// Cost is what a turn cost on average.
type Cost struct {
	CPU    time.Duration `json:"cpu"`
	Allocs float64       `json:"allocs"`
	Tools  int64         `json:"tools"` // executed in each turn
}

// executed counts the calls of tools, cancel ends the context of the turn, and canceled is
// when that was, in nanoseconds of Unix time.
var (
	executed, canceled atomic.Int64
	cancel             context.CancelFunc
)

// Cities for which the weather is not simply returned.
const (
	Unknown = "Atlantis" // an error
	Fatal   = "Pompeii"  // a panic
	Endless = "Godot"    // the user cancels; the tool ends with its context
)

// Weather is the tool of that name.
func Weather(ctx context.Context, city string) (string, error) {
	executed.Add(1)
	switch city {
	case Unknown:
		return "", errors.New("no such city")
	case Fatal:
		panic("the volcano erupts")
	case Endless:
		canceled.Store(time.Now().UnixNano())
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}
	return "rain in " + city, nil
}

// Add is the tool of that name.
func Add(a, b float64) float64 {
	executed.Add(1)
	return a + b
}

// Main is the program of an agent:
//
//	agent -url URL QUESTION             runs a turn and prints its Outcome
//	agent -url URL -turns N QUESTION    runs N turns after two others and prints their Cost
func Main(build func(ctx context.Context, url string) (Ask, error)) {
	url := flag.String("url", "", "the base `URL` of the model")
	turns := flag.Int("turns", 0, "measure so many turns")
	flag.Parse()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ask, err := build(ctx, *url)
	if err == nil {
		var result any
		if *turns > 0 {
			result, err = measure(ctx, ask, flag.Arg(0), *turns)
		} else {
			result = play(ctx, ask, flag.Arg(0))
		}
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(result)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, ask Ask, question string) (o Outcome) {
	ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	var screen Screen
	if err := ask(ctx, question, &screen); err != nil {
		o.Error = err.Error()
	}
	o.Text, o.Tools = screen.Text(), executed.Load()
	if at := canceled.Load(); at != 0 {
		o.After = time.Since(time.Unix(0, at))
	}
	return o
}

func measure(ctx context.Context, ask Ask, question string, turns int) (c Cost, err error) {
	const warm = 2
	var before runtime.MemStats
	var cpu time.Duration
	for i := range warm + turns {
		if i == warm {
			runtime.GC()
			runtime.ReadMemStats(&before)
			cpu = used()
		}
		var screen Screen
		if err := ask(ctx, question, &screen); err != nil {
			return c, err
		}
		if !strings.HasSuffix(screen.Text(), "done") {
			return c, fmt.Errorf("the turn ends with %q", screen.Text())
		}
	}
	cpu = used() - cpu
	c.Tools = executed.Load() / int64(warm+turns)
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	c.CPU, c.Allocs = cpu/time.Duration(turns), float64(after.Mallocs-before.Mallocs)/float64(turns)
	return c, nil
}

// used returns the processor time that this process has used.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
