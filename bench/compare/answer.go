package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/bench/compare/harness"
	"github.com/shoal-dev/shoal/bench/compare/mock"
)

// endless is after how many model calls a turn without a limit is ended.
const endless = 60

// done is the end of every turn that goes well.
func done() mock.Answer { return mock.Answer{Deltas: []string{"It is ", "done"}} }

// calls are calls of the tool weather.
func calls(cities ...string) (a mock.Answer) {
	for i, c := range cities {
		a.Calls = append(a.Calls, mock.Call{ID: fmt.Sprint("call_", i+1), Name: "weather", Arguments: fmt.Sprintf(`{"city":%q}`, c)})
	}
	return a
}

// answer is what the model says: it plays the question's first words.
func answer(r mock.Request) mock.Answer {
	first := len(r.Results) == 0
	var n int
	if _, err := fmt.Sscanf(r.Question, "deltas %d", &n); err == nil {
		return mock.Answer{Deltas: append(slices.Repeat([]string{"word "}, n-1), "done")}
	}
	if _, err := fmt.Sscanf(r.Question, "steps %d", &n); err == nil {
		return step(r, n)
	}
	switch f := strings.TrimSpace(r.Question); {
	case f == badJSON && first:
		a := calls("Kiel")
		a.Calls[0].Arguments = `{"city": "Ki`
		return a
	case f == toolError && first:
		return calls(harness.Unknown)
	case f == toolPanic && first:
		return calls(harness.Fatal)
	case f == unknownTool && first:
		a := calls("Kiel")
		a.Calls[0].Name = "wether"
		return a
	case f == cutStream && r.Attempt == 0:
		return mock.Answer{Deltas: []string{"It is ", "do"}, Cut: true}
	case f == rateLimit && r.Attempt == 0:
		return mock.Answer{Status: http.StatusTooManyRequests}
	case f == emptyAnswer && r.Attempt == 0:
		return mock.Answer{}
	case f == canceling && first:
		return calls(harness.Endless)
	case f == maxSteps && !r.Closed:
		return step(r, endless)
	case f == sameID && first:
		a := calls("Kiel", "Oslo")
		a.Calls[1].ID = a.Calls[0].ID
		return a
	}
	return done()
}

// step calls a tool until the request has n results. Each call has other arguments.
func step(r mock.Request, n int) mock.Answer {
	i := len(r.Results)
	if i >= n {
		return done()
	}
	return mock.Answer{Calls: []mock.Call{{ID: fmt.Sprint("call_", i), Name: "add", Arguments: fmt.Sprintf(`{"a":%d,"b":1}`, i)}}}
}
