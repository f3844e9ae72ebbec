package openai

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// scanned are events that the scanner must read itself: the ones that make up
// nearly all of a stream.
var scanned = []string{
	`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" there"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Qx"}`,
	`{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"\u00fc\n\ud83d\ude00","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"stop_reason":null,"token_ids":null}]}`,
	`{"choices":[{"index":0,"delta":{"reasoning":"Hm","content":""},"finish_reason":null}]}`,
	`{"choices":[{"index":0,"delta":{"reasoning":"Hm","reasoning_content":"Hm"},"finish_reason":null}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]},"logprobs":null,"finish_reason":null}],"usage":null}`,
	` { "choices" : [ { "index" : 0 , "delta" : { "tool_calls" : [ { "function" : { "arguments" : "{\"a\":" } } ] } } ] } `,
	`{"choices":[{"delta":{"content":"x"},"index":0,"content_filter_results":{}}]}`,
	`{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Hi","logprobs":[],"obfuscation":"x"}`,
	`{"type":"response.function_call_arguments.delta","sequence_number":5,"item_id":"fc_1","output_index":1,"delta":"{\"","obfuscation":"x"}`,
	`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"**A**"}`,
	`{"delta":"a","type":"response.reasoning_text.delta","output_index":0,"content_index":1}`,
}

// left are events that only look usual.
var left = []string{
	`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`,
	`{"choices":[{"index":1,"delta":{"content":"a"}}]}`,
	`{"choices":[{"index":0.0,"delta":{"content":"a"}}]}`,
	`{"choices":[{"index":01,"delta":{"content":"a"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}`,
	`{"choices":[{"index":0,"delta":{"Content":"a"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":["a"]}}]}`,
	`{"choices":[{"index":0,"delta":{"refusal":"a"}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a"},{"id":"b"}]}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a"}],"tool_calls":null}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":{}}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"\ud83d"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"\x"}}]}`,
	"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}",
	"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\n\"}}]}",
	`{"choices":[{"index":0,"delta":{"content":"a"}}],"error":{"message":"no"}}`,
	`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`,
	`{"choices":[{"index":0,"delta":{"content":"a"}}],"choices":[]}`,
	`{"choices":[{"index":0,"delta":{"content":"a"}}]} x`,
	`{"choices":[{"index":0,"delta":{"content":"a"}}]`,
	`{"choices":[]}`,
	`{"object":"error","message":"no"}`,
	`{"type":"response.output_text.delta","type":"error","delta":"a"}`,
	`{"type":"response.reasoning_text.delta","delta":"a","content_index":2,"summary_index":1,"item":null}`,
	`{"type":"response.output_text.done","text":"a"}`,
	`null`, `[]`, `"a"`, ``, `{`,
}

// decoded returns the chunks of an event, with the scanner or without.
func decoded(responses, slow bool, data string) string {
	var b strings.Builder
	m := &model{api: chatAPI, Client: wire.New(wire.Vendor{Explain: explain}, "m", wire.Reach{BaseURL: "http://h"})}
	for c, err := range m.Call(context.Background(), func(out *wire.Exchange) error {
		var a answer
		if responses {
			m.api = responsesAPI
			r := &responsesAnswer{m: m, out: out, slow: slow, items: map[int]*itemState{}}
			r.openCall(r.item(1), &responseItem{})
			r.item(0).streamed = true // so that the number of a part of thoughts shows
			a = r
		} else {
			a = &chatAnswer{m: m, out: out, slow: slow, calls: callTable{out: out}}
		}
		done, err := a.event([]byte(data))
		reason, given := a.finish()
		fmt.Fprintln(&b, done, reason, given, a.tokens())
		return err
	}) {
		fmt.Fprintln(&b, line(c), err)
	}
	return b.String()
}

func scans(data string) bool {
	var chat chatPiece
	var response responsePiece
	return chat.scan([]byte(data)) || response.scan([]byte(data))
}

func TestScanner(t *testing.T) {
	for _, data := range slices.Concat(scanned, left) {
		if got, want := scans(data), slices.Contains(scanned, data); got != want {
			t.Errorf("%s: scanned is %v, want %v", data, got, want)
		}
		for _, responses := range []bool{false, true} {
			if fast, slow := decoded(responses, false, data), decoded(responses, true, data); fast != slow {
				t.Errorf("%s: the scanner says\n%sencoding/json\n%s", data, fast, slow)
			}
		}
	}
}

// The scanner reads as encoding/json does, or not at all.
func FuzzScanner(f *testing.F) {
	for _, data := range slices.Concat(scanned, left) {
		f.Add(data)
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				f.Add(data)
			}
		}
		file.Close()
	}
	f.Fuzz(func(t *testing.T, data string) {
		if !scans(data) {
			return
		}
		for _, responses := range []bool{false, true} {
			if fast, slow := decoded(responses, false, data), decoded(responses, true, data); fast != slow {
				t.Errorf("%q: the scanner says\n%sencoding/json\n%s", data, fast, slow)
			}
		}
	})
}
