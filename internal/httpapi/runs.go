package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
	"github.com/shoal-dev/shoal/internal/httpapi/query"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const runPath = sessionPath + "/runs/{run}"

func runRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/runs", do: listRuns, id: "listRuns", tag: "Runs",
			summary: "List runs", about: "Newest first: all for services and admins, those that its spaces show for an entity.",
			query: append([]param{
				{"agent", "Only runs of this agent.", stringParam},
				{"status", "Only runs with this status, or with one of several, separated by commas.", stringParam},
				{"space", "Only runs that a message of this space started, or that wrote to this space.", stringParam},
				{"trigger", "Only runs with this type of trigger: `space_message`, `plan` or `service`.", stringParam},
				{"since", "Only runs created at or after this time: a time, or a date in UTC.", stringParam},
				{"until", "Only runs created before this time.", stringParam},
			}, listParams...),
			status: http.StatusOK, out: page[shoal.Run]{},
		},
		{
			method: http.MethodGet, path: runPath, do: getRun, id: "getRun", tag: "Runs",
			summary: "Read a run", about: "`pendingToolCalls` are the calls that it waits for. For members of the spaces that show the run, services and admins.",
			status: http.StatusOK, out: shoal.Run{},
		},
		{
			method: http.MethodPost, path: runPath + "/cancel", do: cancelRun, id: "cancelRun", tag: "Runs",
			summary: "Cancel a run",
			about: "Returns once the run has ended, or after a few seconds with its current state. An ended run is returned unchanged. " +
				"For members of the spaces that show the run, services and admins.",
			status: http.StatusOK, out: shoal.Run{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodPost, path: runPath + "/retry", do: retryRun, id: "retryRun", tag: "Runs",
			summary: "Retry an ended run",
			about: "Starts a new run of the same agent with the same trigger and depth, and the newest configuration. Fails with `conflict` for a run that has not ended, " +
				"and for an agent that is no longer hosted or no longer in the space. For members of the spaces that show the run, services and admins.",
			idempotent: true, status: http.StatusAccepted, out: triggered{}, errors: []shoal.Kind{shoal.Conflict, shoal.SessionClosed, shoal.SpaceClosed},
		},
		{
			method: http.MethodGet, path: runPath + "/steps", do: listSteps, id: "listSteps", tag: "Runs",
			summary: "Read the steps of a run", about: "The model calls with their tool calls in order, including the current one. For services and admins.",
			status: http.StatusOK, out: page[shoal.Step]{},
		},
		{
			method: http.MethodGet, path: runPath + "/steps/{step}/request", do: getRequest, id: "getModelRequest", tag: "Runs",
			summary: "Read the model request of a step",
			about: "Returns the system prompt, the tools and the messages as they were sent to the model, after compaction of the history; of several attempts, the last one. " +
				"The bytes of files and data that only the provider reads are left out. For services and admins.",
			status: http.StatusOK, out: shoal.ModelRequest{}, errors: []shoal.Kind{shoal.InvalidArgument},
		},
		{
			method: http.MethodPost, path: runPath + "/tool-results", do: answerCall, id: "submitToolResult", tag: "Runs",
			summary: "Submit the result of a client tool",
			about:   "Send `result`, any JSON value, or `error`. " + input.AnswerWords,
			in:      toolResultInput{}, example: `{"callId": "call-1", "result": {"clicked": true}}`,
			status: http.StatusOK, out: shoal.PendingAction{}, errors: append(answerErrors, shoal.RunNotWaiting),
		},
	}
}

// toolResultInput is the body with the result of a client tool.
type toolResultInput struct {
	CallID string          `json:"callId"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *string         `json:"error,omitempty"`
}

func (c *call) run() shoal.RunID { return shoal.RunID(c.r.PathValue("run")) }

// runStatuses are all statuses of runs.
var runStatuses = []shoal.RunStatus{
	shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply, shoal.RunCompleted, shoal.RunFailed, shoal.RunCanceled,
}

// triggerTypes are all types of triggers.
var triggerTypes = []shoal.TriggerType{shoal.SpaceMessageTrigger, shoal.PlanTrigger, shoal.ServiceTrigger}

func listRuns(c *call) error {
	before, limit, err := idCursor[shoal.RunID](c)
	if err != nil {
		return err
	}
	agent, _ := c.value("agent")
	space, _ := c.value("space")
	filter := storage.RunFilter{Agent: shoal.EntityID(agent), Space: shoal.SpaceID(space), Before: before, Limit: limit + 1}
	if filter.Status, err = wordList(c, "status", runStatuses); err != nil {
		return err
	}
	if filter.Since, err = query.Time(c.value, "since"); err != nil {
		return err
	}
	if filter.Until, err = query.Time(c.value, "until"); err != nil {
		return err
	}
	trigger, _ := c.value("trigger")
	if filter.Trigger = shoal.TriggerType(trigger); trigger != "" && !slices.Contains(triggerTypes, filter.Trigger) {
		return shoal.Invalid("query.trigger", "must be one of "+joinWords(triggerTypes))
	}
	found, err := c.Hub.Runs.List(c.ctx(), c.caller, c.session(), filter)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(r shoal.Run) string { return string(r.ID) }))
}

// wordList returns the values of a parameter that lists some of the known words, separated by commas;
// nil without the parameter.
func wordList[T ~string](c *call, name string, known []T) (out []T, err error) {
	said, _ := c.value(name)
	if said == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(said, ",") {
		if !slices.Contains(known, T(word)) {
			return nil, shoal.Invalid("query."+name, "must be one of "+joinWords(known)+", or several, separated by commas")
		}
		out = append(out, T(word))
	}
	return out, nil
}

// joinWords joins words for a message.
func joinWords[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

func getRun(c *call) error {
	found, err := c.Hub.Runs.Get(c.ctx(), c.caller, c.session(), c.run())
	return c.answerOr(err, http.StatusOK, found)
}

func cancelRun(c *call) error {
	ended, err := c.Hub.Runs.Cancel(c.ctx(), c.caller, c.session(), c.run())
	return c.answerOr(err, http.StatusOK, ended)
}

func retryRun(c *call) error {
	run, err := c.Hub.Runs.Retry(c.ctx(), c.caller, c.session(), c.run(), c.idempotencyKey())
	return c.answerOr(err, http.StatusAccepted, triggered{run.ID, run.AgentID, run.Status})
}

func listSteps(c *call) error {
	steps, err := c.Hub.Runs.Steps(c.ctx(), c.caller, c.session(), c.run())
	return c.answerOr(err, http.StatusOK, pageOf(steps, len(steps), nil))
}

func getRequest(c *call) error {
	step, err := strconv.Atoi(c.r.PathValue("step"))
	if err != nil || step < 0 {
		return shoal.Invalid("path.step", "must be the index of a step, counted from 0")
	}
	sent, err := c.Hub.Runs.Request(c.ctx(), c.caller, c.session(), c.run(), step)
	return c.answerOr(err, http.StatusOK, sent)
}

func answerCall(c *call) error {
	var in toolResultInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.CallID == "" {
		return shoal.Invalid("body.callId", "is missing: send the toolCallId of one of the run's pendingToolCalls")
	}
	answer := input.WithoutNullResult(shoal.PendingAnswer{Result: in.Result, Error: in.Error})
	settled, err := c.Hub.Pending.AnswerCall(c.ctx(), c.caller, c.session(), c.run(), in.CallID, answer)
	return c.answerOr(err, http.StatusOK, settled)
}
