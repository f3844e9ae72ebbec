package runs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// request returns one of so many messages.
func request(messages int) shoal.ModelRequest {
	r := shoal.ModelRequest{Model: "m", System: "s", Tools: []shoal.ModelTool{}}
	for i := range messages {
		r.Messages = append(r.Messages, shoal.ModelMessage{Role: "user", Content: []shoal.ModelContent{{Type: shoal.ModelText, Text: fmt.Sprint(i)}}})
	}
	return r
}

// apart takes a request apart.
func apart(t *testing.T, step int, r shoal.ModelRequest) SentRequest {
	t.Helper()
	text := func(v any) storage.ModelText {
		out, err := NewModelText(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	messages := make([]storage.ModelText, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = text(m)
	}
	return NewSentRequest(step, r.Model, text(r.System), text(r.Tools), messages)
}

// However long a history is, what a step refers to is short and leads to all of it,
// in order; and a step that adds one message to it adds few texts.
func TestLongHistoriesFold(t *testing.T) {
	kept := map[string]string{}
	for _, n := range []int{0, 1, groupSize - 1, groupSize, groupSize + 1, groupSize*groupSize - 1, groupSize * groupSize, 2*groupSize*groupSize + 3, 5000, 5001} {
		sent := apart(t, 3, request(n))
		all := len(sent.texts)
		sent.Forget(func(hash string) bool { _, there := kept[hash]; return there })
		if n == 5001 && len(sent.texts) > 3 {
			t.Errorf("one message more takes %d of %d texts", len(sent.texts), all)
		}
		for hash, text := range sent.texts {
			kept[hash] = text
		}
		if refs := len(slices.Concat(sent.row.Messages...)); refs > 3*groupSize {
			t.Errorf("%d messages take %d references", n, refs)
		}
		texts, err := unfold(sent.row.Messages, func(hashes []string) (out []string, _ error) {
			for _, hash := range hashes {
				out = append(out, kept[hash])
			}
			return out, nil
		})
		if err != nil || len(texts) != n {
			t.Fatalf("%d messages come back as %d, %v", n, len(texts), err)
		}
		for i, hash := range texts {
			if want := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%d"}]}`, i); kept[hash] != want {
				t.Fatalf("message %d of %d is %s", i, n, kept[hash])
			}
		}
	}
}

// Every byte of what was sent comes back as it was.
func TestContentOfRequestsSurvives(t *testing.T) {
	r := request(0)
	r.System = "a <b> & \u2028 \x00 ü"
	r.Tools = []shoal.ModelTool{{Name: "t", Description: "d", InputSchema: []byte(`{"type":"object","properties":{"b":{},"a":{}}}`)}}
	url := "/v1/sessions/default/files/fil_1"
	r.Messages = []shoal.ModelMessage{{Role: "assistant", Content: []shoal.ModelContent{
		{Type: shoal.ModelText, Text: ""},
		{Type: shoal.ModelReasoning, Text: "hm"},
		{Type: shoal.ModelFile, File: shoal.ModelFileInfo{Name: "a.png", MediaType: "image/png", Size: 3, URL: &url}},
		{Type: shoal.ModelToolCall, ToolCallID: "c", ToolName: "t", Args: []byte(`{"b":1.50,"a":"<"}`)},
		{Type: shoal.ModelToolResult, ToolCallID: "c", ToolName: "t", Status: "ok", Text: "\x00", Files: []shoal.ModelFileInfo{{MediaType: "image/png", Size: 4}}},
	}}, {Role: "user", Content: []shoal.ModelContent{}}}
	sent := apart(t, 0, r)
	got, err := assembleRequest(keptTexts{texts: sent.texts}, "s", sent.row)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := shoal.EncodeJSON(r)
	if text, err := shoal.EncodeJSON(got); err != nil || string(text) != string(want) {
		t.Errorf("%v\n%s comes back as\n%s", err, want, text)
	}
	delete(sent.texts, sent.row.System)
	if _, err := assembleRequest(keptTexts{texts: sent.texts}, "s", sent.row); shoal.KindOf(err) != shoal.Internal {
		t.Errorf("without a text: %v", err)
	}
}

// keptTexts is a transaction that has texts alone.
type keptTexts struct {
	storage.Tx
	texts map[string]string
}

func (k keptTexts) ModelTexts(shoal.SessionID, []string) (map[string]string, error) {
	return k.texts, nil
}
