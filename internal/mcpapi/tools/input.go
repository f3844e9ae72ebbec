package tools

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi/rawjson"
)

// kind is what an input holds, by its name in JSON Schema.
type kind string

const (
	textInput  kind = "string"
	listInput  kind = "array" // of strings
	wholeInput kind = "integer"
	flagInput  kind = "boolean"
	anyInput   kind = "" // any JSON value
)

// input is one argument that a tool takes.
type input struct {
	name     string
	kind     kind
	about    string
	required bool
	// actor means that the input has an actor, which must be the calling entity.
	actor bool
	// whole numbers: the value when left out, and the bounds. More than most is
	// cut to it; less than least is refused, or with clamped raised to it.
	otherwise   int64
	least, most int64
	clamped     bool
	// open says of a flag that left out it is neither true nor false.
	open bool
	// empty says of a list that left out it is as good as empty.
	empty bool
	// length bounds a text, in bytes, and items a list of ids; MaxID and MaxMentions
	// if zero. The hub refuses longer texts itself where checked says so.
	length, items int
	checked       bool
	// entry bounds the entries of a list, in bytes; maxItem if zero.
	entry int
	// unique says of a list that no entry may be in it twice.
	unique bool
}

// longest is how many bytes a text may have, or entries a list.
func (in input) longest() int {
	if in.kind == listInput {
		return cmp.Or(in.items, shoal.MaxMentions)
	}
	return cmp.Or(in.length, shoal.MaxID)
}

// longestEntry is how many bytes an entry of a list may have.
func (in input) longestEntry() int { return cmp.Or(in.entry, maxItem) }

// anyNumber is the upper bound of an input that has no other: what every client can
// write exactly.
const anyNumber = 1<<53 - 1

// maxQuery is how many bytes a query may have; internal/search says so.
const maxQuery = 500

// Inputs that several tools take.
var (
	threadInput = input{name: "threadId", kind: textInput, required: true, about: "The id of the thread."}
	agentInput  = input{name: "agentId", kind: textInput, actor: true, about: "Your own id. Leave it out: your key says who you are."}
)

// optional returns the input as one that may be left out.
func (in input) optional(about string) input {
	in.required, in.about = false, about
	return in
}

// arguments are the decoded inputs of a call, in the order of the tool's.
type arguments struct {
	inputs []input
	values []value
}

type value struct {
	given bool
	text  string
	list  []string
	whole int64
	flag  bool
	raw   []byte // of anyInput
}

// maxItem bounds the entries of a list of ids.
const maxItem = shoal.MaxID

// decode reads the arguments of a call. Null means that an argument is missing, except
// where an input accepts any value. The error lists every wrong argument.
func (t *tool) decode(raw []byte) (arguments, error) {
	out := arguments{inputs: t.inputs, values: make([]value, len(t.inputs))}
	for i, in := range t.inputs {
		out.values[i].whole = in.otherwise
	}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && !rawjson.IsNull(raw) && !rawjson.IsObject(raw) {
		return out, shoal.Invalid("arguments", "must be an object")
	}
	var wrong []shoal.FieldError
	for key, value := range rawjson.Members(raw) {
		at := t.find(string(key))
		switch {
		case at < 0:
			wrong = append(wrong, shoal.FieldError{
				Location: fmt.Sprintf("%.64q", key),
				Message:  "is not an input of " + t.name + ", which takes " + t.inputNames(),
			})
		case !rawjson.IsNull(value) || t.inputs[at].kind == anyInput:
			if problem := out.values[at].set(t.inputs[at], value); problem != "" {
				wrong = append(wrong, shoal.FieldError{Location: t.inputs[at].name, Message: problem})
			}
		}
	}
	for i, in := range t.inputs {
		if in.required && !out.values[i].given {
			wrong = append(wrong, shoal.FieldError{Location: in.name, Message: "is missing: " + in.about})
		}
	}
	return out, invalid(wrong)
}

// invalid returns one error over all fields that are wrong, or nil.
func invalid(wrong []shoal.FieldError) error {
	if len(wrong) == 0 {
		return nil
	}
	said := make([]string, len(wrong))
	for i, f := range wrong {
		said[i] = f.Location + " " + strings.TrimSuffix(f.Message, ".")
	}
	return &shoal.Error{Op: "mcpapi", Kind: shoal.InvalidArgument, Msg: strings.Join(said, "; "), Fields: wrong}
}

// set decodes a JSON value and returns the problem with it, empty if it is valid.
func (v *value) set(in input, raw []byte) string {
	v.given = true
	switch in.kind {
	case anyInput:
		v.raw = bytes.Clone(raw)
	case textInput:
		if !rawjson.IsText(raw) {
			return "must be a string"
		}
		text := rawjson.Text(raw)
		if len(text) > in.longest() && !in.checked {
			return fmt.Sprintf("has %d bytes; at most %d are allowed", len(text), in.longest())
		}
		v.text = string(text)
		return checkText(v.text)
	case listInput:
		return v.setList(in, raw)
	case wholeInput:
		n, ok := rawjson.Whole(meant(raw))
		if !ok {
			return "must be a whole number"
		}
		if n < in.least && !in.clamped {
			return fmt.Sprintf("must be at least %d", in.least)
		}
		v.whole = min(max(n, in.least), in.most)
	case flagInput:
		raw = meant(raw)
		if v.flag = string(raw) == "true"; !v.flag && string(raw) != "false" {
			return "must be true or false"
		}
	}
	return ""
}

// meant unquotes a number or a boolean that a model wrote as a string. This is
// unambiguous, because no input accepts both.
func meant(raw []byte) []byte {
	if rawjson.IsText(raw) {
		return bytes.TrimSpace(rawjson.Text(raw))
	}
	return raw
}

func (v *value) setList(in input, raw []byte) string {
	if len(raw) == 0 || raw[0] != '[' {
		return "must be a list of strings"
	}
	for item := range rawjson.Elements(raw) {
		if !rawjson.IsText(item) {
			return fmt.Sprintf("must be a list of strings; entry %d is not a string", len(v.list))
		}
		if len(v.list) == in.longest() {
			return fmt.Sprintf("has more than %d entries; at most %d are allowed", in.longest(), in.longest())
		}
		text := string(rawjson.Text(item))
		if in.unique && slices.Contains(v.list, text) {
			return fmt.Sprintf("has %.64q twice", text)
		}
		if len(text) > in.longestEntry() {
			if in.entry > 0 {
				return fmt.Sprintf("has an entry of %d bytes; at most %d are allowed", len(text), in.entry)
			}
			return fmt.Sprintf("holds an id of %d characters; an id has at most %d", len(text), maxItem)
		}
		if problem := checkText(text); problem != "" {
			return problem
		}
		v.list = append(v.list, text)
	}
	return ""
}

// checkText refuses the one character that not every database can look for.
func checkText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		return "must not contain the character U+0000"
	}
	return ""
}

func (t *tool) find(name string) int {
	for i, in := range t.inputs {
		if in.name == name {
			return i
		}
	}
	return -1
}

func (t *tool) inputNames() string {
	names := make([]string, len(t.inputs))
	for i, in := range t.inputs {
		names[i] = in.name
	}
	return strings.Join(names, ", ")
}

// of returns the value of the named input, which the tool must have.
func (a arguments) of(name string) value {
	for i, in := range a.inputs {
		if in.name == name {
			return a.values[i]
		}
	}
	panic("tools: no such input: " + name)
}

func (a arguments) text(name string) string { return a.of(name).text }
func (a arguments) whole(name string) int64 { return a.of(name).whole }
func (a arguments) flag(name string) bool   { return a.of(name).flag }
func (a arguments) given(name string) bool  { return a.of(name).given }
func (a arguments) thread() shoal.SpaceID   { return shoal.SpaceID(a.text("threadId")) }

// ids returns a list input as identifiers.
func (a arguments) ids(name string) []shoal.EntityID {
	values := a.of(name).list
	out := make([]shoal.EntityID, len(values))
	for i, id := range values {
		out[i] = shoal.EntityID(id)
	}
	return out
}

// impostor returns the actor that the caller claims to be and is not, if it
// claims one.
func (a arguments) impostor(caller shoal.Principal) (claimed string, found bool) {
	for i, in := range a.inputs {
		if v := a.values[i]; in.actor && v.given && shoal.EntityID(v.text) != caller.EntityID {
			return v.text, true
		}
	}
	return "", false
}
