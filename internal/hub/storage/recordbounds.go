package storage

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/keep"
)

// Bounds of a whole export that is imported.
const (
	// MaxImport is how many bytes an export may have.
	MaxImport = 1 << 40
	// MaxRecordLine is how many bytes a line may have: a file in base64, and more than
	// anything else that a session holds.
	MaxRecordLine = 32 << 20
	// MaxHeadLine is how many bytes the first line may have.
	MaxHeadLine = 64 << 10
	// MaxRecords and MaxEntities are how many records an export may have in all, and
	// how many of them may be entities.
	MaxRecords  = 100_000_000
	MaxEntities = 1_000_000
)

// RecordBound limits the value of a field of a record: the bytes of a text, of JSON or of
// decoded data (Bytes); the entries of a list, including a JSON list (Entries); or the
// range of a number (Min to Max). What callers write has the bounds of the inputs. What
// only the server writes has room for everything that it may have stored.
type RecordBound struct {
	Bytes, Entries int
	Min, Max       int64
}

// Bounds that several fields have.
var (
	// Bounds that several fields have.
	shortText   = RecordBound{Bytes: 4 << 10} // names from clients and models, and the server's own words
	serverText  = RecordBound{Bytes: MaxRecordLine}
	contentText = RecordBound{Bytes: shoal.MaxContent}
	manyIDs     = RecordBound{Bytes: MaxRecordLine, Entries: 10_000}
	AnyInteger  = RecordBound{Min: 0, Max: 1<<53 - 1}
)

// recordBounds is the only table of the bounds of an import, by the type of the record and
// its field. A key without a type applies to the field in every type. Ids, single-line
// names, numbers and lists of ids have default bounds. A test fails for a field without a
// bound, and imports one more of each than it may have.
var recordBounds = map[string]RecordBound{
	"description": {Bytes: shoal.MaxDescription}, "metadata": {Bytes: shoal.MaxMetadata}, "actingFor": manyIDs, "onBehalfOf": manyIDs,
	"hash": shortText, "requester": shortText, "name": {Bytes: shoal.MaxName}, "model": shortText,

	"session.maxCostPerRequest": {Max: shoal.MaxLimitCost}, "session.maxTokensPerRequest": {Max: shoal.MaxLimitTokens},
	"session.messagesForMs": {Max: keep.MostMs}, "session.runsForMs": {Max: keep.MostMs}, "session.promptsForMs": {Max: keep.MostMs},
	"entity.externalId": {Bytes: shoal.MaxName}, "entity.lastFailure": {Bytes: shoal.MaxContent}, "entity.wakeProof": {Bytes: shoal.MaxContent},
	"agent.config":    serverText,
	"member.readUpto": {Min: -1, Max: AnyInteger.Max},
	"space.summary":   {Bytes: shoal.MaxSummary},
	"file.name":       shortText, "file.mediaType": shortText, "file.url": shortText, "file.uploadedBy": shortText, "file.data": {Bytes: MaxRecordLine / 4 * 3},
	"renderer.page": {Bytes: shoal.MaxRenderer},

	"run.trigger": serverText, "run.causeRoot": shortText, "run.usage": shortText, "run.error": contentText, "run.limitReached": shortText, "run.traceId": shortText, "run.traceParent": shortText,
	"run.spaceId": {Bytes: shoal.MaxID}, "run.conversation": shortText, "run.turn": serverText, "run.activity": shortText,
	"message.entityId": {Bytes: shoal.MaxID}, "message.parts": {Bytes: MaxRecordLine, Entries: 2 * shoal.MaxParts}, "message.state": serverText,
	"message.reactions": {Bytes: 256 << 10, Entries: shoal.MaxReactions}, "messageVersion.parts": {Bytes: MaxRecordLine, Entries: 2 * shoal.MaxParts},
	"cause.root":     shortText,
	"inboxEntry.via": shortText,
	"step.step":      serverText, "step.data": serverText,
	"modelText.body": serverText, "modelRequest.system": shortText, "modelRequest.tools": shortText,
	"modelRequest.messages": {Bytes: MaxRecordLine, Entries: 1_000_000},
	"clientInput.input":     {Bytes: 4 << 20},
	"conversation.id":       shortText, "conversation.data": serverText,

	"pendingAction.runId": {Bytes: shoal.MaxID}, "pendingAction.toolCallId": shortText, "pendingAction.toolName": shortText, "pendingAction.args": serverText, "pendingAction.question": serverText,
	"pendingAction.options": {Bytes: MaxRecordLine, Entries: 10_000}, "pendingAction.resultSchema": serverText, "pendingAction.status": shortText,
	"pendingAction.request": shortText, "pendingAction.targetEntityId": {Bytes: shoal.MaxID}, "pendingAction.policy": contentText,
	"pendingAction.reply": contentText, "pendingAction.answer": {Bytes: 4 << 20}, "pendingAction.answerHash": shortText,

	"plan.instruction": {Bytes: shoal.MaxSummary}, "plan.cron": {Bytes: shoal.MaxName}, "plan.timeZone": {Bytes: shoal.MaxName},
	"goal.id": shortText, "goal.description": contentText, "goal.priority": {Min: -(1<<53 - 1), Max: 1<<53 - 1},
	"memory.id": shortText, "memory.topic": contentText, "memory.content": contentText, "memory.metadata": contentText,
	"usage.day": shortText,
}

// setBounds sets the bound of every field of the types, and returns them.
func setBounds(types []*RecordType) []*RecordType {
	for _, t := range types {
		for i := range t.Fields {
			t.Fields[i].Bound = t.findBound(t.Fields[i])
		}
	}
	return types
}

// findBound returns the bound of a field of the type. Times, booleans and enumerations need
// none.
func (t *RecordType) findBound(f RecordField) RecordBound {
	for _, name := range []string{t.Name + "." + f.Name, f.Name} {
		if b, found := recordBounds[name]; found {
			return b
		}
	}
	switch f.Kind {
	case RecordID:
		return RecordBound{Bytes: shoal.MaxID}
	case RecordLine:
		return RecordBound{Bytes: shoal.MaxName}
	case RecordIDs:
		return manyIDs
	case RecordInt, RecordReal:
		return AnyInteger
	}
	return RecordBound{}
}

// check returns an error that says by how much a value exceeds the bound.
func (b RecordBound) check(f RecordField, value any) error {
	switch v := value.(type) {
	case string:
		if f.Of != nil {
			return nil
		}
		return b.checkBytes(len(v))
	case []byte:
		return b.checkBytes(len(v))
	case json.RawMessage:
		return errors.Join(b.checkBytes(len(v)), b.checkList(v))
	case []shoal.EntityID:
		return b.checkEntries(len(v))
	case int64:
		return b.checkNumber(float64(v))
	case float64:
		return b.checkNumber(v)
	}
	return nil
}

func (b RecordBound) checkBytes(n int) error {
	if n > b.Bytes {
		return fmt.Errorf("has %d bytes; at most %d are allowed", n, b.Bytes)
	}
	return nil
}

func (b RecordBound) checkEntries(n int) error {
	if n > b.Entries {
		return fmt.Errorf("has %d entries; at most %d are allowed", n, b.Entries)
	}
	return nil
}

// checkList checks the number of entries of a JSON list. It accepts JSON that is not a
// list.
func (b RecordBound) checkList(raw json.RawMessage) error {
	var list []json.RawMessage
	if b.Entries == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return b.checkEntries(len(list))
}

func (b RecordBound) checkNumber(n float64) error {
	if n < float64(b.Min) || n > float64(b.Max) {
		return fmt.Errorf("must be at least %d and at most %d", b.Min, b.Max)
	}
	return nil
}
