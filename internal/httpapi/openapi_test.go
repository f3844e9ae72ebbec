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

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/httpapi/bodies"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
	"github.com/shoal-dev/shoal/internal/httpapi/openapi"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

var update = flag.Bool("update", false, "write openapi.json and the transcripts anew")

const (
	schemaRefs   = "#/components/schemas/"
	paramRefs    = "#/components/parameters/"
	responseRefs = "#/components/responses/"
)

// document makes the OpenAPI document from the table of routes.
var document = sync.OnceValue(func() *apiDocument {
	d := &documentMaker{
		registry: &schemaRegistry{schemas: map[string]*jsonschema.Schema{}, types: map[string]reflect.Type{}},
		refusals: map[string]*apiResponse{},
	}
	api := &apiDocument{
		OpenAPI: "3.1.0", Generated: "by go generate from the table of routes in internal/httpapi; do not edit",
		Info:  apiInfo{Title: "Shoal", Version: shoal.APIVersion, Description: apiWords, License: apiLicense{Name: "Apache-2.0", Identifier: "Apache-2.0"}},
		Paths: map[string]map[string]*apiOperation{},
		Components: apiComponents{
			Schemas: d.registry.schemas, Parameters: sharedParams(), Responses: d.refusals,
			SecuritySchemes: map[string]apiSecurity{"bearer": {
				Type: "http", Scheme: "bearer", Description: "A key. It identifies the caller. An admin creates one with `POST /v1/keys` or `shoal keys create`.",
			}},
		},
	}
	for _, t := range tagWords {
		api.Tags = append(api.Tags, apiTag{Name: t[0], Description: t[1]})
	}
	for _, rt := range routes() {
		if rt.tag == "" {
			continue // a part of another route's answer
		}
		if api.Paths[rt.path] == nil {
			api.Paths[rt.path] = map[string]*apiOperation{}
		}
		api.Paths[rt.path][strings.ToLower(rt.method)] = d.operation(rt)
	}
	d.finish()
	return api
})

type documentMaker struct {
	registry *schemaRegistry
	refusals map[string]*apiResponse // by their codes
}

func (d *documentMaker) operation(rt route) *apiOperation {
	op := &apiOperation{
		OperationID: rt.id, Tags: []string{rt.tag}, Summary: rt.summary, Description: rt.about,
		Responses: map[string]*apiResponse{strconv.Itoa(rt.status): d.success(rt)},
	}
	for segment := range strings.SplitSeq(rt.path, "/") {
		if name, found := strings.CutPrefix(segment, "{"); found {
			op.Parameters = append(op.Parameters, &apiParam{Ref: paramRefs + strings.TrimSuffix(name, "}")})
		}
	}
	if !rt.public {
		op.Security = []map[string][]string{{"bearer": {}}}
		op.Parameters = append(op.Parameters, &apiParam{Ref: paramRefs + "X-Shoal-Entity"})
	}
	if rt.idempotent {
		op.Parameters = append(op.Parameters, &apiParam{Ref: paramRefs + "Idempotency-Key"})
	}
	if rt.stream {
		op.Parameters = append(op.Parameters, &apiParam{Ref: paramRefs + "Last-Event-ID"})
	}
	for _, p := range rt.query {
		op.Parameters = append(op.Parameters, &apiParam{Name: p.name, In: "query", Description: p.about, Schema: paramSchema(p)})
	}
	op.RequestBody = d.body(rt)
	if rt.also != 0 {
		op.Responses[strconv.Itoa(rt.also)] = &apiResponse{Description: http.StatusText(rt.also), Content: d.success(rt).Content}
	}
	if rt.file {
		op.Responses[strconv.Itoa(http.StatusNotModified)] = &apiResponse{Description: http.StatusText(http.StatusNotModified)}
	}
	d.failures(op, rt)
	return op
}

// anyMedia is a body of any type.
const anyMedia = "*/*"

// body describes what a call takes, nil if nothing.
func (d *documentMaker) body(rt route) *apiBody {
	binary := &jsonschema.Schema{Type: "string", Format: "binary", ContentMediaType: "application/octet-stream"}
	state(binary, input.Bound{Bytes: shoal.MaxFile})
	switch {
	case rt.upload:
		form := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"file": binary}, Required: []string{"file"}}
		return &apiBody{Required: true, Content: apiContent{anyMedia: {Schema: binary}, "multipart/form-data": {Schema: form}}}
	case rt.media != "":
		text := &jsonschema.Schema{Type: "string"}
		state(text, input.Bound{Bytes: map[string]int{shoal.ExportType: storage.MaxImport, bodies.Renderer: shoal.MaxRenderer}[rt.media]})
		return &apiBody{Required: true, Content: apiContent{rt.media: {Schema: text}}}
	case rt.in == nil:
		return nil
	}
	content := &apiMedia{Schema: d.registry.schema(reflect.TypeOf(rt.in)), Example: json.RawMessage(rt.example)}
	if _, config := rt.in.(AgentConfig); config {
		d.registry.schemas["AgentConfig"] = &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}}
		content.Schema = &jsonschema.Schema{Ref: schemaRefs + "AgentConfig"}
	}
	out := &apiBody{Required: !rt.optionalBody, Content: apiContent{"application/json": content}}
	for _, mediaType := range rt.types {
		out.Content[mediaType] = &apiMedia{Schema: content.Schema}
	}
	return out
}

// success describes the answer to a call that went well.
func (d *documentMaker) success(rt route) *apiResponse {
	res := &apiResponse{Description: http.StatusText(rt.status)}
	switch {
	case rt.stream:
		var data []*jsonschema.Schema
		types := spaceEventTypes
		if rt.id == "followRun" {
			types = runEventTypes
		}
		for _, t := range types {
			data = append(data, d.registry.schema(t))
		}
		res.Description = "A stream of events. The `data` of each is one of these."
		res.Content = apiContent{"text/event-stream": {Schema: &jsonschema.Schema{OneOf: data}}}
	case rt.id == "docs":
		res.Content = apiContent{"text/html": {Schema: &jsonschema.Schema{Type: "string"}}}
	case rt.id == "metrics":
		res.Content = apiContent{"text/plain": {Schema: &jsonschema.Schema{Type: "string"}}}
	case rt.file:
		res.Content = apiContent{anyMedia: {Schema: &jsonschema.Schema{Type: "string", Format: "binary", ContentMediaType: "application/octet-stream"}}}
	case rt.id == "agentConfigSchema":
		res.Content = apiContent{"application/schema+json": {Schema: &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}}}}
	case rt.id == "openapi":
		res.Content = apiContent{"application/json": {Schema: &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}}}}
	case rt.out != nil:
		res.Content = apiContent{"application/json": {Schema: d.registry.schema(reflect.TypeOf(rt.out))}}
	}
	return res
}

// failures documents what an operation refuses: what its row says, and what
// follows from what it takes.
func (d *documentMaker) failures(op *apiOperation, rt route) {
	kinds := append([]shoal.Kind{shoal.Internal}, rt.errors...)
	if !rt.public {
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
	if rt.idempotent {
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
		d.refusals[name] = &apiResponse{
			Description: "`" + strings.Join(codes, "`, `") + "`",
			Content:     apiContent{"application/problem+json": {Schema: d.registry.schema(reflect.TypeFor[problem]())}},
		}
		op.Responses[strconv.Itoa(status)] = &apiResponse{Ref: responseRefs + name}
	}
}

// finish puts into the schemas what Go types cannot say.
func (d *documentMaker) finish() {
	schemas := d.registry.schemas
	d.unions(schemas)
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s, t := schemas[name], d.registry.types[name]
		s.Description = typeWords[name]
		if example, found := examples[name]; found {
			s.Examples = []any{example}
		}
		if t == nil {
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
func describe(p *jsonschema.Schema, t reflect.Type, schema, name string) {
	p.Description = cmp.Or(fieldWords[schema+"."+name], fieldWords[name])
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[shoal.Time]() && p.Ref != "" && nullable[schema+"."+name] {
		*p = jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Ref: p.Ref}, {Enum: []any{nil}}}, Description: p.Description}
	}
	if t == reflect.TypeFor[shoal.Remember]() {
		word := &jsonschema.Schema{Type: "string", Enum: []any{shoal.RememberAllow, shoal.RememberDeny}}
		*p = jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Ref: p.Ref}, word}, Description: p.Description}
	}
	target := p
	if t.Kind() == reflect.Slice && p.Items != nil {
		t, target = t.Elem(), p.Items
	}
	switch {
	case t == reflect.TypeFor[shoal.Time]():
		p.Format = "date-time"
	case t.Kind() == reflect.String && target != p && nullable[schema+"."+name]:
		allowNull(p)
	case name == "metadata":
		p.Type = "object"
		p.AdditionalProperties = &jsonschema.Schema{}
	case t == reflect.TypeFor[input.Milliseconds]():
		*p = jsonschema.Schema{Type: "number", Description: p.Description, Default: json.RawMessage(strconv.FormatInt(shoal.DefaultWait.Milliseconds(), 10))}
	case eventEnums[schema] != nil && name == "type":
		p.Enum = plain(eventEnums[schema])
	case enums[t] != nil:
		target.Enum = plain(enums[t])
		if len(target.Types) > 0 {
			target.Enum = append(target.Enum, nil)
		}
	}
	state(p, input.OfBodies[schema+"."+name])
	if p.Items != nil {
		state(p.Items, input.OfBodies[schema+"."+name+"[]"])
	}
	if p.Ref != "" { // a reference has no other fields
		p.Description = ""
	}
}

// state writes a bound into a schema. JSON Schema has no word for the bytes of any value.
func state(s *jsonschema.Schema, b input.Bound) {
	numeric := typeOf(s) == "integer" || typeOf(s) == "number"
	switch {
	case numeric && b.Most > 0:
		least, most := float64(b.Least), float64(b.Most)
		s.Minimum, s.Maximum = &least, &most
		if b.Cut {
			addExtra(s, "x-cut", true)
		}
	case typeOf(s) == "array" && b.Entries > 0:
		s.MaxItems = &b.Entries
	case typeOf(s) == "string" && b.Bytes > 0:
		s.MaxLength = &b.Bytes
	case b.Bytes > 0:
		addExtra(s, "x-max-bytes", b.Bytes)
	}
}

// paramSchema is the schema of a query parameter.
func paramSchema(p param) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: string(p.kind)}
	if b := paramBound(p.name); p.kind == stringParam {
		state(s, b)
	} else if p.kind == integerParam {
		state(s, input.Whole)
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
func (d *documentMaker) unions(schemas map[string]*jsonschema.Schema) {
	one := func(types ...reflect.Type) *jsonschema.Schema {
		out, mapping := &jsonschema.Schema{}, map[string]string{}
		for _, t := range types {
			ref := d.registry.schema(t)
			kind := schemas[strings.TrimPrefix(ref.Ref, schemaRefs)].Properties["type"].Enum[0].(string)
			mapping[kind] = ref.Ref
			out.OneOf = append(out.OneOf, ref)
		}
		addExtra(out, "discriminator", map[string]any{"propertyName": "type", "mapping": mapping})
		return out
	}
	schemas["Part"] = one(reflect.TypeFor[TextPart](), reflect.TypeFor[ToolPart](), reflect.TypeFor[FilePart](), reflect.TypeFor[DataPart]())
	// A reader that may not see a tool call learns only that it exists.
	shown, private := schemas["ToolPart"], d.registry.schema(reflect.TypeFor[PrivatePart]())
	schemas["ShownToolPart"] = shown
	describe(shown.Properties["editedArgs"], reflect.TypeFor[json.RawMessage](), "ShownToolPart", "editedArgs")
	describe(shown.Properties["decision"], reflect.TypeFor[*shoal.Decision](), "ShownToolPart", "decision")
	schemas["ToolPart"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Ref: schemaRefs + "ShownToolPart"}, private}}
	schemas["Trigger"] = one(reflect.TypeFor[SpaceMessageTrigger](), reflect.TypeFor[PlanTrigger](), reflect.TypeFor[ServiceTrigger]())
	// A reader that is not in the space of the message learns only that it exists.
	schemas["ShownMessageTrigger"] = schemas["SpaceMessageTrigger"]
	unseen := d.registry.schema(reflect.TypeFor[PrivateTrigger]())
	schemas["SpaceMessageTrigger"] = &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Ref: schemaRefs + "ShownMessageTrigger"}, unseen}}
	schemas["ModelContent"] = one(reflect.TypeFor[ModelTextContent](), reflect.TypeFor[ModelReasoningContent](), reflect.TypeFor[ModelFileContent](),
		reflect.TypeFor[ModelToolCallContent](), reflect.TypeFor[ModelToolResultContent]())
	schemas["NewPart"] = one(reflect.TypeFor[NewTextPart](), reflect.TypeFor[NewFilePart](), reflect.TypeFor[NewDataPart]())
	schemas["MessageInput"].Properties["parts"].Items = &jsonschema.Schema{Ref: schemaRefs + "NewPart"}
	schemas["EditInput"].Properties["parts"].Items = &jsonschema.Schema{Ref: schemaRefs + "NewPart"}
}

// documentJSON returns the document as clients get it. There what the server answers may gain
// fields: the tests hold it to exactly these, a client must not. What a client sends is refused
// if it has others.
func documentJSON(t *testing.T) []byte {
	t.Helper()
	taken := map[string]bool{}
	for _, rt := range routes() {
		if rt.in != nil {
			taken[schemaName(reflect.TypeOf(rt.in))] = true
		}
	}
	text, err := json.Marshal(document())
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	openSchemas(tree)
	for name, s := range tree["components"].(map[string]any)["schemas"].(map[string]any) {
		s := s.(map[string]any)
		if !taken[name] && s["additionalProperties"] == false {
			delete(s, "additionalProperties")
		}
		if example, found := examples[name]; found {
			s["examples"] = []any{example} // in the order of the fields
		}
	}
	for _, rt := range routes() {
		if rt.example != "" {
			content := tree["paths"].(map[string]any)[rt.path].(map[string]any)[strings.ToLower(rt.method)].(map[string]any)["requestBody"].(map[string]any)["content"]
			content.(map[string]any)["application/json"].(map[string]any)["example"] = json.RawMessage(rt.example)
		}
	}
	if text, err = json.MarshalIndent(tree, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// openSchemas writes a schema that allows everything as {} where generators of clients do not
// expect true.
func openSchemas(tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		if properties, ok := tree["properties"].(map[string]any); ok {
			for name, s := range properties {
				if s == true {
					properties[name] = map[string]any{}
				}
			}
		}
		if tree["items"] == true {
			tree["items"] = map[string]any{}
		}
		for _, v := range tree {
			openSchemas(v)
		}
	case []any:
		for _, v := range tree {
			openSchemas(v)
		}
	}
}

// The document that clients get matches the table of routes.
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
			t.Errorf("the example of %s is not a valid body: %v", rt.id, err)
		}
	}
}

// The tests hold answers to the document, so a check that accepts everything would prove nothing.
func TestSchemasRejectOtherValues(t *testing.T) {
	for text, valid := range map[string]bool{
		`{"id": "ses_1", "name": "x", "limits": null}`: false, // most fields are missing
		`{"items": [], "nextCursor": null}`:            true,
		`{"items": [], "nextCursor": null, "more": 1}`: false,
		`{"items": [{"id": 7}], "nextCursor": null}`:   false,
		`{"items": null, "nextCursor": null}`:          false,
	} {
		resolved, err := resolve(&jsonschema.Schema{Ref: schemaRefs + "SessionPage"})
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal([]byte(text), &tree); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(tree); (err == nil) != valid {
			t.Errorf("validate %s: error %v, want valid %v", text, err, valid)
		}
	}
}
