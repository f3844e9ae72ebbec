package mock

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

type responses struct{}

func (responses) parse(body []byte) (r Request, err error) {
	var in struct {
		Input []struct {
			Type, Role string
			Content    json.RawMessage
			ID         string `json:"call_id"`
			Output     json.RawMessage
		}
		Choice json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	r.Closed = string(in.Choice) == `"none"`
	for _, item := range in.Input {
		switch {
		case item.Type == "function_call_output":
			r.Results = append(r.Results, Result{item.ID, plain(item.Output)})
		case item.Role == "user" && r.Question == "":
			r.Question = plain(item.Content)
		}
	}
	return r, nil
}

func (responses) write(w io.Writer, a Answer) {
	seq := 0
	event := func(kind, fields string) {
		_, _ = fmt.Fprintf(w, "event: %[1]s\ndata: {\"type\":\"%[1]s\",\"sequence_number\":%[2]d%[3]s}\n\n", kind, seq, fields)
		seq++
	}
	response := func(status, output, usage string) string {
		return `,"response":{"id":"resp_1","object":"response","created_at":1700000000,"model":"played","status":"` + status + `","output":[` + output + `],"usage":` + usage + `}`
	}
	event("response.created", response("in_progress", "", "null"))
	var output []string
	if len(a.Deltas) > 0 {
		event("response.output_item.added", `,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}`)
		event("response.content_part.added", `,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`)
		for _, d := range a.Deltas {
			event("response.output_text.delta", `,"item_id":"msg_1","output_index":0,"content_index":0,"delta":`+quoted(d)+`,"logprobs":[]`)
		}
		if a.Cut {
			return
		}
		text := quoted(strings.Join(a.Deltas, ""))
		part := `{"type":"output_text","text":` + text + `,"annotations":[]}`
		item := `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[` + part + `]}`
		event("response.output_text.done", `,"item_id":"msg_1","output_index":0,"content_index":0,"text":`+text+`,"logprobs":[]`)
		event("response.content_part.done", `,"item_id":"msg_1","output_index":0,"content_index":0,"part":`+part)
		event("response.output_item.done", `,"output_index":0,"item":`+item)
		output = append(output, item)
	}
	for i, c := range a.Calls {
		const form = `{"id":"fc_%d","type":"function_call","status":%s,"call_id":%s,"name":%s,"arguments":%s}`
		item := func(status, arguments string) string {
			return fmt.Sprintf(form, i, quoted(status), quoted(c.ID), quoted(c.Name), quoted(arguments))
		}
		at := fmt.Sprintf(`,"output_index":%d`, len(output))
		id := fmt.Sprintf(`,"item_id":"fc_%d"`, i)
		event("response.output_item.added", at+`,"item":`+item("in_progress", ""))
		event("response.function_call_arguments.delta", id+at+`,"delta":`+quoted(c.Arguments))
		event("response.function_call_arguments.done", id+at+`,"name":`+quoted(c.Name)+`,"arguments":`+quoted(c.Arguments))
		event("response.output_item.done", at+`,"item":`+item("completed", c.Arguments))
		output = append(output, item("completed", c.Arguments))
	}
	event("response.completed", response("completed", strings.Join(output, ","),
		`{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":30}`))
}
