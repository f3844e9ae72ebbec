package runs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// request returns a model request with the given number of messages.
func request(messages int) shoal.ModelRequest {
	r := shoal.ModelRequest{Model: "m", System: "s", Tools: []shoal.ModelTool{}}
	for i := range messages {
		r.Messages = append(r.Messages, shoal.ModelMessage{Role: "user", Content: []shoal.ModelContent{{Type: shoal.ModelText, Text: fmt.Sprint(i)}}})
	}
	return r
}

// splitRequest returns a model request as its texts.
func splitRequest(t *testing.T, step int, r shoal.ModelRequest) SentRequest {
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

// A step refers to a history of any length with few references, which lead to all of its
// messages in order. A step that adds one message stores few texts.
func TestLongHistoriesFold(t *testing.T) {
	stored := map[string]string{}
	for _, n := range []int{0, 1, groupSize - 1, groupSize, groupSize + 1, groupSize*groupSize - 1, groupSize * groupSize, 2*groupSize*groupSize + 3, 5000, 5001} {
		sent := splitRequest(t, 3, request(n))
		all := len(sent.texts)
		sent.Forget(func(hash string) bool { _, there := stored[hash]; return there })
		if n == 5001 && len(sent.texts) > 3 {
			t.Errorf("one more message stores %d of %d texts, want at most 3", len(sent.texts), all)
		}
		for hash, text := range sent.texts {
			stored[hash] = text
		}
		if refs := len(slices.Concat(sent.row.Messages...)); refs > 3*groupSize {
			t.Errorf("%d messages have %d references, want at most 3 groups", n, refs)
		}
		texts, err := unfold(sent.row.Messages, func(hashes []string) (out []string, _ error) {
			for _, hash := range hashes {
				out = append(out, stored[hash])
			}
			return out, nil
		})
		if err != nil || len(texts) != n {
			t.Fatalf("got %[2]d messages, want %[1]d; error %[3]v", n, len(texts), err)
		}
		for i, hash := range texts {
			if want := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%d"}]}`, i); stored[hash] != want {
				t.Fatalf("message %d of %d: got %s", i, n, stored[hash])
			}
		}
	}
}

// A stored request is read back byte for byte.
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
	sent := splitRequest(t, 0, r)
	got, err := assembleRequest(textTx{texts: sent.texts}, "s", sent.row)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := shoal.EncodeJSON(r)
	if text, err := shoal.EncodeJSON(got); err != nil || string(text) != string(want) {
		t.Errorf("error %v\nwant %s\ngot  %s", err, want, text)
	}
	delete(sent.texts, sent.row.System)
	if _, err := assembleRequest(textTx{texts: sent.texts}, "s", sent.row); shoal.KindOf(err) != shoal.Internal {
		t.Errorf("a request with a missing text: got error %v, want internal", err)
	}
}

// textTx is a transaction that has only texts.
type textTx struct {
	storage.Tx
	texts map[string]string
}

func (k textTx) ModelTexts(shoal.SessionID, []string) (map[string]string, error) {
	return k.texts, nil
}
