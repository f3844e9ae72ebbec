package pending

import (
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Rules decide which entities may answer a pending action and when it is settled.
var Rules = approval.Contract()

// Judge reads what decisions about pending actions depend on, each object once.
type Judge struct {
	tx       Tx
	session  shoal.SessionID
	entities map[shoal.EntityID]shoal.Entity
	members  map[shoal.SpaceID][]approval.Voter
	triggers map[shoal.RunID]triggerText
}

// NewJudge returns a judge for the pending actions of a session, as seen by tx.
func NewJudge(tx Tx, session shoal.SessionID) *Judge {
	return &Judge{tx: tx, session: session, entities: map[shoal.EntityID]shoal.Entity{}, members: map[shoal.SpaceID][]approval.Voter{}, triggers: map[shoal.RunID]triggerText{}}
}

// entity returns an entity, or the zero value if it does not exist or is deleted.
func (j *Judge) entity(id shoal.EntityID) (shoal.Entity, error) {
	e, known := j.entities[id]
	if known || !core.ValidID(id) {
		return e, nil
	}
	e, err := j.tx.Entity(j.session, id)
	if errors.Is(err, shoal.NotFound) {
		e, err = shoal.Entity{}, nil
	}
	j.entities[id] = e
	return e, err
}

// Action returns a row as an action of the approval rules.
func (j *Judge) Action(row storage.Pending) (approval.Action, error) {
	owner, err := j.entity(row.AgentID)
	p := row.Policy
	a := approval.Action{
		ID: row.ID, Kind: row.Kind, Open: row.Status == shoal.PendingOpen, Agent: row.AgentID, Owner: OwnerOf(owner),
		Targeted: p.Targeted, Only: row.Target, By: p.By, Quorum: p.Quorum, NotRequester: p.NotRequester,
		Requesters: requestersFor(row), ByService: p.ByService, ArgsHash: row.Hash, Editable: len(p.ArgsSchema) > 0,
	}
	for _, v := range p.Votes {
		a.Votes = append(a.Votes, approval.Vote{Entity: v.EntityID, At: v.At.Time, Answer: v.Answer})
	}
	return a, err
}

// requestersFor returns the humans whose messages led to the run. A row from before they
// were recorded knows only the sender of the message that started the run.
func requestersFor(p storage.Pending) []shoal.EntityID {
	if p.Policy.Requesters == nil && core.ValidID(shoal.EntityID(p.Requester)) {
		return []shoal.EntityID{shoal.EntityID(p.Requester)}
	}
	return p.Policy.Requesters
}

// Voter returns a caller as a voter of the approval rules.
func (j *Judge) Voter(caller shoal.Principal, row storage.Pending) (approval.Voter, error) {
	if caller.EntityID == "" {
		return approval.Voter{Role: caller.Role}, nil
	}
	e, err := j.entity(caller.EntityID)
	if err != nil {
		return approval.Voter{}, err
	}
	v := approval.Voter{Entity: e.ID, Kind: e.Kind, Role: caller.Role, Owner: OwnerOf(e), Manages: managesSession(e), SessionRole: e.SessionRole}
	if row.SpaceID != nil {
		v.Member, err = j.tx.IsMember(j.session, *row.SpaceID, e.ID)
	}
	return v, err
}

// MayAnswer reports whether the caller may answer the row.
func (j *Judge) MayAnswer(caller shoal.Principal, row storage.Pending) (bool, error) {
	a, err := j.Action(row)
	if err != nil {
		return false, err
	}
	v, err := j.Voter(caller, row)
	return err == nil && Rules.Objection(a, v) == "", err
}

// publicView returns a row as clients see it, without the text of the run's trigger.
func (j *Judge) publicView(row storage.Pending) (shoal.PendingAction, error) {
	out, p := row.PendingAction, row.Policy
	out.By, out.Quorum, out.NotRequester, out.ArgsHash = p.By, max(p.Quorum, 1), p.NotRequester, row.Hash
	out.Requesters = append([]shoal.EntityID{}, requestersFor(row)...)
	out.Votes = []shoal.PendingVote{}
	for _, v := range p.Votes {
		out.Votes = append(out.Votes, publicVote(v))
	}
	if p.Choose != nil {
		one := shoal.ChooseOne
		out.Choose = &one
	}
	out.Decision = decisionOf(row)
	if row.Status == shoal.PendingAnswered && row.Answer != nil {
		out.EditedArgs = Rules.EditedArgs(*row.Answer)
	}
	if row.Status != shoal.PendingOpen {
		return out, nil
	}
	if len(p.ArgsSchema) > 0 {
		out.ArgsSchema = p.ArgsSchema
	}
	a, all, err := j.possibleVoters(row)
	out.Eligible = Rules.Eligible(a, all)
	return out, err
}

// decisionOf returns the outcome of a permission that was answered or has expired, nil for
// other rows.
func decisionOf(row storage.Pending) *shoal.Decision {
	a := row.Answer
	if row.Kind != shoal.PendingPermission || a == nil || row.Status != shoal.PendingAnswered && row.Status != shoal.PendingExpired {
		return nil
	}
	return &shoal.Decision{Approved: a.Approved != nil && *a.Approved, By: row.AnsweredBy, Reason: a.Reason, Ask: a.Ask}
}

// possibleVoters returns the action of a row and the entities that may be able to answer
// it: the members of the space that shows it, and for a permission that its call does not
// target, the requesters and the agent's owner.
func (j *Judge) possibleVoters(row storage.Pending) (approval.Action, []approval.Voter, error) {
	a, err := j.Action(row)
	if err != nil {
		return a, nil, err
	}
	var out []approval.Voter
	if row.SpaceID != nil {
		if out, err = j.memberVoters(*row.SpaceID); err != nil {
			return a, nil, err
		}
	}
	if row.Kind == shoal.PendingPermission && !row.Policy.Targeted && len(row.Policy.By) == 0 {
		out = slices.Clone(out)
		for _, id := range append(slices.Clone(a.Requesters), a.Owner) {
			e, err := j.entity(id)
			if err != nil {
				return a, nil, err
			}
			if e.ID != "" && !slices.ContainsFunc(out, func(v approval.Voter) bool { return v.Entity == id }) {
				out = append(out, voterOf(e, false))
			}
		}
	}
	return a, out, nil
}

// memberPage is how many members one query reads.
const memberPage = 256

// memberVoters returns the members of a space as voters.
func (j *Judge) memberVoters(space shoal.SpaceID) ([]approval.Voter, error) {
	if known, ok := j.members[space]; ok {
		return known, nil
	}
	var out []approval.Voter
	for after, more := shoal.EntityID(""), true; more; {
		page, err := j.tx.MemberEntities(j.session, space, after, memberPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			out = append(out, voterOf(e, true))
			after = e.ID
		}
		more = len(page) == memberPage
	}
	j.members[space] = out
	return out, nil
}

func voterOf(e shoal.Entity, member bool) approval.Voter {
	return approval.Voter{Entity: e.ID, Kind: e.Kind, Role: shoal.RoleEntity, Owner: OwnerOf(e), Manages: managesSession(e), Member: member, SessionRole: e.SessionRole}
}

// concerns reports whether a permission that its call does not target concerns the entity
// in whatever space it is shown, because the entity is a requester of the run or owns the
// agent.
func (j *Judge) concerns(row storage.Pending, id shoal.EntityID) (bool, error) {
	if row.Kind != shoal.PendingPermission || row.Policy.Targeted || row.Target != "" {
		return false, nil
	}
	e, err := j.entity(row.AgentID)
	return err == nil && (OwnerOf(e) == id || slices.Contains(requestersFor(row), id)), err
}

func publicVote(v storage.Vote) shoal.PendingVote {
	out := shoal.PendingVote{EntityID: v.EntityID, At: v.At, Approved: v.Answer.Approved, Error: v.Answer.Error, EditedArgs: Rules.EditedArgs(v.Answer)}
	if len(v.Answer.Result) > 0 {
		out.Result = v.Answer.Result
	}
	if v.Answer.Answer != nil {
		out.Result, _ = shoal.EncodeJSON(*v.Answer.Answer) // a text can always be encoded
	}
	return out
}
