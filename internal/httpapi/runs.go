package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
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
				{"trigger", "Only runs that this started: `space_message`, `plan` or `service`.", stringParam},
				{"since", "Only runs that were created from this time on: a time, or a date in UTC.", stringParam},
				{"until", "Only runs that were created before this time.", stringParam},
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
			method: http.MethodPost, path: runPath + "/retry", do: retryRun, id: "retryRun", tag: "Runs",
			summary: "Start an ended run again",
			about: "A new run of the same agent with the same trigger, at the same place in the chain of agents, with the newest config. `conflict` for a run that has not ended, " +
				"and for an agent that is not hosted or not in the space any more. Members of the spaces that show the run, services and admins.",
			idempotent: true, status: http.StatusAccepted, out: triggered{}, errors: []shoal.Kind{shoal.Conflict, shoal.SessionClosed, shoal.SpaceClosed},
		},
		{
			method: http.MethodGet, path: runPath + "/steps", do: listSteps, id: "listSteps", tag: "Runs",
			summary: "Read the steps of a run", about: "The model calls with their tool calls, the open one included, in order. Services and admins.",
			status: http.StatusOK, out: page[shoal.Step]{},
		},
		{
			method: http.MethodGet, path: runPath + "/steps/{step}/request", do: getRequest, id: "getModelRequest", tag: "Runs",
			summary: "Read what the model was sent for a step",
			about: "The system prompt, the tools and the messages as they went to the model, also where the history was made shorter for it; the last of several attempts. " +
				"The bytes of files and what only the provider reads are left out. Services and admins.",
			status: http.StatusOK, out: shoal.ModelRequest{}, errors: []shoal.Kind{shoal.InvalidArgument},
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

// triggerTypes are all of them.
var triggerTypes = []shoal.TriggerType{shoal.SpaceMessageTrigger, shoal.PlanTrigger, shoal.ServiceTrigger}

func listRuns(c *call) error {
	before, limit, err := idCursor[shoal.RunID](c)
	if err != nil {
		return err
	}
	agent, _ := c.value("agent")
	space, _ := c.value("space")
	filter := hub.RunFilter{Agent: shoal.EntityID(agent), Space: shoal.SpaceID(space), Before: before, Limit: limit + 1}
	if filter.Status, err = wordList(c, "status", runStatuses); err != nil {
		return err
	}
	if filter.Since, err = c.time("since"); err != nil {
		return err
	}
	if filter.Until, err = c.time("until"); err != nil {
		return err
	}
	trigger, _ := c.value("trigger")
	if filter.Trigger = shoal.TriggerType(trigger); trigger != "" && !slices.Contains(triggerTypes, filter.Trigger) {
		return shoal.Invalid("query.trigger", "must be one of "+joinWords(triggerTypes))
	}
	found, err := c.Hub.Runs.List(c.ctx(), c.who, c.session(), filter)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(r shoal.Run) string { return string(r.ID) }))
}

// words returns a parameter that holds some of the known words, with commas between;
// nil if it was not given.
func wordList[T ~string](c *call, name string, known []T) (out []T, err error) {
	said, _ := c.value(name)
	if said == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(said, ",") {
		if !slices.Contains(known, T(word)) {
			return nil, shoal.Invalid("query."+name, "must be of "+joinWords(known)+"; several have commas between")
		}
		out = append(out, T(word))
	}
	return out, nil
}

// joined lists words for a sentence.
func joinWords[T ~string](words []T) string {
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

func retryRun(c *call) error {
	run, err := c.Hub.Runs.Retry(c.ctx(), c.who, c.session(), c.run(), c.idempotencyKey())
	return c.answerOr(err, http.StatusAccepted, triggered{run.ID, run.AgentID, run.Status})
}

func listSteps(c *call) error {
	steps, err := c.Hub.Runs.Steps(c.ctx(), c.who, c.session(), c.run())
	return c.answerOr(err, http.StatusOK, pageOf(steps, len(steps), nil))
}

func getRequest(c *call) error {
	step, err := strconv.Atoi(c.r.PathValue("step"))
	if err != nil || step < 0 {
		return shoal.Invalid("path.step", "must be the index of a step, counted from 0")
	}
	sent, err := c.Hub.Runs.Request(c.ctx(), c.who, c.session(), c.run(), step)
	return c.answerOr(err, http.StatusOK, sent)
}

func answerCall(c *call) error {
	var in toolResultInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.CallID == "" {
		return shoal.Invalid("body.callId", "is missing: it is the toolCallId of one of the run's pendingToolCalls")
	}
	answer := dropNullResult(shoal.PendingAnswer{Result: in.Result, Error: in.Error})
	settled, err := c.Hub.Pending.AnswerCall(c.ctx(), c.who, c.session(), c.run(), in.CallID, answer)
	return c.answerOr(err, http.StatusOK, settled)
}
