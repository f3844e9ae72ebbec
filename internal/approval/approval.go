// Package approval decides whether a principal may settle a pending action with an answer,
// and with what outcome. It is pure: a decision depends only on the arguments, so that one
// table and one model check can cover it completely.
package approval

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
)

// Action contains the properties of a pending action that decisions depend on.
type Action struct {
	ID   shoal.PendingID
	Kind shoal.PendingKind
	// Open is false once the action is settled; Expired means that its time or its run is
	// over.
	Open, Expired bool
	// Agent is the agent that asks; Owner is its owner, if any.
	Agent, Owner shoal.EntityID
	// Targeted means that the call itself names the space that shows it. Only, if set, is
	// the one member that may answer.
	Targeted bool
	Only     shoal.EntityID
	// By contains ids of entities and the words of [shoal.AnswererGroups]; empty means the
	// default of the kind.
	By           []shoal.EntityID
	Quorum       int
	NotRequester bool
	// Requesters are the humans whose messages led to the run; ByService means that a
	// service started it.
	Requesters []shoal.EntityID
	ByService  bool
	ArgsHash   string
	// Editable means that the call can be executed with other arguments than the model's.
	Editable bool
	Votes    []Vote
}

// Voter is the principal that answers. Entity is empty for a key that acts as no entity.
type Voter struct {
	Entity shoal.EntityID
	Kind   shoal.EntityKind
	Role   shoal.Role
	// Owner is the owner of the entity. Manages means that the entity manages the session.
	Owner   shoal.EntityID
	Manages bool
	// Member means that the entity is a member of the space that shows the action.
	Member bool
	// SessionRole is the role of the entity in the session; empty means member.
	SessionRole shoal.SessionRole
}

// Vote is the answer of one entity, An open action has at most one vote per entity.
type Vote struct {
	Entity shoal.EntityID
	At     time.Time
	Answer shoal.PendingAnswer
}

// Outcome is the result of an accepted answer.
type Outcome struct {
	// Votes are the votes afterwards; Settled means that the action has its answer.
	Votes   []Vote
	Settled bool
	// EditedArgs are the arguments that replace the model's, as shown to everybody; nil
	// for the model's own.
	EditedArgs json.RawMessage
}

// Settle returns the outcome of the answer, or an error: Expired or AlreadyAnswered for an
// action that is not open, ArgsChanged for the hash of other arguments, Forbidden by the
// policy, InvalidArgument for content that the policy does not permit in an answer. The
// answer must fit the action's kind, see [shoal.PendingAnswer.Validate].
func (r Rules) Settle(a Action, v Voter, in shoal.PendingAnswer, at time.Time) (Outcome, error) {
	if err := r.CheckOpen(a); err != nil {
		return Outcome{}, err
	}
	if !r.SameArgs(a, in) {
		return Outcome{}, shoal.E("", shoal.ArgsChanged, "The arguments have changed since this answer was prepared. Read the pending action again and decide on the new arguments.")
	}
	if why := r.Objection(a, v); why != "" {
		return Outcome{}, shoal.E("", shoal.Forbidden, why)
	}
	if err := r.checkContent(a, v, in); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Votes: slices.Clone(a.Votes)}
	if v.Entity != "" {
		out.Votes = recordVote(out.Votes, Vote{v.Entity, at, in})
	}
	out.Settled = a.Quorum <= 1 || a.Kind == shoal.PendingPermission && !approves(in) || r.CountEqual(out.Votes, in) >= a.Quorum
	if out.Settled {
		out.EditedArgs = r.EditedArgs(in)
	}
	return out, nil
}

// checkContent rejects content that the action's policy does not permit in an answer.
func (r Rules) checkContent(a Action, v Voter, in shoal.PendingAnswer) error {
	if len(in.Args) > 0 && !a.Editable {
		return shoal.Invalid("args", "cannot be changed: this call is executed only with the model's arguments. Approve it without args, or deny it with a reason that says what to call instead")
	}
	if in.Remember == nil {
		return nil
	}
	switch named := slices.Contains(a.By, v.Entity); {
	case a.Quorum > 1:
		return shoal.Invalid("remember", "is not available for a call that requires several approvals: leave it out")
	case a.NotRequester:
		return shoal.Invalid("remember", "is not available for a call that its requester may not approve: leave it out")
	case len(in.Args) > 0:
		return shoal.Invalid("remember", "cannot be combined with changed arguments: leave one of the two out")
	case slices.ContainsFunc(a.By, isID) && !named:
		return shoal.Invalid("remember", "is only available to those that the tool's policy names: leave it out")
	}
	return nil
}

// recordVote replaces the previous vote of the same entity.
func recordVote(votes []Vote, v Vote) []Vote {
	votes = slices.DeleteFunc(votes, func(had Vote) bool { return had.Entity == v.Entity })
	return append(votes, v)
}

func approves(a shoal.PendingAnswer) bool { return a.Approved != nil && *a.Approved }

// Eligible counts the voters that may still vote: the policy permits them, and they have not
// voted.
func (r Rules) Eligible(a Action, all []Voter) int {
	n := 0
	for _, v := range all {
		voted := slices.ContainsFunc(a.Votes, func(had Vote) bool { return had.Entity == v.Entity })
		if !voted && r.Objection(a, v) == "" {
			n++
		}
	}
	return n
}

// CountVoters counts the voters that the policy permits, including those that have voted: a vote
// can be replaced.
func (r Rules) CountVoters(a Action, all []Voter) int {
	n := 0
	for _, v := range all {
		if r.Objection(a, v) == "" {
			n++
		}
	}
	return n
}

// equalAnswers reports whether two answers are equal: result, error, text, decision and changed
// arguments, compared as canonical JSON.
func equalAnswers(a, b shoal.PendingAnswer) bool {
	return bytes.Equal(essence(a), essence(b))
}

// essence returns the part of an answer that a quorum must agree on.
func essence(a shoal.PendingAnswer) []byte {
	out, err := json.Marshal([]any{canonicalOf(a.Result), a.Error, a.Approved, a.Answer, canonicalOf(a.Args)})
	if err != nil { // texts and decoded JSON can always be encoded
		panic(err)
	}
	return out
}
