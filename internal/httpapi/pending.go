package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const answerWords = "The answer is stored when this returns, and the run goes on once it has all that it waits for. The first answer wins: " +
	"another one is `already_answered`, the same one again gets the same answer. `expired` when nobody can answer any more. " +
	"A result that does not fit the tool's schema is refused and settles nothing."

var answerErrors = []shoal.Kind{shoal.AlreadyAnswered, shoal.Expired, shoal.SessionClosed, shoal.SpaceClosed}

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
			about:   "A `client_tool` takes `result` or `error`, a `permission` `approved` with `reason` and `remember`, a `question` `answer`. " + answerWords,
			in:      shoal.PendingAnswer{}, example: `{"approved": true, "remember": "allow"}`,
			status: http.StatusOK, out: shoal.PendingAction{}, errors: answerErrors,
		},
	}
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
	if filter.Status, err = words(c, "status", pendingStatuses); err != nil {
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
	settled, err := c.Hub.Pending.Answer(c.ctx(), c.who, c.session(), shoal.PendingID(c.r.PathValue("pending")), withoutNull(in))
	return c.answerOr(err, http.StatusOK, settled)
}

// withoutNull leaves the result out where it is null beside another answer: such
// a body spells out every field. Alone, null is a result like any other.
func withoutNull(a shoal.PendingAnswer) shoal.PendingAnswer {
	if string(a.Result) == "null" && (a.Error != nil || a.Approved != nil || a.Answer != nil) {
		a.Result = nil
	}
	return a
}
