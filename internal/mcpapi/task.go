package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi/rawjson"
	"github.com/shoal-dev/shoal/internal/mcpapi/tasks"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// taskRevision is the revision of the protocol in which calls can be tasks. Others have no tasks, or others.
const taskRevision = "2025-11-25"

// noSuchTask is the refusal of an unknown id.
const noSuchTask = "not_found: Task not found: it is over, or another server of the cluster or an earlier start of this one has it. Nothing is lost: call the tool again."

// hasTasks reports whether the revision that the client has negotiated has tasks.
func (q *request) hasTasks() bool { return q.r.Header.Get(versionHeader) == taskRevision }

// taskID identifies a task in the JSON of the protocol.
type taskID struct {
	ID string `json:"taskId"`
}

// reply is a JSON-RPC answer with any result.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

// reply answers with a result.
func (q *request) reply(id []byte, result any) {
	buffer := buffers.get()
	defer buffers.put(buffer)
	body, err := rawjson.Marshal(buffer, reply{"2.0", id, result})
	if err != nil {
		q.Log.Error("a result could not be encoded", "request", q.name, "error", err)
		body = errorBody(id, jsonrpc.CodeInternalError, encodeFailed)
	}
	q.write(http.StatusOK, body)
}

// beginTask answers a call of a tool that the client wants as a task.
func (q *request) beginTask(c toolCall) {
	var wanted struct {
		TTL float64 `json:"ttl"`
	}
	switch {
	case c.tool.Read == nil:
		q.refuse(http.StatusOK, c.id, jsonrpc.CodeMethodNotFound, "The tool "+c.tool.Name+" cannot be called as a task, only tools that wait for messages or agents.")
		return
	case !rawjson.IsObject(c.task) || json.Unmarshal(c.task, &wanted) != nil:
		q.refuse(http.StatusOK, c.id, jsonrpc.CodeInvalidParams, "task must be an object, and its ttl a number of milliseconds.")
		return
	case len(c.arguments) > tasks.MaxArguments:
		q.refuse(http.StatusOK, c.id, jsonrpc.CodeInvalidParams, "The arguments are too long for a task. Call the tool without one.")
		return
	case !q.enter():
		guard.WriteRPCError(q.w, stopping())
		return
	}
	ttl := time.Duration(min(max(wanted.TTL, 0), float64(tasks.MaxTTL.Milliseconds()))) * time.Millisecond
	ctx, cancel := context.WithCancelCause(limit.As(q.ctx, q.Principal))
	x, err := q.tasks.Begin(q.caller, c.tool, bytes.Clone(c.arguments), ttl, cancel)
	if err != nil {
		cancel(nil)
		q.leave()
		q.refuse(http.StatusOK, c.id, jsonrpc.CodeInternalError, failure(q.name, err).texts[0])
		return
	}
	j := &job{q.API, q.caller, q.name, c.tool, time.Now()}
	out, rest, err := j.doShortly(ctx, x.Arguments, 0)
	if rest == nil {
		conclude(x, out, err)
		q.leave()
	} else {
		a := q.API // and nothing else of the request, while the task waits
		go func() {
			defer a.leave()
			out, err := j.resume(ctx, rest)
			conclude(x, out, err)
		}()
	}
	q.reply(c.id, map[string]any{"task": x.State()})
}

// conclude ends a task whose wait has ended. What the wait returned is dropped, so the messages are read when
// the client asks for the result, and count as delivered by that.
func conclude(x *tasks.Task, out outcome, err error) {
	settle(out, false)
	switch {
	case err != nil: // it is canceled, or the server stops
		x.End(tasks.Cancelled, "")
	case out.failed:
		x.End(tasks.Failed, out.texts[0])
	default:
		x.End(tasks.Completed, "")
	}
}

// isAboutTasks reports whether a method is about tasks.
func isAboutTasks(method string) bool {
	switch method {
	case "tasks/get", "tasks/result", "tasks/list", "tasks/cancel":
		return true
	}
	return false
}

// task answers a request about tasks.
func (q *request) task(m message) {
	if !isID(m.id) {
		q.w.WriteHeader(http.StatusAccepted) // a notification is not answered
		return
	}
	if m.method == "tasks/list" {
		q.reply(m.id, map[string]any{"tasks": q.tasks.List(q.caller)})
		return
	}
	var about taskID
	if json.Unmarshal(m.params, &about) != nil || about.ID == "" {
		q.refuse(http.StatusOK, m.id, jsonrpc.CodeInvalidParams, "invalid_argument: taskId must be the id of a task.")
		return
	}
	x, worked := q.tasks.Get(q.caller, about.ID), true
	if m.method == "tasks/cancel" {
		x, worked = q.tasks.Cancel(q.caller, about.ID)
	}
	switch {
	case x == nil:
		q.refuse(http.StatusOK, m.id, jsonrpc.CodeInvalidParams, noSuchTask)
	case !worked:
		q.refuse(http.StatusOK, m.id, jsonrpc.CodeInvalidParams, "conflict: The task has ended as "+string(x.State().Status)+".")
	case m.method == "tasks/result":
		q.taskResult(bytes.Clone(m.id), x)
	default:
		q.reply(m.id, x.State())
	}
}

// taskResult answers with the result of a task, once it has ended. The messages are unread until then, and read
// now, as by a wait that the client repeats: again if it asks again.
func (q *request) taskResult(id []byte, x *tasks.Task) {
	q.r.Body = http.NoBody
	if err := q.Limits.Open(q.Principal); err != nil {
		q.refuse(http.StatusOK, id, jsonrpc.CodeInternalError, failure(q.name, err).texts[0])
		return
	}
	defer q.Limits.Close(q.Principal)
	select {
	case <-x.Done():
	case <-q.r.Context().Done():
		return
	case <-q.ctx.Done():
		guard.WriteRPCError(q.w, stopping())
		return
	}
	state := x.State()
	if state.Status == tasks.Cancelled {
		q.refuse(http.StatusOK, id, jsonrpc.CodeInvalidRequest, "conflict: The task was canceled.")
		return
	}
	j := &job{q.API, q.caller, q.name, x.Tool, time.Now()}
	ctx := limit.As(q.origin(q.r.Context()), q.Principal)
	out, err := j.run(ctx, func() (tools.Result, error) { return x.Tool.Read(ctx, q.caller, x.Arguments) })
	if err != nil {
		return // the client has disconnected
	}
	settle(out, q.answer(toolCall{id: id, tool: x.Tool, related: state.ID}, out))
}

// listedTask is a tool as clients see it whose revision has tasks.
type listedTask struct {
	*mcp.Tool
	Execution *execution `json:"execution,omitempty"`
}

// execution says how a tool may be called.
type execution struct {
	TaskSupport string `json:"taskSupport"`
}

// toolsWithTasks is a list of tools that says which may be called as tasks.
type toolsWithTasks struct {
	*mcp.ListToolsResult
	Tools []listedTask `json:"tools"`
}

// withTasks says of each tool of a list whether it may be called as a task.
func (a *API) withTasks(list *mcp.ListToolsResult) mcp.Result {
	out := toolsWithTasks{list, make([]listedTask, len(list.Tools))}
	for i, t := range list.Tools {
		out.Tools[i].Tool = t
		if known := a.byName[t.Name]; known != nil && known.Read != nil {
			out.Tools[i].Execution = &execution{"optional"}
		}
	}
	return &out
}

// helloWithTasks is the answer to initialize of a server that has tasks. The SDK does not know them.
type helloWithTasks struct {
	*mcp.InitializeResult
	Capabilities capabilitiesWithTasks `json:"capabilities"`
}

type capabilitiesWithTasks struct {
	*mcp.ServerCapabilities
	Tasks struct {
		List     struct{} `json:"list"`
		Cancel   struct{} `json:"cancel"`
		Requests struct {
			Tools struct {
				Call struct{} `json:"call"`
			} `json:"tools"`
		} `json:"requests"`
	} `json:"tasks"`
}

// declareTasks is a middleware that declares tasks to clients of /mcp whose revision has them.
func (p *peer) declareTasks(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		extra := req.GetExtra()
		if by := p.api.carriers.of(extra); err != nil || by == nil || !by.posted {
			return res, err
		}
		switch found := res.(type) {
		case *mcp.InitializeResult:
			if found.ProtocolVersion == taskRevision {
				return &helloWithTasks{found, capabilitiesWithTasks{ServerCapabilities: found.Capabilities}}, nil
			}
		case *mcp.ListToolsResult:
			if extra.Header.Get(versionHeader) == taskRevision {
				return p.api.withTasks(found), nil
			}
		}
		return res, nil
	}
}
