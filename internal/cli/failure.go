package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Kinds of failures that only the command line knows.
const (
	KindUsage    shoal.Kind = "usage"
	KindTimedOut shoal.Kind = "timed_out"
	KindDisk     shoal.Kind = "disk_failed"
	KindRefused  shoal.Kind = "refused"

	// Of what a command has waited for.
	KindRunFailed shoal.Kind = "run_failed"
	KindRejected  shoal.Kind = "rejected"
	KindNoAnswer  shoal.Kind = "no_answer"

	// KindNotApplied is the failure when some files were wrong.
	KindNotApplied shoal.Kind = "not_applied"
	// KindUnwell is the failure of a doctor who found something.
	KindUnwell shoal.Kind = "unwell"
	// KindPortTaken is the failure of a start because of who listens at the address.
	KindPortTaken shoal.Kind = "address_in_use"
)

// Interrupted is the exit code of a command that a signal ended.
const Interrupted = 130

// exits says with which code a command ends; any other failure is a 1.
var exits = map[shoal.Kind]int{
	KindUsage:                 2,
	shoal.InvalidArgument:     2,
	shoal.EntityRequired:      2,
	shoal.NotFound:            3,
	shoal.Unauthenticated:     4,
	shoal.Forbidden:           4,
	shoal.IdentityMismatch:    4,
	shoal.AlreadyExists:       5,
	shoal.Conflict:            5,
	shoal.SpaceClosed:         5,
	shoal.SessionClosed:       5,
	shoal.AdminRequired:       5,
	shoal.IdempotencyMismatch: 5,
	shoal.AlreadyAnswered:     5,
	shoal.ArgsChanged:         5,
	shoal.RunNotWaiting:       5,
	shoal.Expired:             5,
	KindPortTaken:             5,
	client.ErrUnreachable:     6,
	KindRunFailed:             8,
	KindRejected:              9,
	KindDisk:                  70,
	KindTimedOut:              124,
}

// hints say what to do about a failure whose message does not say it itself.
var hints = map[shoal.Kind]string{
	shoal.EntityRequired:   "name the acting entity with --as ID",
	shoal.Unauthenticated:  "give a key with --key or SHOAL_KEY; on the server's machine, --data DIR finds the key of the operator, and with --admin that of the admin",
	shoal.Forbidden:        "use another key with --key, or another entity with --as",
	shoal.IdentityMismatch: "leave out --as, or use that entity's key",
	shoal.NotFound:         "`shoal spaces ls` and `shoal agents ls` show what is there",
	shoal.SpaceClosed:      "`shoal spaces create NAME` makes a new one",
	shoal.AlreadyAnswered:  "`shoal approvals` shows what still waits",
	shoal.ArgsChanged:      "`shoal approvals ls --json` shows the arguments and their argsHash",
	shoal.Expired:          "`shoal approvals` shows what still waits",
	shoal.RunNotWaiting:    "`shoal approvals` shows what still waits",
	KindRunFailed:          "`shoal runs get ID` shows its steps",
	KindRejected:           "`shoal runs get ID` shows its steps",
	KindNoAnswer:           "`shoal runs get ID` shows its steps",
	KindUnwell:             "do what stands beside them under TRY, then run it again",
	KindNotApplied:         "correct what is named above and apply again; what was applied stays",
	shoal.RateLimited:      "wait a little and try again",
	shoal.Busy:             "wait a little and try again",
	client.ErrUnreachable:  "start one with `shoal up`, or name another with --url",
	KindTimedOut:           "give it longer with --timeout",
}

// notFoundHints are hints for commands whose things are not in the usual lists.
var notFoundHints = map[string]string{
	"connect":     "`shoal connect` shows what is on this machine; without --write the entry is printed, to be put elsewhere",
	"console":     "`shoal console --admin` prints the link",
	"keys revoke": "`shoal keys ls` shows the keys",
	"agents":      "`shoal agents ls --hosted` shows the hosted agents",
	"runs":        "`shoal runs` shows the runs",
	"approvals":   "`shoal approvals` shows what waits for you",
	"renderers":   "`shoal renderers ls` shows the renderers",
	"export":      "`shoal sessions ls` shows the sessions",
	"plans":       "`shoal plans ls AGENT` shows the plans of an agent",
}

// Failure is an error as it is told.
type Failure struct {
	Code    shoal.Kind `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint"`
	// RequestID is by what the server's operator finds the call in the log.
	RequestID string `json:"requestId,omitempty"`
}

// usage turns an error of the parser into one of kind usage, and returns what was
// understood.
func usageError(err error) (meant *kong.Context, told error) {
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		meant = parse.Context
	}
	var e *shoal.Error
	if errors.As(err, &e) {
		return meant, e // of the configuration file: it says all there is to say
	}
	return meant, shoal.E("", KindUsage, err.Error())
}

// Describe says what to tell about err, which happened in a command.
func Describe(command string, err error) Failure {
	f := Failure{Code: shoal.KindOf(err), Message: err.Error()}
	f.Hint = hints[f.Code]
	if f.Code == shoal.NotFound {
		f.Hint = cmp.Or(notFoundHints[firstWords(command, 2)], notFoundHints[firstWords(command, 1)], f.Hint)
	}
	if group, _, _ := strings.Cut(command, " "); group == "import" && (f.Code == shoal.Conflict || f.Code == shoal.AlreadyExists) {
		f.Hint = "give it another id with --session ID; --replace puts it in the place of a session that exists"
	}
	if f.Code == KindUsage {
		words, _, _ := strings.Cut(command, " <")
		f.Hint = strings.Join(append(strings.Fields("shoal "+words), "--help"), " ")
	}
	var e *shoal.Error
	if errors.As(err, &e) {
		f.RequestID = e.RequestID
	}
	if errors.As(err, &e) && e.Msg != "" {
		f.Message = e.Msg
		for _, field := range e.Fields {
			if !strings.Contains(f.Message, field.Message) {
				f.Message += fmt.Sprintf("; %s %s", field.Location, field.Message)
			}
		}
	}
	return f
}

// ErrorText returns what an error says to people.
func ErrorText(err error) string { return Describe("", err).Message }

// ExitCode returns the exit code of a command that failed with an error of the kind.
func ExitCode(kind shoal.Kind) int {
	if code, ok := exits[kind]; ok {
		return code
	}
	return 1
}

// firstWords returns the first n words of a command.
func firstWords(command string, n int) string {
	words := strings.Fields(command)
	return strings.Join(words[:min(n, len(words))], " ")
}

// fail tells about err, if there is one, and returns the exit code.
func (sh *Shell) finish(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return Interrupted
	}
	f := Describe(sh.Command, err)
	if (f.Code == shoal.Forbidden || f.Code == shoal.NotFound && sh.Session != shoal.DefaultSession) && sh.isOperator() {
		f.Hint = "you act as the operator, who owns the session default: add --admin for other sessions and the whole server"
	}
	sh.Output.ReportFailure(f)
	return ExitCode(f.Code)
}
