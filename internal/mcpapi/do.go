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

// job is one call of a tool, for the request with that id.
type job struct {
	*API
	caller
	request string
	tool    *tools.Tool
	began   time.Time
}

// do calls a tool. A failed call is an outcome. do returns an error only if ctx has ended, so
// that nobody can receive the outcome; the error is its cause.
func (a *API) do(ctx context.Context, id string, c caller, t *tools.Tool, raw []byte) (outcome, error) {
	j := job{a, c, id, t, time.Now()}
	return j.do(ctx, raw)
}

// do executes the call to its end.
func (j *job) do(ctx context.Context, raw []byte) (outcome, error) {
	return j.run(ctx, func() (tools.Result, error) { return j.bounded(ctx, raw) })
}

// doShortly is like do for a tool that waits. If the call still waits after while, doShortly
// returns only the rest of it, for [job.resume] or [job.finish].
func (j *job) doShortly(ctx context.Context, raw []byte, while time.Duration) (out outcome, rest *tools.Rest, err error) {
	if j.tool.RunShortly == nil {
		out, err = j.do(ctx, raw)
		return out, nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			out, rest, err = j.panicked(p), nil, nil
		}
		if rest == nil {
			j.record(out, err)
		}
	}()
	res, rest, err := j.tool.RunShortly(limit.As(ctx, j.Principal), j.caller, raw, while)
	if rest != nil {
		return outcome{}, rest, nil
	}
	out, err = j.outcome(ctx, res, err)
	return out, nil, err
}

// resume executes the rest of a call where it began.
func (j *job) resume(ctx context.Context, rest *tools.Rest) (outcome, error) {
	return j.run(ctx, func() (tools.Result, error) {
		d, err := rest.Open.Wait(limit.As(ctx, j.Principal))
		return rest.Result(ctx, d, err)
	})
}

// finish ends the rest of a call, whose wait has returned d and err.
func (j *job) finish(ctx context.Context, rest *tools.Rest, d *inbox.Delivery, err error) (outcome, error) {
	return j.run(ctx, func() (tools.Result, error) { return rest.Result(ctx, d, err) })
}

// run executes a call, or the rest of one, and counts it.
func (j *job) run(ctx context.Context, call func() (tools.Result, error)) (out outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = j.panicked(p), nil
		}
		j.record(out, err)
	}()
	res, err := call()
	return j.outcome(ctx, res, err)
}

// record counts the call with its outcome.
func (j *job) record(out outcome, err error) {
	j.count(j.caller, j.tool, j.request, out, err, j.began)
}

// outcome returns the outcome of a result and the error of a call under ctx.
func (j *job) outcome(ctx context.Context, res tools.Result, err error) (outcome, error) {
	switch {
	case err == nil:
		return outcome{texts: res.Texts, structured: res.Structured, delivery: res.Delivery}, nil
	case ctx.Err() != nil:
		return outcome{}, context.Cause(ctx)
	case shoal.KindOf(err) == shoal.Internal && !errors.Is(err, core.ErrStopping):
		j.Log.Error("a tool failed", "request", j.request, "tool", j.tool.Name, "key", j.Principal.KeyID, "entity", j.Principal.EntityID, "error", err)
	}
	j.Hub.Audits.Refuse(ctx, j.Principal, "tool "+j.tool.Name, err)
	return failure(j.request, err), nil
}

// panicked returns the outcome of a call that panicked.
func (j *job) panicked(p any) outcome {
	j.Log.Error("a tool panicked", "request", j.request, "tool", j.tool.Name, "panic", p, "stack", string(debug.Stack()))
	return failure(j.request, shoal.E("mcpapi", shoal.Internal, ""))
}

// bounded calls a tool as one of the calls that the caller has under way. Waits for messages have limits
// of their own; other calls that may block count as open streams, and end with the caller's rights.
func (j *job) bounded(ctx context.Context, raw []byte) (tools.Result, error) {
	ctx = limit.As(ctx, j.Principal)
	if j.tool.Waits && j.tool.RunShortly == nil {
		if err := j.Limits.Open(j.Principal); err != nil {
			return tools.Result{}, err
		}
		defer j.Limits.Close(j.Principal)
		ctx, stop := j.Hub.Keys.While(ctx, j.Principal, j.Session)
		defer stop()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(j.ctx, func() { cancel(context.Cause(j.ctx)) })()
		return j.tool.Run(ctx, j.caller, raw)
	}
	if j.tool.Waits {
		return j.tool.Run(ctx, j.caller, raw)
	}
	if err := j.Limits.Begin(j.Principal); err != nil {
		return tools.Result{}, err
	}
	defer j.Limits.End(j.Principal)
	return j.tool.Run(ctx, j.caller, raw)
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
