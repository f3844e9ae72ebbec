package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// filter is a jq program that the objects of --json go through.
type filter struct{ code *gojq.Code }

// newFilter compiles a jq program. The error names the flag. Programs read neither files nor
// the environment.
func newFilter(text string) (*filter, error) {
	query, err := gojq.Parse(text)
	if err == nil {
		var code *gojq.Code
		if code, err = gojq.Compile(query, gojq.WithEnvironLoader(func() []string { return nil })); err == nil {
			return &filter{code}, nil
		}
	}
	return nil, &shoal.Error{Kind: KindUsage, Msg: fmt.Sprintf("--jq %q is not a jq program: %v", text, err), Err: err}
}

// printFiltered prints the results of the filter for v, one per line: strings as they are, and
// everything else as JSON.
func (o *Output) printFiltered(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var input any
	if err := json.Unmarshal(text, &input); err != nil {
		return err
	}
	for results := o.filter.code.Run(input); ; {
		result, more := results.Next()
		if !more {
			return nil
		}
		if err := o.printResult(result); err != nil {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return nil
			}
			return err
		}
	}
}

func (o *Output) printResult(result any) error {
	switch r := result.(type) {
	case error:
		return &shoal.Error{Kind: KindUsage, Msg: fmt.Sprintf("--jq fails on what the server answered: %v", r), Err: r}
	case string:
		if o.Terminal {
			r = safetext.Clean(r)
		}
		return o.Write(strings.TrimSuffix(r, "\n") + "\n")
	}
	text, err := gojq.Marshal(result)
	if err != nil {
		return err
	}
	return o.Write(EscapeJSON(string(text)) + "\n")
}
