package spacetool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// result is what set and delete tools answer.
type result struct {
	Modified []struct {
		Status, Match, ID string
		NextRunAt         *shoal.Time
		Candidates        []struct{ ID, Text string }
	}
	Current []struct {
		ID, Description, Content, Topic, Name, Instruction, Status string
		Priority                                                   int
		IsLongTerm, IsCompleted                                    bool
		NextRunAt                                                  *shoal.Time
		TimeZone                                                   string
	}
	Total     int
	Deleted   []struct{ ID, Text string }
	Ambiguous []struct {
		Match      string
		Candidates []struct{ ID, Text string }
	}
	NotFound  []string
	Remaining int
}

func (r result) statuses() string {
	var all []string
	for _, m := range r.Modified {
		all = append(all, m.Status)
	}
	return strings.Join(all, " ")
}

func read(t *testing.T, text string) (r result) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// words are values in a row.
func words(values ...any) string { return strings.TrimSpace(fmt.Sprintln(values...)) }

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestGoals(t *testing.T) {
	w := newWorld(t)
	r := w.ask("ann", "shop", "hello")
	set := func(arguments string) result { t.Helper(); return read(t, w.call(r, "setGoals", arguments)) }

	got := set(`{"goals":[{"description":"Sell ten laptops"},{"description":"Answer Ann","priority":5,"isLongTerm":true},{"description":"Sell a mouse"}]}`)
	expect(t, "what happened", got.statuses(), "created created created")
	expect(t, "the total", got.Total, 3)
	expect(t, "the most urgent", got.Current[0].Description, "Answer Ann")

	t.Run("a match is a piece of the text in any case", func(t *testing.T) {
		got := set(`{"goals":[{"match":"ANSWER","description":"Answer Ann today","isCompleted":true}]}`)
		expect(t, "what happened", got.statuses(), "updated")
		last := got.Current[2]
		expect(t, "the goal", words(last.Description, last.Priority, last.IsLongTerm, last.IsCompleted), "Answer Ann today 5 true true")
	})
	t.Run("two hits change nothing and are named", func(t *testing.T) {
		got := set(`{"goals":[{"match":"sell","description":"gone"}]}`)
		expect(t, "what happened", got.statuses(), "ambiguous")
		expect(t, "the candidates", words(len(got.Modified[0].Candidates), got.Modified[0].Candidates[0].Text), "2 Sell ten laptops")
		expect(t, "what there is", strings.Contains(fmt.Sprint(got.Current), "gone"), false)
		byID := set(`{"goals":[{"match":"` + got.Modified[0].Candidates[1].ID + `","description":"Sell two mice"}]}`)
		expect(t, "by a candidate's id", byID.statuses(), "updated")
	})
	t.Run("no hit changes nothing", func(t *testing.T) {
		got := set(`{"goals":[{"match":"nowhere","description":"gone"}]}`)
		expect(t, "what happened", got.statuses(), "not_found")
		expect(t, "the total", got.Total, 3)
	})
	t.Run("a mistake in one entry undoes all", func(t *testing.T) {
		text := w.call(r, "setGoals", `{"goals":[{"description":"fine"},{"description":" "}]}`)
		expect(t, "the result", text, "failed: Error: goals[1]: description is missing")
		expect(t, "the total", set(`{"goals":[{"match":"nowhere","description":"x"}]}`).Total, 3)
	})
	for about, c := range map[string][2]string{
		"too long a text":              {`{"goals":[{"description":"` + strings.Repeat("a", shoal.MaxDescription+1) + `"}]}`, "goals[0]: description has 4097 bytes"},
		"nothing at all":               {`{"goals":[]}`, "goals is empty"},
		"a match that cannot fit":      {`{"goals":[{"match":"x","description":"y"}],"clearExisting":true}`, "goals[0].match has nothing to fit"},
		"an unbounded priority":        {`{"goals":[{"description":"x","priority":100000}]}`, "goals[0]: priority must be between"},
		"too many at once":             {`{"goals":[` + strings.Repeat(`{"description":"x"},`, 50) + `{"description":"x"}]}`, "at most 50 are allowed in one call"},
		"a delete of what is not said": {`{"matches":[]}`, "set deleteAll to true"},
		"a delete of nothing":          {`{"matches":["x"," "]}`, "matches has an empty entry"},
	} {
		t.Run(about, func(t *testing.T) {
			name := "setGoals"
			if strings.HasPrefix(c[0], `{"matches`) {
				name = "deleteGoals"
			}
			if text := w.call(r, name, c[0]); !strings.HasPrefix(text, "failed: Error: ") || !strings.Contains(text, c[1]) {
				t.Errorf("the result is %s, want %q", text, c[1])
			}
		})
	}
	t.Run("deleting says what became of each match", func(t *testing.T) {
		got := read(t, w.call(r, "deleteGoals", `{"matches":["ann","sell","nowhere","ann today"]}`))
		expect(t, "the answer", words(len(got.Deleted), got.Deleted[0].Text, got.Ambiguous[0].Match, len(got.Ambiguous[0].Candidates), got.NotFound, got.Remaining), "1 Answer Ann today sell 2 [nowhere] 2")
	})
	t.Run("clearing replaces", func(t *testing.T) {
		got := set(`{"goals":[{"description":"only"}],"clearExisting":true}`)
		expect(t, "what there is", words(got.Total, got.Current[0].Description), "1 only")
		all := read(t, w.call(r, "deleteGoals", `{"deleteAll":true}`))
		expect(t, "after all are deleted", words(len(all.Deleted), all.Remaining), "1 0")
	})
	t.Run("there is an end to it", func(t *testing.T) {
		fifty := `{"goals":[` + strings.TrimSuffix(strings.Repeat(`{"description":"x"},`, 50), ",") + `]}`
		for range 4 {
			expect(t, "what happened", len(set(fifty).Modified), 50)
		}
		expect(t, "one more", w.call(r, "setGoals", `{"goals":[{"description":"x"}]}`), "failed: Error: goals would be 201; you can have at most 200: delete some first")
	})
}

func TestMemories(t *testing.T) {
	w := newWorld(t)
	r := w.ask("ann", "shop", "hello")
	set := func(arguments string) result { t.Helper(); return read(t, w.call(r, "setMemories", arguments)) }

	got := set(`{"memories":[{"topic":"ann","content":"likes red","metadata":{"a":1}},{"topic":"ann","content":"likes blue"},{"content":"opens at nine"}]}`)
	expect(t, "what happened", got.statuses(), "created created created")
	expect(t, "two hits", set(`{"memories":[{"match":"likes","content":"x"}]}`).statuses(), "ambiguous")
	w.now = shoal.At(w.now.Add(1e9))
	got = set(`{"memories":[{"match":"RED","content":"likes green"}]}`)
	expect(t, "what was changed last comes first, its topic stays", got.Current[0].Content+" "+got.Current[0].Topic, "likes green ann")

	for about, c := range map[string][2]string{
		"metadata other than an object": {`{"memories":[{"content":"x","metadata":[1]}]}`, "metadata"},
		"a topic of two lines":          {`{"memories":[{"content":"x","topic":"a\nb"}]}`, "memories[0]: topic must be one line"},
		"too much metadata":             {`{"memories":[{"content":"x","metadata":{"a":"` + strings.Repeat("a", shoal.MaxMetadata) + `"}}]}`, "memories[0]: metadata has"},
	} {
		t.Run(about, func(t *testing.T) {
			if text := w.call(r, "setMemories", c[0]); !strings.HasPrefix(text, "failed: ") || !strings.Contains(text, c[1]) {
				t.Errorf("the result is %s, want %q", text, c[1])
			}
		})
	}
	within := read(t, w.call(r, "deleteMemories", `{"topic":"Ann","matches":["opens","green"]}`))
	expect(t, "a match counts within its topic", words(within.NotFound, len(within.Deleted), within.Remaining), "[opens] 1 2")
	topic := read(t, w.call(r, "deleteMemories", `{"topic":"ann"}`))
	expect(t, "a topic alone is all of it", words(topic.Deleted[0].Text, topic.Remaining), "likes blue 1")
}

func TestPlans(t *testing.T) {
	w := newWorld(t)
	w.now = shoal.Now() // the hub's own clock judges what is past
	r := w.ask("ann", "shop", "hello")
	set := func(arguments string) result { t.Helper(); return read(t, w.call(r, "setPlans", arguments)) }

	got := set(`{"plans":[{"name":"Report","cron":"30 2 * * *","timeZone":"Europe/Berlin","instruction":"Report to shop."},{"name":"Call Ann","scheduledAt":"2999-01-01T09:00:00","timeZone":"Asia/Tokyo"}]}`)
	expect(t, "what happened", got.statuses(), "created created")
	if next := got.Modified[0].NextRunAt; next == nil || !next.After(w.now.Time) {
		t.Errorf("the first plan comes at %v", next)
	}
	expect(t, "a time without an offset", got.Modified[1].NextRunAt.String(), "2999-01-01T00:00:00.000Z")
	expect(t, "what comes first comes first", got.Current[0].Name, "Report")

	t.Run("a change leaves the rest", func(t *testing.T) {
		got := set(`{"plans":[{"match":"report","name":"Daily report","cron":"@daily"}]}`)
		p := got.Current[0]
		expect(t, "the plan", p.Name+" "+p.TimeZone+" "+p.Instruction, "Daily report Europe/Berlin Report to shop.")
	})
	t.Run("a paused plan does not come", func(t *testing.T) {
		got := set(`{"plans":[{"match":"daily","name":"Daily report","status":"paused"}]}`)
		if got.Modified[0].NextRunAt != nil {
			t.Errorf("it comes at %v", got.Modified[0].NextRunAt)
		}
		got = set(`{"plans":[{"match":"daily","name":"Daily report","status":"pending"}]}`)
		if got.Modified[0].NextRunAt == nil {
			t.Error("it does not come although it is pending again")
		}
	})
	for about, c := range map[string][2]string{
		"no time":                   {`{"name":"x"}`, "plans[0]: cron or scheduledAt is needed"},
		"both times":                {`{"name":"x","cron":"@daily","scheduledAt":"2999-01-01T00:00:00Z"}`, "plans[0]: cron and scheduledAt exclude each other"},
		"no cron":                   {`{"name":"x","cron":"every morning"}`, `plans[0]: cron "every morning" is not a cron expression`},
		"a day that does not exist": {`{"name":"x","cron":"0 0 31 2 *"}`, "never occurs"},
		"every second":              {`{"name":"x","cron":"@every 1s"}`, "plans[0]: cron"},
		"no zone":                   {`{"name":"x","cron":"@daily","timeZone":"Mars"}`, `plans[0]: timeZone "Mars" is not a time zone`},
		"no time at all":            {`{"name":"x","scheduledAt":"tomorrow"}`, `plans[0]: scheduledAt "tomorrow" is not a time`},
		"what is past":              {`{"name":"x","scheduledAt":"2001-01-01T00:00:00Z"}`, "plans[0]: scheduledAt"},
		"no name":                   {`{"name":"","cron":"@daily"}`, "plans[0]: name is missing"},
		"an unknown status":         {`{"name":"x","cron":"@daily","status":"soon"}`, "plans[0]: status must be"},
		"too long an instruction":   {`{"name":"x","cron":"@daily","instruction":"` + strings.Repeat("a", shoal.MaxSummary+1) + `"}`, "plans[0]: instruction has"},
	} {
		t.Run(about, func(t *testing.T) {
			if text := w.call(r, "setPlans", `{"plans":[`+c[0]+`]}`); !strings.HasPrefix(text, "failed: ") || !strings.Contains(text, c[1]) {
				t.Errorf("the result is %s, want %q", text, c[1])
			}
		})
	}
	t.Run("a canceled plan is a previous one", func(t *testing.T) {
		got := set(`{"plans":[{"match":"call","name":"Call Ann","status":"canceled"}]}`)
		expect(t, "what happened", got.statuses(), "updated")
		for arguments, want := range map[string]string{`{}`: `"name":"Call Ann"`, `{"status":"canceled"}`: `"total":1`, `{"status":"completed"}`: `{"plans":[],"total":0}`, `{"status":"pending"}`: "failed: Error: status must be completed or canceled"} {
			if text := w.call(r, "getPreviousPlans", arguments); !strings.Contains(text, want) {
				t.Errorf("%s gives %s, want %s", arguments, text, want)
			}
		}
		expect(t, "a match does not find it any more", set(`{"plans":[{"match":"call","name":"x","cron":"@daily"}]}`).statuses(), "not_found")
	})
	t.Run("deleting all leaves what is over", func(t *testing.T) {
		all := read(t, w.call(r, "deletePlans", `{"deleteAll":true}`))
		expect(t, "the answer", words(len(all.Deleted), all.Remaining), "1 0")
		if text := w.call(r, "getPreviousPlans", `{}`); !strings.Contains(text, "Call Ann") {
			t.Errorf("previous plans are %s", text)
		}
	})
}

// A run without its lease changes nothing, and the model receives no result.
func TestNotesOfALostLease(t *testing.T) {
	w := newWorld(t)
	r := w.ask("ann", "shop", "hello")
	lost := *r
	lost.Lease.Generation--
	for name, arguments := range map[string]string{
		"setGoals": `{"goals":[{"description":"x"}]}`, "setMemories": `{"memories":[{"content":"x"}]}`, "setPlans": `{"plans":[{"name":"x","cron":"@daily"}]}`,
		"deleteGoals": `{"deleteAll":true}`, "deleteMemories": `{"deleteAll":true}`, "deletePlans": `{"deleteAll":true}`,
	} {
		if err := w.try(&lost, name, arguments); err == nil || !strings.Contains(err.Error(), runs.ErrLeaseLost.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	expect(t, "what there is", read(t, w.call(r, "setGoals", `{"goals":[{"match":"x","description":"x"}]}`)).Total, 0)
}
