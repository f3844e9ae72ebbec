package httpapi

import (
	"bytes"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

func remoteRoutes() []route {
	generation := []param{{"generation", "The `generation` of the claim.", integerParam}}
	const who = " For the agent's own key and admins."
	return []route{
		{
			method: http.MethodPost, path: agentPath + "/claim", do: claimRuns, waits: true, id: "claimRuns", tag: "Programs",
			summary: "Claim runs of a remote agent",
			about: "Returns up to `limit` (1 to 64, 1 by default) runs that can start or continue: at once if there are any, else as soon as one is queued, else none after `waitMs` (0 to 600000, 0 by default). " +
				"A claimed run is leased: each call with its work extends the lease, and a run whose lease has ended is claimed again, but by no program that names it in `holds` because it executes it. " +
				"`prompt` is what the run begins with; what others wrote in it is between tags, and is data. `written` and `calls` are what another program has done in the run before." + who,
			in: claimInput{}, example: `{"limit": 1, "waitMs": 30000}`, status: http.StatusOK, out: page[shoal.RemoteRun]{},
			errors: []shoal.Kind{shoal.Conflict, shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: sessionPath + "/runs/{run}/work", do: reportWork, id: "reportWork", tag: "Programs",
			summary: "Report work on a claimed run",
			about: "The body has one JSON object per line, numbered `n` from 1 in each claim. A body is stored whole or not at all; numbers that are stored are ignored, and a gap is refused. An empty body only extends the lease. " +
				"The lines are `turn.started`, `text`, `thought`, `tool`, `card`, `permission`, `question`, `usage`, `steered`, `session.began`, `released`, `turn.ended` and `failed`: docs/remote-agents.md describes them. " +
				"An error names the number of the line. 409 for a generation that is not the current one, 410 for a run that has ended." + who,
			query: generation, media: bodies.Work, status: http.StatusOK, out: shoal.WorkReceipt{},
			errors: []shoal.Kind{shoal.Conflict, shoal.Expired, shoal.Forbidden, shoal.InvalidArgument},
		},
		{
			method: http.MethodGet, path: runPath + "/orders", do: followOrders, stream: true, id: "followOrders", tag: "Programs",
			summary: "Follow the orders for a claimed run",
			about: "Server-sent events `answer`, `steer` and `cancel`, each with one JSON object. A new connection gets all answers of the run again, and what is offered still. After `cancel` the run has ended, and so does the stream. " +
				"A comment line every 15 s keeps the connection alive." + who,
			query: generation, status: http.StatusOK, errors: []shoal.Kind{shoal.Conflict, shoal.Forbidden, shoal.InvalidArgument},
		},
	}
}

// claimInput is the body of a claim.
type claimInput struct {
	Limit  int                 `json:"limit,omitempty"`
	WaitMs *input.Milliseconds `json:"waitMs,omitempty"`
	Holds  []shoal.RunID       `json:"holds,omitempty"`
}

// claimRuns responds within the time that Pool allows, or continues detached from its handler.
func claimRuns(c *call) error {
	var in claimInput
	if err := c.decodeOptional(&in); err != nil {
		return err
	}
	c.dropBody()
	var wait time.Duration
	if in.WaitMs != nil {
		wait = time.Duration(*in.WaitMs)
	}
	claimed, open, err := c.Remote.Claim(c.ctx(), c.caller, c.session(), c.agent(), remoterun.Demand{Limit: max(in.Limit, 1), Holds: in.Holds, Wait: wait})
	if open == nil {
		return c.answerClaim(claimed, err)
	}
	return c.detach(func(c *call) error {
		ctx, stop := c.Hub.Keys.While(c.ctx(), c.caller, c.session())
		defer stop()
		return c.answerClaim(open.Wait(ctx))
	})
}

// answerClaim responds with claimed runs. If the program has disconnected, another can claim them at
// once.
func (c *call) answerClaim(claimed []shoal.RemoteRun, err error) error {
	err = c.answerOr(err, http.StatusOK, pageOf(claimed, len(claimed), nil))
	if err != nil {
		c.Remote.GiveBack(c.ctx(), c.caller, c.session(), claimed)
	}
	return err
}

// generation returns the claim that the caller states.
func (c *call) generation() (int64, error) {
	n, given, err := c.number("generation")
	if err == nil && (!given || n < 1) {
		err = shoal.Invalid("query.generation", "is missing: send the generation of the claim")
	}
	return n, err
}

func reportWork(c *call) error {
	claim, err := c.generation()
	if err != nil {
		return err
	}
	lines, err := remoterun.ParseLines(guard.Body(c.r))
	if err != nil {
		return err
	}
	receipt, err := c.Remote.Work(c.ctx(), c.caller, c.session(), c.run(), claim, lines)
	return c.answerOr(err, http.StatusOK, receipt)
}

func followOrders(c *call) error {
	claim, err := c.generation()
	if err != nil {
		return err
	}
	if err := c.Limits.Open(c.caller); err != nil {
		return err
	}
	defer c.Limits.Close(c.caller)
	s := stream{call: c, control: http.NewResponseController(c.w)}
	defer c.endTime(s.control)
	return c.Remote.Orders(c.ctx(), c.caller, c.session(), c.run(), claim, c.Heartbeat, func(o *shoal.Order) error {
		if c.status == 0 {
			if err := s.begin(time.Now()); err != nil {
				return err
			}
		}
		if o == nil {
			if err := s.checkKey(); err != nil {
				return err
			}
			return s.write([]byte(": keepalive\n\n"), time.Now())
		}
		data, err := shoal.EncodeJSON(o)
		if err != nil {
			return err
		}
		return s.write(bytes.Join([][]byte{[]byte("event: " + string(o.Type)), []byte("data: " + string(data)), nil, nil}, []byte("\n")), time.Now())
	})
}
