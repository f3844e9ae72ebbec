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

// Act is a kind of thing that an entity does in its session. Programs read its name, such as
// "post"; String has the words for people.
type Act string

// The acts. Everything that the server offers is one of them.
const (
	ReadSession   Act = "read_session"
	SeeEverything Act = "see_everything"
	SeeEverybody  Act = "see_everybody"
	KeepInbox     Act = "keep_inbox"
	Present       Act = "present"
	Post          Act = "post"
	Answer        Act = "answer"
	Approve       Act = "approve"
	LeaveSpace    Act = "leave_space"
	CreateSpace   Act = "create_space"
	ChangeSpace   Act = "change_space"
	Moderate      Act = "moderate"
	ControlRun    Act = "control_run"
	ServeRun      Act = "serve_run"
	TriggerRun    Act = "trigger_run"
	ReadModels    Act = "read_models"
	ReadSettings  Act = "read_settings"
	ReadInvites   Act = "read_invites"
	Invite        Act = "invite"
	ConnectAgent  Act = "connect_agent"
	ReadAudit     Act = "read_audit"
	Manage        Act = "manage"
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
	words   string
	allowed string
	service bool
	scope   string
}

// table is the table of roles and acts. An act that is not in it is allowed to nobody.
var table = []rule{
	{ReadSession, "read the session", "owner admin member guest auditor", true, ScopeRead},
	{SeeEverything, "read spaces, runs and files without being a member", "owner auditor", true, ScopeRead},
	{SeeEverybody, "see participants that share no space with it", "owner admin member auditor", true, ScopeRead},
	{KeepInbox, "wait, mute spaces and keep its place in its inbox", "owner admin member guest auditor", true, ScopeRead},
	{Present, "change its own name and description", "owner admin member guest", true, ScopePost},
	{Post, "post, edit, react and upload files", "owner admin member guest", true, ScopePost},
	{Answer, "answer questions and forms", "owner admin member guest", true, ScopeAnswer},
	{Approve, "allow or deny what an agent asks permission for", "owner admin member", true, ScopeAnswer},
	{LeaveSpace, "leave a space", "owner admin member guest", true, ""},
	{CreateSpace, "create spaces", "owner admin member", true, ""},
	{ChangeSpace, "change spaces and their members", "owner admin member", true, ""},
	{ConnectAgent, "connect programs as agents of its own", "owner admin member", false, ""},
	{Moderate, "do what spaces and permissions reserve for admins of the session", "owner admin", false, ""},
	{ControlRun, "cancel and retry runs", "owner admin member", true, ScopeRun},
	{ServeRun, "execute its own runs as a remote agent", "owner admin member", true, ScopeRun},
	{TriggerRun, "start runs as a service", "owner", true, ScopeRun},
	{ReadModels, "read the steps of runs and what models were sent", "owner auditor", true, ScopeRead},
	{ReadSettings, "read the settings: agents, plans, memories, runners, keys and usage", "owner auditor", false, ScopeRead},
	{ReadInvites, "list invitations", "owner admin auditor", false, ScopeRead},
	{Invite, "invite people", "owner admin", false, ""},
	{ReadAudit, "read the audit log", "owner admin auditor", false, ScopeRead},
	{Manage, "manage the session: participants, roles, keys, agents, plans, renderers, deletion and export", "owner", false, ""},
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

// String returns what an act is in words that follow "may".
func (a Act) String() string {
	if i := slices.IndexFunc(table, func(r rule) bool { return r.act == a }); i >= 0 {
		return table[i].words
	}
	return string(a)
}

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

// May reports whether the key and the role of a caller allow an act. It does not say in which
// session.
func May(p shoal.Principal, act Act) bool {
	return p.Admin() || p.Role == shoal.RoleService && AllowsService(act) || p.Role == shoal.RoleEntity && Allows(p.SessionRole, act)
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
	return Allows(giver, Invite) && Within(role, giver)
}

// Within reports whether a role allows nothing that another one does not.
func Within(role, other shoal.SessionRole) bool {
	return !slices.ContainsFunc(table, func(r rule) bool { return Allows(role, r.act) && !Allows(other, r.act) })
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
