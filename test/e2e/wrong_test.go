package e2e_test

import (
	"net/http"
	"strings"

	"github.com/shoal-dev/shoal"
)

// wrongRow is one wrong request and what is answered to it. Results of tools
// have no status.
type wrongRow struct {
	name string
	asks asks
	want refusal
}

// callOf is a whole tools/call of both eras, with what is given as arguments.
func callOf(arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"send_message","arguments":` + arguments + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"` + modernEra + `","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}}}}`
}

// nested is a value in so many arrays.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

const (
	inOpen  = "./spaces/open/messages"
	fine    = `{"text":"hello"}`
	fineRPC = `{"threadId":"open","content":"hello"}`
)

// Bytes that no decoder should see.
var wrongBytes = []wrongRow{
	{"half a body", rest("POST", inOpen, `{"text":`), refusal{400, "invalid_json", "ends"}},
	{"two values", rest("POST", inOpen, fine+fine), refusal{400, "invalid_json", "one value"}},
	{"no body", rest("POST", inOpen, ""), refusal{400, "invalid_json", "empty"}},
	{"a key twice", rest("POST", inOpen, `{"text":"a","text":"b"}`), refusal{400, "invalid_json", `"text" appears a second time`}},
	{"a key twice, once escaped", rest("POST", inOpen, `{"text":"a","\u0074ext":"b"}`), refusal{400, "invalid_json", `"text" appears a second time`}},
	{"not UTF-8", rest("POST", inOpen, "{\"text\":\"a\xffb\"}"), refusal{400, "invalid_json", "UTF-8"}},
	{"half a character", rest("POST", inOpen, `{"text":"\ud83e"}`), refusal{400, "invalid_json", "half of a character"}},
	{"65 levels", rest("POST", inOpen, `{"metadata":`+nested(64)+`}`), refusal{400, "invalid_json", "deeper than 64 levels"}},
	{"16,000 levels", rest("POST", inOpen, nested(16000)), refusal{400, "invalid_json", "deeper than 64 levels"}},
	{"5 MiB", rest("POST", inOpen, `{"text":"`+strings.Repeat("a", 5<<20)+`"}`), refusal{413, "too_large", "more than"}},
	{"a form", rest("POST", inOpen, "text=hello", edit{"Content-Type", "application/x-www-form-urlencoded"}), refusal{415, "unsupported_media_type", "application/json"}},
	{"plain text", rest("POST", inOpen, fine, edit{"Content-Type", "text/plain"}), refusal{415, "unsupported_media_type", "application/json"}},
	{"compressed", rest("POST", inOpen, fine, edit{"Content-Encoding", "gzip"}), refusal{415, "unsupported_media_type", "without Content-Encoding"}},

	{"MCP: half a body", rpc(`{"jsonrpc":`), refusal{400, "-32700", "ends"}},
	{"MCP: two values", rpc(callOf(fineRPC) + "{}"), refusal{400, "-32700", "one value"}},
	{"MCP: a key twice", rpc(callOf(`{"threadId":"open","content":"a","content":"b"}`)), refusal{400, "-32700", `"content" appears a second time`}},
	{"MCP: not UTF-8", rpc(callOf("{\"threadId\":\"open\",\"content\":\"\xc3\x28\"}")), refusal{400, "-32700", "UTF-8"}},
	{"MCP: half a character", rpc(callOf(`{"threadId":"open","content":"\udd88"}`)), refusal{400, "-32700", "half of a character"}},
	{"MCP: 65 levels", rpc(callOf(`{"threadId":"open","content":` + nested(62) + `}`)), refusal{400, "-32700", "deeper than 64 levels"}},
	{"MCP: 16,000 levels", rpc(callOf(`{"threadId":"open","content":` + nested(16000) + `}`)), refusal{400, "-32700", "deeper than 64 levels"}},
	{"MCP: 5 MiB", rpc(callOf(`{"threadId":"open","content":"` + strings.Repeat("a", 5<<20) + `"}`)), refusal{413, "-32600", "too_large: "}},
	{"MCP: plain text", rpc(callOf(fineRPC), edit{"Content-Type", "text/plain"}), refusal{415, "-32600", "unsupported_media_type: "}},
	{"MCP: compressed", rpc(callOf(fineRPC), edit{"Content-Encoding", "gzip"}), refusal{415, "-32600", "unsupported_media_type: "}},
}

// Callers with the wrong identity, or in the wrong space or session.
var wrongCallers = []wrongRow{
	{"no key", rest("POST", inOpen, fine, edit{"Authorization", ""}), refusal{401, "unauthenticated", "Authorization: Bearer"}},
	{"no key but one in the URL", rest("GET", "./spaces?key=WRITER&access_token=WRITER", "", edit{"Authorization", ""}), refusal{401, "unauthenticated", "Authorization: Bearer"}},
	{"another scheme", rest("POST", inOpen, fine, edit{"Authorization", "Basic d3JpdGVyOng="}), refusal{401, "unauthenticated", "Bearer KEY"}},
	{"an unknown key", rest("POST", inOpen, fine, edit{"key", "unknown"}), refusal{401, "unauthenticated", "unknown or was revoked"}},
	{"a revoked key", rest("POST", inOpen, fine, edit{"key", "revoked"}), refusal{401, "unauthenticated", "unknown or was revoked"}},
	{"an expired key", rest("POST", inOpen, fine, edit{"key", "expired"}), refusal{401, "unauthenticated", "expired"}},
	{"a key of another session", rest("POST", inOpen, fine, edit{"key", "foreign"}), refusal{404, "not_found", `"market"`}},
	{"a service key where an entity acts", rest("POST", inOpen, fine, edit{"key", "service"}), refusal{403, "forbidden", "entity key"}},
	{"another entity in the header", rest("POST", inOpen, fine, edit{"X-Shoal-Entity", "data-analyzer"}), refusal{403, "identity_mismatch", `acts as "report-writer"`}},
	{"another entity as sender", rest("POST", inOpen, `{"text":"hello","senderId":"data-analyzer"}`), refusal{403, "identity_mismatch", `"report-writer"`}},
	{"another entity's inbox", rest("POST", "./entities/data-analyzer/wait", `{"kind":"mentions","timeoutMs":0}`), refusal{403, "identity_mismatch", `"report-writer"`}},
	{"a web page of another origin", rest("POST", inOpen, fine, edit{"Origin", "https://evil.example"}), refusal{403, "forbidden", "https://evil.example"}},
	{"a web page without an origin", rest("POST", inOpen, fine, edit{"Origin", "null"}), refusal{403, "forbidden", "null"}},
	{"a foreign host", rest("POST", inOpen, fine, edit{"Host", "evil.example"}), refusal{421, "forbidden", "evil.example"}},
	{"an event stream for another origin", rest("GET", "./events", "", edit{"Origin", "https://evil.example"}), refusal{403, "forbidden", "https://evil.example"}},

	{"MCP: no key", rpc(callOf(fineRPC), edit{"Authorization", ""}), refusal{401, "-32600", "unauthenticated: No key was sent. If your client can sign in, let it"}},
	{"MCP: a key in the URL", rpc(callOf(fineRPC), edit{"Authorization", ""}, edit{"query", "key=WRITER&agent=report-writer"}), refusal{401, "-32600", "unauthenticated: No key was sent. If your client can sign in, let it"}},
	{"MCP: an unknown key", rpc(callOf(fineRPC), edit{"key", "unknown"}), refusal{401, "-32600", "unauthenticated: This key is unknown"}},
	{"MCP: a revoked key", rpc(callOf(fineRPC), edit{"key", "revoked"}), refusal{401, "-32600", "unauthenticated: This key is unknown or was revoked"}},
	{"MCP: an expired key", rpc(callOf(fineRPC), edit{"key", "expired"}), refusal{401, "-32600", "unauthenticated: This key has expired"}},
	{"MCP: another entity in the header", rpc(callOf(fineRPC), edit{"X-Shoal-Entity", "data-analyzer"}), refusal{403, "-32600", "identity_mismatch: "}},
	{"MCP: another session in the header", rpc(callOf(fineRPC), edit{"X-Shoal-Session", "elsewhere"}), refusal{404, "-32600", "not_found: "}},
	{"MCP: a web page of another origin", rpc(callOf(fineRPC), edit{"Origin", "https://evil.example"}), refusal{403, "-32600", "https://evil.example"}},
	{"MCP: a web page without an origin", rpc(callOf(fineRPC), edit{"Origin", "null"}), refusal{403, "-32600", "null"}},
	{"MCP: a foreign host", rpc(callOf(fineRPC), edit{"Host", "evil.example"}), refusal{403, "-32600", "evil.example"}},
}

// Requests to the REST API that are JSON but invalid.
var wrongREST = []wrongRow{
	{"an array", rest("POST", inOpen, `[]`), refusal{422, "invalid_argument", "JSON object"}},
	{"nothing said", rest("POST", inOpen, `{}`), refusal{422, "invalid_argument", "text"}},
	{"an empty text", rest("POST", inOpen, `{"text":""}`), refusal{422, "invalid_argument", "text"}},
	{"a number for a text", rest("POST", inOpen, `{"text":5}`), refusal{422, "invalid_argument", "must be a string"}},
	{"a misspelled field", rest("POST", inOpen, `{"txt":"hello"}`), refusal{422, "invalid_argument", "txt"}},
	{"text and parts", rest("POST", inOpen, `{"text":"a","parts":[{"type":"text","text":"b"}]}`), refusal{422, "invalid_argument", "parts"}},
	{"an unknown part", rest("POST", inOpen, `{"parts":[{"type":"video"}]}`), refusal{422, "invalid_argument", "parts[0].type"}},
	{"256 KiB and a byte", rest("POST", inOpen, `{"text":"`+strings.Repeat("a", shoal.MaxContent+1)+`"}`), refusal{413, "too_large", "262144"}},
	{"a used idempotency key", rest("POST", inOpen, `{"text":"second"}`, edit{"Idempotency-Key", "used"}), refusal{409, "idempotency_mismatch", "used"}},
	{"a closed space", rest("POST", "./spaces/done/messages", fine), refusal{409, "space_closed", "closed"}},
	{"a closed space once more", rest("POST", "./spaces/done/close", `{"summary":"again"}`), refusal{409, "space_closed", "closed"}},
	{"a member for a closed space", rest("PUT", "./spaces/done/members/report-writer", ""), refusal{409, "space_closed", "closed"}},
	{"an unknown space", rest("POST", "./spaces/nowhere/messages", fine), refusal{404, "not_found", `Space "nowhere" not found`}},
	{"a space one is not in", rest("POST", "./spaces/hidden/messages", fine), refusal{404, "not_found", `Space "hidden" not found`}},
	{"reading a space one is not in", rest("GET", "./spaces/hidden/messages", ""), refusal{404, "not_found", `Space "hidden" not found`}},
	{"following a space one is not in", rest("GET", "./spaces/hidden/events", ""), refusal{404, "not_found", `Space "hidden" not found`}},
	{"a space of another session", rest("GET", "./spaces/abroad", ""), refusal{404, "not_found", `Space "abroad" not found`}},
	{"another session", rest("GET", "/v1/sessions/elsewhere/spaces/abroad", ""), refusal{404, "not_found", `"elsewhere"`}},
	{"an unknown session", rest("GET", "/v1/sessions/nowhere/spaces", ""), refusal{404, "not_found", `"nowhere"`}},
	{"an unknown entity", rest("GET", "./entities/nobody", ""), refusal{404, "not_found", `"nobody"`}},
	{"an unknown member", rest("PUT", "./spaces/open/members/nobody", ""), refusal{404, "not_found", `"nobody"`}},
	{"an unknown member at the start", rest("POST", "./spaces", `{"name":"New","members":["nobody"]}`), refusal{422, "invalid_argument", `"nobody"`}},
	{"a taken id", rest("POST", "./spaces", `{"id":"open","name":"New"}`), refusal{409, "already_exists", `"open"`}},
	{"an impossible id", rest("POST", "./spaces", `{"id":"a b","name":"New"}`), refusal{422, "invalid_argument", "letters, digits"}},
	{"before and after", rest("GET", inOpen+"?before=2&after=1", ""), refusal{422, "invalid_argument", "cannot be combined"}},
	{"an invalid position", rest("GET", inOpen+"?before=soon", ""), refusal{422, "invalid_argument", "whole number"}},
	{"an invalid cursor", rest("GET", "./spaces?cursor=%25", ""), refusal{422, "invalid_argument", "nextCursor"}},
	{"an unknown wait", rest("POST", "./entities/report-writer/wait", `{"kind":"everything","timeoutMs":0}`), refusal{422, "invalid_argument", "mentions"}},
	{"a time-out in words", rest("POST", "./entities/report-writer/wait", `{"kind":"mentions","timeoutMs":"soon"}`), refusal{422, "invalid_argument", "number of milliseconds"}},
	{"an invalid receipt", rest("POST", "./entities/report-writer/wait", `{"kind":"mentions","timeoutMs":0,"ack":"all"}`), refusal{422, "invalid_argument", "ack"}},
	{"a key by no admin", rest("POST", "/v1/keys", `{"role":"admin"}`), refusal{403, "forbidden", "admin key"}},
	{"a session by no admin", rest("POST", "/v1/sessions", `{"id":"mine"}`), refusal{403, "forbidden", "admin key"}},
	{"the end of everything by no admin", rest("DELETE", "/v1/sessions/market", ""), refusal{403, "forbidden", "admin key"}},
	{"changing somebody else", rest("PATCH", "./entities/data-analyzer", `{"name":"Me"}`), refusal{403, "forbidden", "data-analyzer"}},
	{"an unknown path", rest("GET", "/v2/everything", ""), refusal{404, "not_found", "/docs"}},
	{"another method", rest("PUT", "./spaces/open", ""), refusal{405, "method_not_allowed", "PUT"}},
}

// Requests to the MCP endpoint that are JSON but not valid MCP.
var wrongMCP = []wrongRow{
	{"an array of messages", rpcIn(modernEra, "POST", `[{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}]`), refusal{400, "-32600", "batching is not supported"}},
	{"a version of the past", rpcIn(sessionEra, "POST", callOf(fineRPC), edit{"Mcp-Protocol-Version", "1999-01-01"}), refusal{400, "-32600", "invalid_argument: Unsupported protocol version"}},
	{"a version of the future", rpcIn(modernEra, "POST", strings.Replace(callOf(fineRPC), modernEra, "2999-01-01", 1), edit{"Mcp-Protocol-Version", "2999-01-01"}), refusal{400, "-32022", "unsupported protocol version"}},
	{"another method in the header", rpcIn(modernEra, "POST", callOf(fineRPC), edit{"Mcp-Method", "tools/list"}), refusal{400, "-32020", "Mcp-Method"}},
	{"no method in the header", rpcIn(modernEra, "POST", callOf(fineRPC), edit{"Mcp-Method", ""}), refusal{400, "-32020", "Mcp-Method"}},
	{"another tool in the header", rpcIn(modernEra, "POST", callOf(fineRPC), edit{"Mcp-Name", "read_thread"}), refusal{400, "-32020", "Mcp-Name"}},
	{"no tool in the header", rpcIn(modernEra, "POST", callOf(fineRPC), edit{"Mcp-Name", ""}), refusal{400, "-32020", "Mcp-Name"}},
	{"another version in the body", rpcIn(modernEra, "POST", strings.Replace(callOf(fineRPC), modernEra, sessionEra, 1)), refusal{400, "-32020", "Mcp-Protocol-Version"}},
	{"a stream for an unknown session", rpcIn(sessionEra, http.MethodGet, "", edit{"Mcp-Session-Id", "none"}), refusal{404, "-32600", "not_found: MCP session not found"}},
	{"the end of an unknown session", rpcIn(sessionEra, http.MethodDelete, "", edit{"Mcp-Session-Id", "none"}), refusal{404, "-32600", "not_found: MCP session not found"}},
	{"the end of somebody else's session", rpcIn(sessionEra, http.MethodDelete, "", edit{"key", "analyzer"}), refusal{404, "-32600", "not_found: MCP session not found"}},
	{"a stream where there are no sessions", rpcIn(modernEra, http.MethodGet, ""), refusal{405, "-32600", "method_not_allowed: "}},
	{"the end of a session in the era without sessions", rpcIn(modernEra, http.MethodDelete, ""), refusal{405, "-32600", "method_not_allowed: "}},
}

// Calls of tools that are MCP but wrong, through SDKs.
var wrongTools = []wrongRow{
	{"nothing to say", tool("send_message", args{"threadId": "open"}), refusal{0, "invalid_argument", "content is missing"}},
	{"an empty message", tool("send_message", args{"threadId": "open", "content": ""}), refusal{0, "invalid_argument", "content"}},
	{"nowhere to say it", tool("send_message", args{"content": "hello"}), refusal{0, "invalid_argument", "threadId is missing"}},
	{"a number for content", tool("send_message", args{"threadId": "open", "content": 5}), refusal{0, "invalid_argument", "content must be a string"}},
	{"an unknown input", tool("send_message", args{"threadId": "open", "content": "hello", "to": "all"}), refusal{0, "invalid_argument", `"to"`}},
	{"mentions that are not a list", tool("send_message", args{"threadId": "open", "content": "hello", "mentions": "all"}), refusal{0, "invalid_argument", "mentions must be a list"}},
	{"too much content", tool("send_message", args{"threadId": "open", "content": strings.Repeat("a", shoal.MaxContent+1)}), refusal{0, "too_large", "262144"}},
	{"an unknown thread", tool("send_message", args{"threadId": "nowhere", "content": "hello"}), refusal{0, "not_found", `Space "nowhere" not found`}},
	{"a thread one is not in", tool("send_message", args{"threadId": "hidden", "content": "hello"}), refusal{0, "not_found", `Space "hidden" not found`}},
	{"a thread of another session", tool("send_message", args{"threadId": "abroad", "content": "hello"}), refusal{0, "not_found", `Space "abroad" not found`}},
	{"a closed thread", tool("send_message", args{"threadId": "done", "content": "hello"}), refusal{0, "space_closed", "closed"}},
	{"a forged senderId", tool("send_message", args{"threadId": "open", "content": "hello", "senderId": analyzer}), refusal{0, "identity_mismatch", "report-writer"}},
	{"the system as sender", tool("send_message", args{"threadId": "open", "content": "hello", "senderId": "system"}), refusal{0, "identity_mismatch", "report-writer"}},
	{"a used key", tool("send_message", args{"threadId": "open", "content": "second", "idempotencyKey": "used"}), refusal{0, "idempotency_mismatch", "used"}},
	{"a forged creatorId", tool("create_thread", args{"threadName": "New", "creatorId": analyzer}), refusal{0, "identity_mismatch", "report-writer"}},
	{"an unknown participant", tool("create_thread", args{"threadName": "New", "participantIds": []string{"data-analyzer", "nobody"}}), refusal{0, "invalid_argument", `"nobody"`}},
	{"a thread without a name", tool("create_thread", args{"threadName": ""}), refusal{0, "invalid_argument", "threadName"}},
	{"a name of two lines", tool("create_thread", args{"threadName": "a\nb"}), refusal{0, "invalid_argument", "threadName"}},
	{"a forged agentId", tool("register_agent", args{"agentId": analyzer, "agentName": "Me"}), refusal{0, "identity_mismatch", "report-writer"}},
	{"adding nobody", tool("add_participant", args{"threadId": "open", "participantId": "nobody"}), refusal{0, "not_found", `"nobody"`}},
	{"adding to a closed thread", tool("add_participant", args{"threadId": "done", "participantId": writer}), refusal{0, "space_closed", "closed"}},
	{"letting oneself in", tool("add_participant", args{"threadId": "hidden", "participantId": writer}), refusal{0, "not_found", `Space "hidden" not found`}},
	{"closing without a summary", tool("close_thread", args{"threadId": "open"}), refusal{0, "invalid_argument", "summary is missing"}},
	{"closing what is closed", tool("close_thread", args{"threadId": "done", "summary": "again"}), refusal{0, "space_closed", "closed"}},
	{"waiting as another", tool("wait_for_mentions", args{"agentId": analyzer, "timeoutMs": 0}), refusal{0, "identity_mismatch", "report-writer"}},
	{"waiting until soon", tool("wait_for_mentions", args{"timeoutMs": "soon"}), refusal{0, "invalid_argument", "timeoutMs must be a whole number"}},
	{"waiting for a half", tool("wait_for_messages", args{"timeoutMs": 0.5}), refusal{0, "invalid_argument", "timeoutMs must be a whole number"}},
	{"acknowledging anything", tool("wait_for_mentions", args{"timeoutMs": 0, "ack": "all"}), refusal{0, "invalid_argument", "ack must be the cursor"}},
	{"waiting in a thread one is not in", tool("wait_for_mentions", args{"timeoutMs": 0, "threadId": "hidden"}), refusal{0, "not_found", `Space "hidden" not found`}},
	{"waiting for nobody", tool("wait_for_agents", args{"timeoutMs": 0}), refusal{0, "invalid_argument", "agentIds"}},
	{"waiting for one twice", tool("wait_for_agents", args{"agentIds": []string{"nobody", "nobody"}, "timeoutMs": 0}), refusal{0, "invalid_argument", "twice"}},
	{"reading what one is not in", tool("read_thread", args{"threadId": "hidden"}), refusal{0, "not_found", `Space "hidden" not found`}},
	{"reading both ways", tool("read_thread", args{"threadId": "open", "beforeSeq": 2, "afterSeq": 1}), refusal{0, "invalid_argument", "beforeSeq"}},
	{"searching for nothing", tool("search_messages", args{}), refusal{0, "invalid_argument", "query is missing"}},
	{"searching what one is not in", tool("search_messages", args{"query": "hello", "threadId": "hidden"}), refusal{0, "not_found", `Space "hidden" not found`}},
}
