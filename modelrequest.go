package shoal

import "encoding/json"

// ModelRequest is what a model was sent for a step of a run: the messages are in
// their order and as they were sent, also where the history was made shorter for
// the model. Of a call that was tried again it is what was sent last. What only the
// provider reads is left out: the bytes of files, and signatures of thoughts.
type ModelRequest struct {
	Model    string         `json:"model"`
	System   string         `json:"system"`
	Tools    []ModelTool    `json:"tools"`
	Messages []ModelMessage `json:"messages"`
}

// ModelTool is a tool as a model gets it: InputSchema is a JSON Schema with the
// fields that the server adds, such as targetSpaceId.
type ModelTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// ModelMessage is one message to a model. Role is system, user, assistant or tool;
// Content is in the order of what was sent.
type ModelMessage struct {
	Role    string         `json:"role"`
	Content []ModelContent `json:"content"`
}

// ModelContentType says which fields of a [ModelContent] count.
type ModelContentType string

// The types of what a message to a model holds.
const (
	ModelText       ModelContentType = "text"
	ModelReasoning  ModelContentType = "reasoning"
	ModelFile       ModelContentType = "file"
	ModelToolCall   ModelContentType = "tool_call"
	ModelToolResult ModelContentType = "tool_result"
)

// ModelContent is one piece of a message to a model. Its JSON has exactly the
// fields of its type.
type ModelContent struct {
	Type ModelContentType `json:"type"`

	// Text belongs to text, reasoning and tool_result.
	Text string `json:"text"`

	// These belong to tool_call and tool_result. Args is what the model wrote: a
	// JSON object, or a string that holds what is none. Status is as
	// agent.ResultStatus says it.
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args"`
	Status     string          `json:"status"`
	Files      []ModelFileInfo `json:"files"`

	// File belongs to file.
	File ModelFileInfo `json:"-"`
}

// ModelFileInfo is a file that a model was given, without its bytes. URL is where
// it lies, null for bytes that were sent along; Size is 0 for a file that the
// provider fetches itself.
type ModelFileInfo struct {
	Name      string  `json:"name"`
	MediaType string  `json:"mediaType"`
	Size      int64   `json:"size"`
	URL       *string `json:"url"`
}

type (
	modelTextShape struct {
		Type ModelContentType `json:"type"`
		Text string           `json:"text"`
	}
	modelFileShape struct {
		Type ModelContentType `json:"type"`
		ModelFileInfo
	}
	modelCallShape struct {
		Type       ModelContentType `json:"type"`
		ToolCallID string           `json:"toolCallId"`
		ToolName   string           `json:"toolName"`
		Args       json.RawMessage  `json:"args"`
	}
	modelResultShape struct {
		Type       ModelContentType `json:"type"`
		ToolCallID string           `json:"toolCallId"`
		ToolName   string           `json:"toolName"`
		Status     string           `json:"status"`
		Text       string           `json:"text"`
		Files      []ModelFileInfo  `json:"files"`
	}
)

// MarshalJSON writes exactly the fields of the content's type.
func (c ModelContent) MarshalJSON() ([]byte, error) {
	switch c.Type {
	case ModelText, ModelReasoning:
		return EncodeJSON(modelTextShape{c.Type, c.Text})
	case ModelFile:
		return EncodeJSON(modelFileShape{c.Type, c.File})
	case ModelToolCall:
		return EncodeJSON(modelCallShape{c.Type, c.ToolCallID, c.ToolName, c.Args})
	case ModelToolResult:
		files := c.Files
		if files == nil {
			files = []ModelFileInfo{}
		}
		return EncodeJSON(modelResultShape{c.Type, c.ToolCallID, c.ToolName, c.Status, c.Text, files})
	}
	return nil, E("shoal.ModelContent", Internal, "content of the unknown type "+string(c.Type))
}

// UnmarshalJSON reads content of any type; unknown fields are ignored.
func (c *ModelContent) UnmarshalJSON(b []byte) error {
	type plain ModelContent
	var all struct {
		plain
		ModelFileInfo
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*c = ModelContent(all.plain)
	c.File = all.ModelFileInfo
	return nil
}
