package rawjson

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal/internal/guard"
)

func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{`{}`, nil},
		{` [1] `, nil},
		{`"x"`, nil},
		{` { "a" : 1 , "b":[1,{"c":"}"}],"d":"\"]" } `, []string{"a=1", `b=[1,{"c":"}"}]`, `d="\"]"`}},
		{`{"\u0061\n":null,"":true,"A":-1.5e3}`, []string{"a\n=null", "=true", "A=-1.5e3"}},
		{`{"a":{},"b":[],"c":""}`, []string{"a={}", "b=[]", `c=""`}},
	} {
		var got []string
		for key, value := range Members([]byte(tt.text)) {
			got = append(got, string(key)+"="+string(value))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("Members(%s) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Of everything that the guard lets pass, members finds what the decoder of the
// standard library finds.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,2,"]}"]},"c":"\\\""}`, `[1,[2],{"x":[]}]`, ` { "\u00e9" : [ ] } `, `"{"`, `{"a":-0.5e+3,"b":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if guard.Scan(text, guard.MaxDepth) != nil {
			return
		}
		checkMembers(t, text)
	})
}

func checkMembers(t *testing.T, text []byte) {
	got := map[string]string{}
	for key, value := range Members(text) {
		got[string(key)] = string(value)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil {
		want := map[string]string{}
		for key, value := range object {
			want[key] = string(bytes.TrimSpace(value))
		}
		if !maps.Equal(got, want) {
			t.Errorf("Members(%s) = %q, want %q", text, got, want)
		}
		for _, value := range object {
			checkMembers(t, value)
		}
		return
	}
	if len(got) > 0 {
		t.Errorf("Members(%s) = %q of no object", text, got)
	}
	var array []json.RawMessage
	if json.Unmarshal(text, &array) == nil {
		var items []string
		for item := range Elements(text) {
			items = append(items, string(item))
		}
		if len(items) != len(array) {
			t.Fatalf("Elements(%s) = %q", text, items)
		}
		for i, item := range array {
			if items[i] != string(bytes.TrimSpace(item)) {
				t.Errorf("element %d of %s = %q", i, text, items[i])
			}
			checkMembers(t, item)
		}
	}
}

func TestWholeNumber(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-7", -7, true},
		{"30000.0", 30000, true},
		{"3e4", 30000, true},
		{"9223372036854775808", math.MaxInt64, true},
		{"1e400", math.MaxInt64, true},
		{"-1e400", math.MinInt64, true},
		{"1.5", 0, false},
		{`"1"`, 0, false},
		{"true", 0, false},
		{"null", 0, false},
	} {
		if got, ok := Whole([]byte(tt.text)); got != tt.want || ok != tt.ok {
			t.Errorf("Whole(%s) = %d, %v, want %d, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}
