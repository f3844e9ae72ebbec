package storetest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// Fill stores at least one record of every type in a new session, with values that need
// escaping in some format. Its runs have ended or are suspended.
func Fill(t *testing.T, store storage.Store, id shoal.SessionID) {
	t.Helper()
	c := &storecase.Case{T: t, Store: store, Session: id}
	c.Update(func(tx storage.Tx) error {
		return tx.InsertSession(shoal.Session{ID: id, Name: "The " + string(id), Status: shoal.SessionStatusOpen, CreatedAt: storecase.Time(0)})
	})
	c.AddEntities("ann", "bob", "bot", "gone")
	c.AddSpace("shop", "ann", "bob", "bot")
	c.AddSpace("attic", "bob", "ann")
	c.AddHostedAgent("bot", 1)
	c.AddHostedAgent("bot", 2)
	c.Say("shop", "ann", storecase.Hostile, "bob")
	between := c.NewMessage("attic", "bob", "in between")
	between.ReplyTo = storecase.Ptr(shoal.MessageID("msg_before"))
	c.Post(between)
	second := c.Say("shop", "bob", "a first draft")
	c.Update(func(tx storage.Tx) error {
		return tx.SetReactions(id, second.ID, []shoal.Reaction{{Emoji: "👍", EntityIDs: []shoal.EntityID{"ann", "bob"}}})
	})
	c.Update(func(tx storage.Tx) error { return tx.EditMessage(storecase.Edit(second, "a second one", 7, "ann")) })
	c.Update(func(tx storage.Tx) error { return tx.MarkDelivered(id, "bob", storecase.DeliveredNow(1)) })
	c.Say("shop", "ann", "one that bob has not read")
	c.Say("shop", "ann", "one that bob has read", "bob")
	c.Say("shop", "ann", "another that bob has read")
	c.Update(func(tx storage.Tx) error {
		_, err := tx.Acknowledge(id, "bob", storage.InboxFilter{Kind: shoal.WaitMessages, After: 4}, 6, nil)
		return err
	})

	full, parked := c.FullRun(), c.NewRun("r1", "bot", "shop")
	full.Status, full.Owner, full.LeaseUntil = shoal.RunFailed, "", nil
	parked.Status, parked.Conversation, parked.Began, parked.Turn = shoal.RunWaitingTool, "bot/shop", 2, storecase.RawJSON
	c.AddRuns(full, parked)
	m := c.AddComposite("shop", "r1")
	c.AddComposite("attic", "r1")
	c.Update(func(tx storage.Tx) error {
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: "a NUL: \x00", Status: shoal.PartDone},
			{ID: "p2", Type: shoal.ToolPart, ToolName: "card", ToolCallID: "c1", Args: []byte(`{"b":"<ü>","a":1.50e+3}`), Status: shoal.PartRequiresAction, Target: "ann"},
			{ID: "p3", Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", Size: 3, URL: shoal.FilePath(id, "fil_1")},
		}
		return tx.UpdateMessage(m, storecase.RawJSON)
	})
	pending := c.FullPending()
	open := c.NewPending("pnd_open", shoal.PendingClientTool, "r1", "shop")
	open.MessageID, open.PartID, open.Args = &m.ID, storecase.Ptr(shoal.PartID("p2")), []byte(`{"a": 1}`)
	c.AddPending(pending, open, c.NewPending("pnd_reply", storage.PendingReply, "r1", "shop"))
	c.AddSteps("r1", storecase.NewStep(0, true), storecase.NewStep(1, false))
	c.AddTexts(storage.ModelText{Hash: "h1", Body: storecase.Hostile}, storage.ModelText{Hash: "h2", Body: ""})
	c.AddPlans(storecase.NewPlan("p1"), shoal.Plan{
		ID: "p2", AgentID: "bot", Name: storecase.Hostile, Cron: storecase.Ptr("0 9 * * 1"), TimeZone: "Europe/Berlin", ScheduledAt: storecase.Ptr(storecase.Time(2)), Status: shoal.PlanPaused,
		NextRunAt: storecase.Ptr(storecase.Time(3)), LastRunAt: storecase.Ptr(storecase.Time(4)), LastRunID: storecase.Ptr(shoal.RunID("r1")), CreatedAt: storecase.Time(1), ActingFor: []shoal.EntityID{"ann", "service:a b"},
	})
	c.AddRenderer("card", []byte("<p>card"))
	c.AddRenderer("card", []byte("<p>card again"))
	c.Update(func(tx storage.Tx) error {
		used := storage.StepUsage{Run: "r1", Agent: "bot", Model: "m", At: storecase.Time(5)}
		used.Usage = shoal.Usage{InputTokens: 1 << 50, Cost: 0.1 + 0.2}
		file := shoal.File{ID: "fil_1", Name: "a.png", MediaType: "image/png", Size: 3, URL: shoal.FilePath(id, "fil_1")}
		for _, do := range []func() error{
			func() error { return tx.DeleteEntity(id, "gone", storecase.Time(9)) },
			func() error {
				return tx.InsertCause(id, m.ID, storage.Cause{Root: "msg_1", Depth: 2, Linked: true, ActingFor: []shoal.EntityID{"ann"}})
			},
			func() error {
				return tx.PutRequest(id, "r1", storage.Request{Model: "m", System: "h1", Tools: "h2", Messages: [][]string{{"h1"}, {}}})
			},
			func() error {
				return tx.PutClientInput(id, "r1", storage.ClientInput{
					EntityID: "ann", Tools: []storage.ClientTool{{Name: "paint", Description: storecase.Hostile, Schema: storecase.RawJSON}, {Name: "blink"}},
					Context: []storage.ClientContext{{Description: "page", Value: storecase.Hostile}}, Refused: []string{"blink"},
				})
			},
			func() error {
				return tx.PutConversation(storage.Conversation{Session: id, ID: "bot/shop", Agent: "bot", Clock: 3, Cleared: 1, Data: storecase.RawJSON})
			},
			func() error {
				return tx.PutGoal(id, "bot", shoal.Goal{ID: "g1", Description: storecase.Hostile, Priority: -3, CreatedAt: storecase.Time(1), UpdatedAt: storecase.Time(2)})
			},
			func() error {
				return tx.PutMemory(id, "bot", shoal.Memory{ID: "m1", Topic: "t", Content: storecase.Hostile, Metadata: []byte(`{"k": [1 ,2]}`), SpaceID: storecase.Ptr(shoal.SpaceID("shop"))})
			},
			func() error { return tx.AddUsage(id, used) },
			func() error { return tx.InsertFile(id, file, "ann", storecase.Time(6), []byte{0, 255, 10}) },
			func() error { return tx.ShowFile(id, "fil_1", "shop") },
			func() error {
				return tx.InsertSpace(shoal.Space{SessionID: id, ID: "den", Name: "Den", Status: shoal.SpaceStatusOpen, OwnerID: storecase.Ptr(shoal.EntityID("ann")), CreatedAt: storecase.Time(0)})
			},
			func() error {
				if err := tx.InsertSpace(shoal.Space{SessionID: id, ID: "gone", Status: shoal.SpaceStatusOpen, CreatedAt: storecase.Time(0)}); err != nil {
					return err
				}
				return tx.DeleteSpace(id, "gone", 1)
			},
			func() error {
				return tx.UpdateSpace(shoal.Space{SessionID: id, ID: "attic", Name: "Attic", Status: shoal.SpaceStatusClosed, Summary: storecase.Ptr(storecase.Hostile), ClosedAt: storecase.Ptr(storecase.Time(8)), CreatedAt: storecase.Time(0)})
			},
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
}

var placeField = regexp.MustCompile(`"place":(\d+)`)

// InboxesAfter returns the exported text with the places of messages and inbox entries moved
// after those of before, as in a session that has replaced the one of before.
func InboxesAfter(before, text string) string {
	end := 0
	eachPlace(before, func(place int) int {
		end = max(end, place)
		return place
	})
	return eachPlace(text, func(place int) int { return place + end })
}

// eachPlace returns the exported text with changed places.
func eachPlace(text string, change func(place int) int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `{"type":"message"`) || strings.HasPrefix(line, `{"type":"inboxEntry"`) {
			line = placeField.ReplaceAllStringFunc(line, func(s string) string {
				place, _ := strconv.Atoi(placeField.FindStringSubmatch(s)[1])
				return `"place":` + strconv.Itoa(change(place))
			})
		}
		b.WriteString(line)
	}
	return b.String()
}
