package input

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/keep"
)

// wholeMost is the upper bound of a number without another bound: the largest integer that
// every client represents exactly.
const wholeMost = 1<<53 - 1

// Bounds that several inputs share: an id, a name of one line, and a whole number.
var (
	ID        = Bound{Bytes: shoal.MaxID}
	Line      = Bound{Bytes: shoal.MaxName}
	content   = Bound{Bytes: shoal.MaxContent, Content: true}
	timestamp = Bound{Bytes: 64}
	Whole     = Bound{Most: wholeMost, Cut: true}
)

// OfBodies are the bounds of all fields of bodies, by schema and field of the OpenAPI document,
// which states them. "field[]" is an entry of a list. A larger value is refused before the call
// is executed; only the parts of a message are left to the hub, which checks their sum. A test
// fails for an input without a bound, and sends each input more than its bound.
var OfBodies = map[string]Bound{
	"NewSession.id": ID, "NewSession.name": Line,
	"Limits.maxCostPerRequest": {Most: shoal.MaxLimitCost}, "Limits.maxTokensPerRequest": {Most: shoal.MaxLimitTokens},
	"LimitsChange.maxCostPerRequest": {Most: shoal.MaxLimitCost}, "LimitsChange.maxTokensPerRequest": {Most: shoal.MaxLimitTokens},
	"RetentionChange.messagesForMs": {Most: keep.MostMs}, "RetentionChange.runsForMs": {Most: keep.MostMs}, "RetentionChange.promptsForMs": {Most: keep.MostMs},

	"NewEntity.id": ID, "NewEntity.name": Line, "NewEntity.description": {Bytes: shoal.MaxDescription, Content: true},
	"NewEntity.externalId": Line, "NewEntity.metadata": {Bytes: shoal.MaxMetadata}, "NewEntity.sessionRole": {Bytes: shoal.MaxID},
	"EntityChange.name": Line, "EntityChange.description": {Bytes: shoal.MaxDescription, Content: true}, "EntityChange.externalId": Line,
	"EntityChange.metadata": {Bytes: shoal.MaxMetadata}, "EntityChange.ownerId": ID, "EntityChange.sessionRole": ID,

	"NewSpace.id": ID, "NewSpace.name": Line, "NewSpace.members": {Entries: shoal.MaxNewMembers}, "NewSpace.members[]": ID,
	"NewSpace.adminAgentId": ID, "NewSpace.metadata": {Bytes: shoal.MaxMetadata},
	"SpaceChange.name": Line, "SpaceChange.adminAgentId": ID, "SpaceChange.metadata": {Bytes: shoal.MaxMetadata},
	"CloseInput.summary": {Bytes: shoal.MaxSummary, Content: true}, "ReadInput.seq": Whole, "UnreadInput.seq": Whole,

	"MessageInput.text": content, "MessageInput.parts": {Entries: shoal.MaxParts}, "MessageInput.senderId": ID, "MessageInput.replyTo": ID,
	"MessageInput.mentions": {Entries: shoal.MaxMentions}, "MessageInput.mentions[]": ID,
	"EditInput.text": content, "EditInput.parts": {Entries: shoal.MaxParts}, "EditInput.updatedAt": timestamp,
	"EditInput.mentions": {Entries: shoal.MaxMentions}, "EditInput.mentions[]": ID,
	"NewTextPart.text": content, "NewFilePart.name": Line, "NewFilePart.mediaType": Line,
	"NewFilePart.url": {Bytes: shoal.MaxDescription}, "NewFilePart.size": {Most: shoal.MaxFileSize},
	"NewDataPart.name": Line, "NewDataPart.data": content,

	"ClaimInput.limit": {Most: shoal.MaxClaim, Cut: true}, "ClaimInput.waitMs": {Most: shoal.MaxWait.Milliseconds(), Cut: true}, "ClaimInput.holds": {Entries: shoal.MaxClaim}, "ClaimInput.holds[]": {Bytes: shoal.MaxID},

	"RunnerReport.version": Line, "RunnerReport.kind": ID, "RunnerReport.dir": {Bytes: shoal.MaxDescription}, "RunnerReport.mode": ID, "RunnerReport.problem": {Bytes: shoal.MaxDescription},
	"RunnerReport.respondTo": {Entries: shoal.MaxMentions}, "RunnerReport.respondTo[]": ID, "RunnerReport.approve": {Entries: shoal.MaxMentions}, "RunnerReport.approve[]": ID,
	"RunnerReport.maxTurnsPerHour": Whole, "RunnerReport.maxTokensPerDay": Whole, "RunnerReport.maxCostPerDay": {Most: wholeMost},

	"WaitInput.ack": {Bytes: shoal.MaxCursor}, "WaitInput.entityId": ID, "WaitInput.spaceId": ID,
	"WaitInput.from": {Entries: shoal.MaxMentions}, "WaitInput.from[]": {Bytes: shoal.MaxID},
	"WakeLease.via": ID, "WakeLease.harness": ID, "WakeLease.runner": ID, "WakeLease.sessionRef": Line,
	"WakeTest.messageId": ID, "WakeTest.answeredBy": ID,
	"WakeLease.ttlMs":  {Most: shoal.MaxWakeLease.Milliseconds()},
	"WaitAdapter.kind": ID, "WaitAdapter.sessionRef": Line,
	"WaitInput.timeoutMs": {Most: shoal.MaxWait.Milliseconds(), Cut: true},

	"ResumedInput.cursor": {Bytes: shoal.MaxCursor},

	"URLInput.url": {Bytes: shoal.MaxDescription},

	"NewKey.sessionId": ID, "NewKey.entityId": ID, "NewKey.name": Line, "NewKey.expiresAt": timestamp, "NewKey.scopes": {Entries: 8}, "NewKey.scopes[]": {Bytes: shoal.MaxDescription}, "NewKey.renewForMs": Whole,
	"KeyRotation.overlapMs": Whole, "KeyRotation.expiresAt": timestamp,

	"NewSubscription.endpoint": {Bytes: shoal.MaxDescription}, "NewSubscription.p256dh": {Bytes: shoal.MaxName}, "NewSubscription.auth": {Bytes: shoal.MaxID},

	"NewInvite.name": Line, "NewInvite.sessionRole": {Bytes: shoal.MaxID}, "NewInvite.spaces": {Entries: shoal.MaxInviteSpaces}, "NewInvite.spaces[]": ID,
	"NewInvite.expiresAt": timestamp,

	"NewPlan.name": Line, "NewPlan.description": {Bytes: shoal.MaxDescription, Content: true}, "NewPlan.instruction": {Bytes: shoal.MaxSummary, Content: true},
	"NewPlan.cron": Line, "NewPlan.timeZone": Line, "NewPlan.scheduledAt": timestamp,
	"PlanChange.name": Line, "PlanChange.description": {Bytes: shoal.MaxDescription, Content: true}, "PlanChange.instruction": {Bytes: shoal.MaxSummary, Content: true},
	"PlanChange.cron": Line, "PlanChange.timeZone": Line, "PlanChange.scheduledAt": timestamp,

	"TriggerInput.serviceName": Line, "TriggerInput.payload": content,
	"ToolResultInput.callId": {Bytes: shoal.MaxName}, "ToolResultInput.error": content, "ToolResultInput.result": content,
	"Ask.id": ID, "Ask.spaceId": ID, "Ask.toolName": Line, "Ask.args": content, "Ask.waitMs": {Most: 20_000},
	"PendingAnswer.answer": content, "PendingAnswer.args": content, "PendingAnswer.argsHash": {Bytes: shoal.MaxID},
	"PendingAnswer.ask": content, "PendingAnswer.error": content, "PendingAnswer.reason": content, "PendingAnswer.result": content,
	"Remember.decision": ID, "Remember.scope": ID, "Remember.forMs": {Most: shoal.MaxRememberFor.Milliseconds()},
}
