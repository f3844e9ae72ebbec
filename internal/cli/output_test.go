package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/safetext"
)

const Evil = "\x1b[2J\u009b31mRed\u202e\a"

// Outputs returns an output and what it has written.
func Outputs(set func(o *Output)) (o *Output, out, notes *strings.Builder) {
	out, notes = new(strings.Builder), new(strings.Builder)
	o = &Output{Out: out, Notes: notes}
	set(o)
	return o, out, notes
}

func TestTablesByReader(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(o *Output)
		want string
	}{
		{"a person", func(o *Output) { o.Terminal = true }, "ID    STATE    NAME\nscou  waiting  Red\nb     offline  Ünal\n"},
		{
			"a person with colours", func(o *Output) { o.Terminal, o.color = true, true },
			"\x1b[1mID\x1b[0m    \x1b[1mSTATE\x1b[0m    \x1b[1mNAME\x1b[0m\nscou  \x1b[32mwaiting\x1b[0m  Red\nb     \x1b[2moffline\x1b[0m  Ünal\n",
		},
		{"a program", func(*Output) {}, "scou\twaiting\tRed\nb\toffline\tÜnal\n"},
		{"a program that wants ids", func(o *Output) { o.Quiet = true }, "scou\nb\n"},
		{"a program that reads JSON", func(o *Output) { o.JSON, o.Quiet = true, true }, `{"a":"\u001b[2J\u009b31mRed\u202e\u0007"}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, out, _ := Outputs(c.set)
			err := o.PrintTable(map[string]string{"a": Evil}, []string{"ID", "STATE", "NAME"}, []string{"scou", "waiting", Evil}, []string{"b", "offline", "Ü\nnal\t"})
			want := strings.ReplaceAll(c.want, "Ünal", "Ü nal")
			if err != nil || out.String() != want {
				t.Errorf("got %q, %v\nwant %q", out, err, want)
			}
		})
	}
}

func TestJSONStaysWhatItWas(t *testing.T) {
	o, out, _ := Outputs(func(o *Output) { o.JSON = true })
	if err := o.PrintObject(map[string]string{"a": Evil + "<&>\n\u007f"}); err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back["a"] != Evil+"<&>\n\u007f" {
		t.Errorf("%q reads as %q, %v", out, back, err)
	}
	if strings.Count(out.String(), "\n") != 1 || safetext.Clean(out.String()) != out.String() || !strings.Contains(out.String(), "<&>") {
		t.Errorf("got %q", out)
	}
}

func TestFailures(t *testing.T) {
	err := fmt.Errorf("client.Post: %w", &shoal.Error{
		Kind: shoal.InvalidArgument, Msg: "The body " + Evil + " is wrong.", Fields: []shoal.FieldError{{Location: "body.text", Message: "is\nmissing"}},
	})
	o, out, notes := Outputs(func(*Output) {})
	o.ReportFailure(Describe("send <space>", err))
	if want := "error: The body Red is wrong; body.text is missing.\ntry: shoal send --help\n"; notes.String() != want || out.Len() > 0 {
		t.Errorf("got %q, want %q", notes, want)
	}
	o, out, notes = Outputs(func(o *Output) { o.JSON, o.Quiet = true, true })
	o.ReportFailure(Describe("send <space> <text>", shoal.E("", KindUsage, "no "+Evil)))
	if want := `{"error":{"code":"usage","message":"No \u001b[2J\u009b31mRed\u202e\u0007.","hint":"shoal send --help"}}` + "\n"; notes.String() != want || out.Len() > 0 {
		t.Errorf("got %s, want %s", notes, want)
	}
	o, _, notes = Outputs(func(o *Output) { o.noteColor = true })
	o.ReportFailure(Describe("", errors.New("it broke")))
	if want := "\x1b[31merror:\x1b[0m It broke.\ntry: shoal --help\n"; notes.String() != want {
		t.Errorf("got %q, want %q", notes, want)
	}
	o, _, notes = Outputs(func(*Output) {})
	o.ReportFailure(Describe("serve", shoal.E("", KindDisk, "the disk failed a commit; start the server again to recover")))
	if want := "error: The disk failed a commit; start the server again to recover.\n"; notes.String() != want {
		t.Errorf("got %q, want %q", notes, want)
	}
}

func TestExitCodes(t *testing.T) {
	gone := errors.New("gone")
	ended, cancel := newCause(t)
	cancel(gone)
	standing, _ := newCause(t)
	for err, want := range map[error]int{
		nil:                                       0,
		errors.New("whatever"):                    1,
		shoal.E("", "new_code", ""):               1,
		shoal.E("", shoal.NotFound, ""):           3,
		shoal.E("", client.ErrUnreachable, ""):    6,
		shoal.E("", KindTimedOut, ""):             124,
		fmt.Errorf("client.Wait: %w", gone):       130,
		shoal.E("", shoal.IdentityMismatch, "no"): 4,
	} {
		o, _, notes := Outputs(func(*Output) {})
		sh := &Shell{Globals: new(Globals), Output: o}
		if got := sh.finish(ended, err); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
		if quiet := want == 0 || want == Interrupted; quiet != (notes.Len() == 0) {
			t.Errorf("%v: reported %q", err, notes)
		}
		if got := sh.finish(standing, err); want == Interrupted && got != 1 {
			t.Errorf("%v without a signal: exit code %d, want 1", err, got)
		}
	}
}

// Messages are sentences, and names at their start keep their case.
func TestSentences(t *testing.T) {
	for message, want := range map[string]string{
		"":                                 "",
		"say what to send":                 "Say what to send.",
		"it is damaged: ask an operator!":  "It is damaged: ask an operator!",
		"run_01k2 has ended":               "run_01k2 has ended.",
		"--timeout is too long":            "--timeout is too long.",
		"my agent.yaml:2:9: agent is gone": "my agent.yaml:2:9: agent is gone.",
		"my agent.json: agent is gone":     "my agent.json: agent is gone.",
		"my agents: one is wrong":          "My agents: one is wrong.",
	} {
		if got := sentence(message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
