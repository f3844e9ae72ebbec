package shoaltest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// Fill stores at least one record of every type in a new session, with values that need
// escaping in some format. Its runs have ended or are suspended.
func Fill(t *testing.T, store hub.Store, id shoal.SessionID) {
	t.Helper()
	c := &storeCase{T: t, store: store, session: id}
	c.update(func(tx hub.Tx) error {
		return tx.InsertSession(shoal.Session{ID: id, Name: "The " + string(id), Status: shoal.SessionOpen, CreatedAt: storeTime(0)})
	})
	c.entities("ann", "bob", "bot", "gone")
	c.space("shop", "ann", "bob", "bot")
	c.space("attic", "bob", "ann")
	c.host("bot", 1)
	c.host("bot", 2)
	c.say("shop", "ann", hostile, "bob")
	between := c.message("attic", "bob", "in between")
	between.ReplyTo = ref(shoal.MessageID("msg_before"))
	c.post(between)
	second := c.say("shop", "bob", "a first draft")
	c.update(func(tx hub.Tx) error {
		return tx.SetReactions(id, second.ID, []shoal.Reaction{{Emoji: "👍", EntityIDs: []shoal.EntityID{"ann", "bob"}}})
	})
	c.update(func(tx hub.Tx) error { return tx.EditMessage(edited(second, "a second one", 7, "ann")) })
	c.update(func(tx hub.Tx) error { return tx.MarkDelivered(id, "bob", []int64{1}) })

	full, parked := c.fullRun(), c.run("r1", "bot", "shop")
	full.Status, full.Owner, full.LeaseUntil = shoal.RunFailed, "", nil
	parked.Status, parked.Conversation, parked.Began, parked.Turn = shoal.RunWaitingTool, "bot/shop", 2, rawJSON
	c.runs(full, parked)
	m := c.wrote("shop", "r1")
	c.wrote("attic", "r1")
	c.update(func(tx hub.Tx) error {
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: "a NUL: \x00", Status: shoal.PartDone},
			{ID: "p2", Type: shoal.ToolPart, ToolName: "card", ToolCallID: "c1", Args: []byte(`{"b":"<ü>","a":1.50e+3}`), Status: shoal.PartRequiresAction, Target: "ann"},
			{ID: "p3", Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", Size: 3, URL: shoal.FilePath(id, "fil_1")},
		}
		return tx.UpdateMessage(m, rawJSON)
	})
	pending := c.fullPending()
	open := c.pending("pnd_open", shoal.PendingClientTool, "r1", "shop")
	open.MessageID, open.PartID, open.Args = &m.ID, ref(shoal.PartID("p2")), []byte(`{"a": 1}`)
	c.open(pending, open, c.pending("pnd_reply", hub.PendingReply, "r1", "shop"))
	c.put("r1", stepAt(0, true), stepAt(1, false))
	c.texts(hub.ModelText{Hash: "h1", Body: hostile}, hub.ModelText{Hash: "h2", Body: ""})
	c.plans(planOf("p1"), shoal.Plan{
		ID: "p2", AgentID: "bot", Name: hostile, Cron: ref("0 9 * * 1"), TimeZone: "Europe/Berlin", ScheduledAt: ref(storeTime(2)), Status: shoal.PlanPaused,
		NextRunAt: ref(storeTime(3)), LastRunAt: ref(storeTime(4)), LastRunID: ref(shoal.RunID("r1")), CreatedAt: storeTime(1), ActingFor: []shoal.EntityID{"ann", "service:a b"},
	})
	c.push("card", []byte("<p>card"))
	c.push("card", []byte("<p>card again"))
	c.update(func(tx hub.Tx) error {
		used := hub.StepUsage{Run: "r1", Agent: "bot", Model: "m", At: storeTime(5)}
		used.Usage = shoal.Usage{InputTokens: 1 << 50, Cost: 0.1 + 0.2}
		file := shoal.File{ID: "fil_1", Name: "a.png", MediaType: "image/png", Size: 3, URL: shoal.FilePath(id, "fil_1")}
		for _, do := range []func() error{
			func() error { return tx.DeleteEntity(id, "gone", storeTime(9)) },
			func() error {
				return tx.InsertCause(id, m.ID, hub.Cause{Root: "msg_1", Depth: 2, Linked: true, ActingFor: []shoal.EntityID{"ann"}})
			},
			func() error {
				return tx.PutRequest(id, "r1", hub.StoredRequest{Model: "m", System: "h1", Tools: "h2", Messages: [][]string{{"h1"}, {}}})
			},
			func() error {
				return tx.PutClientInput(id, "r1", hub.ClientInput{
					EntityID: "ann", Tools: []hub.ClientTool{{Name: "paint", Description: hostile, Schema: rawJSON}, {Name: "blink"}},
					Context: []hub.ClientContext{{Description: "page", Value: hostile}}, Refused: []string{"blink"},
				})
			},
			func() error {
				return tx.PutConversation(hub.StoredConversation{Session: id, ID: "bot/shop", Agent: "bot", Clock: 3, Cleared: 1, Data: rawJSON})
			},
			func() error {
				return tx.PutGoal(id, "bot", shoal.Goal{ID: "g1", Description: hostile, Priority: -3, CreatedAt: storeTime(1), UpdatedAt: storeTime(2)})
			},
			func() error {
				return tx.PutMemory(id, "bot", shoal.Memory{ID: "m1", Topic: "t", Content: hostile, Metadata: []byte(`{"k": [1 ,2]}`), SpaceID: ref(shoal.SpaceID("shop"))})
			},
			func() error { return tx.AddUsage(id, used) },
			func() error { return tx.InsertFile(id, file, "ann", storeTime(6), []byte{0, 255, 10}) },
			func() error { return tx.ShowFile(id, "fil_1", "shop") },
			func() error {
				return tx.InsertSpace(shoal.Space{SessionID: id, ID: "den", Name: "Den", Status: shoal.SpaceOpen, OwnerID: ref(shoal.EntityID("ann")), CreatedAt: storeTime(0)})
			},
			func() error {
				if err := tx.InsertSpace(shoal.Space{SessionID: id, ID: "gone", Status: shoal.SpaceOpen, CreatedAt: storeTime(0)}); err != nil {
					return err
				}
				return tx.DeleteSpace(id, "gone", 1)
			},
			func() error {
				return tx.UpdateSpace(shoal.Space{SessionID: id, ID: "attic", Name: "Attic", Status: shoal.SpaceShut, Summary: ref(hostile), ClosedAt: ref(storeTime(8)), CreatedAt: storeTime(0)})
			},
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
}

var (
	inboxLine = regexp.MustCompile(`"type":"inbox","entityId":"(\w+)","lastPlace":(\d+)`)
	entryLine = regexp.MustCompile(`"type":"inboxEntry","entityId":"(\w+)","place":(\d+)`)
)

// InboxesBehind returns the exported text with its inbox positions moved after those of
// before, as in a session that has replaced the one of before.
func InboxesBehind(before, text string) string {
	ends := map[string]int{}
	for _, end := range inboxLine.FindAllStringSubmatch(before, -1) {
		ends[end[1]], _ = strconv.Atoi(end[2])
	}
	for _, line := range []*regexp.Regexp{inboxLine, entryLine} {
		text = line.ReplaceAllStringFunc(text, func(s string) string {
			of := line.FindStringSubmatch(s)
			place, _ := strconv.Atoi(of[2])
			return strings.TrimSuffix(s, of[2]) + strconv.Itoa(place+ends[of[1]])
		})
	}
	return text
}
