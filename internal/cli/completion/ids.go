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

// mostAlive bounds how many ids are offered: nobody reads more.
const mostAlive = 200

// idType returns the type of a value, of each of them if it takes several.
func idType(v *kong.Value) reflect.Type {
	t := v.Target.Type()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// alive says for a type of ids how those that there are now are found. What is found
// within ctx counts.
var alive = map[reflect.Type]func(ctx context.Context, sh *cli.Shell) []candidate{
	reflect.TypeFor[shoal.SpaceID](): ofSession((*client.Session).Spaces, func(s shoal.Space) candidate {
		return candidate{string(s.ID), s.Name}
	}),
	reflect.TypeFor[shoal.EntityID](): ofSession((*client.Session).Entities, func(e shoal.Entity) candidate {
		return candidate{string(e.ID), string(e.Kind) + ", " + string(e.State)}
	}),
	reflect.TypeFor[shoal.RunID](): ofSession(func(s *client.Session, ctx context.Context) iter.Seq2[shoal.Run, error] {
		return s.Runs(ctx, client.RunsOptions{})
	}, func(r shoal.Run) candidate {
		return candidate{string(r.ID), string(r.AgentID) + ", " + string(r.Status)}
	}),
	reflect.TypeFor[shoal.PendingID](): ofSession(func(s *client.Session, ctx context.Context) iter.Seq2[shoal.PendingAction, error] {
		return s.PendingActions(ctx, client.PendingOptions{})
	}, func(a shoal.PendingAction) candidate {
		return candidate{string(a.ID), string(a.AgentID) + ": " + string(a.Kind) + " " + a.ToolName}
	}),
	reflect.TypeFor[shoal.RendererName](): ofSession((*client.Session).Renderers, func(r shoal.Renderer) candidate {
		return candidate{string(r.Name), ""}
	}),
	reflect.TypeFor[shoal.PlanID](): plansAlive,
	reflect.TypeFor[shoal.KeyID](): ofServer((*client.Client).Keys, func(k shoal.Key) candidate {
		return candidate{string(k.ID), string(k.Role) + " " + cli.IDOrDash(k.EntityID) + " " + k.Name}
	}),
	reflect.TypeFor[shoal.SessionID](): ofServer((*client.Client).Sessions, func(s shoal.Session) candidate {
		return candidate{string(s.ID), string(s.Status)}
	}),
}

// hostedAlive finds the hosted agents, for what is tagged complete:"hosted".
var hostedAlive = ofSession((*client.Session).Agents, func(a shoal.HostedAgent) candidate { return candidate{string(a.ID), "hosted agent"} })

// live returns how to find what there is for the place, nil if nothing can be.
func (p *place) live() func(ctx context.Context, sh *cli.Shell) []candidate {
	v := p.value()
	switch {
	case v == nil || v.Enum != "":
		return nil
	case v.Tag.Get("complete") == "hosted":
		return hostedAlive
	case v.Tag.Get("complete") != "":
		return nil
	}
	return alive[idType(v)]
}

// ofSession finds what a list of a session holds.
func ofSession[T any](list func(*client.Session, context.Context) iter.Seq2[T, error], show func(T) candidate) func(context.Context, *cli.Shell) []candidate {
	return func(ctx context.Context, sh *cli.Shell) []candidate {
		session, err := sh.ConnectAsManager()
		if err != nil {
			return nil
		}
		return firstOf(list(session, ctx), show)
	}
}

// ofServer finds what a list of the server holds.
func ofServer[T any](list func(*client.Client, context.Context) iter.Seq2[T, error], show func(T) candidate) func(context.Context, *cli.Shell) []candidate {
	return func(ctx context.Context, sh *cli.Shell) []candidate {
		server, err := sh.Client()
		if err != nil {
			return nil
		}
		return firstOf(list(server, ctx), show)
	}
}

// firstOf returns what came until it was enough, or too late.
func firstOf[T any](all iter.Seq2[T, error], show func(T) candidate) (found []candidate) {
	for one, err := range all {
		if err != nil || len(found) == mostAlive {
			break
		}
		found = append(found, show(one))
	}
	return found
}

// plansAlive finds the plans of all agents.
func plansAlive(ctx context.Context, sh *cli.Shell) (found []candidate) {
	session, err := sh.ConnectAsManager()
	if err != nil {
		return nil
	}
	for _, agent := range hostedAlive(ctx, sh) {
		found = append(found, firstOf(session.Plans(ctx, shoal.EntityID(agent.value)), func(p shoal.Plan) candidate {
			return candidate{string(p.ID), agent.value + ": " + p.Name}
		})...)
	}
	return found
}
