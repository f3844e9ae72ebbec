package compose_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/compose"
)

// readFields are the fields that the tests' readers look for.
var readFields = []compose.Field{
	{Name: "text", Stream: true}, {Name: "spaceId"}, {Name: "wait"}, {Name: "note", Stream: true},
}

// readResult is the accumulated output of a reader.
type readResult struct {
	values map[string]any // of the named fields, as encoding/json has them in a map
	rest   string
	err    error
	errors int
	ended  bool
}

func (got *readResult) take(tokens []compose.Token) {
	for _, t := range tokens {
		name := readFields[t.Field].Name
		switch t.Kind {
		case compose.TokenBegin:
			got.values[name] = ""
		case compose.TokenText:
			got.values[name] = got.values[name].(string) + t.Text
		case compose.TokenOther:
			got.values[name] = other{}
		case compose.TokenString:
			got.values[name] = t.Text
		case compose.TokenValue:
			got.values[name] = json.RawMessage(t.Text)
		case compose.TokenRest:
			got.rest += t.Text
		case compose.TokenEnd:
			got.ended = true
		case compose.TokenError:
			got.errors++
		}
		if !utf8.ValidString(t.Text) {
			got.err = fmt.Errorf("a token splits a character: %q", t.Text)
		}
	}
}

// other represents a value that is not a string in a field that streams strings.
type other struct{}

// readAll reads arguments in pieces; cut returns the length of the next piece.
func readAll(arguments string, cut func(left int) int) readResult {
	got := readResult{values: map[string]any{}}
	r := compose.NewReader(true, readFields...)
	for left := arguments; left != ""; {
		n := min(max(cut(len(left)), 1), len(left))
		got.take(r.Feed(left[:n]))
		left = left[n:]
	}
	got.take(r.Close())
	if got.err == nil {
		got.err = r.Err()
	}
	return got
}

// check compares the output of a reader with what encoding/json decodes.
func (got *readResult) check(arguments string) error {
	if strings.Trim(arguments, " \t\r\n") == "" {
		arguments = "{}"
	}
	var want map[string]json.RawMessage
	wantErr := json.Unmarshal([]byte(arguments), &want)
	if wantErr == nil && want == nil {
		wantErr = errors.New("null is not an object")
	}
	if wantErr == nil && maxDepth(arguments) > 101 {
		wantErr = errors.New("nested too deep")
	}
	switch {
	case (wantErr == nil) != (got.err == nil):
		return fmt.Errorf("the reader says %w, encoding/json says %w", got.err, wantErr)
	case wantErr != nil && (got.errors != 1 || got.ended && !strings.Contains(arguments, "}")):
		return fmt.Errorf("got %d errors, end reported: %v", got.errors, got.ended)
	case wantErr != nil && shoal.KindOf(got.err) != shoal.InvalidJSON:
		return fmt.Errorf("got %w of kind %q", got.err, string(shoal.KindOf(got.err)))
	case wantErr != nil:
		return nil
	case got.errors != 0 || !got.ended:
		return fmt.Errorf("got %d errors, end reported: %v", got.errors, got.ended)
	}
	for i, f := range readFields {
		if err := sameField(got.values[f.Name], want[f.Name], readFields[i].Stream); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		delete(want, f.Name)
	}
	var rest map[string]json.RawMessage
	if err := json.Unmarshal([]byte(got.rest), &rest); err != nil {
		return fmt.Errorf("got the rest %q: %w", got.rest, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(got.rest)); err != nil || compact.String() != got.rest {
		return fmt.Errorf("got the rest %q, want %q", got.rest, compact.String())
	}
	if !sameJSON(rest, want) {
		return fmt.Errorf("got the rest %s, want %s", got.rest, mustJSON(want))
	}
	return nil
}

// maxDepth returns how many arrays and objects are open at once in valid JSON.
func maxDepth(text string) (most int) {
	open := 0
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		switch token, err := d.Token(); {
		case err != nil:
			return most
		case token == json.Delim('{') || token == json.Delim('['):
			open++
			most = max(most, open)
		case token == json.Delim('}') || token == json.Delim(']'):
			open--
		}
	}
}

// sameField compares one field.
func sameField(got any, want json.RawMessage, stream bool) error {
	var text string
	isText := len(want) > 0 && want[0] == '"'
	if isText {
		if err := json.Unmarshal(want, &text); err != nil {
			return err
		}
	}
	switch got := got.(type) {
	case nil:
		if want != nil {
			return fmt.Errorf("got nothing, want %s", want)
		}
	case string:
		if !isText || got != text {
			return fmt.Errorf("got the text %q, want %s", got, want)
		}
	case other:
		if want == nil || isText || !stream {
			return fmt.Errorf("got a value that is not a string, want %s", want)
		}
	case json.RawMessage:
		switch {
		case len(got) == 0 && (len(want) > 4096 || len(text) > 4096):
		case len(got) == 0 || isText || stream || !sameJSON(got, want):
			return fmt.Errorf("got the value %s, want %s", got, want)
		}
	}
	return nil
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// sameJSON compares values after decoding, with numbers as they are written.
func sameJSON(a, b any) bool {
	plain := func(v any) string {
		d := json.NewDecoder(strings.NewReader(mustJSON(v)))
		d.UseNumber()
		var out any
		if err := d.Decode(&out); err != nil {
			panic(err)
		}
		return mustJSON(out)
	}
	return plain(a) == plain(b)
}

// argumentSamples are arguments of every kind: valid, broken and unusual.
var argumentSamples = []string{
	`{}`, ``, `  `, "\n", `null`, `[]`, `"text"`, `5`, `{`, `}`, `{"`, `{"text`, `{"text"`, `{"text":`, `{"text":"`, `{"text":"a`,
	`{"text":"a"`, `{"text":"a"}`, `{"text":"a"} `, `{"text":"a"}x`, `{"text":"a"}}`, `{"text":"a",}`, `{,}`, `{"a":1,,"b":2}`,
	`{"spaceId":"shop","text":"Two laptops"}`, `{"text":"Two laptops","spaceId":"shop"}`, ` { "text" : "a" , "spaceId" : "b" } `,
	`{"text":"\"\\\/\b\f\n\r\t"}`, `{"text":"\u0041\u00e9\u20ac\ud83d\ude00"}`, `{"text":"é€😀"}`, `{"text":"\ud83d"}`, `{"text":"\ud83dx"}`,
	`{"text":"\ud83d\n"}`, `{"text":"\ud83d\ud83d\ude00"}`, `{"text":"\ude00\ud83d"}`, `{"text":"\ud83d\u0041"}`, `{"text":"\ud83dé"}`, `{"text":"\uD83D\uDE00"}`,
	`{"text":"\x"}`, `{"text":"\u12g4"}`, `{"text":"\u12"}`, "{\"text\":\"a\nb\"}", "{\"text\":\"\x01\"}", "{\"text\":\"\xff\"}", "{\"text\":\"\xe2\x82\"}",
	"{\"text\":\"\xe2\x82\xac\"}", "{\"text\":\"\xf0\x9f\x98\"}", "{\"text\":\"\xf0\x9fA\"}", "{\"text\":\"\xe0\x80\x80\"}", "{\"text\":\"\xed\xa0\x80\"}", "{\"a\":\"\xff\xe2\x82\",\"\xff\":1}",
	`{"text":"\u0000"}`, `{"text":"a","text":"b"}`, `{"text":"a","text":5}`, `{"text":5,"text":"a"}`, `{"text":null}`, `{"text":["text"]}`,
	`{"spaceId":"a","spaceId":"b"}`, `{"spaceId":null}`, `{"spaceId":{"spaceId":"x"}}`, `{"spaceId":12.50e+3}`,
	`{"sp\u0061ceId":"a","te\u0078t":"b"}`, `{"SpaceId":"a","TEXT":"b"}`, `{"":1}`, `{"text":"a","":"b"}`,
	`{"a":{"text":"no","spaceId":"no"},"text":"yes"}`, `{"a":[{"text":"no"},[[]],{}],"spaceId":"yes"}`, `{"wait":{"for":[{"type":"any"}],"timeout":60}}`,
	`{"wait":true,"a":false,"b":null,"c":tru}`, `{"a":nul}`, `{"a":truex}`, `{"a":-}`, `{"a":-0}`, `{"a":01}`, `{"a":1.}`, `{"a":1.5}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`,
	`{"a":1E-07,"b":-12.340,"c":0e0}`, `{"a":0x1}`, `{"a":[1,]}`, `{"a":[,]}`, `{"a":[}`, `{"a":{]}`, `{"a" 1}`, `{a:1}`, `{"a":'b'}`, `{"a":1 "b":2}`,
	`{"a":[1 , 2 , {"b" : [ ] } ] , "text" : "x"}`, `{"note":"n","text":"t","note":"m"}`, `{"a":"\ud83d\ude00\u00","b":1}`,
	`{"spaceId":"` + strings.Repeat("s", 4097) + `"}`, `{"wait":[` + strings.Repeat(`1,`, 3000) + `1]}`, `{"` + strings.Repeat("k", 5000) + `":1,"text":"x"}`,
	`{"` + strings.Repeat(`\u0074`, 1000) + `":1,"` + strings.Repeat("😀", 2000) + `":2,"spaceId":"x"}`,
	`{"a":` + strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100) + `}`, `{"a":` + strings.Repeat(`[`, 101) + strings.Repeat(`]`, 101) + `}`,
	`{"a":` + strings.Repeat(`[`, 9999) + strings.Repeat(`]`, 9999) + `}`,
}

// However the arguments are split, the reader returns what encoding/json decodes.
func TestReaderMatchesEncodingJSON(t *testing.T) {
	for _, arguments := range argumentSamples {
		for _, size := range []int{1, 2, 3, 4, 5, 7, 64, 1 << 20} {
			if len(arguments) > 200 && size > 1 && size < 7 {
				continue
			}
			got := readAll(arguments, func(int) int { return size })
			if err := got.check(arguments); err != nil {
				t.Errorf("%.120q in pieces of %d: %v", arguments, size, err)
			}
		}
		for at := range len(arguments) { // every single cut
			if len(arguments) > 200 {
				break
			}
			next := at + 1
			got := readAll(arguments, func(left int) int {
				n := next
				next = left
				return n
			})
			if err := got.check(arguments); err != nil {
				t.Errorf("%.120q cut at %d: %v", arguments, at+1, err)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for i, s := range argumentSamples {
		f.Add(s, []byte{byte(i), 3, 1})
	}
	f.Fuzz(func(t *testing.T, arguments string, cuts []byte) {
		if len(cuts) == 0 {
			cuts = []byte{1}
		}
		n := 0
		got := readAll(arguments, func(int) int {
			n++
			return int(cuts[n%len(cuts)] % 17)
		})
		if err := got.check(arguments); err != nil {
			t.Errorf("%q: %v", arguments, err)
		}
		whole := readAll(arguments, func(left int) int { return left })
		if whole.rest != got.rest {
			t.Errorf("%q: the rest depends on the cuts: got %q, want %q", arguments, whole.rest, got.rest)
		}
	})
}

// Tokens before an error stay valid, and the error is reported once.
func TestReaderReportsErrorOnce(t *testing.T) {
	r := compose.NewReader(false, readFields...)
	got := slices.Clone(r.Feed(`{"text":"Two lap` + "\n" + `tops"}`))
	got = append(got, r.Feed(`{"text":"again"}`)...)
	got = append(got, r.Close()...)
	want := []compose.Token{{Kind: compose.TokenBegin}, {Kind: compose.TokenText, Text: "Two lap"}, {Kind: compose.TokenError}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "at byte 16") {
		t.Errorf("got the error %v, want one at byte 16", err)
	}
}

// A reader without rest returns none of it.
func TestReaderWithoutRest(t *testing.T) {
	r := compose.NewReader(false, readFields...)
	arguments := `{"a":[1,{"b":"c"}],"spaceId":"shop","` + strings.Repeat("k", 5000) + `":"d"}`
	for i := range len(arguments) {
		for _, token := range r.Feed(arguments[i : i+1]) {
			if token.Kind != compose.TokenString && token.Kind != compose.TokenEnd {
				t.Errorf("got the token %v", token)
			}
		}
	}
	if !r.IsComplete() {
		t.Error("the object is not complete")
	}
}

// A value that exceeds the limit is never returned as a shorter one.
func TestReaderNeverShortensValues(t *testing.T) {
	long := strings.Repeat("s", 4097)
	for arguments, want := range map[string]compose.Token{
		`{"spaceId":"` + long + `"}`:     {Kind: compose.TokenValue, Field: 1},
		`{"spaceId":"` + long[1:] + `"}`: {Kind: compose.TokenString, Field: 1, Text: long[1:]},
		`{"wait":["` + long + `"]}`:      {Kind: compose.TokenValue, Field: 2},
	} {
		r := compose.NewReader(false, readFields...)
		if got := r.Feed(arguments); len(got) != 2 || got[0] != want {
			t.Errorf("%.20s…: got %.60v", arguments, got)
		}
	}
}

// D14: the cost of a piece does not depend on the length of the arguments before it. It
// allocates no memory.
func TestReaderDoesNotAllocate(t *testing.T) {
	for _, rest := range []bool{false, true} {
		r := compose.NewReader(rest, compose.Field{Name: "spaceId"}, compose.Field{Name: "text", Stream: !rest})
		r.Feed(`{"spaceId":"shop","other":"`)
		if !rest {
			r = compose.NewReader(false, compose.Field{Name: "text", Stream: true})
			r.Feed(`{"text":"`)
		}
		told := 0
		allocs := testing.AllocsPerRun(50_000, func() {
			for _, token := range r.Feed("four") {
				told += len(token.Text)
			}
		})
		if allocs != 0 || told != 50_001*4 {
			t.Errorf("rest %v: got %.2f allocations per piece and %d bytes, want 0 and %d", rest, allocs, told, 50_001*4)
		}
	}
}
