package mcpapi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
)

// outcome is the result of a call as the protocol tells it: of a failure only
// the text.
type outcome struct {
	texts      []string
	structured any
	failed     bool
	code       shoal.Kind // of the failure
	delivery   *hub.Delivery
}

// do calls a tool for the request with this id. Whatever is wrong with the call is an outcome; the error says
// that there is nobody to tell: ctx has ended, and the error is its cause.
func (a *API) do(ctx context.Context, id string, c caller, t *tool, raw []byte) (out outcome, err error) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			a.Log.Error("a tool panicked", "request", id, "tool", t.name, "panic", p, "stack", string(debug.Stack()))
			out, err = failure(t, id, shoal.E("mcpapi", shoal.Internal, "")), nil
		}
		a.count(c, t, id, out, err, began)
	}()
	res, err := a.bounded(limit.As(ctx, c.who), c, t, raw)
	switch {
	case err == nil:
		return outcome{texts: append([]string{res.text}, res.more...), structured: res.structured, delivery: res.delivery}, nil
	case ctx.Err() != nil:
		return outcome{}, context.Cause(ctx)
	case shoal.KindOf(err) == shoal.Internal && !errors.Is(err, hub.ErrStopping):
		a.Log.Error("a tool failed", "request", id, "tool", t.name, "key", c.who.KeyID, "entity", c.who.EntityID, "error", err)
	}
	return failure(t, id, err), nil
}

// bounded calls a tool as one of the calls that the caller has under way; waits
// have limits of their own.
func (a *API) bounded(ctx context.Context, c caller, t *tool, raw []byte) (result, error) {
	if t.waits {
		return a.try(ctx, c, t, raw)
	}
	if err := a.Limits.Begin(c.who); err != nil {
		return result{}, err
	}
	defer a.Limits.End(c.who)
	return a.try(ctx, c, t, raw)
}

func (a *API) try(ctx context.Context, c caller, t *tool, raw []byte) (result, error) {
	args, err := t.decode(raw)
	if err != nil {
		return result{}, err
	}
	if claimed, found := args.impostor(c.who); found {
		a.Log.Warn("a caller named another actor", "tool", t.name, "key", c.who.KeyID, "entity", c.who.EntityID, "named", claimed)
		return result{}, mismatch(c.who, claimed)
	}
	return t.call(ctx, &call{API: a, caller: c, arguments: args})
}

func mismatch(who shoal.Principal, claimed string) error {
	acts := fmt.Sprintf("Your key acts as %q, not as %.64q: leave the id out, or use that entity's key.", who.EntityID, claimed)
	if who.EntityID == "" {
		acts = fmt.Sprintf("Your key acts as no entity, so it cannot act as %.64q: use that entity's key. An admin names the actor with the header X-Shoal-Entity.", claimed)
	}
	return shoal.E("mcpapi", shoal.IdentityMismatch, acts)
}

// failure tells an error: its code, and a sentence in the words of the tool.
// What is internal stays here, and is found in the log by the id of the request.
func failure(t *tool, id string, err error) outcome {
	told := &shoal.Error{Kind: shoal.Internal, Msg: "Something went wrong on the server. Try again; if it goes on, tell its operator: request " + id + "."}
	var known *shoal.Error
	switch {
	case errors.Is(err, hub.ErrStopping):
		errors.As(stopping(), &told)
	case errors.As(err, &known) && known.Kind != shoal.Internal:
		told = known
	}
	return outcome{texts: []string{string(told.Kind) + ": " + t.reword(told)}, failed: true, code: told.Kind}
}

// reword is what err says, with the hub's names of fields replaced by the
// tool's.
func (t *tool) reword(err *shoal.Error) string {
	if err.Kind != shoal.InvalidArgument || len(err.Fields) == 0 {
		return err.Msg
	}
	said := make([]string, len(err.Fields))
	for i, f := range err.Fields {
		if word, ok := t.words[f.Location]; ok {
			f.Location = word
		}
		said[i] = f.Location + " " + strings.TrimSuffix(f.Message, ".")
	}
	return strings.Join(said, "; ") + "."
}
