package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const runPath = sessionPath + "/runs/{run}"

func runRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/runs", do: listRuns, id: "listRuns", tag: "Runs",
			summary: "List runs", about: "The newest first: all for a service or an admin, those that its spaces show for an entity.",
			query: append([]param{
				{"agent", "Only runs of this agent.", stringParam},
				{"status", "Only runs in this state, or in one of several with commas between.", stringParam},
				{"space", "Only runs that a message of this space started, or that wrote to it.", stringParam},
			}, listParams...),
			status: http.StatusOK, out: page[shoal.Run]{},
		},
		{
			method: http.MethodGet, path: runPath, do: getRun, id: "getRun", tag: "Runs",
			summary: "Read a run", about: "`pendingToolCalls` is what it waits for. Members of the spaces that show the run, services and admins.",
			status: http.StatusOK, out: shoal.Run{},
		},
		{
			method: http.MethodPost, path: runPath + "/cancel", do: cancelRun, id: "cancelRun", tag: "Runs",
			summary: "Cancel a run",
			about: "Answers once the run has ended, or after a few seconds with the run as it is then. One that has ended is answered as it is. " +
				"Members of the spaces that show the run, services and admins.",
			status: http.StatusOK, out: shoal.Run{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: runPath + "/steps", do: listSteps, id: "listSteps", tag: "Runs",
			summary: "Read the steps of a run", about: "The model calls with their tool calls, the open one included, in order. Services and admins.",
			status: http.StatusOK, out: page[shoal.Step]{},
		},
		{
			method: http.MethodPost, path: runPath + "/tool-results", do: answerCall, id: "submitToolResult", tag: "Runs",
			summary: "Submit the result of a client tool",
			about:   "Give `result`, any JSON value, or `error`. " + answerWords,
			in:      toolResultInput{}, example: `{"callId": "call-1", "result": {"clicked": true}}`,
			status: http.StatusOK, out: shoal.PendingAction{}, errors: append(answerErrors, shoal.RunNotWaiting),
		},
	}
}

// toolResultInput is the result of a tool that a client executed.
type toolResultInput struct {
	CallID string          `json:"callId"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *string         `json:"error,omitempty"`
}

func (c *call) run() shoal.RunID { return shoal.RunID(c.r.PathValue("run")) }

// runStatuses are all of them.
var runStatuses = []shoal.RunStatus{
	shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply, shoal.RunCompleted, shoal.RunFailed, shoal.RunCanceled,
}

func listRuns(c *call) error {
	before, limit, err := idCursor[shoal.RunID](c)
	if err != nil {
		return err
	}
	agent, _ := c.value("agent")
	space, _ := c.value("space")
	filter := hub.RunFilter{Agent: shoal.EntityID(agent), Space: shoal.SpaceID(space), Before: before, Limit: limit + 1}
	if said, _ := c.value("status"); said != "" {
		for word := range strings.SplitSeq(said, ",") {
			if !slices.Contains(runStatuses, shoal.RunStatus(word)) {
				return shoal.Invalid("query.status", "must be of "+joined(runStatuses)+"; several have commas between")
			}
			filter.Status = append(filter.Status, shoal.RunStatus(word))
		}
	}
	found, err := c.Hub.Runs.List(c.ctx(), c.who, c.session(), filter)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(r shoal.Run) string { return string(r.ID) }))
}

// joined lists words for a sentence.
func joined[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

func getRun(c *call) error {
	found, err := c.Hub.Runs.Get(c.ctx(), c.who, c.session(), c.run())
	return c.answerOr(err, http.StatusOK, found)
}

func cancelRun(c *call) error {
	ended, err := c.Hub.Runs.Cancel(c.ctx(), c.who, c.session(), c.run())
	return c.answerOr(err, http.StatusOK, ended)
}

func listSteps(c *call) error {
	steps, err := c.Hub.Runs.Steps(c.ctx(), c.who, c.session(), c.run())
	return c.answerOr(err, http.StatusOK, pageOf(steps, len(steps), nil))
}

func answerCall(c *call) error {
	var in toolResultInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.CallID == "" {
		return shoal.Invalid("body.callId", "is missing: it is the toolCallId of one of the run's pendingToolCalls")
	}
	answer := withoutNull(shoal.PendingAnswer{Result: in.Result, Error: in.Error})
	settled, err := c.Hub.Pending.AnswerCall(c.ctx(), c.who, c.session(), c.run(), in.CallID, answer)
	return c.answerOr(err, http.StatusOK, settled)
}
