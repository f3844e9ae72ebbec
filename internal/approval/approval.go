// Package approval decides whether a principal may settle a pending action with an
// answer, and what comes of it. It is pure: everything that a decision rests on is
// in its arguments, so that one table and one model check hold all of it.
package approval

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
)

// Action is a pending action as far as a decision rests on it.
type Action struct {
	ID   shoal.PendingID
	Kind shoal.PendingKind
	// Open is false once it is settled; Expired says that its time is over, or its
	// run.
	Open, Expired bool
	// Agent asks; Owner is the owner of that agent, if any.
	Agent, Owner shoal.EntityID
	// Targeted says that the call itself names the space that shows it. Only, if set,
	// is the one member that it is for.
	Targeted bool
	Only     shoal.EntityID
	// By are ids of entities and the words of [shoal.AnswererWords]; none is the
	// default of the kind.
	By           []shoal.EntityID
	Quorum       int
	NotRequester bool
	// Requesters are the humans behind the run; ByService says that a service started
	// it.
	Requesters []shoal.EntityID
	ByService  bool
	ArgsHash   string
	// Editable says that other arguments can be executed than those the model wrote.
	Editable bool
	Votes    []Vote
}

// Voter is who answers. Entity is empty for a key that acts as none.
type Voter struct {
	Entity shoal.EntityID
	Kind   shoal.EntityKind
	Role   shoal.Role
	// Owner is whose agent the entity is. Manages says that it manages the session.
	Owner   shoal.EntityID
	Manages bool
	// Member says that it is in the space that shows the action.
	Member bool
}

// Vote is the answer of one entity, of which an open action has at most one.
type Vote struct {
	Entity shoal.EntityID
	At     time.Time
	Answer shoal.PendingAnswer
}

// Outcome is what comes of an answer that is not refused.
type Outcome struct {
	// Votes are the votes afterwards; Settled says that the action has its answer.
	Votes   []Vote
	Settled bool
	// EditedArgs are the arguments that run in place of the model's, as everybody
	// sees them; nil for the model's own.
	EditedArgs json.RawMessage
}

// Settle returns what comes of the answer, or why it is refused: Expired and
// AlreadyAnswered for an action that is not open, ArgsChanged for the hash of other
// arguments, Forbidden by the policy, InvalidArgument for what the policy does not
// let an answer carry. The answer is of the action's kind, see
// [shoal.PendingAnswer.Validate].
func (r Rules) Settle(a Action, v Voter, in shoal.PendingAnswer, at time.Time) (Outcome, error) {
	if err := r.Late(a); err != nil {
		return Outcome{}, err
	}
	if !r.SameArgs(a, in) {
		return Outcome{}, shoal.E("", shoal.ArgsChanged, "The arguments are not those that this answer is for. Read the pending action again and decide anew.")
	}
	if why := r.May(a, v); why != "" {
		return Outcome{}, shoal.E("", shoal.Forbidden, why)
	}
	if err := r.carries(a, v, in); err != nil {
		return Outcome{}, err
	}
	out := Outcome{Votes: slices.Clone(a.Votes)}
	if v.Entity != "" {
		out.Votes = cast(out.Votes, Vote{v.Entity, at, in})
	}
	out.Settled = a.Quorum <= 1 || a.Kind == shoal.PendingPermission && !approves(in) || r.Equal(out.Votes, in) >= a.Quorum
	if out.Settled {
		out.EditedArgs = r.Shown(in)
	}
	return out, nil
}

// carries refuses what an answer may not carry under the action's policy.
func (r Rules) carries(a Action, v Voter, in shoal.PendingAnswer) error {
	if len(in.Args) > 0 && !a.Editable {
		return shoal.Invalid("args", "cannot be changed: whoever executes this call takes only the arguments of the model")
	}
	if in.Remember == nil {
		return nil
	}
	switch named := slices.Contains(a.By, v.Entity); {
	case a.Quorum > 1:
		return shoal.Invalid("remember", "is not for a call that several have to approve: leave it out")
	case a.NotRequester:
		return shoal.Invalid("remember", "is not for a call that its requester may not approve: leave it out")
	case len(in.Args) > 0:
		return shoal.Invalid("remember", "is not for changed arguments: leave one of the two out")
	case slices.ContainsFunc(a.By, isID) && !named:
		return shoal.Invalid("remember", "is only for those that the tool's policy names: leave it out")
	}
	return nil
}

// cast puts a vote in place of the one that its entity had.
func cast(votes []Vote, v Vote) []Vote {
	votes = slices.DeleteFunc(votes, func(had Vote) bool { return had.Entity == v.Entity })
	return append(votes, v)
}

func approves(a shoal.PendingAnswer) bool { return a.Approved != nil && *a.Approved }

// Eligible counts those who may still vote: the policy lets them, and they have not
// voted.
func (r Rules) Eligible(a Action, all []Voter) int {
	n := 0
	for _, v := range all {
		voted := slices.ContainsFunc(a.Votes, func(had Vote) bool { return had.Entity == v.Entity })
		if !voted && r.May(a, v) == "" {
			n++
		}
	}
	return n
}

// Able counts those whom the policy lets vote, also those who have: a vote may be
// replaced.
func (r Rules) Able(a Action, all []Voter) int {
	n := 0
	for _, v := range all {
		if r.May(a, v) == "" {
			n++
		}
	}
	return n
}

// same reports whether two answers say the same: result, error, text, decision and
// changed arguments, compared as canonical JSON.
func same(a, b shoal.PendingAnswer) bool {
	return bytes.Equal(essence(a), essence(b))
}

// essence is what a quorum has to agree on.
func essence(a shoal.PendingAnswer) []byte {
	out, err := json.Marshal([]any{canonicalOf(a.Result), a.Error, a.Approved, a.Answer, canonicalOf(a.Args)})
	if err != nil { // texts, and JSON that was read before, can always be written
		panic(err)
	}
	return out
}
