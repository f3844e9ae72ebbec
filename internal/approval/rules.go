package approval

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/roles"
)

// Rules are the parts of a decision. They are values so that a test can plant a fault in one
// of them; all other code uses [Contract].
type Rules struct {
	// CheckOpen rejects answers to an action that is no longer open.
	CheckOpen func(Action) error
	// SameArgs reports whether the answer is for the action's arguments.
	SameArgs func(Action, shoal.PendingAnswer) bool
	// Objection returns why a voter may not answer; empty if it may.
	Objection func(Action, Voter) string
	// CountEqual counts the votes that are equal to an answer.
	CountEqual func([]Vote, shoal.PendingAnswer) int
	// EditedArgs returns the arguments that replace the model's, nil for the model's.
	EditedArgs func(shoal.PendingAnswer) json.RawMessage
	// Covers reports whether a remembered decision applies to a call.
	Covers func(Remembered, Call) bool
	// JoinRequesters adds requesters to those of a run: the senders of further messages,
	// entities that retried it, and the requesters of an agent that called it.
	JoinRequesters func(before []shoal.EntityID, more ...shoal.EntityID) []shoal.EntityID
}

// Contract returns the rules of the contract.
func Contract() Rules {
	return Rules{CheckOpen: checkOpen, SameArgs: sameArgs, Objection: objection, CountEqual: countEqual, EditedArgs: editedArgs, Covers: covers, JoinRequesters: joinRequesters}
}

func checkOpen(a Action) error {
	switch {
	case a.Expired:
		return shoal.E("", shoal.Expired, "The pending action has expired or its run is over. Nothing waits for this answer.")
	case !a.Open:
		return shoal.E("", shoal.AlreadyAnswered, "The pending action has already been answered. The first answer counts.")
	}
	return nil
}

func sameArgs(a Action, in shoal.PendingAnswer) bool {
	return in.ArgsHash == nil || *in.ArgsHash == a.ArgsHash
}

func countEqual(votes []Vote, in shoal.PendingAnswer) int {
	n := 0
	for _, v := range votes {
		if equalAnswers(v.Answer, in) {
			n++
		}
	}
	return n
}

func editedArgs(in shoal.PendingAnswer) json.RawMessage {
	if !approves(in) || len(in.Args) == 0 {
		return nil
	}
	return in.Args
}

func joinRequesters(before []shoal.EntityID, more ...shoal.EntityID) []shoal.EntityID {
	all := slices.Concat(before, more)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id shoal.EntityID) bool { return id == "" })
}

// objection returns why v may not answer, empty if it may.
func objection(a Action, v Voter) string {
	no := func(why string) string {
		if v.Entity == "" {
			return fmt.Sprintf("This key may not answer the pending action %q: %s. Use the key of an entity, or name one with the header X-Shoal-Entity.", a.ID, why)
		}
		text := fmt.Sprintf("%q may not answer the pending action %q: %s.", v.Entity, a.ID, why)
		if v.hasWrongKind(a) {
			text += " " + WrongKind(v.Entity, v.Kind)
		}
		return text
	}
	switch {
	case !roles.Allows(v.SessionRole, actOf(a)):
		return no(fmt.Sprintf("its role in the session, %s, does not allow to %s", v.SessionRole, actOf(a)))
	case v.Entity == "" && a.Quorum > 1:
		return no("it requires several entities, and the key acts as no entity")
	case v.Entity == a.Agent:
		return no("the agent that asks cannot answer itself")
	case a.Only != "" && a.Only != v.Entity:
		return no("it is addressed to another member")
	case a.Kind == shoal.PendingPermission && v.Kind == shoal.Agent && v.Owner != "" && slices.Contains(a.Requesters, v.Owner):
		return no("its owner is one of the run's requesters")
	case a.NotRequester && slices.Contains(a.Requesters, v.Entity):
		return no("the policy excludes the run's requesters")
	case isGranted(a, v):
		return ""
	case len(a.By) > 0:
		return no("only the entities that the tool's policy names may")
	case a.Kind == shoal.PendingPermission && a.Targeted:
		return no("a permission requires a person in the space that the call targets")
	case a.Kind == shoal.PendingPermission:
		return no("a permission requires one of the run's requesters or the owner of the agent")
	}
	return no("only members of the space that shows it may")
}

// actOf returns what an answer is in the table of roles.
func actOf(a Action) roles.Act {
	if a.Kind == shoal.PendingPermission {
		return roles.Approve
	}
	return roles.Answer
}

// hasWrongKind reports whether v could answer if its kind were the other one.
func (v Voter) hasWrongKind(a Action) bool {
	if v.Kind == "" || !roles.Allows(v.SessionRole, actOf(a)) || isGranted(a, v) || v.Entity == a.Agent || a.Only != "" && a.Only != v.Entity {
		return false
	}
	v.Kind = otherKind(v.Kind)
	return isGranted(a, v)
}

func otherKind(k shoal.EntityKind) shoal.EntityKind {
	if k == shoal.Human {
		return shoal.Agent
	}
	return shoal.Human
}

// WrongKind states the kind of an entity that is refused for it, and how to change it.
func WrongKind(id shoal.EntityID, kind shoal.EntityKind) string {
	text := fmt.Sprintf("%q is of kind %q. If that is wrong, an admin or an owner of the session changes it: PATCH …/entities/%s {\"kind\": %q}.", id, kind, id, otherKind(kind))
	if kind == shoal.Agent {
		text += " Keys for front ends (door: agui, openai, ai-sdk, invite) create humans."
	}
	return text
}

// isGranted reports whether By, or the default of the kind, includes the voter.
func isGranted(a Action, v Voter) bool {
	service := v.Role == shoal.RoleService && v.Entity == ""
	key := v.Role == shoal.RoleAdmin && v.Entity == "" // counts as a human
	person := v.Kind == shoal.Human
	switch {
	case service && a.Kind == shoal.PendingClientTool && a.ByService:
		return true
	case len(a.By) > 0:
	case a.Kind == shoal.PendingPermission && !a.Targeted:
		return key || person && (slices.Contains(a.Requesters, v.Entity) || v.Entity == a.Owner)
	case a.Kind == shoal.PendingPermission:
		return key || person && v.Member
	default:
		return key || v.Member
	}
	return slices.ContainsFunc(a.By, func(by shoal.EntityID) bool {
		switch by {
		case shoal.AnswerHumans:
			return key || person && v.Member
		case shoal.AnswerMembers:
			return key || v.Member
		case shoal.AnswerAgents:
			return v.Kind == shoal.Agent && v.Member
		case shoal.AnswerServices:
			return service
		case shoal.AnswerAdmins:
			return v.Role == shoal.RoleAdmin || v.Manages
		}
		return v.Entity == by
	})
}

func isID(by shoal.EntityID) bool { return !slices.Contains(shoal.AnswererGroups, by) }
