package models_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// quick makes silence end an attempt soon, but not so soon that a busy machine
// looks silent.
func quick(o *agent.Options) {
	o.AttemptTimeout = 2 * time.Second
	o.StallTimeout = 2 * time.Second
}

// Whatever a vendor does, a turn asks at most four times for a step, and ends
// as what it was.
func TestFaults(t *testing.T) {
	t.Parallel()
	eachWire(t, func(t *testing.T, w wire) {
		for _, p := range faulty {
			if p.only != nil && !p.only(w) {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.test(t, w)
			})
		}
	})
}

// unavailable is a play that ends because the vendor is of no use.
func unavailable(p play) play {
	p.outcome, p.reason = agent.Failed, agent.ReasonUnavailable
	return p
}

var faulty = []play{
	{
		name: "429 without Retry-After, then ok", say: "text", text: grey, attempts: 2,
		faults: once(retryAfter(vendorSays("rate limited"), "")),
		check: func(t *testing.T, _ wire, s story) {
			if d := s.retries[0].Delay; d <= 0 || d > 4*time.Millisecond {
				t.Errorf("the retry waits %v", d)
			}
			failedAs(t, s, agent.ClassRateLimited)
		},
	},
	{
		name: "429 with Retry-After, then ok", say: "text", text: grey, attempts: 2,
		faults: once(retryAfter(vendorSays("rate limited"), "1")),
		check: func(t *testing.T, _ wire, s story) {
			if d := s.retries[0].Delay; d < 900*time.Millisecond || d > 1100*time.Millisecond {
				t.Errorf("the vendor asked for a second, the retry waits %v", d)
			}
			if waited := s.attempts[1].at.Sub(s.attempts[0].at); waited < 900*time.Millisecond {
				t.Errorf("the vendor asked for a second and was asked again after %v", waited)
			}
		},
	},
	{
		name: "429 by chance, then ok", say: "text", text: grey, attempts: 2,
		faults: once(retryAfter(chaos("Ratelimit"), "")),
		check:  func(t *testing.T, _ wire, s story) { failedAs(t, s, agent.ClassRateLimited) },
	},
	{
		name: "429 for ever", say: "text", attempts: 4, rest: retryAfter(vendorSays("rate limited"), ""), after: true,
		outcome: agent.Failed, reason: agent.ReasonRateLimited,
	},
	{
		name: "429 for longer than the turn", say: "text", attempts: 1, rest: retryAfter(vendorSays("rate limited"), "3600"),
		outcome: agent.Failed, reason: agent.ReasonRateLimited,
	},
	{
		name: "500, then ok", say: "text", text: grey, attempts: 2, faults: once(vendorSays("broken")),
		check: func(t *testing.T, _ wire, s story) { failedAs(t, s, agent.ClassOverloaded) },
	},
	{name: "500 by chance, then ok", say: "text", text: grey, attempts: 3, faults: once(chaos("Drop"), chaos("Drop"))},
	unavailable(play{name: "500 for ever", say: "text", attempts: 4, rest: vendorSays("broken")}),
	{
		name: "529, then ok", say: "text", text: grey, attempts: 2, faults: once(vendorSays("overloaded")),
		check: func(t *testing.T, _ wire, s story) { failedAs(t, s, agent.ClassOverloaded) },
	},
	unavailable(play{name: "529 for ever", say: "text", attempts: 4, rest: vendorSays("overloaded")}),
	{name: "401", say: "text", rest: vendorSays("wrong key"), outcome: agent.Failed, reason: agent.ReasonProviderAuth},
	{name: "400", say: "text", rest: vendorSays("refused"), outcome: agent.Failed, reason: agent.ReasonInvalidRequest},

	{
		name: "cut in the text, then ok", say: "text", text: grey, attempts: 2, faults: once(cutAt(0.5)),
		check: func(t *testing.T, _ wire, s story) {
			failedAs(t, s, agent.ClassNetwork)
			deadText(t, s)
		},
	},
	{
		name: "ended in the text, then ok", say: "text", text: grey, attempts: 2, faults: once(endAt(0.5)),
		check: func(t *testing.T, _ wire, s story) { deadText(t, s) },
	},
	{name: "cut before the last byte, then ok", say: "text", text: grey, attempts: 2, faults: once(cutAt(0.93))},
	{name: "cut three times in the text, then ok", say: "text", text: grey, attempts: 4, faults: once(cutAt(0.5), endAt(0.6), cutAt(0.4))},
	{name: "aimock cuts after four events, then ok", say: "text", text: grey, attempts: 2, faults: once(vendorSays("cut after four"))},
	{name: "aimock hangs up, then ok", say: "text", text: grey, attempts: 2, faults: once(chaos("Disconnect"))},
	unavailable(play{name: "aimock hangs up for ever", say: "text", attempts: 4, rest: chaos("Disconnect")}),
	unavailable(play{
		name: "cut in the text for ever", say: "text", attempts: 4, rest: cutAt(0.5), cut: true, after: true,
		check: func(t *testing.T, _ wire, s story) {
			if got := s.text(); !strings.HasPrefix(grey, got) {
				t.Errorf("of the text stays %q", got)
			}
		},
	}),

	unavailable(play{
		name: "cut in the arguments for ever", say: "text then call", text: "Let me look out of the window.", attempts: 4,
		rest: cutAt(0.7), after: true,
	}),
	unavailable(play{
		name: "500 after the results", say: "call", attempts: 5, calls: 1, faults: once(fault{}), rest: vendorSays("broken"), after: true,
		check: func(t *testing.T, _ wire, s story) { oneResult(t, s, agent.ResultOK) },
	}),
	{
		name: "cut in the thoughts, then ok", say: "reasoning", options: thinking, text: "Take an umbrella.", attempts: 2, faults: once(cutAt(0.4)),
		check: func(t *testing.T, _ wire, s story) {
			if dead := s.messages[0].said(agent.ReasoningPart); dead == "" || !strings.HasPrefix(thought, dead) {
				t.Errorf("the dead attempt had thought %q", dead)
			}
			if got := s.kept()[0].said(agent.ReasoningPart); got != thought {
				t.Errorf("the thoughts are %q", got)
			}
		},
	},
	{
		name: "cut in the form, then ok", say: "structured", options: asReport, attempts: 2, faults: once(cutAt(0.5)),
		text: `{"city":"Kiel","degrees":11,"wet":true}`,
		check: func(t *testing.T, _ wire, s story) {
			if len(s.partials) == 0 || s.partials[0].MessageID != s.messages[0].id {
				t.Errorf("nothing of the form was shown before the cut: %v", s.partials)
			}
		},
	},
	{
		name: "cut in the arguments, then ok", say: "call", text: "It rains in Kiel.", attempts: 3, calls: 1, faults: once(cutAt(0.6)),
		check: func(t *testing.T, w wire, s story) {
			if dead := s.messages[0]; !dead.discarded || (!w.whole && len(dead.calls()) != 1) {
				t.Errorf("the dead attempt had %d calls, discarded %v", len(dead.calls()), dead.discarded)
			}
		},
	},
	{name: "ended in the arguments, then ok", say: "call", text: "It rains in Kiel.", attempts: 3, calls: 1, faults: once(endAt(0.6))},
	{
		name: "cut between two calls, then ok", say: "parallel", text: "It rains in both.", attempts: 3, calls: 2, faults: once(cutAt(0.6)),
	},
	{
		name: "cut after the results, then ok", say: "call", text: "It rains in Kiel.", attempts: 3, calls: 1, faults: once(fault{}, cutAt(0.5)),
	},
	{
		name: "every third attempt of twelve steps", say: "twelve steps", text: "Eleven stops, all wet.", calls: 11, attempts: 17,
		options: func(o *agent.Options) { o.MaxSteps = 12 },
		faults: func(wire) []fault {
			var out []fault
			for range 5 {
				out = append(out, fault{}, fault{}, endAt(0.5))
			}
			return out
		},
	},

	{
		name: "malformed, then ok", say: "text", text: grey, attempts: 2, faults: once(chaos("Malformed")),
		check: func(t *testing.T, _ wire, s story) { failedAs(t, s, agent.ClassMalformed) },
	},
	{name: "garbled in the text, then ok", say: "text", text: grey, attempts: 2, faults: once(garbled())},
	{name: "garbled in the call, then ok", say: "call", text: "It rains in Kiel.", attempts: 3, calls: 1, faults: once(garbled())},
	unavailable(play{name: "malformed for ever", say: "text", attempts: 4, rest: chaos("Malformed")}),
	{
		name: "wrong content type, then ok", say: "text", text: grey, attempts: 2, faults: once(asPage()),
		check: func(t *testing.T, _ wire, s story) { failedAs(t, s, agent.ClassMalformed) },
	},
	{
		name: "empty 200, then ok", say: "text", text: grey, attempts: 2, faults: once(emptied()),
		check: func(t *testing.T, _ wire, s story) { failedAs(t, s, agent.ClassMalformed) },
	},
	unavailable(play{name: "empty 200 for ever", say: "text", attempts: 4, rest: emptied()}),
	{
		name: "stall in the text, then ok", say: "text", text: grey, attempts: 2, options: quick, faults: once(stallAt(0.5)),
		check: func(t *testing.T, _ wire, s story) {
			failedAs(t, s, agent.ClassTimeout)
			deadText(t, s)
		},
	},
	{
		name: "no first byte, then ok", say: "text", text: grey, attempts: 2, options: quick, faults: once(late(30 * time.Second)),
		check: func(t *testing.T, _ wire, s story) { failedAs(t, s, agent.ClassTimeout) },
	},
	unavailable(play{name: "no first byte for ever", say: "text", attempts: 4, options: quick, rest: late(30 * time.Second)}),
	{
		name: "late, but not too late", say: "text", text: grey, options: quick, faults: once(late(100 * time.Millisecond)),
	},
	{
		name: "turn time-out in a stall", say: "text", cut: true, rest: stallAt(0.5),
		options: func(o *agent.Options) { o.TurnTimeout = 3 * time.Second },
		outcome: agent.Failed, reason: agent.ReasonTimeout,
	},
	unavailable(play{
		name: "endless", say: "text", cut: true, rest: endless(),
		options: func(o *agent.Options) { o.MaxAnswerBytes = 64 << 10 },
		check: func(t *testing.T, _ wire, s story) {
			if n := len(s.text()); n > 64<<10 {
				t.Errorf("%d bytes of an answer without end are kept", n)
			}
		},
	}),

	{
		name: "too long, then ok", say: "text", text: grey, attempts: 2, before: six, options: counting,
		faults: once(vendorSays("too long")), check: reducedOnce,
	},
	{
		name: "too long for ever", say: "text", attempts: 2, before: six, options: counting, rest: vendorSays("too long"),
		outcome: agent.Failed, reason: agent.ReasonContextOverflow, check: reducedOnce,
	},
	{
		name: "no credit", say: "text", rest: vendorSays("no credit"), outcome: agent.Failed, reason: agent.ReasonProviderAuth,
		only: func(w wire) bool { return w.noCredit },
	},
}

// failedAs checks what the first attempt failed of.
func failedAs(t *testing.T, s story, want agent.ErrorClass) {
	t.Helper()
	if len(s.retries) == 0 {
		t.Errorf("no attempt failed, want one of class %s", want)
		return
	}
	failure, ok := errors.AsType[*agent.ModelError](s.retries[0].Err)
	if !ok || failure.Class != want {
		t.Errorf("the first attempt failed of %v, want class %s", s.retries[0].Err, want)
	}
}

// deadText checks that the first attempt had shown some of the text, so that
// there was something to replace.
func deadText(t *testing.T, s story) {
	t.Helper()
	dead := s.messages[0].said(agent.TextPart)
	if !s.messages[0].discarded || dead == "" || !strings.HasPrefix(grey, dead) {
		t.Errorf("the dead attempt had shown %q, discarded %v", dead, s.messages[0].discarded)
	}
}

var six = []string{"short", "short", "short", "short", "short", "short"}

// counting reduces to four messages, but not before it must.
func counting(o *agent.Options) {
	o.Reduction = agent.Reduction{Strategy: agent.ReduceCount, Target: 4, Threshold: 100}
}

// reducedOnce checks that an overflow made the history shorter, and only once.
func reducedOnce(t *testing.T, _ wire, s story) {
	t.Helper()
	if len(s.reduced) != 1 || !s.reduced[0].Forced || s.reduced[0].After >= s.reduced[0].Before {
		t.Errorf("the history was reduced as %+v, want once, by force", s.reduced)
	}
	entries := journal(t, t.Name())
	if len(entries) < 2 {
		t.Fatalf("aimock remembers %d requests", len(entries))
	}
	before, after := entries[len(entries)-2].Body.Messages, entries[len(entries)-1].Body.Messages
	if len(before) != 13 || len(after) >= len(before) {
		t.Errorf("the vendor was sent %d messages, then %d", len(before), len(after))
	}
}
