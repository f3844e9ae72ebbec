package remoterun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// lineError is an error in the line with this number; nothing of its batch is stored.
func lineError(n int64, format string, args ...any) error {
	return shoal.Invalid(fmt.Sprintf("line %d", n), fmt.Sprintf(format, args...))
}

// ParseLines decodes the lines of one report. The error names the number of the bad line, or
// its position in the body if it has no number. Whether a line fits the run is checked later.
func ParseLines(body []byte) ([]shoal.WorkLine, error) {
	if len(body) > shoal.MaxWorkBody {
		return nil, shoal.E("", shoal.TooLarge, fmt.Sprintf("The report has %d bytes; at most %d are accepted. Send fewer lines at once.", len(body), shoal.MaxWorkBody))
	}
	var lines []shoal.WorkLine
	for at := 1; len(body) > 0; at++ {
		raw, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		if len(lines) == shoal.MaxWorkLines {
			return nil, shoal.E("", shoal.TooLarge, fmt.Sprintf("The report has more than %d lines. Send fewer lines at once.", shoal.MaxWorkLines))
		}
		line, err := parseLine(raw, at)
		if err != nil {
			return nil, err
		}
		if last := len(lines) - 1; last >= 0 && line.N != lines[last].N+1 {
			return nil, lineError(line.N, "must have the number %d: the lines of a report are numbered without gaps", lines[last].N+1)
		}
		if err := checkLine(line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// parseLine decodes one line, which is the at-th of the body.
func parseLine(raw []byte, at int) (line shoal.WorkLine, err error) {
	bad := func(format string, args ...any) error {
		return shoal.Invalid(fmt.Sprintf("body[%d]", at), fmt.Sprintf(format, args...))
	}
	if len(raw) > shoal.MaxWorkLine {
		return line, bad("has %d bytes; at most %d are accepted", len(raw), shoal.MaxWorkLine)
	}
	if !utf8.Valid(raw) {
		return line, bad("is not UTF-8")
	}
	if shoal.JSONDepth(string(raw)) > maxDepth {
		return line, bad("is nested deeper than %d levels", maxDepth)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&line); err != nil {
		return line, bad("is not a line of work in JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return line, bad("has more than one JSON object: end each line with a line feed")
	}
	if line.N < 1 {
		return line, bad("must have a number n, counted from 1 in each claim")
	}
	return line, nil
}

// maxDepth bounds the nesting of arguments.
const maxDepth = 64

var (
	callID   = regexp.MustCompile(`^[!-~]{1,128}$`)
	toolName = regexp.MustCompile(`^[A-Za-z0-9_.:/ -]{1,64}$`)
	codeName = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)
)

const (
	maxTitle   = 300
	maxReason  = 2000
	maxOptions = 20
	textPrefix = "text/" // of the calls of texts
)

// checkLine checks what can be checked of a line without its run.
func checkLine(l shoal.WorkLine) error {
	bad := func(format string, args ...any) error { return lineError(l.N, format, args...) }
	switch l.Type {
	case shoal.WorkTurnStarted, shoal.WorkTurnEnded, shoal.WorkReleased:
	case shoal.WorkText, shoal.WorkThought:
		if len(l.Delta) > shoal.MaxDelta {
			return bad("has a delta of %d bytes; at most %d are accepted", len(l.Delta), shoal.MaxDelta)
		}
	case shoal.WorkTool, shoal.WorkCard, shoal.WorkPermission, shoal.WorkQuestion:
		if err := checkCall(l); err != nil {
			return err
		}
	case shoal.WorkUsage:
		if t := l.Tokens; t != nil && (t.Input < 0 || t.CachedInput < 0 || t.Output < 0 || t.Reasoning < 0 || t.Input > 1<<40 || t.Output > 1<<40) {
			return bad("has tokens that are not a count")
		}
		if l.Cost < 0 || l.Cost > 1e6 {
			return bad("has a cost that is not an amount in US dollars")
		}
	case shoal.WorkSessionBegan:
		if l.Known < 0 || l.Known > shoal.MaxPage {
			return bad("must have known from 0 to %d: how many messages the model knows", shoal.MaxPage)
		}
	case shoal.WorkSteered:
		if shoal.CheckID("runId", string(l.RunID)) != nil {
			return bad("must have the runId of the order that offered the message")
		}
	case shoal.WorkFailed:
		if !codeName.MatchString(l.Code) {
			return bad("must have a code of 1 to 64 characters from a-z 0-9 _ . that begins with a letter")
		}
		if l.Text == "" || len(l.Text) > maxReason {
			return bad("must have a text of 1 to %d bytes that says what happened, for people", maxReason)
		}
	default:
		return bad("has the unknown type %q", l.Type)
	}
	if l.SpaceID != "" && shoal.CheckID("spaceId", string(l.SpaceID)) != nil {
		return bad("has a spaceId that is not an id")
	}
	if l.Mention != "" && shoal.CheckID("mention", string(l.Mention)) != nil {
		return bad("has a mention that is not an id")
	}
	if len(l.Model) > shoal.MaxName || len(l.Stop) > shoal.MaxName {
		return bad("has a model or stop of more than %d bytes", shoal.MaxName)
	}
	return nil
}

// toolStates are the states that a program may report.
var toolStates = []shoal.ToolState{"", shoal.ToolPending, shoal.ToolRunning, shoal.ToolDone, shoal.ToolFailed, shoal.ToolCanceled}

// checkCall checks a line about a tool call.
func checkCall(l shoal.WorkLine) error {
	bad := func(format string, args ...any) error { return lineError(l.N, format, args...) }
	if !callID.MatchString(l.CallID) || len(l.CallID) >= len(textPrefix) && l.CallID[:len(textPrefix)] == textPrefix {
		return bad("must have a callId of 1 to 128 visible ASCII characters that does not begin with %s", textPrefix)
	}
	if l.Tool != "" && !toolName.MatchString(l.Tool) {
		return bad("has a tool that is not a name of 1 to 64 characters")
	}
	if len(l.Title) > maxTitle || len(l.Kind) > shoal.MaxID {
		return bad("has a title or kind that is too long: at most %d and %d bytes are accepted", maxTitle, shoal.MaxID)
	}
	if len(l.Output) > shoal.MaxToolOutput {
		return bad("has an output of %d bytes; at most %d are accepted. Shorten it", len(l.Output), shoal.MaxToolOutput)
	}
	if !slices.Contains(toolStates, l.State) {
		return bad("has the unknown state %q", l.State)
	}
	if len(l.Args) > 0 && l.Args[0] != '{' && string(l.Args) != "null" {
		return bad("has args that are not a JSON object")
	}
	if l.Type == shoal.WorkQuestion && (l.Text == "" || len(l.Text) > shoal.MaxDescription) {
		return bad("must have the text of the question, of at most %d bytes", shoal.MaxDescription)
	}
	if len(l.Options) > maxOptions || slices.ContainsFunc(l.Options, func(o string) bool { return o == "" || len(o) > maxTitle }) {
		return bad("has more than %d options, or one that is empty or has more than %d bytes", maxOptions, maxTitle)
	}
	return nil
}
