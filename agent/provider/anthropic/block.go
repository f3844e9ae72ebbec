package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
)

// The types of blocks that this package writes itself, and the roles of turns.
const (
	typeText       = "text"
	typeThinking   = "thinking"
	typeRedacted   = "redacted_thinking"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"

	roleUser      = "user"
	roleAssistant = "assistant"
)

// turn is a message of a request.
type turn struct {
	Content []block `json:"content"`
	Role    string  `json:"role"`
}

// block is a content block of a request. Each type sets only fields of its own. The
// order of the fields stays as it is: other bytes miss the provider's prompt cache.
type block struct {
	Source    *source         `json:"source,omitempty"`
	Title     string          `json:"title,omitempty"`
	Text      *string         `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Name      *string         `json:"name,omitempty"`
	Data      string          `json:"data,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cacheControl   `json:"cache_control,omitempty"`
	Content   []block         `json:"content,omitempty"`
	Type      string          `json:"type"`

	raw      *rawBlock // a block of an answer, instead of all fields but Type and Cache
	boundary bool      // the end of a beginning that other conversations have as well
}

// source is where the bytes of an image or a document are.
type source struct {
	Data      *string `json:"data,omitempty"`
	MediaType string  `json:"media_type,omitempty"`
	URL       string  `json:"url,omitempty"`
	Type      string  `json:"type"`
}

// cacheControl is a mark of the prompt cache.
type cacheControl struct {
	Type string `json:"type"`
}

// MarshalJSON writes a block of an answer in the words of a request, any other as it is.
func (b block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw.write(b.Cache), nil
	}
	type plain block
	return json.Marshal(plain(b))
}

func (b *block) isThought() bool {
	return b.raw == nil && (b.Type == typeThinking || b.Type == typeRedacted)
}

// takesMark reports whether the API accepts a mark of the prompt cache on the block.
func (b *block) takesMark() bool {
	if b.raw != nil {
		return slices.Contains(forms[b.Type], cacheField)
	}
	return !b.isThought()
}

// cacheField is where the mark of the prompt cache has its place among a form's fields.
const cacheField = "cache_control"

// forms are the objects in an answer that requests take in another form: with these
// fields alone, in this order. A request with any other field is refused.
var forms = map[string][]string{
	typeText:                     {"text", "citations", cacheField, "type"},
	"char_location":              {"document_title", "cited_text", "document_index", "end_char_index", "start_char_index", "type"},
	"page_location":              {"document_title", "cited_text", "document_index", "end_page_number", "start_page_number", "type"},
	"content_block_location":     {"document_title", "cited_text", "document_index", "end_block_index", "start_block_index", "type"},
	"search_result_location":     {"title", "cited_text", "end_block_index", "search_result_index", "source", "start_block_index", "type"},
	"web_search_result_location": {"title", "cited_text", "encrypted_index", "url", "type"},

	"server_tool_use":                              {"id", "input", "name", cacheField, "caller", "type"},
	"web_search_tool_result":                       {"content", "tool_use_id", cacheField, "caller", "type"},
	"web_search_result":                            {"encrypted_content", "title", "url", "page_age", "type"},
	"web_search_tool_result_error":                 {"error_code", "type"},
	"web_fetch_tool_result":                        {"content", "tool_use_id", cacheField, "caller", "type"},
	"web_fetch_tool_result_error":                  {"error_code", "type"},
	"code_execution_tool_result":                   {"content", "tool_use_id", cacheField, "type"},
	"code_execution_result":                        {"content", "return_code", "stderr", "stdout", "type"},
	"encrypted_code_execution_result":              {"content", "encrypted_stdout", "return_code", "stderr", "type"},
	"code_execution_output":                        {"file_id", "type"},
	"code_execution_tool_result_error":             {"error_code", "type"},
	"bash_code_execution_tool_result":              {"content", "tool_use_id", cacheField, "type"},
	"bash_code_execution_result":                   {"content", "return_code", "stderr", "stdout", "type"},
	"bash_code_execution_output":                   {"file_id", "type"},
	"bash_code_execution_tool_result_error":        {"error_code", "type"},
	"text_editor_code_execution_tool_result":       {"content", "tool_use_id", cacheField, "type"},
	"text_editor_code_execution_tool_result_error": {"error_code", "error_message", "type"},
	"tool_search_tool_result":                      {"content", "tool_use_id", cacheField, "type"},
	"tool_search_tool_search_result":               {"tool_references", "type"},
	"tool_reference":                               {"tool_name", "type"},
	"tool_search_tool_result_error":                {"error_code", "error_message", "type"},
	"container_upload":                             {"file_id", cacheField, "type"},
}

// rawBlock is a block of an answer in the form of a request, in two halves: the mark of
// the prompt cache goes between them.
type rawBlock struct{ before, after []byte }

// requestBlock writes a block of an answer in the words of a request. One of a type that
// came later than this package goes back as it is.
func requestBlock(raw json.RawMessage) block {
	b := block{raw: &rawBlock{before: raw}}
	fields, kind := readObject(raw)
	if b.Type = kind; forms[kind] != nil {
		b.raw.before, b.raw.after = inForm(forms[kind], fields)
	}
	return b
}

func (r *rawBlock) write(mark *cacheControl) []byte {
	text := slices.Clone(r.before)
	if mark != nil {
		text = append(text, `"cache_control":{"type":"`+mark.Type+`"},`...)
	}
	return append(text, r.after...)
}

// readObject returns the fields of a JSON object and its type, nothing for other JSON.
func readObject(raw json.RawMessage) (fields map[string]json.RawMessage, kind string) {
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(fields["type"], &kind) != nil {
		return nil, ""
	}
	return fields, kind
}

// inForm writes the fields of a form, those before and those after the mark.
func inForm(form []string, fields map[string]json.RawMessage) (before, after []byte) {
	text, at := []byte{'{'}, 0
	for _, name := range form {
		value, some := fields[name]
		switch {
		case name == cacheField:
			at = len(text)
			continue
		case !some, name == "caller" && string(value) == "null":
			continue
		case name == "input":
			value = normal(value)
		case name != "caller":
			value = requestForm(value)
		}
		text = append(append(append(append(text, '"'), name...), `":`...), value...)
		text = append(text, ',')
	}
	text[len(text)-1] = '}' // every object of a form has a type
	return text[:at:at], text[at:]
}

// requestForm writes what an object of an answer holds in the words of a request.
func requestForm(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &list) == nil {
		for i := range list {
			list[i] = requestForm(list[i])
		}
		return append(append([]byte{'['}, bytes.Join(asBytes(list), []byte{','})...), ']')
	}
	if !bytes.HasPrefix(raw, []byte("{")) {
		return normal(raw)
	}
	fields, kind := readObject(raw)
	if forms[kind] == nil {
		return raw
	}
	before, after := inForm(forms[kind], fields)
	return append(before, after...)
}

func asBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

// normal writes JSON in the one way that encoding/json has, with its numbers as they are.
func normal(raw json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return raw
	}
	text, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return text
}
