package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

var eve = shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "eve", KeyID: "eve"}

// everything returns all events that a follower receives until it would have to wait.
func everything(t *testing.T, f *feed.Follower) string {
	t.Helper()
	var all strings.Builder
	for {
		events, err := f.Next(context.Background(), time.Now().Add(time.Millisecond))
		must(t, err)
		if len(events) == 0 {
			return all.String()
		}
		for _, ev := range events {
			fmt.Fprintf(&all, "%s %s\n", ev.Type, ev.Data)
		}
	}
}

// A client can put any parts into a cursor. It receives nothing of parts for another member
// or in another space.
func TestForgedCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		h := shop(t, nil)
		putAgent(t, h, "bot", nil)
		must(t, second(h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: "eve"}, "")))
		must(t, second(h.Spaces.Join(ctx, ann, shoal.DefaultSession, "shop", "eve")))
		must(t, second(h.Spaces.Create(ctx, ann, shoal.DefaultSession, shoal.NewSpace{ID: "den", Name: "den", Members: []shoal.EntityID{"bot"}}, "")))
		must(t, second(say(h, "go")))
		run, lease := claimOne(t, h, "w")
		cursor := func() shoal.Cursor {
			f, err := h.Events.Follow(ctx, eve, feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop"})
			must(t, err)
			defer f.Close()
			events, err := f.Next(ctx, time.Now().Add(time.Minute))
			must(t, err)
			return events[0].Cursor
		}
		begin := func(id shoal.MessageID, space shoal.SpaceID, target shoal.EntityID) {
			part := shoal.Part{ID: shoal.PartID("prt_" + string(id)), Type: shoal.TextPart, Status: shoal.PartStreaming, Text: "SECRET draft", Target: target}
			head := shoal.PartHead{MessageID: id, PartID: part.ID}
			must(t, write(h, lease, func(c *runs.RunChange) error {
				m := shoal.Message{ID: id, SpaceID: space, Parts: []shoal.Part{part}}
				if _, err := c.OpenMessage(m, nil); err != nil {
					return err
				}
				if err := c.EmitPart(space, target, shoal.EventTextStart, &shoal.TextData{PartHead: head}); err != nil {
					return err
				}
				return c.SaveMessage(m, nil)
			}))
			h.Work.Relay(lease, []live.Delta{{Space: space, Message: id, Part: part.ID, Target: target, Text: "SECRET live"}})
		}
		must(t, write(h, lease, (*runs.RunChange).Start))
		begin("msg_hers", "shop", "ann")
		begin("msg_there", "den", "")
		for _, when := range []string{"live", "stored"} {
			if when == "stored" { // the state after a restart of the server
				must(t, write(h, lease, func(c *runs.RunChange) error {
					c.Run.Owner = ""
					return nil
				}))
			}
			forged := cursor() + ",msg_hers/prt_msg_hers=0,msg_there/prt_msg_there=0"
			for name, req := range map[string]feed.FollowRequest{"the space": {Space: "shop"}, "everything": {}, "the run": {Run: run.ID}} {
				req.Session, req.After = shoal.DefaultSession, forged
				f, err := h.Events.Follow(ctx, eve, req)
				must(t, err)
				if seen := everything(t, f); strings.Contains(seen, "SECRET") {
					t.Errorf("%s: a follower of %s received\n%s", when, name, seen)
				}
				f.Close()
			}
		}
	})
}

// An agent that waits for a reply in a space learns nothing of that space after it has been
// removed: its wait ends.
func TestWaitEndsWithMembership(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, h *hub.Hub){
		"removed": func(t *testing.T, h *hub.Hub) {
			must(t, second(h.Spaces.Leave(context.Background(), ann, shoal.DefaultSession, "shop", "bot")))
			must(t, second(h.Messages.Post(context.Background(), ann, shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("SECRET")}}, "")))
		},
		"closed": func(t *testing.T, h *hub.Hub) {
			must(t, second(h.Spaces.Close(context.Background(), ann, shoal.DefaultSession, "shop", "over")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				h := shop(t, nil)
				admin := shoal.EntityID("bot")
				putAgent(t, h, "bot", nil)
				must(t, second(h.Spaces.Update(ctx, ann, shoal.DefaultSession, "shop", shoal.SpaceChange{AdminAgentID: &admin})))
				putAgent(t, h, "clerk", nil) // the space keeps a hosted agent
				must(t, second(h.Spaces.Join(ctx, ann, shoal.DefaultSession, "shop", "clerk")))
				must(t, second(say(h, "go")))
				run, lease := claimOne(t, h, "w")
				must(t, write(h, lease, func(c *runs.RunChange) error {
					if err := c.Start(); err != nil {
						return err
					}
					if _, err := c.OpenPending(storage.Pending{
						PendingAction: shoal.PendingAction{Kind: storage.PendingReply}, Request: "r",
						Reply: &storage.ReplyWait{Space: "shop", After: 1, For: []storage.ReplyFrom{{Type: "any"}}},
					}); err != nil {
						return err
					}
					return c.Suspend()
				}))
				end(t, h)
				must(t, h.Work.Read(ctx, func(tx storage.Tx) error {
					rows, err := tx.PendingOf(shoal.DefaultSession, run.ID)
					if err == nil && (rows[0].Status != shoal.PendingAnswered || string(rows[0].Answer.Result) != `{"timedOut":true,"reply":null}`) {
						t.Errorf("the wait is %s with %s, want answered without a reply", rows[0].Status, asJSON(rows[0].Answer))
					}
					return err
				}))
				again, err := h.Work.Claim(ctx, "w", 10, longLease)
				must(t, err)
				if len(again) == 0 || again[0].ID != run.ID {
					t.Errorf("claimed %v, want %s to continue", again, run.ID)
				}
			})
		})
	}
}

// A member of a space that a run has written to follows the run to its end, even if another
// space started it, without the content of that space.
func TestFollowRunFromAnotherSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		h := shop(t, nil)
		putAgent(t, h, "bot", nil)
		must(t, second(h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: "eve"}, "")))
		must(t, second(h.Spaces.Create(ctx, eve, shoal.DefaultSession, shoal.NewSpace{ID: "den", Name: "den", Members: []shoal.EntityID{"bot"}}, "")))
		must(t, second(say(h, "SECRET order")))
		run, lease := claimOne(t, h, "w")
		must(t, write(h, lease, func(c *runs.RunChange) error {
			if err := c.Start(); err != nil {
				return err
			}
			return mention(c, "den", "eve")
		}))
		f, err := h.Events.Follow(ctx, eve, feed.FollowRequest{Session: shoal.DefaultSession, Run: run.ID})
		must(t, err)
		defer f.Close()
		where := shoal.SpaceID("shop")
		must(t, write(h, lease, func(c *runs.RunChange) error {
			if _, err := c.OpenPending(storage.Pending{
				PendingAction: shoal.PendingAction{Kind: shoal.PendingClientTool, SpaceID: &where, ToolCallID: "call-1", ToolName: "card", Args: json.RawMessage(`{"say":"SECRET"}`)},
				Request:       "r1",
			}); err != nil {
				return err
			}
			return c.Suspend()
		}))
		must(t, second(h.Runs.Cancel(ctx, ann, shoal.DefaultSession, run.ID)))
		_, lease = claimOne(t, h, "w")
		must(t, write(h, lease, func(c *runs.RunChange) error { return c.Finish(shoal.RunCanceled, &shoal.RunError{Code: "canceled"}) }))
		synctest.Wait()
		seen := everything(t, f)
		for _, want := range []string{"run.waiting_tool", "run.canceled"} {
			if !strings.Contains(seen, want+" {") {
				t.Errorf("the follower received no %s:\n%s", want, seen)
			}
		}
		if strings.Contains(seen, "SECRET") || strings.Contains(seen, "card") {
			t.Errorf("eve received content of the other space:\n%s", seen)
		}
	})
}

// A post cannot mark its parts as private or as being for one member.
func TestPostedPartsAreVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		h := shop(t, nil)
		f, err := h.Events.Follow(ctx, bot, feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop"})
		must(t, err)
		defer f.Close()
		var parts []shoal.Part
		must(t, json.Unmarshal([]byte(`[{"type":"text","text":"hello","private":true,"targetEntityId":"ann"},{"type":"data","name":"chart","data":[1],"private":true}]`), &parts))
		posted, err := h.Messages.Post(ctx, ann, shoal.DefaultSession, "shop", shoal.Draft{Parts: parts}, "")
		must(t, err)
		synctest.Wait()
		read, err := h.Messages.Read(ctx, bot, shoal.DefaultSession, "shop", storage.Page{Limit: 10})
		must(t, err)
		for name, seen := range map[string]string{"the answer": asJSON(posted), "the timeline": asJSON(read), "the stream": everything(t, f)} {
			if !strings.Contains(seen, "hello") || !strings.Contains(seen, "[1]") {
				t.Errorf("%s is %s", name, seen)
			}
		}
	})
}

// An answer that is nested too deeply for JSON decoders is rejected and settles nothing.
func TestDeeplyNestedAnswer(t *testing.T) {
	ctx := context.Background()
	h := shop(t, nil)
	putAgent(t, h, "bot", nil)
	must(t, second(say(h, "go")))
	run, lease := claimOne(t, h, "w")
	where := shoal.SpaceID("shop")
	must(t, write(h, lease, func(c *runs.RunChange) error {
		if err := c.Start(); err != nil {
			return err
		}
		if _, err := c.OpenPending(storage.Pending{
			PendingAction: shoal.PendingAction{Kind: shoal.PendingClientTool, SpaceID: &where, ToolCallID: "call-1", ToolName: "card"}, Request: "r1",
		}); err != nil {
			return err
		}
		return c.Suspend()
	}))
	for _, depth := range []int{shoal.MaxDepth + 1, 9_999, 10_000, 20_000} {
		deep := json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		_, err := h.Pending.AnswerCall(ctx, ann, shoal.DefaultSession, run.ID, "call-1", shoal.PendingAnswer{Result: deep})
		if !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("a result %d levels deep: got %v, want InvalidArgument", depth, err)
		}
	}
	must(t, second(h.Pending.AnswerCall(ctx, ann, shoal.DefaultSession, run.ID, "call-1", shoal.PendingAnswer{Result: json.RawMessage(`1`)})))
}

// Filters with an invalid id are rejected without a query, which not every database would
// accept.
func TestInvalidFilterIDs(t *testing.T) {
	ctx := context.Background()
	h := shop(t, nil)
	for name, err := range map[string]error{
		"the actions of a space": second(h.Pending.List(ctx, ann, shoal.DefaultSession, storage.PendingFilter{Space: "a\x00b"})),
		"the actions of a run":   second(h.Pending.List(ctx, root, shoal.DefaultSession, storage.PendingFilter{Run: "a\x00b"})),
		"the runs of an agent":   second(h.Runs.List(ctx, ann, shoal.DefaultSession, storage.RunFilter{Agent: "a\x00b"})),
		"the usage of an agent":  second(h.Usage.Sum(ctx, root, shoal.DefaultSession, storage.UsageQuery{Agent: "a\x00b"})),
		"the usage of a run":     second(h.Usage.Sum(ctx, root, shoal.DefaultSession, storage.UsageQuery{Run: "a\x00b"})),
	} {
		if !errors.Is(err, shoal.NotFound) {
			t.Errorf("%s: %v, want NotFound", name, err)
		}
	}
}

// A run whose agent is removed from its space while the run is about to suspend is
// claimable again: its streaming message there must be closed, and only the run can do
// that.
func TestSuspendAfterMembershipEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		h := shop(t, nil)
		putAgent(t, h, "bot", nil)
		must(t, second(say(h, "go")))
		run, lease := claimOne(t, h, "w")
		must(t, write(h, lease, func(c *runs.RunChange) error {
			if err := c.Start(); err != nil {
				return err
			}
			return second(c.OpenMessage(shoal.Message{SpaceID: "shop"}, nil))
		}))
		must(t, second(h.Spaces.Leave(ctx, ann, shoal.DefaultSession, "shop", "bot")))
		must(t, write(h, lease, func(c *runs.RunChange) error {
			if _, err := c.OpenPending(storage.Pending{
				PendingAction: shoal.PendingAction{Kind: shoal.PendingClientTool, ToolCallID: "call-1", ToolName: "card"}, Request: "r1",
			}); err != nil {
				return err
			}
			return c.Suspend()
		}))
		if again, _ := claimOne(t, h, "w"); again.ID != run.ID {
			t.Errorf("claimed %s, want %s", again.ID, run.ID)
		}
	})
}

// An admin can answer only as an entity that may answer: not as one that does not exist or
// is not in the space.
func TestAdminAnswersAsMember(t *testing.T) {
	ctx := context.Background()
	h := shop(t, nil)
	putAgent(t, h, "bot", nil)
	must(t, second(h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: "eve"}, "")))
	must(t, second(say(h, "go")))
	_, lease := claimOne(t, h, "w")
	where := shoal.SpaceID("shop")
	var id, nowhere shoal.PendingID
	must(t, write(h, lease, func(c *runs.RunChange) (err error) {
		if err := c.Start(); err != nil {
			return err
		}
		id, err = c.OpenPending(storage.Pending{
			PendingAction: shoal.PendingAction{Kind: shoal.PendingPermission, SpaceID: &where, ToolName: "order"}, Request: "r1", Policy: storage.Policy{By: []shoal.EntityID{"members"}, Quorum: 2, Targeted: true},
		})
		if err != nil {
			return err
		}
		nowhere, err = c.OpenPending(storage.Pending{PendingAction: shoal.PendingAction{Kind: shoal.PendingPermission, ToolName: "order"}, Request: "r2", Policy: storage.Policy{By: []shoal.EntityID{"ann"}}})
		if err != nil {
			return err
		}
		return c.Suspend()
	}))
	yes := true
	for _, x := range []struct {
		action shoal.PendingID
		as     shoal.EntityID
		want   error
	}{
		{id, "ghost", shoal.NotFound},
		{id, "eve", shoal.Forbidden},
		{id, "bot", shoal.Forbidden},
		{id, "ann", nil},
		{nowhere, "ghost", shoal.NotFound},
		{nowhere, "eve", shoal.Forbidden},
		{nowhere, "ann", nil}, // the policy names her
	} {
		as := root
		as.EntityID = x.as
		_, err := h.Pending.Answer(ctx, as, shoal.DefaultSession, x.action, shoal.PendingAnswer{Approved: &yes})
		if !errors.Is(err, x.want) {
			t.Errorf("an admin approves as %s: %v, want %v", x.as, err, x.want)
		}
	}
}

// countingStore counts changes, and what they read: the data of files, and runs.
type countingStore struct {
	storage.Store
	updates int
	files   int
	runs    int // the most that one query returned
}

type countingTx struct {
	storage.Tx
	s *countingStore
}

func (s *countingStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	s.updates++
	return s.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return fn(countingTx{tx, s}) })
}

// A guessed code of an invitation, and a name that is refused, start no change: a change that may
// touch any session excludes all others, and guesses need no key.
func TestGuessedInvitationsChangeNothing(t *testing.T) {
	ctx := t.Context()
	store := &countingStore{Store: shoaltest.OpenSQLite(t)}
	h := shop(t, func(o *hub.Options) { o.Store = store })
	_, _, err := h.Invites.Create(ctx, root, shoal.DefaultSession, shoal.NewInvite{}, "right", "")
	must(t, err)
	before := store.updates
	for range 3 {
		if _, _, err := h.Invites.Accept(ctx, "guess", "Cleo", "key"); !errors.Is(err, shoal.Unauthenticated) {
			t.Errorf("a guess: %v", err)
		}
		if _, _, err := h.Invites.Accept(ctx, "right", "a\u202eb", "key"); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("a name that misleads: %v", err)
		}
	}
	if n := store.updates - before; n != 0 {
		t.Errorf("guesses made %d changes", n)
	}
	_, _, err = h.Invites.Accept(ctx, "right", "Cleo", "key")
	must(t, err)
}

func (t countingTx) File(session shoal.SessionID, id shoal.FileID) (shoal.File, shoal.EntityID, []byte, error) {
	t.s.files++
	return t.Tx.File(session, id)
}

// Posting a message with files does not read their data: many large files would keep other
// callers from writing.
func TestPostReadsNoFileData(t *testing.T) {
	ctx := context.Background()
	store := &countingStore{Store: shoaltest.OpenSQLite(t)}
	h := shop(t, func(o *hub.Options) { o.Store = store })
	url := func(id shoal.FileID) string { return shoal.FilePath(shoal.DefaultSession, id) }
	file, err := h.Files.Upload(ctx, ann, shoal.DefaultSession, shoal.File{Name: "a.png", MediaType: "image/png"}, []byte("picture"), url, "")
	must(t, err)
	part := shoal.Part{Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", Size: 7, URL: file.URL}
	parts := make([]shoal.Part, shoal.MaxParts)
	for i := range parts {
		parts[i] = part
	}
	must(t, second(h.Messages.Post(ctx, ann, shoal.DefaultSession, "shop", shoal.Draft{Parts: parts}, "")))
	if store.files != 0 {
		t.Errorf("the data was read %d times, want 0", store.files)
	}
	if _, data, err := h.Files.Get(ctx, bot, shoal.DefaultSession, file.ID); err != nil || string(data) != "picture" {
		t.Errorf("bot gets %q, %v", data, err)
	}
}

// A step without tool calls has an empty list of them in every response.
func TestStepsHaveToolCallLists(t *testing.T) {
	ctx := context.Background()
	h := shop(t, nil)
	putAgent(t, h, "bot", nil)
	must(t, second(say(h, "go")))
	run, lease := claimOne(t, h, "w")
	must(t, write(h, lease, func(c *runs.RunChange) error {
		return c.PutStep(shoal.DefaultSession, run.ID, storage.Step{Step: shoal.Step{Model: "script", StartedAt: shoal.Now()}, Data: json.RawMessage(`{}`)})
	}))
	f, err := h.Events.Follow(ctx, root, feed.FollowRequest{Session: shoal.DefaultSession, Run: run.ID})
	must(t, err)
	defer f.Close()
	steps, err := h.Runs.Steps(ctx, root, shoal.DefaultSession, run.ID)
	must(t, err)
	for name, seen := range map[string]string{"the list": asJSON(steps), "the snapshot": everything(t, f)} {
		if !strings.Contains(seen, `"toolCalls":[]`) {
			t.Errorf("%s is %s", name, seen)
		}
	}
}

func (t countingTx) Runs(session shoal.SessionID, filter storage.RunFilter) ([]storage.Run, error) {
	runs, err := t.Tx.Runs(session, filter)
	t.s.runs = max(t.s.runs, len(runs))
	return runs, err
}

// The number of runs that a message reads is bounded, however many runs of the agent are
// waiting, and so is the number that the end of a run reads.
func TestRunReadsAreBounded(t *testing.T) {
	for _, mode := range []string{"parallel", "enqueue", "reject"} {
		ctx := context.Background()
		store := &countingStore{Store: shoaltest.OpenSQLite(t)}
		h := shop(t, func(o *hub.Options) { o.Store = store })
		putAgent(t, h, "bot", nil)
		for range 2*shoal.MaxPage + 10 {
			must(t, second(say(h, "go")))
		}
		putAgent(t, h, "bot", func(a *storage.Agent) { a.OnNewMessage = mode })
		store.runs = 0
		must(t, second(say(h, "one more")))
		claimed, err := h.Work.Claim(ctx, "w", 1, longLease)
		must(t, err)
		must(t, write(h, runs.Lease{Session: shoal.DefaultSession, Run: claimed[0].ID, Generation: claimed[0].Generation}, complete))
		if store.runs > shoal.MaxPage {
			t.Errorf("%s: one query read %d runs, want at most a page", mode, store.runs)
		}
	}
}
