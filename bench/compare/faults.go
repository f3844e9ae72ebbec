package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/bench/compare/harness"
	"github.com/shoal-dev/shoal/bench/compare/mock"
)

// The faults, by the questions that bring them about.
const (
	badJSON     = "arguments that are not JSON"
	toolError   = "a tool returns an error"
	toolPanic   = "a tool panics"
	unknownTool = "a call of an unknown tool"
	cutStream   = "the stream is cut in a word"
	rateLimit   = "429 with Retry-After"
	emptyAnswer = "an empty answer"
	canceling   = "canceled while a tool runs"
	maxSteps    = "the model calls tools for ever"
	sameID      = "two calls with one id"
)

var allFaults = []string{badJSON, toolError, toolPanic, unknownTool, cutStream, rateLimit, emptyAnswer, canceling, maxSteps, sameID}

// patience is after which time a turn hangs.
const patience = 20 * time.Second

// seen is what became of a turn with a fault.
type seen struct {
	harness.Outcome
	crash    string // the last words of a process that ended
	hangs    bool
	requests []mock.Request
}

// play plays a fault with the program of a library.
func (l *library) play(ctx context.Context, model *mock.Server, fault string) (s seen, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(ctx, l.program, "-url", model.URL, fault)
	var words bytes.Buffer
	cmd.Stderr = &words
	text, err := cmd.Output()
	s.requests = model.Take()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		s.hangs = true
		return s, nil
	case errors.As(err, &exit):
		for _, line := range strings.Split(words.String(), "\n") {
			if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "error:") {
				s.crash = line
				break
			}
		}
		if s.crash == "" {
			s.crash = "without a word"
		}
		return s, nil
	case err != nil:
		return s, err
	}
	return s, json.Unmarshal(last(text), &s.Outcome)
}

// good reports whether the turn went as well as it could: it was canceled at once, or it has
// ended with the model's whole answer, the tool that fails was called, two calls with one id have
// two results, and the model was called as often as it was allowed to.
func (s seen) good(fault string) bool {
	if s.crash != "" || s.hangs {
		return false
	}
	switch fault {
	case canceling:
		return s.Error != "" && s.After < time.Second && len(s.requests) == 1
	case toolError, toolPanic:
		return s.Error == "" && s.Text == "It is done" && s.Tools == 1
	case maxSteps:
		return s.Error == "" && s.Tools == harness.MaxCalls && s.Text == "It is done" && len(s.requests) <= harness.MaxCalls+1
	case sameID:
		return s.Error == "" && s.Tools == 2 && s.Text == "It is done" && len(ids(s.requests)) == 2
	}
	return s.Error == "" && s.Text == "It is done"
}

// ids are the different ids of the results that the model was sent last.
func ids(all []mock.Request) map[string]bool {
	different := map[string]bool{}
	if len(all) > 0 {
		for _, r := range all[len(all)-1].Results {
			different[r.ID] = true
		}
	}
	return different
}

// words say what became of the turn.
func (s seen) words(fault string) string {
	n := len(s.requests)
	switch {
	case s.hangs:
		return fmt.Sprintf("hangs for %s", patience)
	case s.crash != "":
		return "**the process ends**"
	case fault == canceling && s.Error != "":
		return "ends"
	case s.Error != "" && s.Text != "":
		return fmt.Sprintf("fails, after “%s”", strings.TrimSpace(s.Text))
	case s.Error != "":
		return "fails"
	case fault == maxSteps && n >= endless:
		return fmt.Sprintf("**no limit**, %d calls", n)
	case fault == canceling:
		return fmt.Sprintf("**goes on**, “%s”", s.Text)
	case fault == sameID && s.Text == "It is done":
		return fmt.Sprintf("answers, %d run, %d ids", s.Tools, len(ids(s.requests)))
	case s.Text == "It is done":
		return "answers"
	case s.Text == "":
		return "**nothing, without an error**"
	}
	return fmt.Sprintf("**“%s”, without an error**", s.Text)
}

// short is the beginning of a text that may have the stack of a goroutine in it.
func short(text string) string {
	const most = 160
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

// faults prints what each library does, and then the details: errors, and what the model read.
func faults(ctx context.Context, out io.Writer, model *mock.Server) error {
	titles := []string{""}
	for _, l := range libraries {
		titles = append(titles, l.name)
	}
	head(out, titles...)
	var details strings.Builder
	count := make([]int, len(libraries))
	for _, fault := range allFaults {
		line := []string{fault}
		for i, l := range libraries {
			s, err := l.play(ctx, model, fault)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", l.name, fault, err)
			}
			if s.good(fault) {
				count[i]++
			}
			line = append(line, s.words(fault))
			fmt.Fprintf(&details, "%s, %s: %d requests, %d tools ran", fault, l.name, len(s.requests), s.Tools)
			for _, part := range []string{s.Text, s.Error, s.crash} {
				if part != "" {
					fmt.Fprintf(&details, "; %q", short(part))
				}
			}
			if len(s.requests) > 0 && fault != maxSteps {
				for _, r := range s.requests[len(s.requests)-1].Results {
					fmt.Fprintf(&details, "; the model reads %q (%s)", short(r.Text), r.ID)
				}
			}
			details.WriteString("\n")
		}
		row(out, line...)
	}
	sum := []string{"as well as it can end"}
	for _, n := range count {
		sum = append(sum, fmt.Sprintf("%d of %d", n, len(allFaults)))
	}
	row(out, sum...)
	fmt.Fprintf(out, "\n%s", &details)
	return nil
}
