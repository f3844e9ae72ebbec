package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Kinds of failures that only the command line has.
const (
	KindUsage       shoal.Kind = "usage"          // the command line is wrong
	KindTimedOut    shoal.Kind = "timed_out"      // what the command waited for did not happen in time
	KindDisk        shoal.Kind = "disk_failed"    // the server cannot write its database
	KindRefused     shoal.Kind = "refused"        // the user declined a change
	KindRunFailed   shoal.Kind = "run_failed"     // the run that the command waited for failed or was canceled
	KindRejected    shoal.Kind = "rejected"       // a person denied what the run asked for
	KindNoAnswer    shoal.Kind = "no_answer"      // the run ended without the message that the command waited for
	KindNotAnswered shoal.Kind = "not_answered"   // an agent did not answer a test of its wake-up
	KindNotApplied  shoal.Kind = "not_applied"    // some configuration files were refused
	KindUnwell      shoal.Kind = "unwell"         // doctor found a problem
	KindPortTaken   shoal.Kind = "address_in_use" // another process listens on the address
	KindNotReached  shoal.Kind = "not_reached"    // a mentioned agent is not reached now
)

// Interrupted is the exit code of a command that was ended by a signal.
const Interrupted = 130

// exits maps kinds of failures to exit codes. Every other failure exits with 1.
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
	KindNotReached:            7,
	KindRunFailed:             8,
	KindRejected:              9,
	KindDisk:                  70,
	KindTimedOut:              124,
}

// advice maps kinds of failures to what the user can do, for messages that do not say it. It is
// empty where nothing needs to be said.
var advice = map[shoal.Kind]string{
	KindRefused:            "",
	KindDisk:               "", // its message says it
	shoal.EntityRequired:   "name the acting entity with --as ID",
	shoal.Unauthenticated:  "sign in with `shoal login URL`, or give a valid key with --key or SHOAL_KEY; on the server's machine, --data DIR finds the operator's, and with --admin the admin's",
	shoal.Forbidden:        "use another key with --key, or another entity with --as",
	shoal.IdentityMismatch: "leave out --as, or use that entity's key",
	shoal.NotFound:         "`shoal spaces ls` and `shoal agents ls` list what exists",
	shoal.SpaceClosed:      "`shoal spaces create NAME` creates a new one",
	shoal.AlreadyAnswered:  "`shoal approvals` lists what is still waiting",
	shoal.ArgsChanged:      "`shoal approvals ls --json` shows the arguments and their argsHash",
	shoal.Expired:          "`shoal approvals` lists what is still waiting",
	shoal.RunNotWaiting:    "`shoal approvals` lists what is still waiting",
	KindRunFailed:          "`shoal runs get ID` shows its steps",
	KindRejected:           "`shoal runs get ID` shows its steps",
	KindNoAnswer:           "`shoal runs get ID` shows its steps",
	KindNotAnswered:        "`shoal doctor` checks the server; start the agent, or its wait, and test again",
	KindUnwell:             "follow the advice in the column TRY, then run it again",
	KindNotApplied:         "correct the errors above and apply again; files that were applied stay applied",
	shoal.RateLimited:      "wait a moment and try again",
	shoal.Busy:             "wait a moment and try again",
	client.ErrUnreachable:  "start a server with `shoal up`, or name another one with --url",
	KindNotReached:         "the message is stored, and each agent reads it when it next waits; `shoal agents ls` shows which can be woken",
	KindTimedOut:           "allow more time with --timeout",
}

// notFoundAdvice maps commands to what the user can do about shoal.NotFound, for commands that
// are about neither spaces nor entities.
var notFoundAdvice = map[string]string{
	"connect":   "`shoal connect` lists the clients on this machine; without --write it prints the entry for use elsewhere",
	"contexts":  "`shoal contexts` shows where you are signed in",
	"logout":    "`shoal contexts` shows where you are signed in",
	"console":   "`shoal console --admin` prints the link",
	"invite":    "`shoal invite ls` shows the invitations, and `shoal spaces` the spaces",
	"keys":      "`shoal keys ls` shows the keys",
	"sign-ins":  "`shoal sign-ins` shows the browsers that are signed in",
	"runners":   "`shoal runners` shows the machines",
	"wake":      "`shoal agents` shows the agents",
	"messages":  "`shoal search --json WORD` shows messages with their ids",
	"files":     "the URL of a file in a message ends with its id",
	"agents":    "`shoal agents ls --hosted` shows the hosted agents",
	"runs":      "`shoal runs` shows the runs",
	"approvals": "`shoal approvals` lists what is waiting for you",
	"renderers": "`shoal renderers ls` shows the renderers",
	"backup":    "`shoal doctor` shows the data directory and the database; --data and --database name others",
	"restore":   "name a file that `shoal backup` has written",
	"export":    "`shoal sessions ls` shows the sessions",
	"plans":     "`shoal plans` shows the plans",
}

// Failure is an error as the command line reports it.
type Failure struct {
	Code    shoal.Kind `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint"`
	// RequestID identifies the call in the log of the server.
	RequestID string `json:"requestId,omitempty"`
}

// Describe returns what to report about err, which a command returned.
func Describe(command string, err error) Failure {
	f := Failure{Code: shoal.KindOf(err), Message: sentence(ErrorText(err))}
	var e *shoal.Error
	if errors.As(err, &e) {
		f.RequestID = e.RequestID
	}
	f.Hint = suggest(command, f)
	return f
}

// suggest returns what to try after a failure.
func suggest(command string, f Failure) string {
	switch found, known := advice[f.Code]; {
	case f.Code == shoal.NotFound:
		return cmp.Or(notFoundAdvice[firstWords(command, 2)], notFoundAdvice[firstWords(command, 1)], found)
	case firstWords(command, 1) == "import" && (f.Code == shoal.Conflict || f.Code == shoal.AlreadyExists):
		return "choose another id with --session ID, or replace the existing session with --replace"
	case firstWords(command, 1) == "login" && f.Code != client.ErrUnreachable:
		return "" // its message says it
	case known:
		return found
	case f.RequestID != "" && f.Code == shoal.Internal:
		return "`shoal doctor` looks for the cause; the log of the server has details under " + f.RequestID
	}
	words, _, _ := strings.Cut(command, " <")
	return strings.Join(append(strings.Fields("shoal "+words), "--help"), " ")
}

// ErrorText returns the message that people get for an error, with the fields that it names.
func ErrorText(err error) string {
	var e *shoal.Error
	if !errors.As(err, &e) || e.Msg == "" {
		var file *fs.PathError
		if errors.As(err, &file) && errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("file %s not found", file.Path)
		}
		return err.Error()
	}
	text := e.Msg
	for _, field := range e.Fields {
		if !strings.Contains(text, field.Message) {
			text = fmt.Sprintf("%s; %s %s", strings.TrimSuffix(text, "."), field.Location, field.Message)
		}
	}
	return text
}

// sentence returns a message with a capital at its start and a full stop at its end. Messages
// that begin with a flag, an id, a path or something quoted keep their first letter.
func sentence(message string) string {
	word, _, _ := strings.Cut(message, " ")
	plain := strings.IndexFunc(strings.TrimRight(word, ",:"), func(r rune) bool { return r < 'a' || r > 'z' }) < 0
	if first, size := utf8.DecodeRuneInString(message); plain && len(word) < len(message) && !beginsWithFile(message) {
		message = string(unicode.ToUpper(first)) + message[size:]
	}
	if last, _ := utf8.DecodeLastRuneInString(message); message != "" && !strings.ContainsRune(".!?…", last) {
		message += "."
	}
	return message
}

// beginsWithFile reports whether a message begins with the name of a configuration file, such as
// "my agent.yaml:2:1: …".
func beginsWithFile(message string) bool {
	place, _, found := strings.Cut(message, ": ")
	switch filepath.Ext(strings.TrimRight(place, ":0123456789")) {
	case ".json", ".yaml", ".yml":
		return found
	}
	return false
}

// ExitCode returns the exit code for a kind of failure.
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

// finish reports err, unless it is nil or an interruption, and returns the exit code.
func (sh *Shell) finish(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return Interrupted
	}
	f := Describe(sh.Command, err)
	if f.Code == shoal.Unauthenticated && firstWords(sh.Command, 1) != "login" {
		message, hint := sh.endedSignIn()
		f.Message, f.Hint = cmp.Or(message, sh.missingKey(), f.Message), cmp.Or(hint, f.Hint)
	}
	if (f.Code == shoal.Forbidden || f.Code == shoal.NotFound && sh.Session != shoal.DefaultSession) && sh.isOperator() {
		f.Hint = "you act as the operator, who owns only the session default: add --admin for other sessions and the whole server"
	}
	sh.Output.ReportFailure(f)
	return ExitCode(f.Code)
}
