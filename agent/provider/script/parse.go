package script

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// Parse reads a script. Each line is one thing that the model does, in the order
// thoughts, text, calls; a line of three dashes begins the next answer; blank
// lines and lines that begin with # are left out.
//
//	think The user wants the weather.
//	say   Let me look.
//	call  weather {"city":"Kiel"}
//	---
//	say   Take an umbrella.
//
// Further words are: pause DURATION (before each chunk), usage IN OUT [CACHED],
// finish REASON, and fail CLASS [RETRY-AFTER], which cuts the answer off there.
// A say, think or call may come more than once; texts of one kind are joined.
//
// An answer may have alternatives with an else between them, each but the last
// after conditions, all of which must hold:
//
//	hears rain weather
//	call  forecast#f {"city":"Kiel"}
//	else
//	say   I know about the weather only.
//	---
//	when  f.sky clear
//	say   No umbrella today.
//	else
//	when  f ok
//	say   Take an umbrella.
//	else
//	say   I could not find out.
//
// hears WORD… is about the words of the user, when CALL[.FIELD] VALUE about the
// result of a call, by the id after # or the tool's name: see [Condition]. The
// error is of kind ErrInvalidArgument and names the line.
func Parse(text string) ([]Answer, error) {
	answers := []Answer{{}}
	open := &answers[0]
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "---":
			answers = append(answers, Answer{})
			open = &answers[len(answers)-1]
		case line == "else":
			if len(open.When) == 0 {
				return nil, agent.Invalid(fmt.Sprintf("line %d", n), "else is never reached: the answer before it has no when and no hears")
			}
			open.Else = &Answer{}
			open = open.Else
		default:
			if err := open.line(line); err != nil {
				return nil, agent.Invalid(fmt.Sprintf("line %d", n), err.Error())
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, agent.Invalid("script", err.Error())
	}
	return answers, nil
}

// line adds what one line says.
func (a *Answer) line(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "think":
		a.Reasoning += rest
	case "say":
		a.Text += rest
	case "call":
		name, arguments, _ := strings.Cut(rest, " ")
		if name == "" {
			return fmt.Errorf("call needs the name of a tool")
		}
		name, id, _ := strings.Cut(name, "#")
		a.Calls = append(a.Calls, agent.ToolCall{ID: id, Name: name, Arguments: strings.TrimSpace(arguments)})
	case "pause":
		a.Delay, err = time.ParseDuration(rest)
	case "usage":
		a.Usage, err = parseUsage(rest)
	case "finish":
		a.Finish = agent.FinishReason(rest)
	case "hears":
		words := strings.Fields(rest)
		if len(words) == 0 {
			return fmt.Errorf("hears needs at least one word")
		}
		a.When = append(a.When, Condition{Hears: words})
	case "when":
		return a.when(rest)
	case "fail":
		a.Err, err = parseFailure(rest)
	default:
		return fmt.Errorf("begins with %q; think, say, call, pause, usage, finish, fail, hears, when and else are known", word)
	}
	return err
}

// when adds a condition on the result of a call.
func (a *Answer) when(text string) error {
	place, value, _ := strings.Cut(text, " ")
	call, field, _ := strings.Cut(place, ".")
	if value = strings.TrimSpace(value); call == "" || value == "" {
		return fmt.Errorf("when needs a call and what its result is, such as: when forecast ok")
	}
	a.When = append(a.When, Condition{Call: call, Field: field, Is: value})
	return nil
}

func parseUsage(text string) (u agent.Usage, err error) {
	counts := []*int64{&u.InputTokens, &u.OutputTokens, &u.CachedTokens}
	fields := strings.Fields(text)
	if len(fields) < 2 || len(fields) > len(counts) {
		return u, fmt.Errorf("usage needs two or three numbers: input, output, cached")
	}
	for i, f := range fields {
		if *counts[i], err = strconv.ParseInt(f, 10, 64); err != nil {
			return u, fmt.Errorf("invalid number of tokens %q", f)
		}
	}
	return u, nil
}

func parseFailure(text string) (failure, err error) {
	class, after, _ := strings.Cut(text, " ")
	if class == "" {
		return nil, fmt.Errorf("fail needs a class, such as overloaded")
	}
	e := &agent.ModelError{Class: agent.ErrorClass(class), Provider: "script", Detail: "the script says so"}
	if after != "" {
		if e.RetryAfter, err = time.ParseDuration(after); err != nil {
			return nil, fmt.Errorf("invalid duration %q: use one such as 2s", after)
		}
	}
	return e, nil
}
