package openai

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

const benchDeltas = 10_000

var benchEvents = map[string]string{
	"chat":      `{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" there"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Qx7f"}`,
	"chat args": `{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"ab"}}]},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Qx7f"}`,
	"responses": `{"type":"response.output_text.delta","sequence_number":1234,"item_id":"msg_68a1f2b4c5d48191a2b3c4d5e6f7a8b9","output_index":0,"content_index":0,"delta":" there","logprobs":[],"obfuscation":"Qx7f"}`,
}

func benchBody(event string) string { return strings.Repeat("data: "+event+"\n\n", benchDeltas) }

// BenchmarkDelta measures one delta of a stream that is at hand: read alone,
// read and decoded with the scanner, and without it.
func BenchmarkDelta(b *testing.B) {
	for name, event := range benchEvents {
		body := benchBody(event)
		run := func(kind string, each func(data []byte, a answer) error) {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				chunks := 0
				m := Chat("m", Options{BaseURL: "http://h"}).(*model)
				for _, err := range m.Call(b.Context(), func(out *wire.Exchange) error {
					chat := &chatAnswer{m: m, out: out, slow: kind == "json", calls: callTable{out: out}}
					chat.call(0, "call_1", "f", "")
					var a answer = chat
					if name == "responses" {
						a = &responsesAnswer{m: m, out: out, slow: kind == "json", items: map[int]*itemState{}}
					}
					for n := 0; n < b.N; {
						events := wire.NewEvents(strings.NewReader(body))
						for ; n < b.N; n++ {
							data, err := events.Next()
							if errors.Is(err, io.EOF) {
								break
							}
							if err == nil {
								err = each(data, a)
							}
							if err != nil {
								return err
							}
						}
					}
					return nil
				}) {
					if err != nil {
						b.Fatal(err)
					}
					chunks++
				}
				if kind != "read" && chunks < b.N {
					b.Errorf("%d chunks of %d", chunks, b.N)
				}
			})
		}
		decode := func(data []byte, a answer) error { _, err := a.event(data); return err }
		run("read", func([]byte, answer) error { return nil })
		run("scan", decode)
		run("json", decode)
	}
}

// BenchmarkStream measures one delta of whole calls over real HTTP.
func BenchmarkStream(b *testing.B) {
	body := benchBody(benchEvents["chat"]) + "data: [DONE]\n\n"
	m := Chat("m", serve(b, say(body, 0)))
	b.ReportAllocs()
	for n := 0; n < b.N; {
		for c, err := range m.Stream(b.Context(), hello) {
			if err != nil {
				b.Fatal(err)
			}
			if c.Kind == agent.ChunkText {
				n++
			}
		}
	}
}

// BenchmarkBareHTTP is the floor of BenchmarkStream: the same bytes, unread.
func BenchmarkBareHTTP(b *testing.B) {
	o := serve(b, say(benchBody(benchEvents["chat"])+"data: [DONE]\n\n", 0))
	for n := 0; n < b.N; n += benchDeltas {
		resp, err := o.HTTPClient.Post(o.BaseURL, "application/json", http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}
