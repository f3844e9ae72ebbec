package chat

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Commands that can be typed into any field of a form instead of its value.
const (
	// JSONCommand followed by a JSON value answers with that value; without a value it
	// replaces the form by a single JSON field.
	JSONCommand = ":json"
	// ErrorCommand, followed by a text, reports why a tool has no result.
	ErrorCommand = ":error"
)

// Form asks a person for the answer to a pending action, field by field: the
// decision and the reason of a permission, the answer to a question, the result of
// a client tool by its schema.
//
//	form := chat.NewForm(action)
//	for {
//		fmt.Println(form.Field().Prompt())
//		if form.Enter(read()) {
//			answer := form.Answer()
//			…
//		}
//	}
type Form struct {
	Action shoal.PendingAction
	Fields []Field
	At     int // index of the current field

	root   kind // type of a result that is not an object
	whole  json.RawMessage
	failed string
}

// NewForm returns the form for a pending action, with empty fields.
func NewForm(p shoal.PendingAction) *Form {
	f := &Form{Action: p}
	switch p.Kind {
	case shoal.PendingPermission:
		f.Fields = []Field{
			{Name: "decision", kind: decision, Required: true},
			{Name: "reason", kind: text, About: "shown to the agent"},
		}
	case shoal.PendingQuestion:
		f.Fields = []Field{{Name: "answer", kind: question, Required: true, Choices: p.Options}}
	default:
		f.Fields, f.root = resultFields(p.ResultSchema)
	}
	return f
}

// Field returns the current field.
func (f *Form) Field() *Field { return &f.Fields[f.At] }

// Enter stores the text of the current field and moves to the next one. It reports whether the
// form is complete. If the value is invalid, the field's Wrong says why, and the field stays
// current. After the last field, the first invalid or skipped field becomes current.
func (f *Form) Enter(typed string) (complete bool) {
	field := f.Field()
	field.Text = typed
	word, rest, _ := strings.Cut(strings.TrimSpace(typed), " ")
	switch rest = strings.TrimSpace(rest); {
	case word == JSONCommand && f.tool() && rest == "":
		f.Fields, f.At = []Field{{Name: "result", kind: value, Required: true, Text: f.soFar()}}, 0
		f.root = value
		return false
	case word == JSONCommand && f.tool():
		if !json.Valid([]byte(rest)) {
			field.Wrong = "the text after :json is not valid JSON"
			return false
		}
		f.whole = json.RawMessage(rest)
		return true
	case word == ErrorCommand && f.tool() && rest == "":
		field.Wrong = "write after :error why there is no result"
		return false
	case word == ErrorCommand && f.tool():
		f.failed = rest
		return true
	}
	if field.check(); field.Wrong != "" {
		return false
	}
	if f.At < len(f.Fields)-1 {
		f.At++
		return false
	}
	for i := range f.Fields {
		if f.Fields[i].check(); f.Fields[i].Wrong != "" {
			f.At = i
			return false
		}
	}
	return true
}

// Move stores the typed text without validation and moves to another field: by is 1 for the
// next field and -1 for the previous one. It stops at both ends.
func (f *Form) Move(typed string, by int) {
	f.Field().Text = typed
	f.At = min(max(f.At+by, 0), len(f.Fields)-1)
}

func (f *Form) tool() bool {
	return f.Action.Kind != shoal.PendingPermission && f.Action.Kind != shoal.PendingQuestion
}

// Answer returns the answer of a form for which [Form.Enter] has returned true.
func (f *Form) Answer() shoal.PendingAnswer {
	switch {
	case f.failed != "":
		return shoal.PendingAnswer{Error: &f.failed}
	case f.whole != nil:
		return shoal.PendingAnswer{Result: f.whole}
	case f.Action.Kind == shoal.PendingPermission:
		yes, remember := f.Fields[0].decided()
		return Decision(yes, remember, strings.TrimSpace(f.Fields[1].Text))
	case f.Action.Kind == shoal.PendingQuestion:
		answer := f.Fields[0].chosen()
		return shoal.PendingAnswer{Answer: &answer}
	case f.root != "":
		return shoal.PendingAnswer{Result: f.Fields[0].json()}
	}
	return shoal.PendingAnswer{Result: f.object()}
}

// object returns the result of a form with a field for each member.
func (f *Form) object() json.RawMessage {
	var b strings.Builder
	for _, field := range f.Fields {
		raw := field.json()
		if raw == nil {
			continue
		}
		b.WriteString(map[bool]string{true: "{", false: ","}[b.Len() == 0])
		name, err := shoal.EncodeJSON(field.Name)
		if err != nil {
			panic(err) // a string can always be encoded
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(raw)
	}
	if b.Len() == 0 {
		return json.RawMessage("{}")
	}
	return json.RawMessage(b.String() + "}")
}

// soFar returns the valid part of the result, to be completed as JSON.
func (f *Form) soFar() string {
	if f.root != "" {
		return ""
	}
	done := Form{Fields: nil}
	for _, field := range f.Fields {
		if word, _, _ := strings.Cut(field.Text, " "); strings.HasPrefix(word, ":") {
			field.Text = ""
		}
		if field.check(); field.Wrong == "" {
			done.Fields = append(done.Fields, field)
		}
	}
	if len(done.Fields) == 0 {
		return ""
	}
	return string(done.object())
}
