package completion

import (
	"context"
	"iter"
	"reflect"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
)

// maxIDs bounds how many ids are offered.
const maxIDs = 200

// idType returns the type of a value, or the element type of a list.
func idType(v *kong.Value) reflect.Type {
	t := v.Target.Type()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// idSources maps a type of ids to a function that lists existing ones until ctx is done.
var idSources = map[reflect.Type]func(ctx context.Context, sh *cli.Shell) []candidate{
	reflect.TypeFor[shoal.SpaceID](): fromSession((*client.Session).Spaces, func(s shoal.Space) candidate {
		return candidate{string(s.ID), s.Name}
	}),
	reflect.TypeFor[shoal.EntityID](): fromSession((*client.Session).Entities, func(e shoal.Entity) candidate {
		return candidate{string(e.ID), string(e.Kind) + ", " + string(e.State)}
	}),
	reflect.TypeFor[shoal.RunID](): fromSession(func(s *client.Session, ctx context.Context) iter.Seq2[shoal.Run, error] {
		return s.Runs(ctx, client.RunsOptions{})
	}, func(r shoal.Run) candidate {
		return candidate{string(r.ID), string(r.AgentID) + ", " + string(r.Status)}
	}),
	reflect.TypeFor[shoal.PendingID](): fromSession(func(s *client.Session, ctx context.Context) iter.Seq2[shoal.PendingAction, error] {
		return s.PendingActions(ctx, client.PendingOptions{})
	}, func(a shoal.PendingAction) candidate {
		return candidate{string(a.ID), string(a.AgentID) + ": " + string(a.Kind) + " " + a.ToolName}
	}),
	reflect.TypeFor[shoal.RendererName](): fromSession((*client.Session).Renderers, func(r shoal.Renderer) candidate {
		return candidate{string(r.Name), ""}
	}),
	reflect.TypeFor[shoal.PlanID](): planIDs,
	reflect.TypeFor[shoal.InviteID](): fromSession((*client.Session).Invites, func(i shoal.Invite) candidate {
		return candidate{string(i.ID), i.Name}
	}),
	reflect.TypeFor[shoal.KeyID](): fromServer((*client.Client).Keys, func(k shoal.Key) candidate {
		return candidate{string(k.ID), string(k.Role) + " " + cli.IDOrDash(k.EntityID) + " " + k.Name}
	}),
	reflect.TypeFor[shoal.SessionID](): fromServer((*client.Client).Sessions, func(s shoal.Session) candidate {
		return candidate{string(s.ID), string(s.Status)}
	}),
}

// hostedAgents lists the hosted agents, for values with the tag complete:"hosted".
var hostedAgents = fromSession((*client.Session).Agents, func(a shoal.HostedAgent) candidate { return candidate{string(a.ID), "hosted agent"} })

// idSource returns the function that lists the ids for the position, or nil.
func (p *position) idSource() func(ctx context.Context, sh *cli.Shell) []candidate {
	v := p.value()
	switch {
	case v == nil || v.Enum != "":
		return nil
	case v.Tag.Get("complete") == "hosted":
		return hostedAgents
	case v.Tag.Get("complete") != "":
		return nil
	}
	return idSources[idType(v)]
}

// fromSession returns a function that reads a list of the session.
func fromSession[T any](list func(*client.Session, context.Context) iter.Seq2[T, error], show func(T) candidate) func(context.Context, *cli.Shell) []candidate {
	return func(ctx context.Context, sh *cli.Shell) []candidate {
		session, err := sh.ConnectAsManager()
		if err != nil {
			return nil
		}
		return firstCandidates(list(session, ctx), show)
	}
}

// fromServer returns a function that reads a list of the server.
func fromServer[T any](list func(*client.Client, context.Context) iter.Seq2[T, error], show func(T) candidate) func(context.Context, *cli.Shell) []candidate {
	return func(ctx context.Context, sh *cli.Shell) []candidate {
		server, err := sh.Client()
		if err != nil {
			return nil
		}
		return firstCandidates(list(server, ctx), show)
	}
}

// firstCandidates reads at most maxIDs items, and stops at the first error.
func firstCandidates[T any](all iter.Seq2[T, error], show func(T) candidate) (found []candidate) {
	for one, err := range all {
		if err != nil || len(found) == maxIDs {
			break
		}
		found = append(found, show(one))
	}
	return found
}

// planIDs lists the plans of all agents.
func planIDs(ctx context.Context, sh *cli.Shell) (found []candidate) {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return nil
	}
	for _, agent := range hostedAgents(ctx, sh) {
		found = append(found, firstCandidates(session.Plans(ctx, shoal.EntityID(agent.value)), func(p shoal.Plan) candidate {
			return candidate{string(p.ID), agent.value + ": " + p.Name}
		})...)
	}
	return found
}
