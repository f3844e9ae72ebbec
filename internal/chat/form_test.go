package chat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chat"
)

// asked returns a pending action of a kind, for a client tool with a result schema.
func asked(kind shoal.PendingKind, schema string, options ...string) shoal.PendingAction {
	p := shoal.PendingAction{ID: "pnd_1", Kind: kind, AgentID: "bot", ToolName: "pay", Args: json.RawMessage(`{}`), Options: options}
	if schema != "" {
		p.ResultSchema = json.RawMessage(schema)
	}
	if kind == shoal.PendingQuestion {
		question := "Which one?"
		p.Question = &question
	}
	return p
}

// The inputs to the fields of a form and the resulting answer: values keep their types, and
// invalid input is reported and must be corrected.
func TestForms(t *testing.T) {
	const tool, permission, question = shoal.PendingClientTool, shoal.PendingPermission, shoal.PendingQuestion
	order := `{"type":"object","properties":{
		"name":{"type":"string","description":"who gets it"},
		"count":{"type":"integer"},
		"price":{"type":"number"},
		"gift":{"type":"boolean"},
		"size":{"enum":["S","M",3]},
		"to":{"type":"object"}},
		"required":["count","size"]}`
	for _, c := range []struct {
		name  string
		what  shoal.PendingAction
		typed []string
		want  string // the answer, or the problem at the end
	}{
		{"approved", asked(permission, ""), []string{"y", ""}, `{"approved":true}`},
		{"approved with a reason", asked(permission, ""), []string{" Yes ", " fine "}, `{"approved":true,"reason":"fine"}`},
		{"denied", asked(permission, ""), []string{"n", "too dear"}, `{"approved":false,"reason":"too dear"}`},
		{"for good", asked(permission, ""), []string{"always", ""}, `{"approved":true,"remember":"allow"}`},
		{"never", asked(permission, ""), []string{"never", ""}, `{"approved":false,"remember":"deny"}`},
		{"nothing decides by itself", asked(permission, ""), []string{""}, "decision is required: y or n; always or never for later calls, too"},
		{"no decision", asked(permission, ""), []string{"perhaps"}, `decision "perhaps" is not valid here: y or n; always or never for later calls, too`},
		{"no JSON for a permission", asked(permission, ""), []string{":json true"}, `decision ":json true" is not valid here: y or n; always or never for later calls, too`},

		{"a text", asked(question, ""), []string{"the blue one"}, `{"answer":"the blue one"}`},
		{"an option", asked(question, "", "red", "blue"), []string{"2"}, `{"answer":"blue"}`},
		{"an option in words", asked(question, "", "red", "blue"), []string{"RED"}, `{"answer":"red"}`},
		{"another text", asked(question, "", "red", "blue"), []string{"3"}, `{"answer":"3"}`},
		{"no answer", asked(question, ""), []string{"  "}, "answer is required: a text"},

		{"every type", asked(tool, order), []string{"Ann", "2", "1.50", "n", "3", `{"city":"Bern"}`}, `{"result":{"name":"Ann","count":2,"price":1.50,"gift":false,"size":3,"to":{"city":"Bern"}}}`},
		{"as little as it takes", asked(tool, order), []string{"", "-7", "", "", "m", ""}, `{"result":{"count":-7,"size":"M"}}`},
		{"digits stay", asked(tool, order), []string{"", "9007199254740993", "1e400", "", "S", ""}, `{"result":{"count":9007199254740993,"price":1e400,"size":"S"}}`},
		{"a text that looks like a number", asked(tool, order), []string{"007", "1", "", "", "S", ""}, `{"result":{"name":"007","count":1,"size":"S"}}`},
		{"no whole number", asked(tool, order), []string{"Ann", "1.5"}, `count "1.5" is not valid here: a whole number`},
		{"no number", asked(tool, order), []string{"Ann", "1", "0x10"}, `price "0x10" is not valid here: a number; may be left empty`},
		{"no choice", asked(tool, order), []string{"Ann", "1", "", "", "XL"}, `size "XL" is not valid here: one of S, M, 3`},
		{"no JSON", asked(tool, order), []string{"Ann", "1", "", "", "S", "{city"}, `to "{city" is not valid here: JSON; may be left empty`},
		{"all at once", asked(tool, order), []string{"Ann", `:json {"any": [1]}`}, `{"result":{"any": [1]}}`},
		{"all at once, wrong", asked(tool, order), []string{`:json {"any": `}, "name the text after :json is not valid JSON"},
		{"as one field", asked(tool, order), []string{"Ann", "1", ":json", `["x"]`}, `{"result":["x"]}`},
		{"none, and why", asked(tool, order), []string{":error out of stock"}, `{"error":"out of stock"}`},
		{"none, without why", asked(tool, order), []string{":error"}, "name write after :error why there is no result"},

		{"a single value", asked(tool, `{"type":"boolean"}`), []string{"yes"}, `{"result":true}`},
		{"or nothing", asked(tool, `{"type":["string","null"]}`), []string{"x"}, `{"result":"x"}`},
		{"an alternative to nothing", asked(tool, `{"anyOf":[{"type":"integer"},{"type":"null"}]}`), []string{"4"}, `{"result":4}`},
		{"a constant", asked(tool, `{"const":"ok"}`), []string{"1"}, `{"result":"ok"}`},
		{"done", asked(tool, `{"type":"null"}`), []string{""}, `{"result":null}`},
		{"a list", asked(tool, `{"type":"array"}`), []string{"[1, 2]"}, `{"result":[1, 2]}`},
		{"no schema, JSON", asked(tool, ""), []string{"[1]"}, `{"result":[1]}`},
		{"no schema, a text", asked(tool, ""), []string{"a < b & c"}, `{"result":"a < b & c"}`},
		{"no schema, almost JSON", asked(tool, ""), []string{"[1"}, `result "[1" is not valid here: JSON or text`},
		{"a member that is anything", asked(tool, `{"type":"object","properties":{"x":true}}`), []string{"1"}, `{"result":{"x":1}}`},
		{"an object of nothing", asked(tool, `{"type":"object"}`), []string{"{}"}, `{"result":{}}`},
		{"none of what may be", asked(tool, `{"type":"object","properties":{"x":{"type":"string"}}}`), []string{""}, `{"result":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, complete := chat.NewForm(c.what), false
			for i, typed := range c.typed {
				if complete {
					t.Fatalf("the form is complete before %q", c.typed[i])
				}
				complete = f.Enter(typed)
			}
			got := f.Field().Name + " " + f.Field().Wrong
			if complete {
				a := f.Answer()
				if err := a.Validate(c.what.Kind); err != nil {
					t.Errorf("the answer is refused: %v", err)
				}
				b, err := shoal.EncodeJSON(a)
				if err != nil {
					t.Fatal(err)
				}
				got = string(b)
			}
			if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(c.want, " ", "") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Moving back and forth changes nothing, and skipped fields must be filled before the form is
// complete.
func TestFormMoves(t *testing.T) {
	f := chat.NewForm(asked(shoal.PendingClientTool, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a"]}`))
	f.Move("x", 1)
	if f.At != 1 || f.Enter("word") || f.At != 0 || f.Field().Wrong == "" || f.Field().Text != "x" {
		t.Fatalf("a wrong field was passed over: %+v", f)
	}
	if f.Enter("5") || f.At != 1 || !f.Enter("word") {
		t.Fatalf("the form does not end: %+v", f)
	}
	if d := cmp.Diff(`{"a":5,"b":"word"}`, string(f.Answer().Result)); d != "" {
		t.Error(d)
	}
	// The JSON field starts with the valid part of the result.
	f = chat.NewForm(asked(shoal.PendingClientTool, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}`))
	f.Enter("1")
	if f.Enter(":json") || f.Field().Text != `{"a":1}` {
		t.Errorf("the JSON begins with %q", f.Field().Text)
	}
}

func TestPrompts(t *testing.T) {
	var got []string
	f := chat.NewForm(asked(shoal.PendingClientTool, `{"type":"object","properties":{"n":{"type":"integer","description":"how many"},"c":{"enum":["x","y"]}},"required":["n"]}`))
	for _, field := range f.Fields {
		got = append(got, field.Prompt())
	}
	if d := cmp.Diff([]string{"n, how many (a whole number)", "c (one of x, y; may be left empty)"}, got); d != "" {
		t.Error(d)
	}
}

func TestMentions(t *testing.T) {
	members := []shoal.Member{{EntityID: "ann"}, {EntityID: "shop-agent", Name: "Shop Agent"}, {EntityID: "v1.2"}, {EntityID: "Bob"}, {EntityID: "bob"}}
	for text, want := range map[string][]shoal.EntityID{
		"@ann":                           {"ann"},
		"@shop-agent: two, please, @ann": {"shop-agent", "ann"},
		"ask @Ann, @ann and @ANN":        {"ann"},
		"hi @ann. And @shop-agent...":    {"ann", "shop-agent"},
		"version @v1.2.":                 {"v1.2"},
		"@bob or @Bob but not @BOB":      {"bob", "Bob"},
		"me@ann.example, ü@ann, @annie":  nil,
		"(@ann)，@ann":                    {"ann"},
		"@ @@ann":                        {"ann"},
		"":                               nil,
	} {
		if d := cmp.Diff(want, chat.Mentions(text, members)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestComplete(t *testing.T) {
	members := []shoal.Member{{EntityID: "ann", Name: "Ann"}, {EntityID: "shop-agent", Name: "Laptop Seller"}, {EntityID: "me"}}
	for text, want := range map[string]string{
		"@":           "0 ann shop-agent",
		"hi @s":       "3 shop-agent",
		"hi @SEL":     "3 shop-agent",
		"hi @ann":     "3 ann",
		"hi @ann ":    "",
		"hi @x":       "",
		"mail me@a":   "",
		"@ann and @l": "9 shop-agent",
	} {
		c, ok := chat.Complete(text, members, "me")
		got := ""
		if ok {
			got = string(rune('0' + c.From))
			for _, m := range c.Members {
				got += " " + string(m.EntityID)
			}
		}
		if got != want {
			t.Errorf("%q completes to %q, want %q", text, got, want)
		}
	}
}

func TestEntries(t *testing.T) {
	for raw, want := range map[string][]chat.Entry{
		`{"name":"Lark <Air>","price":1199,"tags":[1, 2],"none":null}`: {{"name", "Lark <Air>"}, {"price", "1199"}, {"tags", "[1,2]"}, {"none", "null"}},
		`{"a":1,"b":"cut`: {{"a", "1"}},
		`{}`:              nil,
		`null`:            nil,
		``:                nil,
		`"text"`:          {{"", "text"}},
		`[1, 2]`:          {{"", "[1,2]"}},
	} {
		if d := cmp.Diff(want, chat.Entries(json.RawMessage(raw))); d != "" {
			t.Errorf("%s: %s", raw, d)
		}
	}
}

// Messages are sent one at a time in the order of writing, even if the first one fails.
func TestOutbox(t *testing.T) {
	var b chat.Outbox
	b.Add(chat.Outgoing{Key: "1", Space: "shop", Text: "one"})
	b.Add(chat.Outgoing{Key: "2", Space: "ops", Text: "two"})
	next := func() string {
		o, ok := b.Next()
		if !ok {
			return ""
		}
		return o.Text
	}
	var got []string
	got = append(got, next(), next()) // the second waits for the first
	b.Again("1")
	got = append(got, next())
	b.Refused("1", "the space is closed")
	got = append(got, next())
	b.Posted("2")
	got = append(got, next())
	if d := cmp.Diff([]string{"one", "", "one", "two", ""}, got); d != "" {
		t.Error(d)
	}
	if of := b.Of("shop"); len(of) != 1 || of[0].Wrong != "the space is closed" || b.Left() != 0 {
		t.Errorf("left are %+v", of)
	}
	b.Add(chat.Outgoing{Key: "3", Space: "shop", Text: "three"})
	if of := b.Of("shop"); len(of) != 1 || of[0].Text != "three" {
		t.Errorf("what was refused stays: %+v", of)
	}
}
