package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
	"github.com/shoal-dev/shoal/internal/httpapi/openapi"
	"github.com/shoal-dev/shoal/internal/hub"
)

var update = flag.Bool("update", false, "write openapi.json and the transcripts anew")

const (
	schemaRefs   = "#/components/schemas/"
	paramRefs    = "#/components/parameters/"
	responseRefs = "#/components/responses/"
)

// document makes the OpenAPI document from the table of routes.
var document = sync.OnceValue(func() *huma.OpenAPI {
	huma.DefaultArrayNullable = false // a list is never null here
	d := &documentMaker{registry: huma.NewMapRegistry(schemaRefs, schemaName), refusals: map[string]*huma.Response{}}
	api := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Shoal", Version: "1", Description: apiWords,
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Paths: map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: d.registry, Parameters: sharedParams(), Responses: d.refusals,
			SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {
				Type: "http", Scheme: "bearer", Description: "A key. It decides who is calling; an admin mints one with `POST /v1/keys` or `shoal keys create`.",
			}},
		},
		Extensions: map[string]any{"x-generated": "by go generate from the table of routes in internal/httpapi; do not edit"},
	}
	for _, t := range tagWords {
		api.Tags = append(api.Tags, &huma.Tag{Name: t[0], Description: t[1]})
	}
	for _, rt := range routes() {
		if rt.tag == "" {
			continue // a part of another route's answer
		}
		item := api.Paths[rt.path]
		if item == nil {
			item = &huma.PathItem{}
			api.Paths[rt.path] = item
		}
		*map[string]**huma.Operation{
			http.MethodGet: &item.Get, http.MethodPost: &item.Post, http.MethodPut: &item.Put,
			http.MethodPatch: &item.Patch, http.MethodDelete: &item.Delete,
		}[rt.method] = d.operation(rt)
	}
	d.finish()
	return api
})

func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if of, found := strings.CutPrefix(name, "Page"); found && of != "" {
		return of + "Page"
	}
	return name
}

type documentMaker struct {
	registry huma.Registry
	refusals map[string]*huma.Response // by the codes that they tell
}

func (d *documentMaker) operation(rt route) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.id, Tags: []string{rt.tag}, Summary: rt.summary, Description: rt.about,
		Responses: map[string]*huma.Response{strconv.Itoa(rt.status): d.success(rt)},
	}
	for segment := range strings.SplitSeq(rt.path, "/") {
		if name, found := strings.CutPrefix(segment, "{"); found {
			op.Parameters = append(op.Parameters, &huma.Param{Ref: paramRefs + strings.TrimSuffix(name, "}")})
		}
	}
	if !rt.open {
		op.Security = []map[string][]string{{"bearer": {}}}
		op.Parameters = append(op.Parameters, &huma.Param{Ref: paramRefs + "X-Shoal-Entity"})
	}
	if rt.once {
		op.Parameters = append(op.Parameters, &huma.Param{Ref: paramRefs + "Idempotency-Key"})
	}
	if rt.stream {
		op.Parameters = append(op.Parameters, &huma.Param{Ref: paramRefs + "Last-Event-ID"})
	}
	for _, p := range rt.query {
		op.Parameters = append(op.Parameters, &huma.Param{Name: p.name, In: "query", Description: p.about, Schema: paramSchema(p)})
	}
	op.RequestBody = d.body(rt)
	if rt.also != 0 {
		op.Responses[strconv.Itoa(rt.also)] = &huma.Response{Description: http.StatusText(rt.also), Content: d.success(rt).Content}
	}
	if rt.file {
		op.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{Description: http.StatusText(http.StatusNotModified)}
	}
	d.failures(op, rt)
	return op
}

// anyMedia stands for a body of any type.
const anyMedia = "*/*"

// body describes what a call takes, nil if nothing.
func (d *documentMaker) body(rt route) *huma.RequestBody {
	binary := &huma.Schema{Type: "string", Format: "binary"}
	state(binary, input.Bound{Bytes: shoal.MaxFile})
	switch {
	case rt.upload:
		form := &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{"file": binary}, Required: []string{"file"}}
		return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{anyMedia: {Schema: binary}, "multipart/form-data": {Schema: form}}}
	case rt.media != "":
		text := &huma.Schema{Type: "string"}
		state(text, input.Bound{Bytes: map[string]int{shoal.ExportType: hub.MaxImport, rendererType: shoal.MaxRenderer}[rt.media]})
		return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{rt.media: {Schema: text}}}
	case rt.in == nil:
		return nil
	}
	content := &huma.MediaType{Schema: d.registry.Schema(reflect.TypeOf(rt.in), true, ""), Example: json.RawMessage(rt.example)}
	if _, config := rt.in.(AgentConfig); config {
		d.registry.Map()["AgentConfig"] = &huma.Schema{Type: "object", AdditionalProperties: true}
		content.Schema = &huma.Schema{Ref: schemaRefs + "AgentConfig"}
	}
	out := &huma.RequestBody{Required: !rt.bodiless, Content: map[string]*huma.MediaType{"application/json": content}}
	for _, mediaType := range rt.types {
		out.Content[mediaType] = &huma.MediaType{Schema: content.Schema}
	}
	return out
}

// success describes the answer to a call that went well.
func (d *documentMaker) success(rt route) *huma.Response {
	res := &huma.Response{Description: http.StatusText(rt.status)}
	switch {
	case rt.stream:
		var data []*huma.Schema
		types := spaceEventTypes
		if rt.id == "followRun" {
			types = runEventTypes
		}
		for _, t := range types {
			data = append(data, d.registry.Schema(t, true, ""))
		}
		res.Description = "A stream of events. The `data` of each is one of these."
		res.Content = map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{OneOf: data}}}
	case rt.id == "docs":
		res.Content = map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: "string"}}}
	case rt.id == "metrics":
		res.Content = map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}
	case rt.file:
		res.Content = map[string]*huma.MediaType{anyMedia: {Schema: &huma.Schema{Type: "string", Format: "binary"}}}
	case rt.id == "agentConfigSchema":
		res.Content = map[string]*huma.MediaType{"application/schema+json": {Schema: &huma.Schema{Type: "object", AdditionalProperties: true}}}
	case rt.id == "openapi":
		res.Content = map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: "object", AdditionalProperties: true}}}
	case rt.out != nil:
		res.Content = map[string]*huma.MediaType{"application/json": {Schema: d.registry.Schema(reflect.TypeOf(rt.out), true, "")}}
	}
	return res
}

// failures documents what an operation refuses: what its row says, and what
// follows from what it takes.
func (d *documentMaker) failures(op *huma.Operation, rt route) {
	kinds := append([]shoal.Kind{shoal.Internal}, rt.errors...)
	if !rt.open {
		kinds = append(kinds, shoal.Unauthenticated, shoal.IdentityMismatch, shoal.Forbidden, shoal.RateLimited, shoal.Busy)
	}
	if strings.Contains(rt.path, "{") {
		kinds = append(kinds, shoal.NotFound)
	}
	if len(rt.query) > 0 {
		kinds = append(kinds, shoal.InvalidArgument)
	}
	if rt.in != nil {
		kinds = append(kinds, shoal.InvalidJSON, shoal.InvalidArgument, shoal.TooLarge, shoal.UnsupportedMediaType)
	}
	if rt.upload || rt.media != "" {
		kinds = append(kinds, shoal.InvalidJSON, shoal.InvalidArgument, shoal.TooLarge, shoal.UnsupportedMediaType)
	}
	if rt.once {
		kinds = append(kinds, shoal.IdempotencyMismatch)
	}
	if rt.method != http.MethodGet {
		kinds = append(kinds, shoal.StorageFull)
	}
	slices.Sort(kinds)
	byStatus := map[int][]string{}
	for _, kind := range slices.Compact(kinds) {
		byStatus[guard.Status(kind)] = append(byStatus[guard.Status(kind)], string(kind))
	}
	for status, codes := range byStatus {
		name := strings.Join(codes, "-")
		d.refusals[name] = &huma.Response{
			Description: "`" + strings.Join(codes, "`, `") + "`",
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: d.registry.Schema(reflect.TypeFor[problem](), true, "")}},
		}
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: responseRefs + name}
	}
}

// finish puts into the schemas what Go types cannot say.
func (d *documentMaker) finish() {
	schemas := d.registry.Map()
	d.unions(schemas)
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s, t := schemas[name], d.registry.TypeFromRef(schemaRefs+name)
		s.Description = typeWords[name]
		if example, found := examples[name]; found {
			s.Examples = []any{example}
		}
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if p := s.Properties[tag]; p != nil && tag != "" {
				describe(p, field.Type, name, tag)
			}
		}
	}
}

// describe completes the schema of one property.
func describe(p *huma.Schema, t reflect.Type, schema, name string) {
	p.Description = cmp.Or(fieldWords[schema+"."+name], fieldWords[name])
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[shoal.Time]() && p.Ref != "" && nullable[schema+"."+name] {
		*p = huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Enum: []any{nil}}}, Description: p.Description}
	}
	if t == reflect.TypeFor[shoal.Remember]() {
		word := &huma.Schema{Type: "string", Enum: []any{shoal.RememberAllow, shoal.RememberDeny}}
		*p = huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, word}, Description: p.Description}
	}
	target := p
	if t.Kind() == reflect.Slice && p.Items != nil {
		t, target = t.Elem(), p.Items
	}
	switch {
	case t == reflect.TypeFor[shoal.Time]():
		p.Format = "date-time"
	case t.Kind() == reflect.String && target != p && nullable[schema+"."+name]:
		p.Nullable = true
	case name == "metadata":
		p.Type = "object"
		p.AdditionalProperties = true
	case t == reflect.TypeFor[input.Milliseconds]():
		*p = huma.Schema{Type: "number", Description: p.Description, Default: shoal.DefaultWait.Milliseconds()}
	case eventEnums[schema] != nil && name == "type":
		p.Enum = plain(eventEnums[schema])
	case enums[t] != nil:
		target.Enum = plain(enums[t])
		if target.Nullable {
			target.Enum = append(target.Enum, nil)
		}
	}
	state(p, inputBounds[schema+"."+name])
	if p.Items != nil {
		state(p.Items, inputBounds[schema+"."+name+"[]"])
	}
	if p.Ref != "" { // a reference stands alone
		p.Description = ""
	}
	target.PrecomputeMessages()
}

// state writes a bound into a schema. JSON Schema has no word for the bytes of any value.
func state(s *huma.Schema, b input.Bound) {
	numeric := s.Type == "integer" || s.Type == "number"
	switch {
	case numeric && b.Most > 0:
		least, most := float64(b.Least), float64(b.Most)
		s.Minimum, s.Maximum = &least, &most
		if b.Cut {
			s.Extensions = map[string]any{"x-cut": true}
		}
	case s.Type == "array" && b.Entries > 0:
		s.MaxItems = &b.Entries
	case s.Type == "string" && b.Bytes > 0:
		s.MaxLength = &b.Bytes
	case b.Bytes > 0:
		s.Extensions = map[string]any{"x-max-bytes": b.Bytes}
	}
	s.PrecomputeMessages()
}

// paramSchema is the schema of a query parameter.
func paramSchema(p param) *huma.Schema {
	s := &huma.Schema{Type: string(p.kind)}
	if b := paramBound(p.name); p.kind == stringParam {
		state(s, b)
	} else if p.kind == integerParam {
		state(s, wholeBound)
	}
	return s
}

// plain returns values of string types as the strings that JSON has.
func plain(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return out
}

// unions replaces the schema of a part, which is one Go type with methods of its
// own, by what its JSON is.
func (d *documentMaker) unions(schemas map[string]*huma.Schema) {
	one := func(types ...reflect.Type) *huma.Schema {
		out := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
		for _, t := range types {
			ref := d.registry.Schema(t, true, "")
			kind := d.registry.SchemaFromRef(ref.Ref).Properties["type"].Enum[0].(string)
			out.Discriminator.Mapping[kind] = ref.Ref
			out.OneOf = append(out.OneOf, ref)
		}
		return out
	}
	schemas["Part"] = one(reflect.TypeFor[TextPart](), reflect.TypeFor[ToolPart](), reflect.TypeFor[FilePart](), reflect.TypeFor[DataPart]())
	// A reader that may not see a tool call learns only that it is there.
	shown, private := schemas["ToolPart"], d.registry.Schema(reflect.TypeFor[PrivatePart](), true, "")
	schemas["ShownToolPart"] = shown
	schemas["ToolPart"] = &huma.Schema{OneOf: []*huma.Schema{{Ref: schemaRefs + "ShownToolPart"}, private}}
	schemas["Trigger"] = one(reflect.TypeFor[SpaceMessageTrigger](), reflect.TypeFor[PlanTrigger](), reflect.TypeFor[ServiceTrigger]())
	// So does one that is no member of the space of the message.
	schemas["ShownMessageTrigger"] = schemas["SpaceMessageTrigger"]
	unseen := d.registry.Schema(reflect.TypeFor[PrivateTrigger](), true, "")
	schemas["SpaceMessageTrigger"] = &huma.Schema{OneOf: []*huma.Schema{{Ref: schemaRefs + "ShownMessageTrigger"}, unseen}}
	schemas["ModelContent"] = one(reflect.TypeFor[ModelTextContent](), reflect.TypeFor[ModelReasoningContent](), reflect.TypeFor[ModelFileContent](),
		reflect.TypeFor[ModelToolCallContent](), reflect.TypeFor[ModelToolResultContent]())
	schemas["NewPart"] = one(reflect.TypeFor[NewTextPart](), reflect.TypeFor[NewFilePart](), reflect.TypeFor[NewDataPart]())
	schemas["MessageInput"].Properties["parts"].Items = &huma.Schema{Ref: schemaRefs + "NewPart"}
	schemas["EditInput"].Properties["parts"].Items = &huma.Schema{Ref: schemaRefs + "NewPart"}
}

func documentJSON(t *testing.T) []byte {
	t.Helper()
	defer relax()()
	text, err := json.Marshal(document())
	var out bytes.Buffer
	if err == nil {
		err = json.Indent(&out, text, "", "  ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

// relax lets what the server answers gain fields, until the returned function is
// called: the tests hold it to exactly these, a client must not. What a client
// sends is refused if it has others.
func relax() (restore func()) {
	taken := map[string]bool{}
	for _, rt := range routes() {
		if rt.in != nil {
			taken[schemaName(reflect.TypeOf(rt.in), "")] = true
		}
	}
	strict := []*huma.Schema{}
	for name, s := range document().Components.Schemas.Map() {
		if !taken[name] && s.AdditionalProperties == false {
			s.AdditionalProperties = nil
			strict = append(strict, s)
		}
	}
	return func() {
		for _, s := range strict {
			s.AdditionalProperties = false
		}
	}
}

// What clients are told is what the table of routes says.
func TestOpenAPIDocumentIsFresh(t *testing.T) {
	want := documentJSON(t)
	if *update {
		if err := os.WriteFile("openapi/openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(openapi.Document, want) {
		t.Error("openapi.json is not what the table of routes says; run `go generate ./internal/httpapi`")
	}
}

// Everything in the document has a name, words, and an end.
func TestOpenAPIDocumentIsComplete(t *testing.T) {
	var doc any
	if err := json.Unmarshal(documentJSON(t), &doc); err != nil {
		t.Fatal(err)
	}
	root := doc.(map[string]any)
	components := root["components"].(map[string]any)
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
				if group, _ := components[parts[0]].(map[string]any); len(parts) != 2 || group[parts[1]] == nil {
					t.Errorf("%s refers to %s, which is not there", at, ref)
				}
			}
			for k, child := range v {
				walk(at+"/"+k, child)
			}
		case []any:
			for i, child := range v {
				walk(fmt.Sprint(at, "/", i), child)
			}
		}
	}
	walk("", doc)
	for name, s := range components["schemas"].(map[string]any) {
		if s.(map[string]any)["description"] == nil {
			t.Errorf("the schema %s has no description; write one in typeWords", name)
		}
	}
	tags := map[string]bool{}
	for _, w := range tagWords {
		tags[w[0]] = true
	}
	ids := map[string]bool{}
	for _, rt := range routes() {
		switch {
		case rt.tag == "":
			continue
		case rt.id == "" || rt.summary == "" || !tags[rt.tag] || rt.status == 0:
			t.Errorf("%s %s lacks an id, a summary, a known tag or a status", rt.method, rt.path)
		case ids[rt.id]:
			t.Errorf("the operationId %s is there twice", rt.id)
		case (rt.in == nil) != (rt.example == ""):
			t.Errorf("%s: a body has an example and only a body", rt.id)
		}
		ids[rt.id] = true
		if rt.in == nil {
			continue
		}
		in := reflect.New(reflect.TypeOf(rt.in)).Interface()
		decoder := json.NewDecoder(strings.NewReader(rt.example))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(in); err != nil {
			t.Errorf("the example of %s is no body that it takes: %v", rt.id, err)
		}
	}
}
