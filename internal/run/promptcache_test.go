package run_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/shoaltest/promptcache"
)

// vendors make the model of each vendor whose prompt cache is played.
var vendors = map[string]func(s *promptcache.Server) agent.Model{
	"openai": func(s *promptcache.Server) agent.Model {
		return openai.Chat("gpt", openai.Options{BaseURL: s.URL + "/v1", APIKey: "k", HTTPClient: s.Client})
	},
	"anthropic": func(s *promptcache.Server) agent.Model {
		return anthropic.New("claude-sonnet-4-5", anthropic.Options{BaseURL: s.URL, APIKey: "k", HTTPClient: s.Client})
	},
	"google": func(s *promptcache.Server) agent.Model {
		return google.New("gemini", google.Options{BaseURL: s.URL, APIKey: "k", HTTPClient: s.Client})
	},
}

// spoken is what a played model says: with every other request that begins a run it calls
// sendSpaceMessage, and else it answers in plain text.
func spoken(r promptcache.Request) promptcache.Answer {
	if r.Texts[len(r.Texts)-1] == "" { // the result of the call
		return promptcache.Answer{Text: "Done."}
	}
	question := r.Texts[len(r.Texts)-1]
	text := "About " + question[strings.LastIndex(question, "Question "):][:13] + ": " + strings.Repeat("the lamp is in the second room, ", 6) + "as before."
	if strings.Contains(question, "??") {
		return promptcache.Answer{Tool: "sendSpaceMessage", Arguments: fmt.Sprintf(`{"spaceId":"shop","text":%q}`, text)}
	}
	return promptcache.Answer{Text: text}
}

// crowd is how many hosted agents are in the shop.
const crowd = 8

// lampkeepers hosts agents in the shop, of which the first is its admin agent.
func (w *world) lampkeepers(agents int, model agent.Model) {
	w.t.Helper()
	for i := range agents {
		id := shoal.EntityID(fmt.Sprintf("agent-%d", i))
		w.hostsAs(id, strings.Repeat(fmt.Sprintf("You look after the lamps of room %d and know each of them. ", i), 8), model, "")
		w.join("shop", id)
		if i == 0 {
			_, err := w.hub.Spaces.Update(w.t.Context(), ann, session, "shop", shoal.SpaceChange{AdminAgentID: &id})
			w.must(err)
		}
	}
}

// asked plays turns of ann's in the shop: turn i is for the agent to(i).
func (w *world) asked(turns int, to func(i int) int) {
	w.t.Helper()
	for i := range turns {
		text := fmt.Sprintf("Question %04d: %s?%s", i, strings.Repeat("where is the lamp that I saw in the window ", 3), strings.Repeat("?", i/crowd%2))
		id := shoal.EntityID(fmt.Sprintf("agent-%d", to(i)))
		posted, err := w.hub.Messages.Post(w.t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{id}}, "")
		w.must(err)
		if len(posted.Runs) != 1 {
			w.t.Fatalf("turn %d starts %d runs", i, len(posted.Runs))
		}
		w.reaches(posted.Runs[0].RunID, shoal.RunCompleted)
	}
}

// used returns how many tokens of the prompts were read from the cache, and how many were not.
func used(requests []promptcache.Request) (cached, uncached int64) {
	for _, r := range requests {
		cached += r.Cached
		uncached += r.Tokens - r.Cached
	}
	return cached, uncached
}

// toAll is a model of OpenAI's whose requests other vendors receive, too: one play of a space shows
// what the caches of all of them would read.
type toAll struct {
	agent.Model
	others []agent.Model
	t      testing.TB
}

func (m *toAll) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	for _, other := range m.others {
		for _, err := range other.Stream(ctx, req) {
			if err != nil {
				m.t.Error(err)
			}
		}
	}
	return m.Model.Stream(ctx, req)
}

// Agents of one space that answer in turn pay for hardly more than one agent: what they are sent
// begins with the same bytes, and their provider reads nearly all of it from its cache.
func TestAgentsShareThePromptCache(t *testing.T) {
	const turns = 100
	play := func(agents int, to func(i int) int) map[string]int64 {
		servers, model := map[string]*promptcache.Server{}, &toAll{t: t}
		for vendor, of := range vendors {
			servers[vendor] = promptcache.Start(t, spoken)
			if vendor == "openai" {
				model.Model = of(servers[vendor])
			} else {
				model.others = append(model.others, of(servers[vendor]))
			}
		}
		w := newWorld(t)
		w.lampkeepers(agents, model)
		w.asked(turns, to)
		var booked shoal.Usage
		for _, r := range w.runs() {
			booked = booked.Add(r.Usage)
		}
		paid := map[string]int64{}
		for vendor, s := range servers {
			cached, uncached := used(s.Requests())
			t.Logf("%d agents, %s, %d requests: %d tokens from the cache, %d not", agents, vendor, len(s.Requests()), cached, uncached)
			paid[vendor] = uncached
			if vendor != "openai" {
				continue
			}
			if booked.CachedInputTokens != cached || booked.InputTokens != cached+uncached {
				t.Errorf("the runs used %+v, of which the provider read %d tokens from its cache and %d not", booked, cached, uncached)
			}
			if uncached*10 > cached+uncached {
				t.Errorf("%d of %d tokens are not read from the cache, want at most a tenth", uncached, cached+uncached)
			}
		}
		return paid
	}
	all := play(crowd, func(i int) int { return i % crowd })
	const most = 1.5
	alone := play(1, func(int) int { return 0 })
	for vendor := range vendors {
		ratio := float64(all[vendor]) / float64(alone[vendor])
		t.Logf("%s: eight agents pay for %.2f times as much as one that is alone", vendor, ratio)
		if ratio > most {
			t.Errorf("%s: eight agents pay for %.2f times as many tokens as one, want at most %.1f", vendor, ratio, most)
		}
	}
	if testing.Verbose() { // for the decision records
		one := play(crowd, func(int) int { return 1 })
		t.Logf("OpenAI: eight agents pay for %.2f times as much as one of them that answers all", float64(all["openai"])/float64(one["openai"]))
	}
}

// A model that takes no more is asked again with a shorter history of the space.
func TestSharedHistoryIsShortenedForTheModel(t *testing.T) {
	w := newWorld(t)
	var sizes []int
	w.lampkeepers(2, script.Func(func(req *agent.Request) script.Answer {
		if sizes = append(sizes, len(req.Messages)); len(req.Messages) > 6 {
			return script.Answer{Err: &agent.ModelError{Class: agent.ClassContextOverflow, Provider: "script"}}
		}
		return silent
	}))
	no := false
	for i := range 12 {
		_, err := w.hub.Messages.Post(t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(fmt.Sprint("Remark ", i))}, TriggerAgents: &no}, "")
		w.must(err)
	}
	w.asked(1, func(int) int { return 1 })
	if got := fmt.Sprint(sizes); got != "[14 8 5]" {
		t.Errorf("the model is sent %s messages, want 12, 6 and 3 of the space and two more", got)
	}
}
