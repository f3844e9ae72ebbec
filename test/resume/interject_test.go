package resume_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// steerEnv makes the child take a turn into which messages are interjected.
const steerEnv = "SHOAL_RESUME_STEER"

// Replace counts as a write: it is how a message is interjected.
func (m *mortal) Replace(ctx context.Context, r agent.Record) error {
	return m.wrote(m.Store.Replace(ctx, r))
}

// steeredChild runs or resumes a turn. Its tool interjects one message, and the program
// another while the answer streams. The file "said" names those that were accepted.
func steeredChild(dir, point string) error {
	store, _, err := openStore(dir)
	if err != nil {
		return err
	}
	c := agent.OpenConversation(&mortal{Store: store, death: &death{at: point}}, "sum")
	interject := func(ctx context.Context, text string) error {
		message := agent.Say(text)
		message.ID = text // so that it can be repeated
		if err := c.Interject(ctx, message); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(dir, "said"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = fmt.Fprintln(f, text)
		return err
	}
	note := agent.Configure(agent.Func("note", "Notes something.", func(ctx context.Context, _ struct{}) (string, error) {
		return "noted", interject(ctx, "faster")
	}), func(s *agent.ToolSpec) { s.Idempotent = true })
	a, err := agent.New(script.Func(func(r *agent.Request) script.Answer {
		heard := ""
		for _, m := range r.Messages {
			if m.Role == agent.User {
				heard += " " + m.Text()
			}
			if len(m.Results()) > 0 {
				heard += " ."
			}
		}
		if !strings.Contains(heard, ".") {
			return script.Answer{Calls: []agent.ToolCall{{Name: "note", Arguments: `{}`}}}
		}
		return script.Answer{Text: "heard" + heard}
	}), agent.Options{Tools: []agent.Tool{note}})
	if err != nil {
		return err
	}
	record, err := c.Load(context.Background())
	if err != nil {
		return err
	}
	var input []agent.Message
	if record.Revision == 0 {
		input = append(input, agent.Say("go"))
	} else if record.Open == nil {
		return nil // the turn had ended before the process died
	}
	for e, err := range a.Stream(context.Background(), c, input...) {
		if err != nil {
			return err
		}
		if _, ok := e.(agent.TextStarted); ok {
			if err := interject(context.Background(), "thanks"); err != nil {
				return err
			}
		}
	}
	return nil
}

// The process is killed between every pair of writes of a turn into which messages are
// interjected, also between those that store them. What was accepted is in the history once,
// and the model has read it.
func TestKilledAroundInterjections(t *testing.T) {
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killedAroundInterjections(t, place)
		})
	}
}

func killedAroundInterjections(t *testing.T, place func(*testing.T) string) {
	steered := steerEnv + "=1"
	for n := 1; ; n++ {
		dir, point := place(t), fmt.Sprint("write ", n)
		died := life(t, dir, point, steered)
		if died && life(t, dir, "", steered) {
			t.Fatalf("the second life after %s ends early", point)
		}
		history, _, _ := state(t, dir)
		accepted, err := os.ReadFile(filepath.Join(dir, "said"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range slices.Compact(strings.Fields(string(accepted))) {
			times := 0
			for _, line := range history {
				if line == "user: "+text {
					times++
				}
			}
			last := history[len(history)-1]
			if times != 1 || !strings.HasPrefix(last, "assistant: heard go") || !strings.Contains(last, text) {
				t.Errorf("killed after %s: %q was accepted, and the history is %q", point, text, history)
			}
		}
		if !died {
			if n < 9 {
				t.Errorf("the turn makes only %d writes", n-1)
			}
			return
		}
	}
}
