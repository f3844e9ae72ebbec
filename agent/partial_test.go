package agent

import (
	"encoding/json"
	"strings"
	"testing"
)

// A structured answer that is cut anywhere can be shown, and never shows
// something that is not there.
func TestCompleteJSONAtEveryByte(t *testing.T) {
	whole := `{"city":"Lübeck \"Hanse\" \u00fc\\","n":[1,-2.5e3,{"deep":[true,false,null]}],"o":{"a":{}},"last":"x"}`
	shown := 0
	for i := range len(whole) + 1 {
		got, ok := completeJSON([]byte(whole[:i]))
		if !ok {
			continue
		}
		shown++
		if !json.Valid(got) {
			t.Fatalf("%q becomes %q", whole[:i], got)
		}
	}
	if shown < len(whole)*9/10 {
		t.Errorf("only %d of %d cuts can be shown", shown, len(whole))
	}
	if got, ok := completeJSON([]byte(whole)); !ok || string(got) != whole {
		t.Errorf("the whole becomes %q", got)
	}
}

func TestCompleteJSON(t *testing.T) {
	for cut, want := range map[string]string{
		``:                   "",
		`not`:                "",
		`{`:                  `{}`,
		`{"a`:                `{}`,
		`{"a":`:              `{}`,
		`{"a":"b`:            `{"a":"b"}`,
		`{"a":"b\`:           `{"a":"b"}`,
		`{"a":"b\u00`:        `{"a":"b"}`,
		`{"a":1`:             `{"a":1}`,
		`{"a":1,`:            `{"a":1}`,
		`{"a":[1,[2`:         `{"a":[1,[2]]}`,
		`{"a":tr`:            `{}`,
		`[{"x":1},{"y":`:     `[{"x":1},{}]`,
		`{"a":"}","b":"]`:    `{"a":"}","b":"]"}`,
		"```json\n{\"a\":1}": "",
	} {
		got, _ := completeJSON([]byte(cut))
		if string(got) != want {
			t.Errorf("%q becomes %q, not %q", cut, got, want)
		}
	}
}

func FuzzCompleteJSON(f *testing.F) {
	f.Add(`{"a":[1,"x\u00e4",{"b":null}]}`, 7)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if at < 0 || at > len(text) {
			return
		}
		got, ok := completeJSON([]byte(text[:at]))
		if ok && !json.Valid(got) {
			t.Errorf("%q becomes %q", text[:at], got)
		}
		if ok && strings.TrimSpace(text[:at]) == "" {
			t.Error("something comes of nothing")
		}
	})
}
