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

// kind is the type of a field.
type kind string

const (
	decision kind = "decision"
	question kind = "question"
	text     kind = "text"
	number   kind = "number"
	integer  kind = "integer"
	boolean  kind = "boolean"
	choice   kind = "choice"
	value    kind = "JSON"         // any valid JSON
	loose    kind = "JSON or text" // parsed by Result
	nothing  kind = "nothing"      // only null
)

// Field is one value that a person types.
type Field struct {
	Name     string
	About    string // description by the author
	Required bool
	Choices  []string // the choices in words; a question also accepts other text
	Text     string   // the text that was typed
	Wrong    string   // the problem and how to solve it; empty if none is known

	kind   kind
	values []json.RawMessage // of the choices
}

// Takes returns a description of valid input.
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
		return "nothing: press Enter to confirm"
	default:
		says = string(f.kind)
	}
	if !f.Required {
		says += "; may be left empty"
	}
	return says
}

// Prompt returns the field on one line: its name, description and valid input.
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

// check validates the typed text and sets Wrong.
func (f *Field) check() {
	typed := strings.TrimSpace(f.Text)
	f.Wrong = ""
	if typed == "" && f.kind != nothing {
		if f.Required {
			f.Wrong = "is required: " + f.Takes()
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
		f.Wrong = fmt.Sprintf("%q is not valid here: %s", typed, f.Takes())
	}
}

// decisions maps the answers to a permission to: approved, and remembered.
var decisions = map[string][2]bool{
	"y": {true, false}, "yes": {true, false}, "approve": {true, false}, "n": {false, false}, "no": {false, false}, "deny": {false, false},
	"always": {true, true}, "never": {false, true},
}

var yesNo = map[string]string{"y": "true", "yes": "true", "true": "true", "n": "false", "no": "false", "false": "false"}

func (f Field) decided() (yes, remember bool) {
	d := decisions[strings.ToLower(strings.TrimSpace(f.Text))]
	return d[0], d[1]
}

// index returns the index of the choice that was typed, by its word, its JSON or its number;
// -1 if there is no such choice.
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

// chosen returns the answer to a question.
func (f Field) chosen() string {
	if at := f.index(); at >= 0 {
		return f.Choices[at]
	}
	return strings.TrimSpace(f.Text)
}

// json returns the value that was typed, nil if empty.
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
		panic(err) // a string can always be encoded
	}
	return raw
}

// Offers reports whether the choices are answers to a question, which are listed with numbers.
func (f Field) Offers() bool { return f.kind == question && len(f.Choices) > 0 }
