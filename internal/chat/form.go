package chat

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
)

// What may be typed into any field of a form instead of its value.
const (
	// JSONCommand, followed by a JSON value, answers with that whole value; alone it
	// turns the form into one field for it.
	JSONCommand = ":json"
	// ErrorCommand, followed by a text, says why a tool has no result.
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
	At     int // which field is asked for

	root   kind // of a result that is no object
	whole  json.RawMessage
	failed string
}

// NewForm returns the form for a pending action, with nothing filled in.
func NewForm(p shoal.PendingAction) *Form {
	f := &Form{Action: p}
	switch p.Kind {
	case shoal.PendingPermission:
		f.Fields = []Field{
			{Name: "decision", kind: decision, Required: true},
			{Name: "reason", kind: text, About: "the agent learns it"},
		}
	case shoal.PendingQuestion:
		f.Fields = []Field{{Name: "answer", kind: question, Required: true, Choices: p.Options}}
	default:
		f.Fields, f.root = resultFields(p.ResultSchema)
	}
	return f
}

// Field is the field that is asked for.
func (f *Form) Field() *Field { return &f.Fields[f.At] }

// Enter takes what was typed into the field that is asked for and goes on to the
// next one. It reports whether the form is complete; if the value is wrong, the
// field says why and is asked for again. Behind the last field, the first that is
// wrong or was passed over is asked for.
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
			field.Wrong = "what follows :json is no JSON"
			return false
		}
		f.whole = json.RawMessage(rest)
		return true
	case word == ErrorCommand && f.tool() && rest == "":
		field.Wrong = "say behind :error why there is no result"
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

// Move keeps what was typed so far, unchecked, and asks for another field: by is 1
// for the next one and -1 for the one before. It stops at both ends.
func (f *Form) Move(typed string, by int) {
	f.Field().Text = typed
	f.At = min(max(f.At+by, 0), len(f.Fields)-1)
}

func (f *Form) tool() bool {
	return f.Action.Kind != shoal.PendingPermission && f.Action.Kind != shoal.PendingQuestion
}

// Answer returns what was filled in. It is the answer of a form that [Form.Enter]
// called complete.
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

// object is the result of a form with a field for each member.
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
			panic(err) // a string is always JSON
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

// soFar is what of the result is right already, to go on with as JSON.
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
