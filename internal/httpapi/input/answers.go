package input

import "github.com/shoal-dev/shoal"

// WithoutNullResult removes a null result that accompanies another answer: clients that send every
// field do that. Alone, null is a valid result.
func WithoutNullResult(a shoal.PendingAnswer) shoal.PendingAnswer {
	if string(a.Result) == "null" && (a.Error != nil || a.Approved != nil || a.Answer != nil) {
		a.Result = nil
	}
	return a
}

// AnswerWords describes answers to callers of the REST API.
const AnswerWords = "The answer is stored when the call returns, and the run continues once all actions that it waits for are settled. An action that needs several equal " +
	"answers stays open until it has them: `votes` lists the entities that have answered, and one denial settles a permission. The first answer wins: " +
	"a different later answer fails with `already_answered`, and an equal one returns the same result; an `argsHash` of other arguments fails with `args_changed`, and an expired action with `expired`. " +
	"A result that does not match the tool's schema is refused, and the action stays open."

// AskWords describes the operation to callers of the REST API.
const AskWords = "For a program that acts for an agent in a terminal. The first call has `toolName` and `args`, and opens a pending action; " +
	"each further one has the `id` that it returned, and keeps it open for 45 seconds. Both wait up to `waitMs` for the answer. `withdrawn: true` takes it back. " +
	"The owner of the agent, admins and owners of the session may answer it; then the action has a `decision`. For the agent itself."
