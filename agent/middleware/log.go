package middleware

import (
	"context"
	"log/slog"

	"github.com/shoal-dev/shoal/agent"
)

// Log writes to logger what agents do: the end of each turn at the level info, a turn or
// model call that failed at warn, and model and tool calls at debug. Each line has the
// agent, the conversation, the turn and the duration; a model call also has the model that
// answered, its tokens and its cost. Prompts, answers, arguments and results are never
// written. The errors of providers are, which may quote a request.
func Log(logger *slog.Logger) agent.Observer { return log{logger} }

type log struct{ logger *slog.Logger }

func (log) Name() string { return "log" }

func (l log) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	if op.Kind == agent.OpStep {
		return ctx, nil
	}
	return ctx, func(e agent.OperationResult) {
		text, level, attrs := "", slog.LevelDebug, []slog.Attr{
			slog.String("agent", op.Agent), slog.String("conversation", op.Conversation), slog.String("turn", op.TurnID),
		}
		switch op.Kind {
		case agent.OpTurn:
			text, level = "agent turn", slog.LevelInfo
			attrs = append(attrs, slog.String("outcome", string(e.Outcome)), slog.String("reason", string(e.Reason)), slog.Int("steps", e.Steps), slog.Int("calls", e.Calls))
		case agent.OpModel:
			text = "agent model call"
			attrs = append(attrs, slog.Int("step", op.Step), slog.Int("attempt", op.Attempt), slog.String("provider", e.Model.Provider), slog.String("model", e.Model.Name), slog.String("finish", string(e.Finish)))
		default:
			text = "agent tool call"
			attrs = append(attrs, slog.Int("step", op.Step), slog.String("tool", op.Call.Name), slog.String("status", string(e.Result.Status)))
		}
		if op.Kind != agent.OpTool {
			attrs = append(attrs, slog.Int64("inputTokens", e.Usage.InputTokens), slog.Int64("outputTokens", e.Usage.OutputTokens), slog.Float64("cost", e.Cost))
		}
		attrs = append(attrs, slog.Duration("duration", e.Duration))
		if e.Err != nil && op.Kind != agent.OpTool { // a tool's error may contain anything
			level = slog.LevelWarn
			attrs = append(attrs, slog.String("error", e.Err.Error()))
		}
		l.logger.LogAttrs(ctx, level, text, attrs...)
	}
}
