package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const answerWords = "The answer is stored when this returns, and the run goes on once it has all that it waits for. An action that needs several equal " +
	"answers stays open until it has them: `votes` says who has answered, and one denial settles a permission. The first answer wins: " +
	"another one is `already_answered`, the same one again gets the same answer; one with the `argsHash` of other arguments is `args_changed`. `expired` when nobody can answer any more. " +
	"A result that does not fit the tool's schema is refused and settles nothing."

var answerErrors = []shoal.Kind{shoal.AlreadyAnswered, shoal.ArgsChanged, shoal.Expired, shoal.SessionClosed, shoal.SpaceClosed}

func pendingRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/pending-actions", do: listPending, id: "listPendingActions", tag: "Pending",
			summary: "What waits for the caller", about: "For an entity what its spaces show and it may answer, for services and admins everything.",
			query: append([]param{
				{"status", "`open` unless given; or `answered`, `expired`, `canceled`, or several with commas between.", stringParam},
				{"order", "`oldest` first unless given, or `newest`.", stringParam},
				{"space", "Only what this space shows.", stringParam},
				{"run", "Only what this run waits for.", stringParam},
			}, listParams...),
			status: http.StatusOK, out: page[shoal.PendingAction]{},
		},
		{
			method: http.MethodPost, path: sessionPath + "/pending-actions/{pending}/answer", do: answerPending, id: "answerPendingAction", tag: "Pending",
			summary: "Answer a pending action",
			about:   "A `client_tool` takes `result` or `error`, a `permission` `approved` with `reason`, `args` that run in place of the model's, and `remember`, or `approved` false with a question in `ask`; a `question` takes `answer`. " + answerWords,
			in:      shoal.PendingAnswer{}, example: `{"approved": true, "remember": "allow"}`,
			status: http.StatusOK, out: shoal.PendingAction{}, errors: answerErrors,
		},
		{
			method: http.MethodGet, path: sessionPath + "/remembered-decisions", do: listRemembered, id: "listRememberedDecisions", tag: "Pending",
			summary: "What has been decided for later calls",
			about:   "Decisions about permissions that answer later calls until `expiresAt`. Services and admins see all; an entity those that it made, that are about its own runs or agents, and those of its spaces.",
			query:   listParams, status: http.StatusOK, out: page[shoal.RememberedDecision]{},
		},
		{
			method: http.MethodDelete, path: sessionPath + "/remembered-decisions/{decision}", do: forgetDecision, id: "deleteRememberedDecision", tag: "Pending",
			summary: "Revoke a remembered decision", about: "From the next call on somebody is asked again. Any person who sees it may, and admins.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
	}
}

func listRemembered(c *call) error {
	after, limit, err := idCursor[shoal.RememberedID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Pending.Remembered(c.ctx(), c.who, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(d shoal.RememberedDecision) string { return string(d.ID) }))
}

func forgetDecision(c *call) error {
	return c.noContentOr(c.Hub.Pending.Forget(c.ctx(), c.who, c.session(), shoal.RememberedID(c.r.PathValue("decision"))))
}

var pendingStatuses = []shoal.PendingStatus{shoal.PendingOpen, shoal.PendingAnswered, shoal.PendingExpired, shoal.PendingCanceled}

func listPending(c *call) error {
	after, limit, err := idCursor[shoal.PendingID](c)
	if err != nil {
		return err
	}
	space, _ := c.value("space")
	run, _ := c.value("run")
	filter := hub.PendingFilter{Space: shoal.SpaceID(space), Run: shoal.RunID(run), After: after, Limit: limit + 1}
	if filter.Status, err = wordList(c, "status", pendingStatuses); err != nil {
		return err
	}
	if filter.Status == nil {
		filter.Status = []shoal.PendingStatus{shoal.PendingOpen}
	}
	switch order, _ := c.value("order"); order {
	case "", "oldest":
	case "newest":
		filter.Newest = true
	default:
		return shoal.Invalid("query.order", "must be oldest or newest")
	}
	found, err := c.Hub.Pending.List(c.ctx(), c.who, c.session(), filter)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(p shoal.PendingAction) string { return string(p.ID) }))
}

func answerPending(c *call) error {
	var in shoal.PendingAnswer
	if err := c.decode(&in); err != nil {
		return err
	}
	settled, err := c.Hub.Pending.Answer(c.ctx(), c.who, c.session(), shoal.PendingID(c.r.PathValue("pending")), dropNullResult(in))
	return c.answerOr(err, http.StatusOK, settled)
}

// withoutNull leaves the result out where it is null beside another answer: such
// a body spells out every field. Alone, null is a result like any other.
func dropNullResult(a shoal.PendingAnswer) shoal.PendingAnswer {
	if string(a.Result) == "null" && (a.Error != nil || a.Approved != nil || a.Answer != nil) {
		a.Result = nil
	}
	return a
}
