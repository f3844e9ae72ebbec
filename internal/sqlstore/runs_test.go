package sqlstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/audit"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// everything stores at least one row in every table that belongs to a session.
func everything(tx storage.Tx) error {
	const session = "default"
	now, of := shoal.Now(), shoal.SessionID(session)
	run := storage.Run{Space: "shop", NotBefore: now, Conversation: "ann/shop"}
	run.ID, run.SessionID, run.AgentID, run.CreatedAt, run.Trigger.Type = "run_1", session, "ann", now, shoal.SpaceMessageTrigger
	waiting := storage.Pending{Session: session}
	waiting.ID, waiting.RunID, waiting.CreatedAt = "pnd_1", "run_1", now
	agent := storage.Agent{HostedAgent: shoal.HostedAgent{SessionID: session, ID: "ann", Version: 1, CreatedAt: now}}
	key := shoal.Key{ID: "key_1", Role: shoal.RoleEntity, SessionID: new(shoal.SessionID), CreatedAt: now}
	*key.SessionID = session
	revoked := key
	revoked.ID = "key_2"
	return errors.Join(
		post(tx, "msg_1", "hello"), post(tx, "msg_2", "hello"), tx.TrimEvents(session, "shop", 1),
		tx.EditMessage(shoal.Message{ID: "msg_1", SessionID: session, UpdatedAt: now, EditedAt: &now, Parts: []shoal.Part{shoal.Text("hello again")}}),
		errorOf(tx.AppendEvent(storage.Event{Session: session, Space: "shop", Type: shoal.EventSpaceUpdated, Data: []byte("{}")})),
		errorOf(tx.Acknowledge(session, "bob", storage.InboxFilter{After: 1}, 2, nil)), tx.MarkUnread(session, "shop", "bob", 2, 1),
		tx.MuteMember(session, "shop", "bob", true), post(tx, "msg_3", "hello"), tx.MuteMember(session, "shop", "bob", false),
		tx.InsertInvite(shoal.Invite{ID: "inv_1", SessionID: session, CreatedAt: now, ExpiresAt: now}, "hash", "key_1"),
		tx.InsertKey(key, "hash"), tx.InsertKey(revoked, "revoked"), tx.DeleteKey(session, "key_2"), tx.SetExplicit(session, "ann", "key_1"), tx.InsertAnswer(storage.AnswerKey{Session: session}, storage.Answer{At: now}),
		tx.InsertOAuthGrant(storage.OAuthGrant{Key: "key_1", Session: session, ClientID: "client_1", EndsAt: now}),
		tx.SavePush(storage.Push{PushSubscription: storage.PushSubscription{ID: "psh_1", CreatedAt: now, ExpiresAt: now}, Session: session, Entity: "ann"}),
		tx.PutHostedAgent(agent), tx.InsertRun(run), tx.PutStep(session, "run_1", storage.Step{}),
		tx.PutTexts(session, []storage.ModelText{{Hash: "h"}}), tx.PutRequest(session, "run_1", storage.Request{}),
		tx.PutClientInput(session, "run_1", storage.ClientInput{EntityID: "ann"}),
		tx.AppendRunWork(session, "run_1", storage.RunWork{Place: 1, Data: json.RawMessage("[]")}),
		tx.PutConversation(storage.Conversation{Session: session, ID: "ann/shop"}), tx.InsertCause(session, "msg_1", storage.Cause{}),
		tx.InsertPending(waiting), tx.InsertPlan(session, shoal.Plan{ID: "pln_1", CreatedAt: now}),
		tx.InsertRemembered(session, shoal.RememberedDecision{ID: "rem_1", CreatedAt: now, ExpiresAt: now}),
		tx.PutGoal(session, "ann", shoal.Goal{ID: "g"}), tx.PutMemory(session, "ann", shoal.Memory{ID: "m"}),
		errorOf(tx.Spend(session, "msg_1", storage.Spending{Tokens: 1})),
		tx.AddUsage(session, storage.StepUsage{Run: "run_1", At: now}), tx.InsertFile(session, shoal.File{ID: "fil_1"}, "", now, nil),
		tx.ShowFile(session, "fil_1", "shop"),
		tx.InsertSpace(shoal.Space{SessionID: session, ID: "gone", CreatedAt: now}), tx.DeleteSpace(session, "gone", 1),
		tx.SaveRunner(session, storage.RunnerRow{Runner: "rnr_1", Agent: "ann", Key: &key.ID}, 1),
		errorOf(tx.AppendAudit(audit.Record{SessionID: &of, At: now, Act: audit.SpaceCreate, Decision: audit.Allowed})),
		errorOf(tx.BeginErasure(storage.EntityRef{Session: session, ID: "ann"}, now)),
		errorOf(tx.PutRenderer(session, shoal.Renderer{Name: "card", CreatedAt: now}, nil)),
	)
}

// errorOf returns the error of a call with a result.
func errorOf[T any](_ T, err error) error { return err }

// The audit log is the exception: it says who has deleted the session.
func TestDeletedSessionLeavesNoRow(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		update(t, s, everything)
		if err := s.CatchUp(); err != nil {
			t.Fatal(err)
		}
		rows := func(tx storage.Tx, table string) int64 {
			n, err := sqlstore.Number(tx, `SELECT COUNT(*) FROM `+table+` WHERE session_id = 'default'`)
			if err != nil {
				t.Errorf("%s: %v", table, err)
			}
			return n
		}
		var tables []string
		update(t, s, func(tx storage.Tx) (err error) {
			tables, err = sqlstore.Tables(tx, "session_id")
			for _, table := range tables {
				if rows(tx, table) == 0 {
					t.Errorf("%s is empty before, so this test does not see whether it is after", table)
				}
			}
			return err
		})
		if len(tables) < 20 {
			t.Fatalf("only the tables %v", tables)
		}
		update(t, s, func(tx storage.Tx) error { return tx.DeleteSession("default") })
		update(t, s, func(tx storage.Tx) error {
			for _, table := range tables {
				switch n := rows(tx, table); {
				case strings.HasPrefix(table, "audit") && n != 1:
					t.Errorf("%s has %d rows after; the audit log of a deleted session is kept", table, n)
				case !strings.HasPrefix(table, "audit") && n > 0:
					t.Errorf("%s has %d rows after", table, n)
				}
			}
			return nil
		})
	})
}

// A message is completed after it was indexed, and the store is closed before the message is
// indexed again.
func TestLateMessageIsIndexedAfterARestart(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		run := shoal.RunID("run_1")
		m := shoal.Message{
			ID: "msg_1", SessionID: "default", SpaceID: "shop", Seq: 1, EntityID: "ann", RunID: &run, Status: shoal.MessageStreaming,
			CreatedAt: shoal.Now(), UpdatedAt: shoal.Now(),
		}
		update(t, s, func(tx storage.Tx) error { return tx.InsertMessage(m, storage.PostKey{}) })
		if err := s.CatchUp(); err != nil {
			t.Fatal(err)
		}
		m.Status, m.Parts = shoal.MessageCompleted, []shoal.Part{{ID: "p", Type: shoal.TextPart, Text: "needle", Status: shoal.PartDone}}
		update(t, s, func(tx storage.Tx) error { return tx.UpdateMessage(m, nil) })
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, url)
		for range 2 {
			update(t, s, func(tx storage.Tx) error {
				found, err := tx.Search("default", storage.SearchQuery{Query: storecase.Query("needle"), Limit: 9})
				if err == nil && len(found.Found) != 1 {
					err = fmt.Errorf("%d messages were found", len(found.Found))
				}
				return err
			})
			if err := s.CatchUp(); err != nil {
				t.Fatal(err)
			}
		}
		if n := ask(t, s, `SELECT CAST((SELECT COUNT(*) FROM late) * 10 + COUNT(*) AS TEXT) FROM search_words WHERE word = 'needle'`); n != "1" {
			t.Errorf("in the end the index has %s (tens are late ones)", n)
		}
	})
}

// Each frequent query must use these indexes, however many other rows there are.
func TestHotQueriesUseTheirIndexes(t *testing.T) {
	s := open(t, newSQLite(t))
	settle(t, s)
	live, now := []shoal.RunStatus{shoal.RunQueued}, shoal.Now()
	for indexes, ask := range map[string]func(storage.Tx) (any, error){
		"members_hosted": func(tx storage.Tx) (any, error) { return tx.HostedMembers("default", "shop") },
		"runs_awake":     func(tx storage.Tx) (any, error) { return tx.ClaimableRuns(shoal.Now(), 9) },
		"runs_awake ":    func(tx storage.Tx) (any, error) { return tx.WokenRuns("me") },
		"runs_held":      func(tx storage.Tx) (any, error) { return tx.HeldRuns("") },
		"runs_held ":     func(tx storage.Tx) (any, error) { return tx.ExpiredRuns(shoal.Now()) },
		" runs_held":     func(tx storage.Tx) (any, error) { return tx.NextExpiry() },
		"runs_live":      func(tx storage.Tx) (any, error) { return tx.Runs("default", storage.RunFilter{Status: live}) },
		"runs_live_agent": func(tx storage.Tx) (any, error) {
			return tx.Runs("default", storage.RunFilter{Agent: "a", Space: "s", Status: live})
		},
		"runs_agent":   func(tx storage.Tx) (any, error) { return tx.Runs("default", storage.RunFilter{Agent: "a"}) },
		"runs_session": func(tx storage.Tx) (any, error) { return tx.Runs("default", storage.RunFilter{Reader: "a"}) },
		"runs_created": func(tx storage.Tx) (any, error) { return tx.Runs("default", storage.RunFilter{Since: &now}) },
		"runs_live_agent runs_blocks": func(tx storage.Tx) (any, error) {
			return tx.Conversations("default", "a", storage.ConversationFilter{Limit: 9})
		},
		"runs_blocks": func(tx storage.Tx) (any, error) {
			return tx.Blocks("default", "c", storage.BlockFilter{EndedBefore: 9, Limit: 9})
		},
		"messages_run":       func(tx storage.Tx) (any, error) { return tx.Composed("default", "r") },
		"messages_streaming": func(tx storage.Tx) (any, error) { return tx.Streaming("default", "shop") },
		"pending_due":        func(tx storage.Tx) (any, error) { return tx.DuePending(shoal.Now(), 9) },
		"pending_reply":      func(tx storage.Tx) (any, error) { return tx.ReplyWaits("default", "shop") },
		"pending_run":        func(tx storage.Tx) (any, error) { return tx.PendingOf("default", "r") },
		"pending_open_space": func(tx storage.Tx) (any, error) {
			return tx.PendingActions("default", storage.PendingFilter{Space: "s", Status: []shoal.PendingStatus{"open"}})
		},
		"pending_space": func(tx storage.Tx) (any, error) {
			return tx.PendingActions("default", storage.PendingFilter{Space: "s"})
		},
		"pending_open": func(tx storage.Tx) (any, error) {
			return tx.PendingActions("default", storage.PendingFilter{Status: []shoal.PendingStatus{"open"}})
		},
		"plans_due":  func(tx storage.Tx) (any, error) { return tx.DuePlans(shoal.Now(), 9) },
		"events_run": func(tx storage.Tx) (any, error) { return tx.Events("default", storage.EventFilter{Run: "r"}, 0, 9) },
		"events_space messages_told": func(tx storage.Tx) (any, error) {
			return tx.Events("default", storage.EventFilter{Space: "shop"}, 0, 9)
		},
	} {
		before := s.Statements()
		var steps []string
		err := s.View(t.Context(), func(tx storage.Tx) error { // the writer remembers some of it
			if _, err := ask(tx); err != nil {
				return err
			}
			for _, text := range sqlstore.Prepared(tx) {
				if !slices.Contains(before, text) && strings.HasPrefix(text, "SELECT") {
					plan, err := sqlstore.Plan(tx, text)
					if err != nil {
						return err
					}
					steps = append(steps, plan...)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, index := range strings.Fields(indexes) {
			if !slices.ContainsFunc(steps, func(step string) bool { return strings.Contains(step+" ", "INDEX "+index+" ") }) {
				t.Errorf("%s is not used: %q", index, steps)
			}
		}
	}
}
