package mcpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/mcpapi/tasks"
)

// rpcAnswer is an answer about tasks.
type rpcAnswer struct {
	Result *struct {
		tasks.State
		Task  *tasks.State  `json:"task"`
		Tasks []tasks.State `json:"tasks"`
		Meta  struct {
			Related struct{ TaskID string } `json:"io.modelcontextprotocol/related-task"`
		} `json:"_meta"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	Error struct {
		Code    int
		Message string
	}
}

// rpcAbout sends a message of a client that has negotiated a revision.
func (w *world) rpcAbout(key, revision, method string, params map[string]any) (out rpcAnswer) {
	w.t.Helper()
	_, _, text, err := w.post(w.t.Context(), key, rpcMethod(1, method, params), "Mcp-Protocol-Version", revision)
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", method, err, text)
	}
	return out
}

// beginsTask calls a tool as a task.
func (w *world) beginsTask(key, tool string, in inputs, task map[string]any) rpcAnswer {
	w.t.Helper()
	return w.rpcAbout(key, session, "tools/call", map[string]any{"name": tool, "arguments": in, "task": task})
}

// about asks about a task.
func (w *world) about(key, method string, task *tasks.State) rpcAnswer {
	w.t.Helper()
	return w.rpcAbout(key, session, method, map[string]any{"taskId": task.ID})
}

// ends waits until a task is completed.
func (w *world) ends(key string, task *tasks.State) {
	w.t.Helper()
	w.until("the task is completed", func() bool {
		got := w.about(key, "tasks/get", task)
		return got.Result != nil && got.Result.Status == tasks.Completed
	})
}

// brought lists the messages in the result of a task.
func (w *world) brought(a rpcAnswer) []string {
	w.t.Helper()
	if a.Result == nil {
		w.t.Fatalf("no result: %+v", a.Error)
	}
	return heard(w.t, answer{Structured: a.Result.Structured})
}

// A wait as a task: the client asks about it, reads its result, twice if it has to, and acknowledges the
// messages by waiting again.
func TestTask(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	ann := w.key("ann")
	began := w.beginsTask(ann, "wait_for_mentions", inputs{"timeoutMs": 600_000}, map[string]any{"ttl": 60_000})
	if began.Result == nil || began.Result.Task == nil || began.Result.Task.Status != tasks.Working || began.Result.Task.TTL != 60_000 || began.Result.Task.PollInterval <= 0 {
		t.Fatalf("the call is answered with %+v, %+v", began.Result, began.Error)
	}
	task := began.Result.Task
	w.waiting("ann", true)
	if got := w.about(ann, "tasks/get", task); got.Result == nil || got.Result.ID != task.ID || got.Result.Status != tasks.Working {
		t.Errorf("the task is %+v", got)
	}
	one := w.say("bob", "shop", "one", "ann")
	w.ends(ann, task)
	w.waiting("ann", false)
	two := w.say("bob", "shop", "two", "ann") // before the result is read
	got := w.about(ann, "tasks/result", task)
	if ids := strings.Join(w.brought(got), " "); !strings.HasPrefix(ids, string(one.ID)) || !strings.Contains(ids, string(two.ID)) || got.Result.Meta.Related.TaskID != task.ID {
		t.Errorf("the result has %s and is of the task %q", ids, got.Result.Meta.Related.TaskID)
	}
	if again := w.brought(w.about(ann, "tasks/result", task)); len(again) != 2 {
		t.Errorf("the result again has %q", again)
	}
	// Now they are acknowledged.
	next := w.beginsTask(ann, "wait_for_mentions", inputs{"timeoutMs": 0}, map[string]any{})
	w.ends(ann, next.Result.Task)
	if late := w.brought(w.about(ann, "tasks/result", next.Result.Task)); len(late) != 0 {
		t.Errorf("the next task has %q", late)
	}
}

// What nobody has read stays unread: after the task was canceled, forgotten, or lost with its server.
func TestTasksLoseNothing(t *testing.T) {
	for name, lose := range map[string]func(*world, string, *tasks.State){
		"canceled before the message": func(w *world, key string, task *tasks.State) {
			if got := w.about(key, "tasks/cancel", task); got.Result == nil || got.Result.Status != tasks.Cancelled {
				t.Errorf("canceled is %+v", got)
			}
			w.waiting("ann", false)
			if got := w.about(key, "tasks/result", task); got.Error.Code != -32600 {
				t.Errorf("its result is %+v", got)
			}
			if got := w.about(key, "tasks/cancel", task); got.Error.Code != -32602 {
				t.Errorf("canceled again it is %+v", got)
			}
			w.say("bob", "shop", "one", "ann")
		},
		"not asked for": func(w *world, key string, task *tasks.State) {
			w.say("bob", "shop", "one", "ann")
			w.ends(key, task)
		},
		"lost with the server": func(w *world, key string, task *tasks.State) {
			w.say("bob", "shop", "one", "ann")
			w.ends(key, task)
			w.restart()
			for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
				if got := w.about(key, method, task); got.Error.Code != -32602 || !strings.Contains(got.Error.Message, "call the tool again") {
					t.Errorf("%s is answered with %+v", method, got)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			ann := w.key("ann")
			task := w.beginsTask(ann, "wait_for_mentions", inputs{"timeoutMs": 600_000}, map[string]any{}).Result.Task
			lose(w, ann, task)
			_, _, text, err := w.post(t.Context(), ann, rpc(1, "wait_for_mentions", inputs{"timeoutMs": 0}))
			if err != nil || strings.Count(text, `"seq":`) != 1 {
				t.Errorf("the next wait has %s, %v", text, err)
			}
		})
	}
}

// A caller has its own tasks, at most as many as waits; the oldest makes room. Nobody else sees them.
func TestTasksOfACaller(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	ann, bob := w.key("ann"), w.key("bob")
	var began []*tasks.State
	for range tasks.Most + 1 {
		began = append(began, w.beginsTask(ann, "wait_for_messages", inputs{"timeoutMs": 600_000}, map[string]any{"ttl": 1e12}).Result.Task)
	}
	if began[0].TTL != tasks.MaxTTL.Milliseconds() {
		t.Errorf("the ttl is %d", began[0].TTL)
	}
	if listed := w.rpcAbout(ann, session, "tasks/list", nil).Result.Tasks; len(listed) != tasks.Most || listed[0].ID != began[1].ID {
		t.Errorf("listed are %+v", listed)
	}
	if got := w.about(ann, "tasks/get", began[0]); got.Error.Code != -32602 {
		t.Errorf("the oldest is %+v", got)
	}
	if listed := w.rpcAbout(bob, session, "tasks/list", nil).Result.Tasks; len(listed) != 0 {
		t.Errorf("another sees %+v", listed)
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		stranger, unknown := w.about(bob, method, began[1]), w.about(bob, method, &tasks.State{ID: "task_x"})
		if stranger.Error.Code != -32602 || stranger.Error != unknown.Error {
			t.Errorf("%s: another's is answered with %+v, an unknown one with %+v", method, stranger.Error, unknown.Error)
		}
	}
	short := w.beginsTask(ann, "wait_for_messages", inputs{"timeoutMs": 600_000}, map[string]any{"ttl": 1}).Result.Task
	w.until("the task is forgotten", func() bool { return w.about(ann, "tasks/get", short).Error.Code == -32602 })
}

// Only clients whose revision has tasks get them, and only of tools that wait.
func TestTasksAreNegotiated(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann")
	ann := w.key("ann")
	for _, method := range []string{"tasks/get", "tasks/list"} {
		if got := w.rpcAbout(ann, "2025-06-18", method, map[string]any{"taskId": "task_x"}); got.Error.Code != -32601 {
			t.Errorf("%s in an older revision: %+v", method, got)
		}
	}
	in := map[string]any{"name": "wait_for_mentions", "arguments": inputs{"timeoutMs": 0}, "task": map[string]any{}}
	if got := w.rpcAbout(ann, "2025-06-18", "tools/call", in); got.Result == nil || got.Result.Task != nil || got.Result.Structured == nil {
		t.Errorf("in an older revision the call is answered with %+v", got)
	}
	if got := w.beginsTask(ann, "list_threads", inputs{}, map[string]any{}); got.Error.Code != -32601 || !strings.Contains(got.Error.Message, "list_threads") {
		t.Errorf("a tool that does not wait: %+v", got)
	}
	if got := w.rpcAbout(ann, session, "tools/call", map[string]any{"name": "wait_for_mentions", "task": 7}); got.Error.Code != -32602 {
		t.Errorf("a task that is not an object: %+v", got)
	}
	wrong := w.beginsTask(ann, "wait_for_mentions", inputs{"threadId": "No!"}, map[string]any{}).Result.Task
	if got := w.about(ann, "tasks/result", wrong); wrong.Status != tasks.Failed || got.Result == nil || !got.Result.IsError {
		t.Errorf("with wrong arguments the task is %+v and its result %+v", wrong, got)
	}
	over := w.join(transports[2], "ann") // /sse has the revision, and no tasks
	if declared, err := json.Marshal(over.InitializeResult().Capabilities); err != nil || strings.Contains(string(declared), "tasks") {
		t.Errorf("/sse declares %s, %v", declared, err)
	}
	for revision, want := range map[string]bool{"2025-06-18": false, session: true} {
		_, header, text, err := w.post(t.Context(), ann, rpcMethod(1, "initialize", map[string]any{
			"protocolVersion": revision, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"},
		}))
		if err != nil || strings.Contains(text, `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`) != want {
			t.Errorf("%s: declared is %s, %v", revision, text, err)
		}
		_, _, text, err = w.post(t.Context(), ann, rpcMethod(2, "tools/list", nil), "Mcp-Protocol-Version", revision, "Mcp-Session-Id", header.Get("Mcp-Session-Id"))
		found := strings.Count(text, `"execution":{"taskSupport":"optional"}`)
		if err != nil || (found == 3) != want || !strings.Contains(text, `"wait_for_mentions"`) || !want && found != 0 {
			t.Errorf("%s: %d tools can be called as tasks, %v", revision, found, err)
		}
	}
}
