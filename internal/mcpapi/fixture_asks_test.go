//nolint:staticcheck // what the newer revision has deprecated, the older one requires
package mcpapi_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/internal/mcpapi"
)

// askingRows are the tools that ask the client for something: in the older era
// by calling it, in the newer one by an answer that wants more.
func askingRows() []mcpapi.Row {
	return []mcpapi.Row{
		{
			Name: "test_sampling", About: "Asks the client's model.",
			Schema: `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, Handle: samples,
		},
		{
			Name: "test_elicitation", About: "Asks the user.",
			Schema: `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
			Handle: elicits(`{"username":{"type":"string"},"email":{"type":"string"}}`, "username", "email"),
		},
		{Name: "test_elicitation_sep1034_defaults", About: "Asks the user, with defaults.", Handle: elicits(`{
			"name": {"type": "string", "default": "John Doe"},
			"age": {"type": "integer", "default": 30},
			"score": {"type": "number", "default": 95.5},
			"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
			"verified": {"type": "boolean", "default": true}}`)},
		{Name: "test_elicitation_sep1330_enums", About: "Asks the user to choose.", Handle: elicits(`{
			"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
			"titledSingle": {"type": "string", "oneOf": [
				{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]},
			"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
			"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
			"titledMulti": {"type": "array", "items": {"anyOf": [
				{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]}}}`)},
		{Name: "test_missing_capability", About: "Needs sampling.", Handle: needsSampling},
		{Name: "test_streaming_elicitation", About: "Asks the user while it streams.", Handle: rounds(round{"name": form("name")})},
		{Name: "test_input_required_result_elicitation", About: "Asks the user.", Handle: rounds(round{"user_name": form("name")})},
		{Name: "test_input_required_result_sampling", About: "Asks the model.", Handle: rounds(round{"capital_question": prompt()})},
		{Name: "test_input_required_result_list_roots", About: "Asks for roots.", Handle: rounds(round{"client_roots": &mcp.ListRootsParams{}})},
		{Name: "test_input_required_result_request_state", About: "Asks with a state.", Handle: rounds(round{"confirm": form("ok")})},
		{Name: "test_input_required_result_tampered_state", About: "Keeps its state whole.", Handle: rounds(round{"confirm": form("ok")})},
		{
			Name: "test_input_required_result_multiple_inputs", About: "Asks for three things.",
			Handle: rounds(round{"user_name": form("name"), "greeting": prompt(), "client_roots": &mcp.ListRootsParams{}}),
		},
		{
			Name: "test_input_required_result_multi_round", About: "Asks twice.",
			Handle: rounds(round{"step1": form("name")}, round{"step2": form("color")}),
		},
		{Name: "test_input_required_result_capabilities", About: "Asks only what the client knows.", Handle: asksWhatIsKnown},
	}
}

// logging adds to what a server says that it can.
func logging(c mcp.ServerCapabilities) *mcp.ServerCapabilities {
	c.Logging = &mcp.LoggingCapabilities{}
	return &c
}

// logs sends the lines to the client as log messages, and then returns them as the result.
func logs(lines ...string) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, line := range lines {
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
				return nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Join(lines, ", ")}}}, nil
	}
}

// samples asks the client's model what it was asked.
func samples(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
		return nil, err
	}
	answer, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Prompt}}},
	})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{answer.Content}}, nil
}

// elicits asks the user for these properties.
func elicits(properties string, required ...string) mcp.ToolHandler {
	schema := map[string]any{"type": "object", "properties": json.RawMessage(properties)}
	if required != nil {
		schema["required"] = required
	}
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please fill in.", RequestedSchema: schema})
		if err != nil {
			return nil, err
		}
		return answers(&mcp.TextContent{Text: fmt.Sprintf("%s: %v", answer.Action, answer.Content)})(ctx, r)
	}
}

// needsSampling refuses a client that cannot.
func needsSampling(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if has := r.ClientCapabilities(); has != nil && has.Sampling != nil {
		return answers(&mcp.TextContent{Text: "It can."})(ctx, r)
	}
	missing := mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}}
	data, err := json.Marshal(missing)
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "This tool needs sampling.", Data: data}
}

// round is what one answer asks for.
type round map[string]mcp.InputRequest

// form asks the user for one value.
func form(name string) *mcp.ElicitParams {
	kind := "string"
	if name == "ok" {
		kind = "boolean"
	}
	return &mcp.ElicitParams{Message: "Please fill in.", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{name: map[string]any{"type": kind}}, "required": []string{name},
	}}
}

// prompt asks the model.
func prompt() *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "What is the capital of France?"}}},
	}
}

// rounds asks for one thing after the other. The state says which round a client
// answers; without one it is the first.
func rounds(all ...round) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		at := 0
		if state := r.Params.RequestState; state != "" {
			if _, err := fmt.Sscan(unseal(state), &at); err != nil || at >= len(all) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "This requestState is not ours."}
			}
		}
		if holds(r.Params.InputResponses, all[at]) {
			at++
		}
		if at < len(all) {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap(all[at]), RequestState: seal(fmt.Sprint(at))}, nil
		}
		return answers(&mcp.TextContent{Text: "state-ok: all is answered."})(ctx, r)
	}
}

func holds(given mcp.InputResponseMap, want round) bool {
	for key := range want {
		if given[key] == nil {
			return false
		}
	}
	return true
}

func asksWhatIsKnown(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ask, has := round{}, r.ClientCapabilities()
	if has != nil && has.Sampling != nil {
		ask["greeting"] = prompt()
	}
	if has != nil && has.Elicitation != nil {
		ask["user_name"] = form("name")
	}
	return rounds(ask)(ctx, r)
}

func askingPrompt(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	ask := round{"user_context": form("context")}
	if !holds(r.Params.InputResponses, ask) {
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap(ask)}, nil
	}
	return says(&mcp.TextContent{Text: "With that context, begin."})(ctx, r)
}

var sealKey = rand.Text()

// seal makes a state that a client cannot change; unseal returns "" if it was.
func seal(state string) string {
	mac := hmac.New(sha256.New, []byte(sealKey))
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

func unseal(sealed string) string {
	state, _, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(seal(state)), []byte(sealed)) {
		return ""
	}
	return state
}
