package aguiapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/aguiapi/shorten"
	"github.com/shoal-dev/shoal/internal/chatapi"
)

// Shorten makes the bodies of requests to the API shorter; it is that of [guard.Options].
// Clients send their whole history, of which the server needs what is new.
func Shorten(r *http.Request) func(io.Reader, int) ([]byte, error) {
	if strings.HasPrefix(r.URL.Path, "/agui/") {
		return shorten.Body
	}
	return nil
}

// inputBounds is how much of each list and text of a RunAgentInput is taken; the body
// as a whole has 1 MiB at most once it is shortened. "messages[].id" is the id of any message. What is
// posted has the bounds of a message besides.
var inputBounds = map[string]int{
	"threadId": maxClientID, "runId": maxClientID, "parentRunId": maxClientID,
	"messages": 5_000, "messages[].id": maxClientID, "messages[].toolCallId": maxClientID, "messages[].toolCalls": 200,
	"tools": 100, "tools[].description": 8 << 10, "context": 100, "context[].description": 8 << 10, "context[].value": 64 << 10, "resume": 200, "resume[].interruptId": maxClientID,
}

// maxClientID is how many bytes an id may have that a client made.
const maxClientID = 256

// checkInput refuses what of an input is more than its bound.
func checkInput(in *agui.Input) error {
	sizes := chatapi.Sizes{Bounds: inputBounds}
	check := func(bound, at string, n int, unit string) { sizes.Check(bound, "body."+at, n, unit) }
	text := func(field, s string) { check(field, field, len(s), "bytes") }
	list := func(field string, n int) { check(field, field, n, "entries") }
	text("threadId", in.ThreadID)
	text("runId", in.RunID)
	text("parentRunId", in.ParentRunID)
	list("messages", len(in.Messages))
	list("tools", len(in.Tools))
	list("context", len(in.Context))
	list("resume", len(in.Resume))
	for i, m := range in.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		check("messages[].id", at+".id", len(m.ID), "bytes")
		check("messages[].toolCallId", at+".toolCallId", len(m.ToolCallID), "bytes")
		check("messages[].toolCalls", at+".toolCalls", len(m.ToolCalls), "entries")
	}
	for i, t := range in.Tools {
		check("tools[].description", fmt.Sprintf("tools[%d].description", i), len(t.Description), "bytes")
	}
	for i, c := range in.Context {
		check("context[].description", fmt.Sprintf("context[%d].description", i), len(c.Description), "bytes")
		check("context[].value", fmt.Sprintf("context[%d].value", i), len(c.Value), "bytes")
	}
	for i, r := range in.Resume {
		check("resume[].interruptId", fmt.Sprintf("resume[%d].interruptId", i), len(r.InterruptID), "bytes")
	}
	return sizes.Err
}
