package httpapi

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
)

// wholeMost is the upper bound of a number without another bound: the largest integer that
// every client represents exactly.
const wholeMost = 1<<53 - 1

// Bounds that several inputs share.
var (
	idBound      = input.Bound{Bytes: shoal.MaxID}
	lineBound    = input.Bound{Bytes: shoal.MaxName}
	contentBound = input.Bound{Bytes: shoal.MaxContent, Content: true}
	timeBound    = input.Bound{Bytes: 64}
	wholeBound   = input.Bound{Most: wholeMost, Cut: true}
)

// inputBounds are the bounds of all fields of bodies, by schema and field of the OpenAPI document,
// which states them. "field[]" is an entry of a list. A larger value is refused before the call
// is executed; only the parts of a message are left to the hub, which checks their sum. A test
// fails for an input without a bound, and sends each input more than its bound.
var inputBounds = map[string]input.Bound{
	"NewSession.id": idBound, "NewSession.name": lineBound,
	"Limits.maxCostPerRequest": {Most: shoal.MaxLimitCost}, "Limits.maxTokensPerRequest": {Most: shoal.MaxLimitTokens},
	"LimitsChange.maxCostPerRequest": {Most: shoal.MaxLimitCost}, "LimitsChange.maxTokensPerRequest": {Most: shoal.MaxLimitTokens},

	"NewEntity.id": idBound, "NewEntity.name": lineBound, "NewEntity.description": {Bytes: shoal.MaxDescription, Content: true},
	"NewEntity.externalId": lineBound, "NewEntity.metadata": {Bytes: shoal.MaxMetadata}, "NewEntity.sessionRole": {Bytes: shoal.MaxID},
	"EntityChange.name": lineBound, "EntityChange.description": {Bytes: shoal.MaxDescription, Content: true}, "EntityChange.externalId": lineBound,
	"EntityChange.metadata": {Bytes: shoal.MaxMetadata}, "EntityChange.ownerId": idBound, "EntityChange.sessionRole": idBound,

	"NewSpace.id": idBound, "NewSpace.name": lineBound, "NewSpace.members": {Entries: shoal.MaxNewMembers}, "NewSpace.members[]": idBound,
	"NewSpace.adminAgentId": idBound, "NewSpace.metadata": {Bytes: shoal.MaxMetadata},
	"SpaceChange.name": lineBound, "SpaceChange.adminAgentId": idBound, "SpaceChange.metadata": {Bytes: shoal.MaxMetadata},
	"CloseInput.summary": {Bytes: shoal.MaxSummary, Content: true}, "ReadInput.seq": wholeBound, "UnreadInput.seq": wholeBound,

	"MessageInput.text": contentBound, "MessageInput.parts": {Entries: shoal.MaxParts}, "MessageInput.senderId": idBound, "MessageInput.replyTo": idBound,
	"MessageInput.mentions": {Entries: shoal.MaxMentions}, "MessageInput.mentions[]": idBound,
	"EditInput.text": contentBound, "EditInput.parts": {Entries: shoal.MaxParts}, "EditInput.updatedAt": timeBound,
	"EditInput.mentions": {Entries: shoal.MaxMentions}, "EditInput.mentions[]": idBound,
	"NewTextPart.text": contentBound, "NewFilePart.name": lineBound, "NewFilePart.mediaType": lineBound,
	"NewFilePart.url": {Bytes: shoal.MaxDescription}, "NewFilePart.size": {Most: shoal.MaxFileSize},
	"NewDataPart.name": lineBound, "NewDataPart.data": contentBound,

	"ClaimInput.limit": {Most: shoal.MaxClaim, Cut: true}, "ClaimInput.waitMs": {Most: shoal.MaxWait.Milliseconds(), Cut: true},

	"WaitInput.ack": {Bytes: shoal.MaxCursor}, "WaitInput.entityId": idBound, "WaitInput.spaceId": idBound,
	"WaitInput.from": {Entries: shoal.MaxMentions}, "WaitInput.from[]": {Bytes: shoal.MaxID},
	"WakeLease.via": idBound, "WakeLease.harness": idBound, "WakeLease.runner": idBound, "WakeLease.sessionRef": lineBound,
	"WakeLease.ttlMs":  {Most: shoal.MaxWakeLease.Milliseconds()},
	"WaitAdapter.kind": idBound, "WaitAdapter.sessionRef": lineBound,
	"WaitInput.timeoutMs": {Most: shoal.MaxWait.Milliseconds(), Cut: true},

	"ResumedInput.cursor": {Bytes: shoal.MaxCursor},

	"URLInput.url": {Bytes: shoal.MaxDescription},

	"NewKey.sessionId": idBound, "NewKey.entityId": idBound, "NewKey.name": lineBound, "NewKey.expiresAt": timeBound,

	"NewInvite.name": lineBound, "NewInvite.sessionRole": {Bytes: shoal.MaxID}, "NewInvite.spaces": {Entries: shoal.MaxInviteSpaces}, "NewInvite.spaces[]": idBound,
	"NewInvite.expiresAt": timeBound,

	"NewPlan.name": lineBound, "NewPlan.description": {Bytes: shoal.MaxDescription, Content: true}, "NewPlan.instruction": {Bytes: shoal.MaxSummary, Content: true},
	"NewPlan.cron": lineBound, "NewPlan.timeZone": lineBound, "NewPlan.scheduledAt": timeBound,
	"PlanChange.name": lineBound, "PlanChange.description": {Bytes: shoal.MaxDescription, Content: true}, "PlanChange.instruction": {Bytes: shoal.MaxSummary, Content: true},
	"PlanChange.cron": lineBound, "PlanChange.timeZone": lineBound, "PlanChange.scheduledAt": timeBound,

	"TriggerInput.serviceName": lineBound, "TriggerInput.payload": contentBound,
	"ToolResultInput.callId": {Bytes: shoal.MaxName}, "ToolResultInput.error": contentBound, "ToolResultInput.result": contentBound,
	"PendingAnswer.answer": contentBound, "PendingAnswer.args": contentBound, "PendingAnswer.argsHash": {Bytes: shoal.MaxID},
	"PendingAnswer.ask": contentBound, "PendingAnswer.error": contentBound, "PendingAnswer.reason": contentBound, "PendingAnswer.result": contentBound,
	"Remember.decision": idBound, "Remember.scope": idBound, "Remember.forMs": {Most: shoal.MaxRememberFor.Milliseconds()},
}

// bodyDecoder decodes the bodies of all calls.
var bodyDecoder = input.NewDecoder(inputBounds)

// paramBounds are the bounds of query parameters and headers that are not ids.
var paramBounds = map[string]input.Bound{
	"cursor": {Bytes: shoal.MaxCursor}, "after": {Bytes: shoal.MaxCursor}, "q": {Bytes: 500}, "name": lineBound,
	"Last-Event-ID": {Bytes: shoal.MaxCursor}, "Idempotency-Key": {Bytes: shoal.MaxIdempotency},
	"sessionRef": lineBound, "status": lineBound, "by": lineBound, auth.SignedParam: lineBound,
}

func paramBound(name string) input.Bound {
	if b, found := paramBounds[name]; found {
		return b
	}
	return idBound
}

// checkParams returns an error if a query parameter or Last-Event-ID is too long. Other headers
// are checked where they are read.
func (c *call) checkParams() error {
	for _, p := range c.rt.query {
		if p.kind != stringParam {
			continue
		}
		text, _ := c.value(p.name)
		if err := paramBound(p.name).CheckText("query."+p.name, len(text)); err != nil {
			return err
		}
	}
	return paramBound("Last-Event-ID").CheckText("header.Last-Event-ID", len(c.r.Header.Get("Last-Event-ID")))
}
