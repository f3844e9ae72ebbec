package mcpapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/internal/mcpapi"
)

// The fixture is what the protocol's conformance suite wants a server to offer,
// by the names that it asks for. What Shoal itself uses (texts, failures, a wait
// with its progress, a schema) is answered as Shoal's tools are; the SDK
// answers the rest on the same stack.

// fixture returns an API that offers it.
func fixture(o mcpapi.Options) *mcpapi.API {
	o.ProgressEvery = fixturePace
	return mcpapi.NewOffering(o, append(fixtureRows(), askingRows()...), mcp.ServerOptions{
		Capabilities: logging(mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true},
			Resources: &mcp.ResourceCapabilities{Subscribe: true}, Completions: &mcp.CompletionCapabilities{},
		}),
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "ing"}, Total: 1}}, nil
		},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	}, func(s *mcp.Server) {
		addFixtureResources(s)
		addFixturePrompts(s)
		addTriggers(s)
	})
}

// fixturePace is how often a wait of the fixture reports its progress, and
// fixtureWait how long it waits.
const (
	fixturePace = 20 * time.Millisecond
	fixtureWait = 10 * fixturePace
)

// A picture of one pixel and a sound of no length.
var (
	onePixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
	silence     = []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")
)

func fixtureRows() []mcpapi.Row {
	embedded := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "Embedded."}}
	picture := &mcp.ImageContent{Data: onePixel, MIMEType: "image/png"}
	return []mcpapi.Row{
		{Name: "test_simple_text", About: "Answers with a text.", Call: func(context.Context) (string, error) {
			return "This is a simple text response for testing.", nil
		}},
		{Name: "test_error_handling", About: "Fails.", Call: func(context.Context) (string, error) {
			return "", errors.New("it fails, as it should")
		}},
		{Name: "test_tool_with_progress", About: "Takes a while.", Waits: true, Call: func(ctx context.Context) (string, error) {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(fixtureWait):
				return "done", nil
			}
		}},
		{Name: "json_schema_2020_12_tool", About: "Has a schema with many words.", Schema: manyWords, Call: func(context.Context) (string, error) {
			return "taken", nil
		}},
		{Name: "test_image_content", About: "Answers with a picture.", Handle: answers(picture)},
		{Name: "test_audio_content", About: "Answers with a sound.", Handle: answers(&mcp.AudioContent{Data: silence, MIMEType: "audio/wav"})},
		{Name: "test_embedded_resource", About: "Answers with a resource.", Handle: answers(embedded)},
		{
			Name: "test_multiple_content_types", About: "Answers with several things.",
			Handle: answers(&mcp.TextContent{Text: "Several things:"}, picture, embedded),
		},
		{Name: "test_tool_with_logging", About: "Logs three times.", Handle: logs("begun", "goes on", "done")},
		{Name: "test_logging_tool", About: "Logs once.", Handle: logs("called")},
		{Name: "test_x_mcp_header", About: "Has an argument that a header repeats.", Schema: withHeader, Handle: answers(&mcp.TextContent{Text: "agreed"})},
		{Name: "test_trigger_tool_change", About: "Changes the list of tools."},
		{Name: "test_trigger_prompt_change", About: "Changes the list of prompts."},
	}
}

// manyWords is a schema that uses what JSON Schema 2020-12 has beyond the
// ordinary.
const manyWords = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

const withHeader = `{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}, "required": ["region"]}`

// answers is a tool that always answers the same.
func answers(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

// addTriggers adds the tools that change what a server has.
func addTriggers(s *mcp.Server) {
	schema := json.RawMessage(`{"type":"object"}`)
	done := []mcp.Content{&mcp.TextContent{Text: "changed"}}
	s.AddTool(&mcp.Tool{Name: "test_trigger_tool_change", InputSchema: schema},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(&mcp.Tool{Name: "test_added", Description: "New.", InputSchema: schema}, answers(done...))
			return &mcp.CallToolResult{Content: done}, nil
		})
	s.AddTool(&mcp.Tool{Name: "test_trigger_prompt_change", InputSchema: schema},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(&mcp.Prompt{Name: "test_added", Description: "New."}, says(&mcp.TextContent{Text: "Added."}))
			return &mcp.CallToolResult{Content: done}, nil
		})
}

func addFixtureResources(s *mcp.Server) {
	static := func(uri, mediaType string, content mcp.ResourceContents) {
		content.URI, content.MIMEType = uri, mediaType
		s.AddResource(&mcp.Resource{URI: uri, Name: strings.TrimPrefix(uri, "test://"), MIMEType: mediaType},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&content}}, nil
			})
	}
	static("test://static-text", "text/plain", mcp.ResourceContents{Text: "This is the content of the static text resource."})
	static("test://static-binary", "image/png", mcp.ResourceContents{Blob: onePixel})
	static("test://watched-resource", "text/plain", mcp.ResourceContents{Text: "Watched."})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: r.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q}`, id),
			}}}, nil
		})
}

func addFixturePrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "A text."},
		says(&mcp.TextContent{Text: "This is a simple prompt for testing."}))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "A picture."},
		says(&mcp.ImageContent{Data: onePixel, MIMEType: "image/png"}, &mcp.TextContent{Text: "Inspect it."}))
	s.AddPrompt(&mcp.Prompt{
		Name: "test_prompt_with_arguments", Description: "Two arguments.",
		Arguments: []*mcp.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}},
	}, func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		given := r.Params.Arguments
		return says(&mcp.TextContent{Text: fmt.Sprintf("arg1=%q, arg2=%q", given["arg1"], given["arg2"])})(ctx, r)
	})
	s.AddPrompt(&mcp.Prompt{
		Name: "test_prompt_with_embedded_resource", Description: "A resource.",
		Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Required: true}},
	}, func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		resource := &mcp.ResourceContents{URI: r.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded."}
		return says(&mcp.EmbeddedResource{Resource: resource}, &mcp.TextContent{Text: "Read it."})(ctx, r)
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks first."}, askingPrompt)
}

// says is a prompt of a user's messages.
func says(content ...mcp.Content) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		out := &mcp.GetPromptResult{}
		for _, c := range content {
			out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
		}
		return out, nil
	}
}
