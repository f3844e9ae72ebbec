package chat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// kind is what a field takes.
type kind string

const (
	decision kind = "decision"
	question kind = "question"
	text     kind = "text"
	number   kind = "number"
	integer  kind = "integer"
	boolean  kind = "boolean"
	choice   kind = "choice"
	value    kind = "JSON"         // any JSON, checked
	loose    kind = "JSON or text" // as Result reads it
	nothing  kind = "nothing"      // null alone
)

// Field is one value that a person types.
type Field struct {
	Name     string
	About    string // what its author says about it
	Required bool
	Choices  []string // what it may be, in words; a question takes any other text, too
	Text     string   // what was typed
	Wrong    string   // what is wrong with it, and what to do; empty if nothing is known to be

	kind   kind
	values []json.RawMessage // of the choices
}

// Takes says what may be typed.
func (f Field) Takes() string {
	var says string
	switch f.kind {
	case decision:
		return "y or n; always or never for later calls, too"
	case question:
		if len(f.Choices) == 0 {
			return "a text"
		}
		return "a number, or a text"
	case choice:
		says = "one of " + strings.Join(f.Choices, ", ")
	case boolean:
		says = "y or n"
	case integer:
		says = "a whole number"
	case number, text:
		says = "a " + string(f.kind)
	case nothing:
		return "nothing: Enter says that it is done"
	default:
		says = string(f.kind)
	}
	if !f.Required {
		says += "; may be left empty"
	}
	return says
}

// Prompt is the field in one line: its name, what it is about and what it takes.
func (f Field) Prompt() string {
	says := f.Name
	if f.About != "" {
		says += ", " + f.About
	}
	return says + " (" + f.Takes() + ")"
}

var (
	isInteger = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	isNumber  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// check says in Wrong what is wrong with what was typed.
func (f *Field) check() {
	typed := strings.TrimSpace(f.Text)
	f.Wrong = ""
	if typed == "" && f.kind != nothing {
		if f.Required {
			f.Wrong = "is needed: " + f.Takes()
		}
		return
	}
	ok := true
	switch f.kind {
	case decision:
		_, ok = decisions[strings.ToLower(typed)]
	case boolean:
		_, ok = yesNo[strings.ToLower(typed)]
	case integer:
		ok = isInteger.MatchString(typed)
	case number:
		ok = isNumber.MatchString(typed)
	case choice:
		ok = f.index() >= 0
	case value:
		ok = json.Valid([]byte(typed))
	case loose:
		_, err := Result(typed)
		ok = err == nil
	case nothing:
		ok = typed == "" || typed == "null"
	}
	if !ok {
		f.Wrong = fmt.Sprintf("%q does not do: %s", typed, f.Takes())
	}
}

// decisions are what a permission takes: allowed, and whether for good.
var decisions = map[string][2]bool{
	"y": {true, false}, "yes": {true, false}, "approve": {true, false}, "n": {false, false}, "no": {false, false}, "deny": {false, false},
	"always": {true, true}, "never": {false, true},
}

var yesNo = map[string]string{"y": "true", "yes": "true", "true": "true", "n": "false", "no": "false", "false": "false"}

func (f Field) decided() (yes, remember bool) {
	d := decisions[strings.ToLower(strings.TrimSpace(f.Text))]
	return d[0], d[1]
}

// index is the choice that was typed: its word, its JSON or its number; -1 for
// none.
func (f Field) index() int {
	typed := strings.TrimSpace(f.Text)
	if at := slices.Index(f.Choices, typed); at >= 0 {
		return at
	}
	if at := slices.IndexFunc(f.values, func(v json.RawMessage) bool { return string(v) == typed }); at >= 0 {
		return at
	}
	if at := slices.IndexFunc(f.Choices, func(c string) bool { return strings.EqualFold(c, typed) }); at >= 0 {
		return at
	}
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(f.Choices) {
		return n - 1
	}
	return -1
}

// chosen is the answer to a question.
func (f Field) chosen() string {
	if at := f.index(); at >= 0 {
		return f.Choices[at]
	}
	return strings.TrimSpace(f.Text)
}

// json is the value that was typed, nil for none.
func (f Field) json() json.RawMessage {
	typed := strings.TrimSpace(f.Text)
	if f.kind == nothing {
		return json.RawMessage("null")
	}
	if typed == "" {
		return nil
	}
	switch f.kind {
	case boolean:
		return json.RawMessage(yesNo[strings.ToLower(typed)])
	case choice:
		return f.values[f.index()]
	case integer, number, value:
		return json.RawMessage(typed)
	case loose:
		if raw, err := Result(typed); err == nil {
			return raw
		}
	}
	raw, err := shoal.EncodeJSON(typed)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return raw
}

// Offers reports whether the choices are answers to a question, to be listed with
// their numbers.
func (f Field) Offers() bool { return f.kind == question && len(f.Choices) > 0 }
