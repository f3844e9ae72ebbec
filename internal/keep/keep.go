// Package keep has how long a session keeps what is said and done in it.
package keep

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Retention is how long something is kept, in milliseconds. 0 sets no limit: in a session, the
// limit of the server holds.
type Retention struct {
	// MessagesForMs is how long a message keeps its content after it was posted. Its tombstone
	// stays.
	MessagesForMs int64 `json:"messagesForMs"`
	// RunsForMs is how long a run is kept after its end, with its steps, events, model requests
	// and settled pending actions, but without its usage and its messages.
	RunsForMs int64 `json:"runsForMs"`
	// PromptsForMs is how long the model requests of a run are kept after its end.
	PromptsForMs int64 `json:"promptsForMs"`
}

// RetentionChange is a partial change: nil leaves a time as it is.
type RetentionChange struct {
	MessagesForMs *int64 `json:"messagesForMs,omitempty"`
	RunsForMs     *int64 `json:"runsForMs,omitempty"`
	PromptsForMs  *int64 `json:"promptsForMs,omitempty"`
}

// Times that a session can keep something, other than 0: an hour to a hundred years.
const (
	LeastMs = 60 * 60 * 1000
	MostMs  = 36_525 * 24 * LeastMs
)

// Apply returns a retention with the change.
func (c RetentionChange) Apply(r Retention) Retention {
	set := func(to, from *int64) {
		if from != nil {
			*to = *from
		}
	}
	set(&r.MessagesForMs, c.MessagesForMs)
	set(&r.RunsForMs, c.RunsForMs)
	set(&r.PromptsForMs, c.PromptsForMs)
	return r
}

// Possible reports whether a session can keep something for a time: for 0, or between LeastMs and MostMs.
func Possible(ms int64) bool { return ms == 0 || ms >= LeastMs && ms <= MostMs }

// Problem is why a time of a field is not possible.
type Problem struct{ Field, Message string }

// Problems returns what is wrong with the times of a session.
func (r Retention) Problems() (all []Problem) {
	for _, f := range r.fields() {
		if !Possible(*f.ms) {
			all = append(all, Problem{f.name, "must be 0 for no limit, or between 3600000 (an hour) and 3155760000000 (a hundred years) milliseconds"})
		}
	}
	return all
}

// Beyond returns which times are longer than a server allows. A time of 0 never is: then the limit
// of the server holds.
func (r Retention) Beyond(server Retention) (all []Problem) {
	most := server.fields()
	for i, f := range r.fields() {
		if limit := *most[i].ms; limit > 0 && *f.ms > limit {
			all = append(all, Problem{f.name, fmt.Sprintf("must be at most %d (%s), as long as this server keeps %s", limit, Text(limit), f.what)})
		}
	}
	return all
}

// Within returns the times that hold in a session: its own, or those of the server where these are
// shorter.
func (r Retention) Within(server Retention) Retention {
	most := server.fields()
	for i, f := range r.fields() { // r is a copy
		if limit := *most[i].ms; limit > 0 && (*f.ms == 0 || *f.ms > limit) {
			*f.ms = limit
		}
	}
	return r
}

// Parse parses a time as people write it: days such as 30d, a Go duration such as 12h, or forever,
// for which it returns 0.
func Parse(text string) (ms int64, err error) {
	if text == "forever" {
		return 0, nil
	}
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return int64(n) * 24 * LeastMs, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= time.Millisecond {
		return d.Milliseconds(), nil
	}
	return 0, fmt.Errorf("%s is not a duration: use 30d or 12h, or forever", text)
}

// Text returns a time as Parse reads it.
func Text(ms int64) string {
	const day = 24 * LeastMs
	switch {
	case ms == 0:
		return "forever"
	case ms%day == 0:
		return strconv.FormatInt(ms/day, 10) + "d"
	}
	short := (time.Duration(ms) * time.Millisecond).String()
	if strings.HasSuffix(short, "m0s") {
		short = strings.TrimSuffix(short, "0s")
	}
	if strings.HasSuffix(short, "h0m") {
		short = strings.TrimSuffix(short, "0m")
	}
	return short
}

type field struct {
	name, what string
	ms         *int64
}

func (r *Retention) fields() []field {
	return []field{
		{"retention.messagesForMs", "messages", &r.MessagesForMs},
		{"retention.runsForMs", "runs", &r.RunsForMs},
		{"retention.promptsForMs", "model requests", &r.PromptsForMs},
	}
}
