package hub_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Model requests are deleted with the runs that ended long ago, except for texts that other
// requests use. Nothing is deleted while a run is in progress.
func TestPromptRetention(t *testing.T) {
	h, store := openHub(t, sqlite(t))
	at := func(day int) shoal.Time { return shoal.At(shoal.Now().AddDate(0, 0, day)) }
	text := func(v any) storage.ModelText {
		out, err := runs.NewModelText(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var history []storage.ModelText // long enough for lists of lists
	for i := range 1100 {
		history = append(history, text(shoal.ModelMessage{Role: "user", Content: []shoal.ModelContent{{Type: shoal.ModelText, Text: fmt.Sprint(i)}}}))
	}
	send := func(run shoal.RunID, ended *shoal.Time, system string, messages []storage.ModelText) {
		t.Helper()
		sent := runs.NewSentRequest(0, "m", text(system), text([]shoal.ModelTool{}), messages)
		err := store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
			r := storage.Run{Version: 1, Generation: 1}
			r.ID, r.SessionID, r.AgentID, r.Status, r.EndedAt = run, shoal.DefaultSession, "bot", shoal.RunCompleted, ended
			r.Trigger = shoal.Trigger{Type: shoal.ServiceTrigger}
			if err := tx.InsertRun(r); err != nil {
				return err
			}
			return (&runs.RunChange{Change: &core.Change{Tx: tx}, Run: &r}).SaveRequest(sent)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	old, young := at(-40), at(-1)
	send("old", &old, "an old prompt", slices.Concat(history[:1090], []storage.ModelText{text(shoal.ModelMessage{Role: "user"})}))
	send("young", &young, "a prompt", history)
	send("waiting", nil, "a third prompt", history[:40])
	countTexts := func() (n int) {
		t.Helper()
		err := store.View(t.Context(), func(tx storage.Tx) error {
			hashes, err := tx.TextHashes(shoal.DefaultSession, "", 10_000)
			n = len(hashes)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	forget := func() {
		t.Helper()
		if err := h.Retention.Sweep(t.Context(), at(0)); err != nil {
			t.Fatal(err)
		}
	}
	request := func(run shoal.RunID) (shoal.ModelRequest, error) {
		return h.Runs.Request(t.Context(), admin, shoal.DefaultSession, run, 0)
	}
	lease := func(run shoal.RunID, until *shoal.Time) {
		t.Helper()
		err := store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
			r, err := tx.Run(shoal.DefaultSession, run)
			if r.LeaseUntil = until; until != nil {
				r.Generation++
			}
			return errors.Join(err, tx.UpdateRun(r))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	month := (30 * 24 * time.Hour).Milliseconds()
	if _, err := h.Sessions.Change(t.Context(), admin, shoal.DefaultSession, shoal.SessionChange{Retention: &shoal.RetentionChange{PromptsForMs: &month}}); err != nil {
		t.Fatal(err)
	}
	before, tomorrow := countTexts(), at(1)
	lease("waiting", &tomorrow)
	forget()
	if _, err := request("old"); !errors.Is(err, shoal.NotFound) {
		t.Errorf("the old request: %v", err)
	}
	if countTexts() != before {
		t.Errorf("%d of %d texts remain while a run is in progress, want all", countTexts(), before)
	}
	lease("waiting", nil)
	send("old again", &old, "a prompt", history)
	forget()
	// The old prompt, the old last message, and the end of the old list.
	if gone := before - countTexts(); gone < 2 || gone > 4 {
		t.Errorf("%d of %d texts were deleted, want 2 to 4", gone, before)
	}
	for run, want := range map[shoal.RunID]int{"young": 1100, "waiting": 40} {
		if got, err := request(run); err != nil || len(got.Messages) != want || got.Messages[want-1].Content[0].Text != fmt.Sprint(want-1) {
			t.Errorf("the request of %s: %d messages, %v", run, len(got.Messages), err)
		}
	}
}
