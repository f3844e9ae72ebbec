package mcpapi

import (
	"bytes"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/internal/mcpapi/rawjson"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// message is a JSON-RPC message; its fields are slices of the body.
type message struct {
	id     []byte // nil for a notification
	method string // empty for an answer of the client
	params []byte
}

// messageOf reads the one message of a body. It returns a zero message for a batch
// and for an invalid message: the SDK answers those.
func messageOf(body []byte) message {
	var m message
	var version []byte
	for key, value := range rawjson.Members(body) {
		switch string(key) {
		case "jsonrpc":
			version = value
		case "id":
			m.id = value
		case "method":
			if rawjson.IsText(value) {
				m.method = string(rawjson.Text(value))
			}
		case "params":
			m.params = value
		}
	}
	if string(version) != `"2.0"` {
		return message{}
	}
	return m
}

// toolCall is a well-formed tools/call.
type toolCall struct {
	id        []byte
	tool      *tools.Tool
	arguments []byte
	progress  []byte // the token for progress notifications; nil if none was sent
	trace     string // the traceparent that came with the call, in whatever form it was sent
	modern    bool
	task      []byte // the request to run the call as a task; nil for none, and in revisions without tasks
	related   string // the task whose result this is, "" for none
}

// toolCall reads a message as a call of a tool. ok is false for everything that
// is to be refused, or that only the SDK knows about.
func (q *request) toolCall(m message) (c toolCall, ok bool) {
	if m.method != "tools/call" || !isID(m.id) || !rawjson.IsObject(m.params) {
		return c, false
	}
	c = toolCall{id: m.id, modern: q.modern()}
	var name, meta []byte
	for key, value := range rawjson.Members(m.params) {
		switch string(key) {
		case "name":
			name = value
		case "arguments":
			c.arguments = value
		case "_meta":
			meta = value
		case "task":
			if q.hasTasks() {
				c.task = value
			}
		case "inputResponses", "requestState": // of a round trip that no tool here asks for
			return c, false
		}
	}
	if !rawjson.IsText(name) || meta != nil && !rawjson.IsObject(meta) {
		return c, false
	}
	c.tool = q.byName[string(rawjson.Text(name))]
	return c, c.tool != nil && c.readMeta(q, meta)
}

// readMeta sets the progress token and the trace, and reports whether the other members of meta agree
// with the headers of the request.
func (c *toolCall) readMeta(q *request, meta []byte) bool {
	var version, capabilities, client []byte
	for key, value := range rawjson.Members(meta) {
		switch string(key) {
		case "progressToken":
			c.progress = value
		case "traceparent":
			if rawjson.IsText(value) {
				c.trace = string(rawjson.Text(value))
			}
		case mcp.MetaKeyProtocolVersion:
			version = value
		case mcp.MetaKeyClientCapabilities:
			capabilities = value
		case mcp.MetaKeyClientInfo:
			client = value
		}
	}
	if rawjson.IsNull(c.progress) {
		c.progress = nil
	}
	if c.progress != nil && !isID(c.progress) {
		return false
	}
	if !c.modern {
		return version == nil
	}
	h := q.r.Header
	return rawjson.IsText(version) && string(rawjson.Text(version)) == h.Get(versionHeader) &&
		rawjson.IsObject(capabilities) && (client == nil || rawjson.IsObject(client)) &&
		h.Get(methodHeader) == "tools/call" && h.Get(nameHeader) == c.tool.Name
}

// isID reports whether raw is a string or a whole number as every decoder reads
// it.
func isID(raw []byte) bool {
	if rawjson.IsText(raw) {
		return true
	}
	return len(raw) > 0 && len(raw) <= 20 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') && !bytes.ContainsAny(raw, ".eE")
}

// cancelledID returns which call a notifications/cancelled is about.
func cancelledID(m message) []byte {
	if m.method != "notifications/cancelled" || m.id != nil {
		return nil
	}
	for key, value := range rawjson.Members(m.params) {
		if string(key) == "requestId" && isID(value) {
			return value
		}
	}
	return nil
}
