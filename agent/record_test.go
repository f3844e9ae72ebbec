package agent

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fullRecord is a record with every field set.
func fullRecord(t *testing.T) Record {
	t.Helper()
	store := NewMemory()
	c := waiting(t, store, "cnv_all", Pending{ID: "p", Kind: Clarification, Conversation: "cnv_all", Question: "?", Options: []string{"a"}})
	ok(t, c.Answer(t.Context(), Answer{PendingID: "p", Text: "a", By: "ann"}))
	ok(t, c.SetDisplayName(t.Context(), "Name"))
	ok(t, c.SetMetadata(t.Context(), "k", "v"))
	ok(t, c.change(t.Context(), func(r *Record) error {
		r.Parent = "cnv_parent"
		r.Summary = &Summary{Text: "so far", Covers: 2}
		r.Rules = map[string]PermissionRule{"x": AlwaysDeny}
		r.ContextState = map[string]json.RawMessage{"memory": json.RawMessage(`{"n":1}`)}
		return nil
	}))
	return loaded(t, c)
}

func TestExportRoundTripsEverything(t *testing.T) {
	ctx := t.Context()
	want := fullRecord(t)
	for i := range reflect.ValueOf(want).NumField() {
		if reflect.ValueOf(want).Field(i).IsZero() {
			t.Fatalf("the test leaves %s empty", reflect.TypeOf(want).Field(i).Name)
		}
	}
	source := NewMemory()
	want.Revision = 0
	ok(t, source.Replace(ctx, want))
	data, err := OpenConversation(source, want.ID).Export(ctx)
	ok(t, err)
	target := NewMemory()
	c, err := Import(ctx, target, data)
	ok(t, err)
	again, err := c.Export(ctx)
	ok(t, err)
	if string(again) != string(data) {
		t.Errorf("exported again it is\n%s\nwant\n%s", again, data)
	}
	got := loaded(t, c)
	if got.DisplayName != "Name" || !got.LastActivity.Equal(want.LastActivity) || got.Open.Steps[1].Pending[0].Answer.By != "ann" || got.Revision != 1 {
		t.Errorf("imported is %+v", got)
	}
	_, err = Import(ctx, target, data)
	kind(t, err, ErrConflict, "cnv_all already")
}

func TestImportRefuses(t *testing.T) {
	data, err := encodeCheckpoint(fullRecord(t))
	ok(t, err)
	for _, c := range []struct {
		name, old, new string
		kind           ErrorKind
		says           string
	}{
		{"no JSON", `{`, ``, ErrInvalidJSON, "JSON"},
		{"another kind", checkpointKind, "redis.thread", ErrInvalidArgument, `unknown kind "redis.thread"`},
		{"no kind", `"kind"`, `"sort"`, ErrInvalidArgument, `unknown kind ""`},
		{"a newer version", `"version":1`, `"version":7`, ErrInvalidArgument, "Checkpoint version 7 is newer than supported version 1."},
		{"no version", `"version":1`, `"version":0`, ErrInvalidArgument, "Checkpoint has invalid version 0"},
		{"a negative revision", `"revision":`, `"revision":-`, ErrInvalidArgument, "Checkpoint has invalid revision -"},
		{"a negative base", `"base":0`, `"base":-1`, ErrInvalidArgument, "Checkpoint has invalid base -1"},
		{"a negative attempt", `"attempt":1`, `"attempt":-1`, ErrInvalidArgument, "Checkpoint has invalid attempt -1"},
		{"a negative step", `"index":1`, `"index":-1`, ErrInvalidArgument, "Checkpoint has invalid step index -1"},
		{"a missing step", `"index":1`, `"index":2`, ErrConflict, "Checkpoint is stale."},
		{"other messages", `"base":0`, `"base":4`, ErrConflict, "Checkpoint is stale. Conversation has 3 messages but checkpoint expects 7."},
		{"a result of no call", `"callId":"c2"`, `"callId":"zz"`, ErrConflict, "Checkpoint is stale."},
		{"no id", `"id":"cnv_all"`, `"id":""`, ErrInvalidArgument, "without an id"},
		{"a summary of too much", `"covers":2`, `"covers":9`, ErrConflict, "Checkpoint is stale."},
		{"an unknown role", `"role":"user"`, `"role":"boss"`, ErrInvalidArgument, "boss"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(string(data), c.old, c.new, 1)
			if changed == string(data) {
				t.Fatalf("there is no %s in %s", c.old, data)
			}
			_, err := Import(t.Context(), NewMemory(), []byte(changed))
			kind(t, err, c.kind, c.says)
		})
	}
}

func TestOlderVersionsAreMigrated(t *testing.T) {
	data, err := encodeCheckpoint(Record{ID: "old", DisplayName: "title"})
	ok(t, err)
	data = []byte(strings.Replace(string(data), "displayName", "title", 1))
	renamed := func(record json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(strings.Replace(string(record), `"title"`, `"displayName"`, 1)), nil
	}
	defer func(was []func(json.RawMessage) (json.RawMessage, error)) { upgrades = was }(upgrades)
	upgrades = append(upgrades, renamed)
	c, err := Import(t.Context(), NewMemory(), data)
	ok(t, err)
	if r := loaded(t, c); r.DisplayName != "title" {
		t.Errorf("migrated to %+v", r)
	}
	upgrades = append(upgrades[:0:0], func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no") })
	_, err = Import(t.Context(), NewMemory(), data)
	kind(t, err, ErrInvalidArgument, "version 1 could not be migrated")
}

func TestValidate(t *testing.T) {
	if err := (Record{}).validate(); err != nil {
		t.Errorf("the empty record: %v", err)
	}
	good := fullRecord(t)
	ok(t, good.validate())
	for name, spoil := range map[string]func(r *Record, o *OpenTurn, last *Step){
		"an open step before the last": func(_ *Record, o *OpenTurn, _ *Step) { o.Steps[0].Done = false },
		"a done step that lacks results": func(r *Record, _ *OpenTurn, last *Step) {
			last.Done = true
			r.Messages = append(r.Messages, last.Messages()...)
		},
		"results out of order": func(_ *Record, _ *OpenTurn, last *Step) {
			last.Results = append(last.Results, ToolResult{CallID: "c1"})
		},
		"two results of one call":  func(_ *Record, _ *OpenTurn, last *Step) { last.Results = append(last.Results, last.Results[0]) },
		"a message too many":       func(r *Record, _ *OpenTurn, _ *Step) { r.Messages = append(r.Messages, Say("x")) },
		"a message too few":        func(_ *Record, o *OpenTurn, _ *Step) { o.Input = append(o.Input, Say("x")) },
		"an orphan call":           func(r *Record, _ *OpenTurn, _ *Step) { r.Messages, r.Summary, r.Open = tale("uA"), nil, nil },
		"an empty turn id":         func(_ *Record, o *OpenTurn, _ *Step) { o.ID = "" },
		"negative tokens":          func(_ *Record, _ *OpenTurn, last *Step) { last.Usage.InputTokens = -1 },
		"a negative cost":          func(_ *Record, _ *OpenTurn, last *Step) { last.Cost = -1 },
		"a step spoken by a user":  func(_ *Record, _ *OpenTurn, last *Step) { last.Assistant.Role = User },
		"a negative summary":       func(r *Record, _ *OpenTurn, _ *Step) { r.Summary = &Summary{Covers: -1} },
		"negative thoughts":        func(r *Record, _ *OpenTurn, _ *Step) { r.Summary = &Summary{Thoughtless: -1} },
		"a call without its thing": func(_ *Record, _ *OpenTurn, last *Step) { last.Assistant.Parts = []Part{{Type: CallPart}} },
	} {
		t.Run(name, func(t *testing.T) {
			r := fullRecord(t)
			spoil(&r, r.Open, &r.Open.Steps[len(r.Open.Steps)-1])
			err := r.validate()
			if k := KindOf(err); k != ErrConflict && k != ErrInvalidArgument {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTimesSurviveTheStore(t *testing.T) {
	c := with(t, Say("x"))
	data, err := c.Export(t.Context())
	ok(t, err)
	back, err := Import(t.Context(), NewMemory(), data)
	ok(t, err)
	if a, b := loaded(t, c), loaded(t, back); !a.CreatedAt.Equal(b.CreatedAt) || !a.LastActivity.Equal(b.LastActivity) || time.Since(a.CreatedAt) > time.Hour {
		t.Errorf("%s and %s became %s and %s", a.CreatedAt, a.LastActivity, b.CreatedAt, b.LastActivity)
	}
}
