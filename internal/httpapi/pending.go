package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

var answerErrors = []shoal.Kind{shoal.AlreadyAnswered, shoal.ArgsChanged, shoal.Expired, shoal.SessionClosed, shoal.SpaceClosed}

func pendingRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/pending-actions", do: listPending, id: "listPendingActions", tag: "Pending",
			summary: "List pending actions", about: "For an entity, those that its spaces show and that it may answer; for services and admins, all.",
			query: append([]param{
				{"status", "`open`, `answered`, `expired` or `canceled`, or several, separated by commas. The default is `open`.", stringParam},
				{"order", "`oldest` first, which is the default, or `newest` first.", stringParam},
				{"space", "Only actions that this space shows.", stringParam},
				{"run", "Only actions that this run waits for.", stringParam},
			}, listParams...),
			status: http.StatusOK, out: page[shoal.PendingAction]{},
		},
		{
			method: http.MethodPost, path: sessionPath + "/pending-actions/{pending}/answer", do: decoded(http.StatusOK, answerPending), id: "answerPendingAction", tag: "Pending",
			summary: "Answer a pending action",
			about:   "A `client_tool` takes `result` or `error`. A `permission` takes `approved` with optional `reason`, `remember`, and `args` that replace the model's, or `approved: false` with a question in `ask`. A `question` takes `answer`. " + input.AnswerWords,
			in:      shoal.PendingAnswer{}, example: `{"approved": true, "remember": "allow"}`,
			status: http.StatusOK, out: shoal.PendingAction{}, errors: answerErrors,
		},
		{
			method: http.MethodPost, path: entityPath + "/permissions", do: decoded(http.StatusOK, askPermission), waits: true, unseen: true, id: "askPermission", tag: "Pending",
			summary: "Ask for a permission without a run", about: input.AskWords,
			in: pending.Ask{}, example: `{"toolName": "Bash", "args": {"command": "make test"}, "waitMs": 20000}`,
			status: http.StatusOK, out: shoal.PendingAction{}, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: sessionPath + "/remembered-decisions", do: listRemembered, id: "listRememberedDecisions", tag: "Pending",
			summary: "List remembered decisions",
			about:   "Decisions about permissions that also settle later calls, until `expiresAt`. Services and admins see all; an entity sees its own, those about its runs or agents, and those of its spaces.",
			query:   listParams, status: http.StatusOK, out: page[shoal.RememberedDecision]{},
		},
		{
			method: http.MethodDelete, path: sessionPath + "/remembered-decisions/{decision}", do: forgetDecision, id: "deleteRememberedDecision", tag: "Pending",
			summary: "Revoke a remembered decision", about: "The next call asks for permission again. For every human that sees the decision, and for admins.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
	}
}

func askPermission(c *call, in pending.Ask) (shoal.PendingAction, error) {
	return c.Hub.Pending.Ask(c.ctx(), c.caller, c.session(), c.entity(), in)
}

func listRemembered(c *call) error {
	after, limit, err := idCursor[shoal.RememberedID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Pending.Remembered(c.ctx(), c.caller, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(d shoal.RememberedDecision) string { return string(d.ID) }))
}

func forgetDecision(c *call) error {
	return c.noContentOr(c.Hub.Pending.Forget(c.ctx(), c.caller, c.session(), shoal.RememberedID(c.r.PathValue("decision"))))
}

var pendingStatuses = []shoal.PendingStatus{shoal.PendingOpen, shoal.PendingAnswered, shoal.PendingExpired, shoal.PendingCanceled}

func listPending(c *call) error {
	after, limit, err := idCursor[shoal.PendingID](c)
	if err != nil {
		return err
	}
	space, _ := c.value("space")
	run, _ := c.value("run")
	filter := storage.PendingFilter{Space: shoal.SpaceID(space), Run: shoal.RunID(run), After: after, Limit: limit + 1}
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
	found, err := c.Hub.Pending.List(c.ctx(), c.caller, c.session(), filter)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(p shoal.PendingAction) string { return string(p.ID) }))
}

func answerPending(c *call, in shoal.PendingAnswer) (shoal.PendingAction, error) {
	return c.Hub.Pending.Answer(c.ctx(), c.caller, c.session(), shoal.PendingID(c.r.PathValue("pending")), input.WithoutNullResult(in))
}
