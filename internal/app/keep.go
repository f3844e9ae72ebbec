package app

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/keep"
)

// keep returns how long the server keeps things.
func (c Config) keep() (out shoal.Retention, err error) {
	for _, k := range []struct {
		flag, text string
		ms         *int64
	}{
		{"--keep-messages", c.KeepMessages, &out.MessagesForMs},
		{"--keep-runs", c.KeepRuns, &out.RunsForMs},
		{"--keep-requests", c.KeepRequests, &out.PromptsForMs},
	} {
		if *k.ms, err = keep.Parse(k.text); err != nil {
			return out, shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("%s %v.", k.flag, err))
		}
	}
	return out, nil
}
