package promptcache

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// piece adds a segment and its text.
func (r *Request) piece(raw json.RawMessage, text string) {
	r.Segments, r.Texts = append(r.Segments, string(raw)), append(r.Texts, text)
}

// quoted returns a string as JSON.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// event writes a server-sent event.
func event(w io.Writer, name, format string, args ...any) {
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: "+format+"\n\n", args...)
}

type openAI struct{}

func (openAI) rules() rules { return rules{least: 1024, step: 128} }

func (openAI) parse(_ string, body []byte) (r Request, err error) {
	var in struct {
		Model    string
		Tools    json.RawMessage
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	r.Model = in.Model
	r.piece(in.Tools, "")
	for _, raw := range in.Messages {
		var m struct {
			Role    string
			Content json.RawMessage
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return r, err
		}
		var text string
		if m.Role == "tool" {
			r.Results++
		} else if json.Unmarshal(m.Content, &text) != nil {
			text = ""
		}
		r.piece(raw, text)
	}
	return r, nil
}

func (openAI) write(w io.Writer, a Answer, r Request) {
	const chunk = `{"id":"c","object":"chat.completion.chunk","created":1,"model":%s,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
	delta, finish := `{"role":"assistant","content":`+quoted(a.Text)+`}`, `"stop"`
	if a.Tool != "" {
		delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%s,"arguments":%s}}]}`, r.Results, quoted(a.Tool), quoted(a.Arguments))
		finish = `"tool_calls"`
	}
	event(w, "", chunk, quoted(r.Model), delta, "null")
	event(w, "", chunk, quoted(r.Model), "{}", finish)
	event(w, "", `{"id":"c","object":"chat.completion.chunk","created":1,"model":%s,"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":%d}}}`,
		quoted(r.Model), r.Tokens, answerTokens(a), r.Cached)
	event(w, "", "[DONE]")
}

// answerTokens is the size of an answer.
func answerTokens(a Answer) int { return (len(a.Text) + len(a.Arguments)) / bytesPerToken }

type anthropic struct{}

func (anthropic) rules() rules { return rules{least: 1024, lookback: 20} }

func (anthropic) parse(_ string, body []byte) (r Request, err error) {
	var in struct {
		Model    string
		Tools    []json.RawMessage
		System   []json.RawMessage
		Messages []struct {
			Role    string
			Content []json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	r.Model = in.Model
	add := func(role string, blocks []json.RawMessage) {
		for _, raw := range blocks {
			var b struct {
				Type, Text string
				Mark       json.RawMessage `json:"cache_control"`
			}
			if err = json.Unmarshal(raw, &b); err != nil {
				return
			}
			if b.Type == "tool_result" {
				r.Results++
			}
			if b.Mark != nil {
				r.marks = append(r.marks, len(r.Segments))
				raw = json.RawMessage(strings.Replace(string(raw), `"cache_control":`+string(b.Mark)+`,`, "", 1))
				raw = json.RawMessage(strings.Replace(string(raw), `,"cache_control":`+string(b.Mark), "", 1))
			}
			r.piece(json.RawMessage(role+string(raw)), b.Text)
		}
	}
	add("tool ", in.Tools)
	add("system ", in.System)
	for _, m := range in.Messages {
		add(m.Role+" ", m.Content)
	}
	return r, err
}

func (anthropic) write(w io.Writer, a Answer, r Request) {
	written := int64(0)
	if len(r.marks) > 0 {
		written = max(0, r.Tokens-r.Cached)
	}
	event(w, "message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":%s,"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":1}}}`,
		quoted(r.Model), r.Tokens-r.Cached-written, r.Cached, written)
	stop := "end_turn"
	if a.Tool != "" {
		stop = "tool_use"
		event(w, "content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_%d","name":%s,"input":{}}}`, r.Results, quoted(a.Tool))
		event(w, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%s}}`, quoted(a.Arguments))
	} else {
		event(w, "content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		event(w, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, quoted(a.Text))
	}
	event(w, "content_block_stop", `{"type":"content_block_stop","index":0}`)
	event(w, "message_delta", `{"type":"message_delta","delta":{"stop_reason":%s},"usage":{"output_tokens":%d}}`, quoted(stop), answerTokens(a))
	event(w, "message_stop", `{"type":"message_stop"}`)
}

type google struct{}

func (google) rules() rules { return rules{least: 2048} }

func (google) parse(call string, body []byte) (r Request, err error) {
	type content struct {
		Role  string
		Parts []json.RawMessage
	}
	var in struct {
		Tools []struct {
			Functions []json.RawMessage `json:"functionDeclarations"`
		}
		System   content `json:"systemInstruction"`
		Contents []content
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	r.Model, _, _ = strings.Cut(call, ":")
	for _, t := range in.Tools {
		for _, raw := range t.Functions {
			r.piece(raw, "")
		}
	}
	for _, c := range append([]content{in.System}, in.Contents...) {
		for _, raw := range c.Parts {
			var p struct {
				Text   string
				Result json.RawMessage `json:"functionResponse"`
			}
			if err := json.Unmarshal(raw, &p); err != nil {
				return r, err
			}
			if p.Result != nil {
				r.Results++
			}
			r.piece(json.RawMessage(c.Role+" "+string(raw)), p.Text)
		}
	}
	return r, nil
}

func (google) write(w io.Writer, a Answer, r Request) {
	part := `{"text":` + quoted(a.Text) + `}`
	if a.Tool != "" {
		part = fmt.Sprintf(`{"functionCall":{"name":%s,"args":%s}}`, quoted(a.Tool), a.Arguments)
	}
	event(w, "", `{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":%d,"cachedContentTokenCount":%d,"candidatesTokenCount":%d}}`,
		part, r.Tokens, r.Cached, answerTokens(a))
}
