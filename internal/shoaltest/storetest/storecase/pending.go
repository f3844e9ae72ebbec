package storecase

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// NewPending returns an open pending action with the required fields only.
func (c *Case) NewPending(id shoal.PendingID, kind shoal.PendingKind, run shoal.RunID, space shoal.SpaceID) storage.Pending {
	p := storage.Pending{Session: c.Session}
	p.ID, p.Kind, p.RunID, p.AgentID, p.Status, p.CreatedAt = id, kind, run, "bot", shoal.PendingOpen, Time(1)
	if space != "" {
		p.SpaceID = &space
	}
	return p
}

// AddPending stores pending actions in one transaction.
func (c *Case) AddPending(all ...storage.Pending) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, p := range all {
			if err := tx.InsertPending(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// OwnPending returns the ids of the actions that read returns and that belong to the session
// of the case.
func OwnPending(c *Case, read func(storage.Tx) ([]storage.Pending, error)) []shoal.PendingID {
	c.Helper()
	ids := []shoal.PendingID{}
	for _, p := range Read(c, read) {
		if p.Session == c.Session {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// FullPending returns a pending action with every field set.
func (c *Case) FullPending() storage.Pending {
	return storage.Pending{
		PendingAction: shoal.PendingAction{
			ID: "pnd_full", Kind: shoal.PendingQuestion, RunID: "r1", AgentID: "bot", SpaceID: Ptr(shoal.SpaceID("shop")),
			MessageID: Ptr(shoal.MessageID("msg_1")), PartID: Ptr(shoal.PartID("prt_1")), ToolCallID: Hostile, ToolName: Hostile, Args: RawJSON,
			Question: Ptr(Hostile), Options: []string{Hostile, "", "b"}, ResultSchema: RawJSON, Status: shoal.PendingAnswered,
			ExpiresAt: Ptr(Time(2)), CreatedAt: Time(1), AnsweredBy: Ptr(shoal.EntityID("ann")), AnsweredAt: Ptr(Time(3)),
		},
		Session: c.Session, Request: Hostile, Hash: Hostile, Requester: Hostile, Target: "ann",
		Policy: storage.Policy{By: []shoal.EntityID{"ann", "bob"}, Quorum: 2, NotRequester: true, Targeted: true, Requesters: []shoal.EntityID{"ann"}, Votes: []storage.Vote{
			{EntityID: "bob", At: Time(5_000), Answer: shoal.PendingAnswer{Approved: Ptr(true), Args: []byte(`{"a":"<b> & c","n":1.50e+3}`)}}, {EntityID: "ann", At: Time(6_000)},
		}},
		Reply: &storage.ReplyWait{Space: "shop", After: 7, For: []storage.ReplyFrom{{Type: "entity", EntityID: "ann"}, {Type: "any"}}},
		Due:   Ptr(Time(4)),
		Answer: &shoal.PendingAnswer{
			Result: []byte(`{"a":"<b> & c","n":1.50e+3}`), Error: Ptr(Hostile), Approved: Ptr(true), Reason: Ptr(""), Remember: &shoal.Remember{Decision: "allow", Scope: "tool", ForMs: 7}, Answer: Ptr(Hostile),
		},
		AnswerHash: Hostile, Taken: true,
	}
}
