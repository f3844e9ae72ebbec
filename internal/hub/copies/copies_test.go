package copies

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

func said(id shoal.MessageID, text string) *Eraser {
	return OfMessage(shoal.Message{ID: id, Parts: []shoal.Part{shoal.Text(text)}}, nil, shoal.Now())
}

func text(s string) *string { return &s }

func TestErase(t *testing.T) {
	long := `Meet me at "Elm" street <5> tonight & bring tea`
	for name, c := range map[string]struct {
		by       *Eraser
		in, want string
	}{
		"an object about the message":        {said("m1", "tea"), `{"id":"m1","parts":[{"text":"tea"}],"seq":4}`, `{"id":"m1","parts":[],"seq":4}`},
		"a tombstone":                        {said("m1", "tea"), `{"id":"m1","parts":[],"deletedAt":"2026-11-28T00:00:00.000Z"}`, `{"id":"m1","parts":[],"deletedAt":"2026-11-28T00:00:00.000Z"}`},
		"an element of a prompt":             {said("m1", "tea"), `<message id="m1" at="5">tea</message> and tea`, `<message id="m1" at="5">[deleted]</message> and tea`},
		"a short text that is a whole one":   {said("m1", "tea"), `{"content":"tea","kind":"tea"}`, `{"content":"[deleted]","kind":"tea"}`},
		"a long text in another":             {said("m1", long), mustJSON(map[string]string{"note": "she said: " + long + "!"}), `{"note":"she said: [deleted]!"}`},
		"nothing":                            {said("m1", "tea"), `{"id":"m2","text":"tea time"}`, `{"id":"m2","text":"tea time"}`},
		"the result with a short answer":     {OfAnswer([]string{"c1"}, shoal.PendingAnswer{Answer: text("red")}), `{"callId":"c1","content":[{"text":"She said red"}]}`, `{"callId":"c1","content":[]}`},
		"the same call of another run":       {OfAnswer([]string{"c1"}, shoal.PendingAnswer{Answer: text("red")}), `{"callId":"c1","content":"blue"}`, `{"callId":"c1","content":"blue"}`},
		"an answer without text":             {OfAnswer([]string{"c1"}, shoal.PendingAnswer{}), `{"callId":"c1","content":"blue"}`, `{"callId":"c1","content":"blue"}`},
		"the name of the person":             {OfEntity("u7", "Ann Lee"), `{"entityId":"u7","name":"Annie","x":"by Ann Lee, not Ann Leeds"}`, `{"entityId":"u7","name":"u7","x":"by u7, not Ann Leeds"}`},
		"a former name in a prompt":          {OfEntity("u7", "Ann Lee"), `<sender id="u7" name="Annie"/>`, `<sender id="u7" name="u7"/>`},
		"the name of somebody else":          {OfEntity("u7", "Ann Lee"), `{"entityId":"u8","name":"Bob"}`, `{"entityId":"u8","name":"Bob"}`},
		"a name that is the id":              {OfEntity("ann", "ann"), `{"text":"ann says"}`, `{"text":"ann says"}`},
		"several at once":                    {Join(said("m1", "tea"), said("m2", "rum"), OfEntity("u7", "Ann Lee")), `[{"id":"m1","text":"tea"},{"text":"rum"},{"by":"Ann Lee"}]`, `[{"id":"m1","text":""},{"text":"[deleted]"},{"by":"u7"}]`},
		"a message beside an answer with it": {Join(OfAnswer([]string{"m1"}, shoal.PendingAnswer{Answer: text("red")}), said("m1", "tea")), `{"id":"m1","text":"blue"}`, `{"id":"m1","text":""}`},
	} {
		if got := c.by.Erase(c.in); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

func mustJSON(v any) string {
	out, err := shoal.EncodeJSON(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// Whatever an eraser changes, an index with it among many finds, in every encoding.
func FuzzIndex(f *testing.F) {
	for _, s := range []string{"tea", "a\nb", "x\ty", "it's \"so\"", `c:\new`, "<b>bold</b> and more of it, \u2028 then", "Grüße aus Köln, bis morgen früh", strings.Repeat("é", 40), "ab cd ef gh ij kl mn", "\\\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		by := said("msg_1", s)
		if len(by.pieces) == 0 {
			return // a text of separators alone is found beside the id only
		}
		x := NewIndex()
		for i := range 50 {
			x.Add(said(shoal.MessageID(fmt.Sprintf("msg_other%d", i)), fmt.Sprintf("something else %d", i)))
		}
		x.Add(by)
		once := mustJSON(map[string]string{"text": s})
		tagged := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
		for _, in := range []string{
			once, mustJSON(map[string]string{"content": once}), s, mustJSON(map[string]string{"text": "He said: " + s + " and left"}),
			mustJSON(map[string]string{"prompt": `<message id="msg_1">` + tagged + `</message>`}), `{"id":"msg_1","parts":[{"type":"text"}]}`,
		} {
			want := by.Erase(in)
			if want == in || len(in) > 1<<16 || len(strings.TrimSpace(by.pieces[0])) < windowSize && strings.Contains(in, "He said: ") {
				continue
			}
			if got := x.For(in).Erase(in); got != want {
				t.Errorf("%q becomes %q, want %q", in, got, want)
			}
			if in[0] == '{' && json.Valid([]byte(in)) && !json.Valid([]byte(want)) {
				t.Errorf("%q becomes %q", in, want)
			}
		}
	})
}
