package mcpapi

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// caller identifies the caller of a tool.
type caller = tools.Caller

// outcome is the result of a call in the protocol's form. A failure has only its text.
type outcome struct {
	texts      []string
	structured any
	failed     bool
	code       shoal.Kind // of the failure
	delivery   *inbox.Delivery
}

// do calls a tool for the request with this id. A failed call is an outcome. do returns an
// error only if ctx has ended, so that nobody can receive the outcome; the error is its
// cause.
func (a *API) do(ctx context.Context, id string, c caller, t *tools.Tool, raw []byte) (out outcome, err error) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			a.Log.Error("a tool panicked", "request", id, "tool", t.Name, "panic", p, "stack", string(debug.Stack()))
			out, err = failure(id, shoal.E("mcpapi", shoal.Internal, "")), nil
		}
		a.count(c, t, id, out, err, began)
	}()
	res, err := a.bounded(limit.As(ctx, c.Principal), c, t, raw)
	switch {
	case err == nil:
		return outcome{texts: res.Texts, structured: res.Structured, delivery: res.Delivery}, nil
	case ctx.Err() != nil:
		return outcome{}, context.Cause(ctx)
	case shoal.KindOf(err) == shoal.Internal && !errors.Is(err, core.ErrStopping):
		a.Log.Error("a tool failed", "request", id, "tool", t.Name, "key", c.Principal.KeyID, "entity", c.Principal.EntityID, "error", err)
	}
	return failure(id, err), nil
}

// bounded calls a tool as one of the calls that the caller has under way; waits
// have limits of their own.
func (a *API) bounded(ctx context.Context, c caller, t *tools.Tool, raw []byte) (tools.Result, error) {
	if t.Waits {
		return t.Run(ctx, c, raw)
	}
	if err := a.Limits.Begin(c.Principal); err != nil {
		return tools.Result{}, err
	}
	defer a.Limits.End(c.Principal)
	return t.Run(ctx, c, raw)
}

// failure returns the outcome of an error: its code and a sentence. Details of internal
// errors are only in the log, under the id of the request.
func failure(id string, err error) outcome {
	reported := &shoal.Error{Kind: shoal.Internal, Msg: "Something went wrong on the server. Try again; if it happens again, report it to the operator: request " + id + "."}
	var known *shoal.Error
	switch {
	case errors.Is(err, core.ErrStopping):
		errors.As(stopping(), &reported)
	case errors.As(err, &known) && known.Kind != shoal.Internal:
		reported = known
	}
	return outcome{texts: []string{string(reported.Kind) + ": " + sentence(reported)}, failed: true, code: reported.Kind}
}

// sentence is what err says; of an invalid argument, what is wrong with each field.
func sentence(err *shoal.Error) string {
	if err.Kind != shoal.InvalidArgument || len(err.Fields) == 0 {
		return err.Msg
	}
	said := make([]string, len(err.Fields))
	for i, f := range err.Fields {
		said[i] = f.Location + " " + strings.TrimSuffix(f.Message, ".")
	}
	return strings.Join(said, "; ") + "."
}
