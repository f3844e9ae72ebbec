// Package roles says what each session role allows. It is the only place where a session role
// becomes a right: everything else asks it about an act. What an act needs besides, such as
// being a member of the space, is checked by the operation.
package roles

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Act is a kind of thing that an entity does in its session.
type Act string

// The acts. Everything that the server offers is one of them.
const (
	ReadSession   Act = "read the session"
	SeeEverything Act = "read spaces, runs and files without being a member"
	SeeEverybody  Act = "see participants that share no space with it"
	KeepInbox     Act = "wait, mute spaces and keep its place in its inbox"
	Present       Act = "change its own name and description"
	Post          Act = "post, edit, react and upload files"
	Answer        Act = "answer questions and forms"
	Approve       Act = "allow or deny what an agent asks permission for"
	LeaveSpace    Act = "leave a space"
	CreateSpace   Act = "create spaces"
	ChangeSpace   Act = "change spaces and their members"
	Moderate      Act = "do what spaces and permissions reserve for admins of the session"
	ControlRun    Act = "cancel and retry runs"
	ServeRun      Act = "execute its own runs as a remote agent"
	TriggerRun    Act = "start runs as a service"
	ReadModels    Act = "read the steps of runs and what models were sent"
	ReadSettings  Act = "read the settings: agents, plans, memories, runners, keys and usage"
	ReadInvites   Act = "list invitations"
	Invite        Act = "invite people"
	ReadAudit     Act = "read the audit log"
	Manage        Act = "manage the session: participants, roles, keys, agents, plans, renderers, deletion and export"
)

// The scopes of keys that are groups of acts.
const (
	ScopeRead   = "read"
	ScopePost   = "post"
	ScopeAnswer = "answer"
	ScopeRun    = "run"
)

// rule is one line of the table. service says that a service key passes; an act for which an
// entity has to act refuses it later. scope is what a key with scopes needs; without one, only keys
// without scopes pass.
type rule struct {
	act     Act
	allowed string
	service bool
	scope   string
}

// table is the table of roles and acts. An act that is not in it is allowed to nobody.
var table = []rule{
	{ReadSession, "owner admin member guest auditor", true, ScopeRead},
	{SeeEverything, "owner auditor", true, ScopeRead},
	{SeeEverybody, "owner admin member auditor", true, ScopeRead},
	{KeepInbox, "owner admin member guest auditor", true, ScopeRead},
	{Present, "owner admin member guest", true, ScopePost},
	{Post, "owner admin member guest", true, ScopePost},
	{Answer, "owner admin member guest", true, ScopeAnswer},
	{Approve, "owner admin member", true, ScopeAnswer},
	{LeaveSpace, "owner admin member guest", true, ""},
	{CreateSpace, "owner admin member", true, ""},
	{ChangeSpace, "owner admin member", true, ""},
	{Moderate, "owner admin", false, ""},
	{ControlRun, "owner admin member", true, ScopeRun},
	{ServeRun, "owner admin member", true, ScopeRun},
	{TriggerRun, "owner", true, ScopeRun},
	{ReadModels, "owner auditor", true, ScopeRead},
	{ReadSettings, "owner auditor", false, ScopeRead},
	{ReadInvites, "owner admin auditor", false, ScopeRead},
	{Invite, "owner admin", false, ""},
	{ReadAudit, "owner admin auditor", false, ScopeRead},
	{Manage, "owner", false, ""},
}

// All are the session roles, in the order of the table in docs/roles.md.
var All = []shoal.SessionRole{shoal.SessionOwner, shoal.SessionAdmin, shoal.SessionMember, shoal.SessionGuest, shoal.SessionAuditor}

// allowed has the table by act and role: it is asked at every call.
var allowed = func() map[Act]map[shoal.SessionRole]bool {
	out := make(map[Act]map[shoal.SessionRole]bool, len(table))
	for _, r := range table {
		out[r.act] = map[shoal.SessionRole]bool{}
		for role := range strings.FieldsSeq(r.allowed) {
			out[r.act][shoal.SessionRole(role)] = true
		}
	}
	return out
}()

// scopes has the scopes of the acts.
var scopes = func() map[Act]string {
	out := make(map[Act]string, len(table))
	for _, r := range table {
		out[r.act] = r.scope
	}
	return out
}()

// Acts returns the acts of the table in its order.
func Acts() (out []Act) {
	for _, r := range table {
		out = append(out, r.act)
	}
	return out
}

// Allows reports whether a session role allows an act. An empty role is member.
func Allows(role shoal.SessionRole, act Act) bool {
	return allowed[act][cmp.Or(role, shoal.SessionMember)]
}

// AllowsService reports whether the table lets a service key pass for an act.
func AllowsService(act Act) bool {
	return slices.ContainsFunc(table, func(r rule) bool { return r.act == act && r.service })
}

// ScopeOf returns the scope that a key with scopes needs for an act, empty if only a key without
// scopes passes.
func ScopeOf(act Act) string { return scopes[act] }

// MayGive reports whether an entity with the role giver may give somebody a role, with an
// invitation or otherwise: it may invite, and the role allows nothing that its own does not.
func MayGive(giver, role shoal.SessionRole) bool {
	return Allows(giver, Invite) && !slices.ContainsFunc(table, func(r rule) bool { return Allows(role, r.act) && !Allows(giver, r.act) })
}

// Given returns the roles that an entity with the role giver may give, in the order of [All].
func Given(giver shoal.SessionRole) (out []shoal.SessionRole) {
	for _, role := range All {
		if MayGive(giver, role) {
			out = append(out, role)
		}
	}
	return out
}

// MayBeHosted reports whether a hosted agent may have a role. What a hosted agent does is not an
// act of a caller, so a role that allows less than that of a member would not hold it back.
func MayBeHosted(role shoal.SessionRole) bool {
	return !slices.ContainsFunc(table, func(r rule) bool { return Allows(shoal.SessionMember, r.act) && !Allows(role, r.act) })
}
