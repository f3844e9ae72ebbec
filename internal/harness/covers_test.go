package harness

import (
	"encoding/json"
	"testing"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		shown, asked string
		want         bool
	}{
		{`{"command":"ls","cwd":"/a"}`, `{"command":"ls"}`, true},
		{`{"command":"ls"}`, `{"command":"ls"}`, true},
		{`{"command":"ls"}`, `{"command":"rm"}`, false},
		{`{"command":"ls"}`, `{"command":"ls","directories":["/b"]}`, false},
		{`{"directories":["/a","/b"]}`, `{"directories":["/b","/a"]}`, false},
		{`{"command":"ls"}`, `{"command":null}`, false},
		{`{"cwd":"/a"}`, `{"command":null}`, false},
		{`{"size": 9007199254740992}`, `{"size":9007199254740993}`, false},
		{`{"directories": ["/a", "/b"]}`, `{"directories":["/a","/b"]}`, true},
		{`{"command":"ls"}`, `{}`, false},
		{`{"command":"ls"}`, ``, false},
		{``, `{"command":"ls"}`, false},
		{`["ls"]`, `["ls"]`, false},
	} {
		if got := Covers(json.RawMessage(c.shown), json.RawMessage(c.asked)); got != c.want {
			t.Errorf("Covers(%s, %s) = %v", c.shown, c.asked, got)
		}
	}
}
