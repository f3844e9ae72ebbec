package audit

import "slices"

// Act is the kind of what was done: a noun and a verb.
type Act string

// The acts that are recorded.
const (
	KeyCreate      Act = "key.create"
	KeyRevoke      Act = "key.revoke"
	KeyRotate      Act = "key.rotate"
	SignInCreate   Act = "signin.create"
	SignInEnd      Act = "signin.end"
	PushCreate     Act = "push.create"
	PushDelete     Act = "push.delete"
	InviteCreate   Act = "invite.create"
	InviteDelete   Act = "invite.delete"
	InviteAccept   Act = "invite.accept"
	ClientRegister Act = "client.register"
	ConsentGive    Act = "consent.give"
	ConsentDeny    Act = "consent.deny"
	TokenIssue     Act = "token.issue"
	TokenRefresh   Act = "token.refresh"
	TokenRevoke    Act = "token.revoke"
	RunnerEnroll   Act = "runner.enroll"
	RunnerRemove   Act = "runner.remove"
	EntityCreate   Act = "entity.create"
	EntityUpdate   Act = "entity.update"
	EntityDelete   Act = "entity.delete"
	EntityErase    Act = "entity.erase"
	SessionCreate  Act = "session.create"
	SessionUpdate  Act = "session.update"
	SessionClose   Act = "session.close"
	SessionDelete  Act = "session.delete"
	SessionExport  Act = "session.export"
	SessionImport  Act = "session.import"
	SpaceCreate    Act = "space.create"
	SpaceClose     Act = "space.close"
	SpaceDelete    Act = "space.delete"
	MemberAdd      Act = "member.add"
	MemberRemove   Act = "member.remove"
	AgentPut       Act = "agent.put"
	AgentDelete    Act = "agent.delete"
	ApprovalAnswer Act = "approval.answer"
	ApprovalForget Act = "approval.forget"
	// CallRefuse is a call that was refused because of who made it.
	CallRefuse Act = "call.refuse"
)

// Acts lists all acts.
var Acts = []Act{
	KeyCreate, KeyRotate, KeyRevoke, SignInCreate, SignInEnd, PushCreate, PushDelete, InviteCreate, InviteDelete, InviteAccept,
	ClientRegister, ConsentGive, ConsentDeny, TokenIssue, TokenRefresh, TokenRevoke, RunnerEnroll, RunnerRemove,
	EntityCreate, EntityUpdate, EntityDelete, EntityErase, SessionCreate, SessionUpdate, SessionClose, SessionDelete, SessionExport, SessionImport,
	SpaceCreate, SpaceClose, SpaceDelete, MemberAdd, MemberRemove, AgentPut, AgentDelete, ApprovalAnswer, ApprovalForget, CallRefuse,
}

// Known reports whether a is one of [Acts].
func (a Act) Known() bool { return slices.Contains(Acts, a) }
