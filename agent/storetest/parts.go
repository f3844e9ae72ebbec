package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

var loadParts = []part{
	{"Load of a conversation that is not there is NotFound", func(s *suite) {
		s.refuses(agent.ErrNotFound, func() error { _, err := s.store.Load(s.ctx, "cnv_none"); return err })
	}},
	{"Load does not make a conversation", func(s *suite) {
		_, _ = s.store.Load(s.ctx, conv)
		s.refuses(agent.ErrNotFound, func() error { _, err := s.store.Load(s.ctx, conv); return err })
	}},
	{"Load returns what was written, every field of it", func(s *suite) {
		want := full()
		s.must(s.store.Replace(s.ctx, want))
		want.Revision = 1
		s.same("the record", s.load(), want)
	}},
	{"conversations do not touch each other", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.must(s.store.Begin(s.ctx, "cnv_2", turn("t", 1, say("other"))))
		s.must(s.store.Begin(s.ctx, "CNV_1", turn("t", 1, say("upper case"))))
		s.history("m1")
	}},
	{"ids may hold any character", func(s *suite) {
		for _, id := range []string{"../up", "a/b", ".", "..", "per%cent", "ü 漢", "new\nline", "CON", "A", "a"} {
			s.must(s.store.Begin(s.ctx, id, turn("t", 1, say("of "+id))))
			r, err := s.store.Load(s.ctx, id)
			s.must(err)
			if r.ID != id || r.Messages[0].ID != "of "+id {
				s.Errorf("conversation %q came back as %q with %q", id, r.ID, r.Messages[0].ID)
			}
		}
	}},
	{"a context that has ended stops every method before it does anything", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		before := s.load()
		ended, cancel := context.WithCancel(s.ctx)
		cancel()
		_, err := s.store.Load(ended, conv)
		replaced := before
		replaced.DisplayName = "changed"
		for name, err := range map[string]error{
			"Load":    err,
			"Begin":   s.store.Begin(ended, conv, turn("t", 2)),
			"Commit":  s.store.Commit(ended, conv, ref("t", 1), answered(0)),
			"End":     s.store.End(ended, conv, ref("t", 1), agent.TurnEnd{Outcome: agent.Completed}),
			"Replace": s.store.Replace(ended, replaced),
		} {
			if !errors.Is(err, context.Canceled) {
				s.Errorf("%s returned %v, want the context's error", name, err)
			}
		}
		s.same("the record", s.load(), before)
	}},
}

// full is a record with every field set.
func full() agent.Record {
	step := calling(1, false, "c1")
	step.Pending[0].Answer = &agent.Answer{PendingID: "p", Approved: true, Rule: agent.AlwaysAllow, By: "ann"}
	step.Pending[0].Via, step.Pending[0].ExpiresAt = "c1", at(8)
	step.Before = []agent.Message{say("m3")}
	step.Ends = &agent.TurnEnd{Outcome: agent.Failed, Reason: agent.ReasonMaxErrors, Message: "too many", At: at(7)}
	step.Assistant.Agent = "desk"
	step.Results = []agent.ToolResult{{CallID: "c1", Name: "look", Status: agent.ResultOK, Text: "Transferred.", TransferredTo: "billing"}}
	first := answered(0)
	first.Assistant.Agent = "desk"
	first.Assistant.Parts = append(slices.Clone(first.Assistant.Parts), agent.Part{
		Type: agent.TextPart, Text: "Rain.", Citations: []agent.Citation{{URL: "https://example.com/?a&b", Title: "<Weather>", Quote: "rain", End: 4}},
	})
	input := say("m2")
	return agent.Record{
		ID: conv, CreatedAt: at(0), LastActivity: at(9), DisplayName: "Name \u2028 <b>", Parent: "cnv_0",
		Metadata:     map[string]string{"k": "v"},
		Messages:     []agent.Message{say("m1"), input, first.Assistant},
		Summary:      &agent.Summary{Text: "so far", Covers: 1},
		Rules:        map[string]agent.PermissionRule{"look": agent.AlwaysDeny},
		ContextState: map[string]json.RawMessage{"memory": json.RawMessage(`{"n":1}`)},
		Open: &agent.OpenTurn{
			Turn: turn("t", 3, input), Base: 1, Steps: []agent.Step{first, step}, Waiting: true,
			Interjected: []agent.Message{say("m3"), say("m4")},
		},
	}
}

var beginParts = []part{
	{"Begin makes the conversation, stores the input and opens the turn", func(s *suite) {
		s.begin(turn("t", 1, say("m1"), say("m2")))
		r := s.load()
		s.same("the open turn", r.Open, agent.OpenTurn{Turn: turn("t", 1, say("m1"), say("m2")), Base: 0})
		s.same("the messages", r.Messages, []agent.Message{say("m1"), say("m2")})
		if r.ID != conv || r.Revision != 1 || !r.CreatedAt.Equal(at(1)) || !r.LastActivity.Equal(at(1)) {
			s.Errorf("got id %s revision %d created %s active %s", r.ID, r.Revision, r.CreatedAt, r.LastActivity)
		}
	}},
	{"Begin puts the input after what was there and says where", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), answered(0))
		s.end(ref("t", 1), agent.Completed)
		s.begin(turn("u", 1, say("m2")))
		s.history("m1", "a", "m2")
		if r := s.load(); r.Open.Base != 2 || len(r.Open.Steps) != 0 {
			s.Errorf("the turn has base %d and %d steps, want 2 and none", r.Open.Base, len(r.Open.Steps))
		}
	}},
	{"Begin with a higher attempt takes the open turn over and does not store its input again", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false, "c1"))
		s.end(ref("t", 1), agent.Waiting)
		s.begin(turn("t", 2, say("m1")))
		s.history("m1")
		r := s.load()
		if r.Open.Attempt != 2 || r.Open.Waiting || len(r.Open.Steps) != 1 || !r.Open.StartedAt.Equal(at(1)) {
			s.Errorf("taken over as %+v", r.Open)
		}
	}},
	{"a lower attempt is refused by Commit and End after a take-over", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.begin(turn("t", 3))
		s.refuses(agent.ErrConflict, func() error { return s.store.Commit(s.ctx, conv, ref("t", 1), answered(0)) })
		s.refuses(agent.ErrConflict, func() error {
			return s.store.End(s.ctx, conv, ref("t", 1), agent.TurnEnd{Outcome: agent.Completed})
		})
		s.commit(ref("t", 3), answered(0))
	}},
	{"Begin with the same or a lower attempt is a Conflict", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.refuses(agent.ErrConflict, func() error { return s.store.Begin(s.ctx, conv, turn("t", 1, say("m1"))) })
		s.begin(turn("t", 3))
		s.refuses(agent.ErrConflict, func() error { return s.store.Begin(s.ctx, conv, turn("t", 2)) })
	}},
	{"Begin of another turn while one is open is a Conflict, also while it waits", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.refuses(agent.ErrConflict, func() error { return s.store.Begin(s.ctx, conv, turn("u", 1, say("m2"))) })
		s.end(ref("t", 1), agent.Waiting)
		s.refuses(agent.ErrConflict, func() error { return s.store.Begin(s.ctx, conv, turn("u", 2, say("m2"))) })
	}},
	{"a turn that has ended cannot be taken over", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.end(ref("t", 1), agent.Canceled)
		s.refuses(agent.ErrConflict, func() error { return s.store.Begin(s.ctx, conv, turn("t", 2, say("m1"))) })
	}},
}

var commitParts = []part{
	{"Commit of an open step keeps it beside the messages", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false, "c1"))
		s.history("m1")
		s.same("the steps", s.load().Open.Steps, []agent.Step{calling(0, false, "c1")})
	}},
	{"Commit with the index of the open step replaces it", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false))
		s.commit(ref("t", 1), calling(0, false, "c1"))
		s.same("the steps", s.load().Open.Steps, []agent.Step{calling(0, false, "c1")})
	}},
	{"Commit of a done step puts its message and its results at the end, in one write", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false, "c1"))
		before := s.load().Revision
		done := calling(0, true, "c1", "c2")
		s.commit(ref("t", 1), done)
		r := s.load()
		s.same("the messages", r.Messages, append([]agent.Message{say("m1")}, done.Messages()...))
		s.same("the steps", r.Open.Steps, []agent.Step{done})
		if r.Revision != before+1 {
			s.Errorf("the revision went from %d to %d", before, r.Revision)
		}
	}},
	{"Commit of a done step without calls adds one message", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), answered(0))
		s.history("m1", "a")
	}},
	{"Commit with the next index opens a new step", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, true, "c1", "c2"))
		s.commit(ref("t", 1), calling(1, false))
		s.commit(ref("t", 1), calling(1, true, "c1", "c2"))
		s.commit(ref("t", 1), answered(2))
		s.history("m1", "b", "b.results", "b", "b.results", "a")
	}},
	{"Commit out of order is a Conflict", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		refused := func(step agent.Step) {
			s.Helper()
			s.refuses(agent.ErrConflict, func() error { return s.store.Commit(s.ctx, conv, ref("t", 1), step) })
		}
		refused(answered(1))
		refused(answered(-1))
		s.commit(ref("t", 1), calling(0, false))
		refused(answered(1)) // step 0 is open
		s.commit(ref("t", 1), calling(0, true, "c1", "c2"))
		refused(answered(0)) // step 0 is done
		refused(answered(2))
	}},
	{"Commit to a turn that is not open in this attempt is a Conflict", func(s *suite) {
		s.refuses(agent.ErrConflict, func() error { return s.store.Commit(s.ctx, conv, ref("t", 1), answered(0)) })
		s.begin(turn("t", 1, say("m1")))
		s.refuses(agent.ErrConflict, func() error { return s.store.Commit(s.ctx, conv, ref("u", 1), answered(0)) })
		s.refuses(agent.ErrConflict, func() error { return s.store.Commit(s.ctx, conv, ref("t", 2), answered(0)) })
		s.end(ref("t", 1), agent.Completed)
		s.refuses(agent.ErrConflict, func() error { return s.store.Commit(s.ctx, conv, ref("t", 1), answered(0)) })
	}},
}

var endParts = []part{
	{"End closes the turn and leaves the messages", func(s *suite) {
		for i, outcome := range []agent.Outcome{agent.Completed, agent.Failed, agent.Canceled} {
			id := string(outcome)
			s.begin(turn(id, 1, say(id)))
			s.end(ref(id, 1), outcome)
			if r := s.load(); r.Open != nil || len(r.Messages) != i+1 {
				s.Errorf("after %s: open %v, %d messages", outcome, r.Open, len(r.Messages))
			}
		}
	}},
	{"End appends the interjected messages that no completed step has read", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		r := s.load()
		r.Open.Interjected = []agent.Message{say("m2"), say("m3"), say("m4")}
		s.must(s.store.Replace(s.ctx, r))
		read := answered(0)
		read.Before = []agent.Message{say("m2")}
		s.commit(ref("t", 1), read)
		dropped := calling(1, false, "c1")
		dropped.Before = []agent.Message{say("m3")}
		s.commit(ref("t", 1), dropped)
		s.history("m1", "m2", "a")
		s.end(ref("t", 1), agent.Failed)
		s.history("m1", "m2", "a", "m3", "m4")
	}},
	{"End as waiting leaves the turn open and notes it", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false, "c1"))
		s.end(ref("t", 1), agent.Waiting)
		r := s.load()
		if r.Open == nil || !r.Open.Waiting {
			s.Fatalf("the open turn is %+v, want one that waits", r.Open)
		}
		s.same("the steps", r.Open.Steps, []agent.Step{calling(0, false, "c1")})
	}},
	{"End keeps states, choices and the summary, over those of the same names only", func(s *suite) {
		r := full()
		r.Open = nil
		s.must(s.store.Replace(s.ctx, r))
		s.begin(turn("t", 1, say("m9")))
		s.must(s.store.End(s.ctx, conv, ref("t", 1), agent.TurnEnd{
			Outcome: agent.Completed, At: at(99),
			ContextState: map[string]json.RawMessage{"other": json.RawMessage(`[1]`)},
			Rules:        map[string]agent.PermissionRule{"look": agent.AlwaysAllow},
			Summary:      &agent.Summary{Text: "newer", Covers: 2},
		}))
		got := s.load()
		s.same("states", got.ContextState, map[string]any{"memory": map[string]int{"n": 1}, "other": []int{1}})
		s.same("choices", got.Rules, map[string]string{"look": "always_allow"})
		s.same("summary", got.Summary, agent.Summary{Text: "newer", Covers: 2})
		if !got.LastActivity.Equal(at(99)) {
			s.Errorf("the last activity is %s, want the end's time", got.LastActivity)
		}
	}},
	{"End without them leaves states, choices and the summary", func(s *suite) {
		r := full()
		r.Open = nil
		s.must(s.store.Replace(s.ctx, r))
		s.begin(turn("t", 1, say("m9")))
		s.end(ref("t", 1), agent.Completed)
		got := s.load()
		s.same("states", got.ContextState, r.ContextState)
		s.same("choices", got.Rules, r.Rules)
		s.same("summary", got.Summary, r.Summary)
	}},
	{"End of a turn that is not open in this attempt is a Conflict", func(s *suite) {
		end := func(r agent.TurnRef) func() error {
			return func() error { return s.store.End(s.ctx, conv, r, agent.TurnEnd{Outcome: agent.Completed, At: at(3)}) }
		}
		s.refuses(agent.ErrConflict, end(ref("t", 1)))
		s.begin(turn("t", 1, say("m1")))
		s.refuses(agent.ErrConflict, end(ref("u", 1)))
		s.refuses(agent.ErrConflict, end(ref("t", 2)))
		s.end(ref("t", 1), agent.Completed)
		s.refuses(agent.ErrConflict, end(ref("t", 1)))
	}},
}

var replaceParts = []part{
	{"Replace with revision 0 makes a conversation, once", func(s *suite) {
		s.must(s.store.Replace(s.ctx, agent.Record{ID: conv, CreatedAt: epoch, LastActivity: epoch, DisplayName: "one"}))
		if r := s.load(); r.Revision != 1 || r.DisplayName != "one" {
			s.Errorf("got revision %d and name %q", r.Revision, r.DisplayName)
		}
		s.refuses(agent.ErrConflict, func() error { return s.store.Replace(s.ctx, agent.Record{ID: conv, DisplayName: "two"}) })
	}},
	{"Replace with a revision of what is not there is a Conflict", func(s *suite) {
		s.refuses(agent.ErrConflict, func() error { return s.store.Replace(s.ctx, agent.Record{ID: conv, Revision: 3}) })
	}},
	{"Replace stores the record whole and gives it the next revision", func(s *suite) {
		s.must(s.store.Replace(s.ctx, full()))
		s.must(s.store.Replace(s.ctx, agent.Record{ID: conv, Revision: 1, DisplayName: "bare", CreatedAt: epoch, LastActivity: epoch}))
		s.same("the record", s.load(), agent.Record{ID: conv, Revision: 2, DisplayName: "bare", CreatedAt: epoch, LastActivity: epoch})
	}},
	{"Replace of an older revision is a Conflict, whatever write came between", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		writes := []func(){
			func() { s.commit(ref("t", 1), calling(0, false)) },
			func() { s.commit(ref("t", 1), calling(0, true, "c1", "c2")) },
			func() { s.end(ref("t", 1), agent.Waiting) },
			func() { s.begin(turn("t", 2)) },
			func() {
				s.must(s.store.End(s.ctx, conv, ref("t", 2), agent.TurnEnd{Outcome: agent.Completed, At: at(3)}))
			},
			func() { s.must(s.store.Replace(s.ctx, s.load())) },
		}
		for i, write := range writes {
			old := s.load()
			write()
			if now := s.load().Revision; now != old.Revision+1 {
				s.Errorf("write %d took the revision from %d to %d", i, old.Revision, now)
			}
			s.refuses(agent.ErrConflict, func() error { return s.store.Replace(s.ctx, old) })
		}
	}},
	{"Replace changes an open turn, which goes on", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false))
		r := s.load()
		open := *r.Open
		open.Steps = []agent.Step{calling(0, false)}
		open.Steps[0].Pending[0].Answer = &agent.Answer{PendingID: "p", Approved: true}
		r.Open = &open
		s.must(s.store.Replace(s.ctx, r))
		if got := s.load().Open.Steps[0].Pending[0].Answer; got == nil || !got.Approved {
			s.Errorf("the answer is %+v", got)
		}
		s.commit(ref("t", 1), calling(0, true, "c1", "c2"))
		s.history("m1", "b", "b.results")
	}},
	{"messages after a Replace go after those that it stored", func(s *suite) {
		s.begin(turn("t", 1, say("m1"), say("m2")))
		s.end(ref("t", 1), agent.Completed)
		r := s.load()
		r.Messages = r.Messages[:1]
		s.must(s.store.Replace(s.ctx, r))
		s.begin(turn("u", 1, say("m3")))
		s.history("m1", "m3")
	}},
}

// timeLimit is long enough for any store that is not stuck.
const timeLimit = time.Minute
