package tool

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// configureBasic configures a tool without an effect: a client executes it, or it is answered
// immediately.
func (t *Tool) configureBasic(x *agentconfig.Basic) {
	switch x.Mode {
	case agentconfig.Static:
		output := x.Output
		t.run = func(_ context.Context, c call) (agent.Output, error) {
			filled := any(output)
			if x.Template {
				filled = fillAll(output, variables(c.input))
			}
			return successOutput(filled)
		}
	case agentconfig.PassThrough:
		t.run = func(_ context.Context, c call) (agent.Output, error) { return successOutput(c.input) }
	default:
		t.kind = Client
		return
	}
	t.spec.Idempotent = true // there is no effect to repeat
}

// successOutput returns success: true together with the fields of an object, which may override
// it.
func successOutput(fields any) (agent.Output, error) {
	result := map[string]any{"success": true}
	if object, ok := fields.(map[string]any); ok {
		maps.Copy(result, object)
	}
	return outputOf(result)
}

// maxWait limits the time that a model may wait.
const maxWait = 31 * 24 * time.Hour

var waitSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"duration":{"type":"number","minimum":0,"description":"How long to wait, in milliseconds."},` +
	`"seconds":{"type":"number","minimum":0,"description":"How long to wait, in seconds, used when duration is missing."},` +
	`"reason":{"type":"string","description":"The reason for waiting."}}}`)

// configureWait configures a tool whose calls end after some time.
func (t *Tool) configureWait() {
	t.kind = Clock
	if len(t.spec.Schema) == 0 {
		t.spec.Schema = waitSchema
	}
}

// Wait is how long a call of a tool of the kind [Clock] waits, and why.
type Wait struct {
	Duration time.Duration
	Reason   string
}

// Wait returns the wait of a call: its duration in milliseconds, otherwise its seconds,
// otherwise the configured duration; between 0 and 31 days. The error is for the model.
func (t *Tool) Wait(arguments string) (Wait, error) {
	_, arguments, err := t.Strip(arguments)
	if err != nil {
		return Wait{}, err
	}
	if err := t.Check(arguments); err != nil {
		return Wait{}, err
	}
	var w Wait
	if x := t.config.Execution.Waiting; x != nil {
		w = Wait{Duration: milliseconds(x.Duration), Reason: x.Reason}
	}
	value, err := decode([]byte(arguments))
	if err != nil {
		return Wait{}, errWait
	}
	input, _ := floats(value).(map[string]any)
	duration, inMs := input["duration"].(float64)
	seconds, inSeconds := input["seconds"].(float64)
	switch {
	case inMs:
		w.Duration = clampWait(duration)
	case inSeconds:
		w.Duration = clampWait(seconds * 1000)
	case input["duration"] != nil || input["seconds"] != nil:
		return Wait{}, errWait
	}
	if reason, ok := input["reason"].(string); ok && reason != "" {
		w.Reason = reason
	}
	return w, nil
}

// clampWait converts milliseconds into a duration within the limits.
func clampWait(ms float64) time.Duration {
	return time.Duration(min(max(ms, 0), float64(maxWait/time.Millisecond)) * float64(time.Millisecond))
}

// Result returns the result of a call whose wait ended at a time.
func (w Wait) Result(at time.Time) string {
	return string(mustEncode(map[string]any{
		"success": true, "waited": w.Duration.Milliseconds(), "reason": w.Reason,
		"timestamp": at.UTC().Format("2006-01-02T15:04:05.000Z"),
	}))
}
