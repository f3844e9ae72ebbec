package script

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/shoal-dev/shoal/agent"
)

// Condition is about the turn so far: the newest user message and the messages after
// it. Either Hears is set, or Call and Is.
type Condition struct {
	// Hears holds if the user message has one of these words, in any case of
	// letters. Words are separated by anything but letters and digits.
	Hears []string

	// Call is the ID of a tool call of the turn, or its tool's name; of several
	// such calls the last one counts. The condition holds if the call has a result
	// whose Field is Is. Without a Field, Is is the status of the result, such as ok
	// or denied. Field is a path into a result in JSON, such as item.price; a string
	// is compared with Is directly, anything else in its JSON encoding.
	Call, Field, Is string
}

// fits reports whether all conditions of the answer hold.
func (a *Answer) fits(req *agent.Request) bool {
	return !slices.ContainsFunc(a.When, func(c Condition) bool { return !c.holds(req) })
}

func (c *Condition) holds(req *agent.Request) bool {
	turn := turnOf(req)
	if len(turn) == 0 {
		return false
	}
	if len(c.Hears) > 0 {
		return hears(turn[0].Text(), c.Hears)
	}
	result := resultOf(turn, c.Call)
	switch {
	case result == nil:
		return false
	case c.Field == "":
		return string(result.Status) == c.Is
	}
	found, ok := field(result.Text, c.Field)
	return ok && found == c.Is
}

// turnOf returns the newest user message and the messages after it.
func turnOf(req *agent.Request) []agent.Message {
	for i, m := range slices.Backward(req.Messages) {
		if m.Role == agent.User {
			return req.Messages[i:]
		}
	}
	return nil
}

func hears(text string, any []string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(any, func(wanted string) bool { return strings.EqualFold(word, wanted) })
	})
}

// resultOf returns the result of the last call that goes by that name, or nil.
func resultOf(turn []agent.Message, name string) *agent.ToolResult {
	for _, m := range slices.Backward(turn) {
		results := m.Results()
		for i := range slices.Backward(results) {
			if r := &results[i]; r.CallID == name || r.Name == name {
				return r
			}
		}
	}
	return nil
}

// field finds the value at a path in a text of JSON.
func field(text, path string) (found string, ok bool) {
	value := json.RawMessage(text)
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return "", false
		}
		if value, ok = object[name]; !ok {
			return "", false
		}
	}
	if json.Unmarshal(value, &found) == nil && string(value) != "null" {
		return found, true
	}
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return "", false
	}
	return compact.String(), true
}
