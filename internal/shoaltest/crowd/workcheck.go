package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Check compares the effects with what is stored: each job has one completed run and one
// message that contains each of its texts once; each effect happened as often as allowed.
func (w *Work) Check(ctx context.Context) (wrong []string) {
	for _, j := range w.Jobbers {
		wrong = append(wrong, j.Check(ctx)...)
	}
	return append(wrong, w.unexpected()...)
}

// Check is [Work.Check] for one agent.
func (j *Jobber) Check(ctx context.Context) (wrong []string) {
	runs := map[shoal.MessageID][]shoal.Run{}
	for r, err := range j.work.Admin.Runs(ctx, client.RunsOptions{Agent: j.Agent}) {
		if err != nil {
			return []string{fmt.Sprintf("runs: %v", err)}
		}
		runs[r.Trigger.MessageID] = append(runs[r.Trigger.MessageID], r)
	}
	messages := map[shoal.RunID][]shoal.Message{}
	seq := int64(0)
	for m, err := range j.work.Admin.Timeline(ctx, j.Space, 0) {
		if seq++; err != nil || m.Seq != seq {
			return []string{fmt.Sprintf("gap: %s has seq %d at position %d (%v)", j.Space, m.Seq, seq, err)}
		}
		if m.RunID == nil {
			continue
		}
		messages[*m.RunID] = append(messages[*m.RunID], m)
		wrong = append(wrong, j.agrees(m)...)
	}
	calls := map[string]*calls{}
	for _, job := range j.Jobs {
		of := runs[job.message]
		if len(of) != 1 || of[0].Status != shoal.RunCompleted {
			wrong = append(wrong, fmt.Sprintf("runs: %s (%s) has %d runs: %s", job.Word, job.message, len(of), ends(of)))
			continue
		}
		if got, want := texts(messages[of[0].ID]), []string{jobBegins, jobEnds}; !slices.Equal(got, want) {
			wrong = append(wrong, fmt.Sprintf("doubled: the run of %s shows %q", job.Word, got))
		}
		if err := j.count(ctx, of[0].ID, calls); err != nil {
			return append(wrong, fmt.Sprintf("runs: %v", err))
		}
	}
	return append(wrong, j.compare(calls)...)
}

// texts returns the texts of all messages of a run, and notes incomplete messages.
func texts(messages []shoal.Message) (out []string) {
	if len(messages) != 1 {
		out = append(out, fmt.Sprintf("%d messages", len(messages)))
	}
	for _, m := range messages {
		if m.Status != shoal.MessageCompleted {
			out = append(out, "a message that is "+string(m.Status))
		}
		for _, p := range m.Parts {
			out = append(out, p.Text)
		}
	}
	return out
}

// ends describes how runs ended.
func ends(runs []shoal.Run) (output string) {
	for _, r := range runs {
		output += fmt.Sprintf("%s %s ", r.ID, r.Status)
		if r.EndedAt != nil {
			output += fmt.Sprintf("at %s ", *r.EndedAt)
		}
		if r.Error != nil {
			output += fmt.Sprintf("(%s: %s) ", r.Error.Code, r.Error.Message)
		}
	}
	return output
}

// agrees compares a message with what the stream reported of it.
func (j *Jobber) agrees(m shoal.Message) (wrong []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.Texts == nil {
		return nil
	}
	for _, p := range m.Parts {
		if j.Texts[p.ID] != p.Text {
			wrong = append(wrong, fmt.Sprintf("stream gap: a reader has %q of the part %q of %s", j.Texts[p.ID], p.Text, m.ID))
		}
	}
	return wrong
}

// calls counts the calls with one input: all of them, and those that the model saw as
// interrupted.
type calls struct{ all, cut int }

func (j *Jobber) count(ctx context.Context, run shoal.RunID, by map[string]*calls) error {
	for s, err := range j.work.Admin.Steps(ctx, run) {
		if err != nil {
			return err
		}
		for _, call := range s.ToolCalls {
			var in struct{ Key, Step string }
			if json.Unmarshal(call.Args, &in) != nil || in.Step == "" {
				continue
			}
			key := in.Key + " " + in.Step
			if by[key] == nil {
				by[key] = &calls{}
			}
			by[key].all++
			if call.Result != nil && strings.Contains(*call.Result, "interrupted, effect unknown") {
				by[key].cut++
			}
		}
	}
	return nil
}

// compare compares the calls with the ledger. An effect that is not idempotent happened once
// for each call, or not at all if the model saw the call as interrupted; an idempotent one
// at least once.
func (j *Jobber) compare(by map[string]*calls) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		c := by[name]
		key, step, _ := strings.Cut(name, " ")
		done := j.work.Ledger.Of(key, step)
		switch {
		case done < c.all-c.cut:
			wrong = append(wrong, fmt.Sprintf("lost: %d calls of %s (%d interrupted) had %d effects", c.all, name, c.cut, done))
		case step == "once" && done > c.all:
			wrong = append(wrong, fmt.Sprintf("doubled: %d calls of %s had %d effects", c.all, name, done))
		case j.work.Ledger.Calls(key, step) > c.all:
			wrong = append(wrong, fmt.Sprintf("doubled: %d calls of %s had %d keys", c.all, name, j.work.Ledger.Calls(key, step)))
		case step == "again" && c.cut > 0:
			wrong = append(wrong, fmt.Sprintf("runs: %d idempotent calls of %s were not repeated", c.cut, name))
		}
	}
	return wrong
}
