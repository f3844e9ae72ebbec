package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// The revisions of MCP that are tried: the newest of each era.
const (
	stateless = "2026-07-28"
	sessions  = "2025-11-25"
)

const proxyHint = "see that proxies pass /mcp on with the headers Authorization, Mcp-Session-Id, Mcp-Protocol-Version and Mcp-Method, and do not buffer it"

// protocols greets the server as MCP clients of both eras do, and asks for its tools.
func (x *examination) protocols(ctx context.Context) {
	if x.As == "" {
		x.warn("MCP", "nobody to connect as: agents are entities", "name one with --as ID, or use an entity's key")
		return
	}
	for _, era := range []struct {
		revision string
		tools    func(context.Context) (int, error)
	}{{stateless, x.statelessTools}, {sessions, x.sessionTools}} {
		x.protocol(ctx, era.revision, era.tools)
	}
}

func (x *examination) protocol(ctx context.Context, revision string, tools func(context.Context) (int, error)) {
	check := "MCP " + revision
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	began := time.Now()
	n, err := tools(ctx)
	switch {
	case err != nil:
		x.fail(check, message(err), proxyHint)
	case n == 0:
		x.fail(check, "the server has no tools", "report this, please")
	default:
		x.ok(check, fmt.Sprintf("%d tools in %s", n, time.Since(began).Round(time.Millisecond)))
	}
}

// statelessTools counts the tools in the era without sessions.
func (x *examination) statelessTools(ctx context.Context) (int, error) {
	const params = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + stateless + `","io.modelcontextprotocol/clientCapabilities":{}}}`
	var discovered struct {
		SupportedVersions []string `json:"supportedVersions"`
	}
	if _, err := x.ask(ctx, "server/discover", params, map[string]string{"Mcp-Protocol-Version": stateless, "Mcp-Method": "server/discover"}, &discovered); err != nil {
		return 0, err
	}
	var listed tools
	_, err := x.ask(ctx, "tools/list", params, map[string]string{"Mcp-Protocol-Version": stateless, "Mcp-Method": "tools/list"}, &listed)
	return len(listed.Tools), err
}

// sessionTools counts the tools in the era with sessions.
func (x *examination) sessionTools(ctx context.Context) (int, error) {
	params := `{"protocolVersion":"` + sessions + `","capabilities":{},"clientInfo":{"name":"shoal doctor","version":"1"}}`
	var agreed struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	header, err := x.ask(ctx, "initialize", params, nil, &agreed)
	if err != nil {
		return 0, err
	}
	if agreed.ProtocolVersion != sessions {
		return 0, shoal.E("doctor", shoal.Internal, fmt.Sprintf("the server speaks %q when it is asked for %s", agreed.ProtocolVersion, sessions))
	}
	session := map[string]string{"Mcp-Session-Id": header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": sessions}
	if _, err := x.ask(ctx, "notifications/initialized", "", session, nil); err != nil {
		return 0, err
	}
	var listed tools
	_, err = x.ask(ctx, "tools/list", "{}", session, &listed)
	x.leave(ctx, session)
	return len(listed.Tools), err
}

// leave ends a session, which the server would keep for a while otherwise.
func (x *examination) leave(ctx context.Context, session map[string]string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, strings.TrimSuffix(x.URL, "/")+"/mcp", nil)
	if err != nil {
		return
	}
	x.sign(req)
	for name, value := range session {
		req.Header.Set(name, value)
	}
	if res, err := x.HTTP.Do(req); err == nil {
		_ = res.Body.Close() // what it says changes nothing: the session ends by itself, too
	}
}

type tools struct {
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

// ask makes one JSON-RPC request, or sends a notification if out is nil.
func (x *examination) ask(ctx context.Context, method, params string, headers map[string]string, out any) (http.Header, error) {
	id, with := `"id":1,`, ""
	if out == nil {
		id = ""
	}
	if params != "" {
		with = `,"params":` + params
	}
	body := `{"jsonrpc":"2.0",` + id + `"method":"` + method + `"` + with + `}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(x.URL, "/")+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	x.sign(req)
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := x.HTTP.Do(req)
	if err != nil {
		return nil, unreachable(x.URL+"/mcp", err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return nil, shoal.E("doctor", shoal.Internal, fmt.Sprintf("%s is answered with %s", method, res.Status))
	}
	if out == nil {
		return res.Header, nil
	}
	answer, err := answerOf(res)
	if err != nil {
		return nil, shoal.E("doctor", shoal.Internal, fmt.Sprintf("the answer to %s does not arrive: %v", method, err))
	}
	return res.Header, decode(method, answer, out)
}

// decode reads a JSON-RPC answer.
func decode(method string, answer []byte, out any) error {
	var said struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(answer, &said); {
	case err != nil:
		return shoal.E("doctor", shoal.Internal, fmt.Sprintf("the answer to %s is not JSON", method))
	case said.Error != nil:
		return shoal.E("doctor", shoal.Internal, fmt.Sprintf("%s is refused: %s", method, said.Error.Message))
	}
	return json.Unmarshal(said.Result, out)
}

var errNoAnswer = errors.New("the stream ended without it")

// answerOf reads the answer, which is JSON or the first event of a stream. The stream
// is not read to its end: it is the answer that has to come, not the end.
func answerOf(res *http.Response) ([]byte, error) {
	const most = 4 << 20
	in := io.LimitReader(res.Body, most)
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		return io.ReadAll(in)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, most)
	for lines.Scan() {
		if data, is := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); is && len(data) > 0 {
			return bytes.Clone(data), nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, errNoAnswer
}
