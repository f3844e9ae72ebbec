package httpapi

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
)

// bound is how much an input may have: the bytes of a text or of any value, the entries
// of a list, or how little and how much a number may be, which is cut where cut says
// so. A text that is content is too large where others are wrong.
type bound struct {
	bytes, entries int
	least, most    int64
	content, cut   bool
}

// wholeMost is the upper bound of a number that has no other: what every client can
// write exactly.
const wholeMost = 1<<53 - 1

// Bounds that several inputs have.
var (
	idBound      = bound{bytes: shoal.MaxID}
	lineBound    = bound{bytes: shoal.MaxName}
	contentBound = bound{bytes: shoal.MaxContent, content: true}
	timeBound    = bound{bytes: 64}
	wholeBound   = bound{most: wholeMost, cut: true}
)

// inputBounds is the one table of the bounds of what bodies hold, by the schema and the
// field in the OpenAPI document, which states them. "field[]" is an entry of a list.
// What is more is refused before anything else is done; only the parts of a message are
// left to the hub, which adds them up. A test fails for an input without a bound, and
// sends each one more than it may have.
var inputBounds = map[string]bound{
	"NewSession.id": idBound, "NewSession.name": lineBound,
	"Limits.maxCostPerRequest": {most: shoal.MaxLimitCost}, "Limits.maxTokensPerRequest": {most: shoal.MaxLimitTokens},
	"LimitsChange.maxCostPerRequest": {most: shoal.MaxLimitCost}, "LimitsChange.maxTokensPerRequest": {most: shoal.MaxLimitTokens},

	"NewEntity.id": idBound, "NewEntity.name": lineBound, "NewEntity.description": {bytes: shoal.MaxDescription, content: true},
	"NewEntity.externalId": lineBound, "NewEntity.metadata": {bytes: shoal.MaxMetadata}, "NewEntity.sessionRole": {bytes: shoal.MaxID},
	"EntityChange.name": lineBound, "EntityChange.description": {bytes: shoal.MaxDescription, content: true}, "EntityChange.externalId": lineBound,
	"EntityChange.metadata": {bytes: shoal.MaxMetadata}, "EntityChange.ownerId": idBound, "EntityChange.sessionRole": idBound,

	"NewSpace.id": idBound, "NewSpace.name": lineBound, "NewSpace.members": {entries: shoal.MaxMembers}, "NewSpace.members[]": idBound,
	"NewSpace.adminAgentId": idBound, "NewSpace.metadata": {bytes: shoal.MaxMetadata},
	"SpaceChange.name": lineBound, "SpaceChange.adminAgentId": idBound, "SpaceChange.metadata": {bytes: shoal.MaxMetadata},
	"CloseInput.summary": {bytes: shoal.MaxSummary, content: true}, "ReadInput.seq": wholeBound, "UnreadInput.seq": wholeBound,

	"MessageInput.text": contentBound, "MessageInput.parts": {entries: shoal.MaxParts}, "MessageInput.senderId": idBound, "MessageInput.replyTo": idBound,
	"MessageInput.mentions": {entries: shoal.MaxMentions}, "MessageInput.mentions[]": idBound,
	"EditInput.text": contentBound, "EditInput.parts": {entries: shoal.MaxParts}, "EditInput.updatedAt": timeBound,
	"EditInput.mentions": {entries: shoal.MaxMentions}, "EditInput.mentions[]": idBound,
	"NewTextPart.text": contentBound, "NewFilePart.name": lineBound, "NewFilePart.mediaType": lineBound,
	"NewFilePart.url": {bytes: shoal.MaxDescription}, "NewFilePart.size": {most: shoal.MaxFileSize},
	"NewDataPart.name": lineBound, "NewDataPart.data": contentBound,

	"WaitInput.ack": {bytes: shoal.MaxCursor}, "WaitInput.entityId": idBound, "WaitInput.spaceId": idBound,
	"WaitInput.from": {entries: shoal.MaxMentions}, "WaitInput.from[]": {bytes: shoal.MaxID},
	"WaitInput.timeoutMs": {most: shoal.MaxWait.Milliseconds(), cut: true},

	"URLInput.url": {bytes: shoal.MaxDescription},

	"NewKey.sessionId": idBound, "NewKey.entityId": idBound, "NewKey.name": lineBound, "NewKey.expiresAt": timeBound,

	"NewPlan.name": lineBound, "NewPlan.description": {bytes: shoal.MaxDescription, content: true}, "NewPlan.instruction": {bytes: shoal.MaxSummary, content: true},
	"NewPlan.cron": lineBound, "NewPlan.timeZone": lineBound, "NewPlan.scheduledAt": timeBound,
	"PlanChange.name": lineBound, "PlanChange.description": {bytes: shoal.MaxDescription, content: true}, "PlanChange.instruction": {bytes: shoal.MaxSummary, content: true},
	"PlanChange.cron": lineBound, "PlanChange.timeZone": lineBound, "PlanChange.scheduledAt": timeBound,

	"TriggerInput.serviceName": lineBound, "TriggerInput.payload": contentBound,
	"ToolResultInput.callId": {bytes: shoal.MaxName}, "ToolResultInput.error": contentBound, "ToolResultInput.result": contentBound,
	"PendingAnswer.answer": contentBound, "PendingAnswer.args": contentBound, "PendingAnswer.argsHash": {bytes: shoal.MaxID},
	"PendingAnswer.ask": contentBound, "PendingAnswer.error": contentBound, "PendingAnswer.reason": contentBound, "PendingAnswer.result": contentBound,
	"Remember.decision": idBound, "Remember.scope": idBound, "Remember.forMs": {most: shoal.MaxRememberFor.Milliseconds()},
}

// paramBounds are the bounds of texts in a URL's query and in headers that are not ids.
var paramBounds = map[string]bound{
	"cursor": {bytes: shoal.MaxCursor}, "after": {bytes: shoal.MaxCursor}, "q": {bytes: 500}, "name": lineBound,
	"Last-Event-ID": {bytes: shoal.MaxCursor}, "Idempotency-Key": {bytes: shoal.MaxIdempotency},
	"status": lineBound, "by": lineBound, auth.SignedParam: lineBound,
}

func paramBound(name string) bound {
	if b, found := paramBounds[name]; found {
		return b
	}
	return idBound
}

// checkParams refuses what of the query, and of the place to resume a stream at, is too
// long. Other headers are checked where they are read.
func (c *call) checkParams() error {
	for _, p := range c.rt.query {
		if p.kind != stringParam {
			continue
		}
		text, _ := c.value(p.name)
		if err := paramBound(p.name).checkText("query."+p.name, len(text)); err != nil {
			return err
		}
	}
	return paramBound("Last-Event-ID").checkText("header.Last-Event-ID", len(c.r.Header.Get("Last-Event-ID")))
}

func (b bound) checkText(location string, n int) error {
	if n <= b.bytes {
		return nil
	}
	field := shoal.FieldError{Location: location, Message: fmt.Sprintf("has %d bytes; at most %d are allowed", n, b.bytes)}
	kind := shoal.InvalidArgument
	if b.content {
		kind = shoal.TooLarge
	}
	return &shoal.Error{Kind: kind, Msg: field.Location + " " + field.Message, Fields: []shoal.FieldError{field}}
}

// boundedField is a field of a body that has a bound.
type boundedField struct {
	name   string
	index  []int
	bound  bound
	entry  bound          // of an entry of a list
	nested []boundedField // of an object
}

var boundedFields sync.Map // from reflect.Type to []boundedField

// checkBounds refuses what of a decoded body is more than its bound. in points to it.
func checkBounds(in any) error {
	v := reflect.ValueOf(in).Elem()
	if v.Kind() != reflect.Struct {
		return nil
	}
	fields, known := boundedFields.Load(v.Type())
	if !known {
		fields, _ = boundedFields.LoadOrStore(v.Type(), boundsOf(v.Type()))
	}
	return checkFields("", fields.([]boundedField), v)
}

// boundsOf finds the fields of a struct that have a bound.
func boundsOf(t reflect.Type) (out []boundedField) {
	schema := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		key := schema + "." + name
		b, bounded := inputBounds[key]
		f := boundedField{name: name, index: field.Index, bound: b, entry: inputBounds[key+"[]"]}
		if inner := field.Type; inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct && inner.Elem() != timeType {
			f.nested = boundsOf(inner.Elem())
		}
		if bounded && field.Type != reflect.PointerTo(timeType) || len(f.nested) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func checkFields(at string, fields []boundedField, v reflect.Value) error {
	for _, f := range fields {
		if err := f.check(at+f.name, v.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
	return nil
}

func (f boundedField) check(at string, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		return checkFields(at+".", f.nested, v)
	case v.Kind() == reflect.String || v.Type() == anyType:
		return f.bound.checkText(at, v.Len())
	case v.Kind() == reflect.Int64 && !f.bound.cut && (v.Int() < f.bound.least || v.Int() > f.bound.most):
		return shoal.Invalid(at, fmt.Sprintf("must be at least %d and at most %d", f.bound.least, f.bound.most))
	case v.Kind() == reflect.Float64 && !(v.Float() >= float64(f.bound.least) && v.Float() <= float64(f.bound.most)):
		return shoal.Invalid(at, fmt.Sprintf("must be at least %d and at most %d", f.bound.least, f.bound.most))
	case v.Kind() == reflect.Slice && v.Len() > f.bound.entries:
		return shoal.Invalid(at, fmt.Sprintf("has %d entries; at most %d are allowed", v.Len(), f.bound.entries))
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		for i := range v.Len() {
			if err := f.entry.checkText(fmt.Sprintf("%s[%d]", at, i), v.Index(i).Len()); err != nil {
				return err
			}
		}
	}
	return nil
}
