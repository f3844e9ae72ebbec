package httpapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// An agent config goes in as JSON or YAML, and comes out in its canonical form.
func TestAgentConfigsAreStored(t *testing.T) {
	w := newWorld(t)
	made := into[shoal.HostedAgent](w.do(w.admin, "PUT", agentBase, shopConfig, "Content-Type", "application/yaml").wants(201))
	want, err := agentconfig.Decode([]byte(shopConfig), agentconfig.Options{ID: "shop-agent"})
	w.must(err)
	if made.ID != "shop-agent" || made.Version != 1 || made.Hash != want.Hash() || string(made.Config) != string(want.Canonical()) {
		t.Errorf("the agent = %+v", made)
	}
	for _, same := range []struct{ text, mediaType string }{
		{configOf("You sell laptops."), "application/json"}, {shopConfig, "text/yaml"}, {shopConfig, "application/x-yaml; charset=utf-8"},
	} {
		if again := into[shoal.HostedAgent](w.do(w.admin, "PUT", agentBase, same.text, "Content-Type", same.mediaType).wants(200)); again.Version != 1 || again.CreatedAt != made.CreatedAt {
			t.Errorf("the same config as %s makes %+v", same.mediaType, again)
		}
	}
	if second := into[shoal.HostedAgent](w.do(w.admin, "PUT", agentBase, configOf("You sell books.")).wants(200)); second.Version != 2 {
		t.Errorf("another config makes version %d", second.Version)
	}
	if first := into[shoal.HostedAgent](w.do(w.admin, "GET", agentBase+"?version=1", nil).wants(200)); first.Hash != made.Hash {
		t.Errorf("version 1 = %+v", first)
	}
	if newest := into[shoal.HostedAgent](w.do(w.admin, "GET", agentBase, nil).wants(200)); newest.Version != 2 {
		t.Errorf("the newest = %+v", newest)
	}
	w.do(w.admin, "GET", agentBase+"?version=3", nil).refuses(shoal.NotFound)
	w.do(w.admin, "GET", agentBase+"?version=0", nil).refuses(shoal.InvalidArgument)
	if e := into[shoal.Entity](w.do(w.admin, "GET", base+"/entities/shop-agent", nil).wants(200)); !e.Hosted || e.Kind != shoal.Agent {
		t.Errorf("the entity = %+v", e)
	}
	w.host("default", "b")
	list := into[page[shoal.HostedAgent]](w.do(w.admin, "GET", base+"/agents?limit=1", nil).wants(200))
	rest := into[page[shoal.HostedAgent]](w.do(w.admin, "GET", base+"/agents?cursor="+*list.NextCursor, nil).wants(200))
	if len(list.Items) != 1 || list.Items[0].ID != "b" || len(rest.Items) != 1 || rest.Items[0].ID != "shop-agent" || rest.NextCursor != nil {
		t.Errorf("the pages are %+v and %+v", list, rest)
	}
	w.do(w.admin, "DELETE", agentBase, nil).wants(204)
	w.do(w.admin, "GET", agentBase, nil).refuses(shoal.NotFound)
	if e := into[shoal.Entity](w.do(w.admin, "GET", base+"/entities/shop-agent", nil).wants(200)); e.Hosted {
		t.Errorf("the entity of a deleted agent = %+v", e)
	}
}

// Every error of a config is reported with its path, all at once.
func TestWrongAgentConfigsAreRefused(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Env = func() []string { return []string{"KB"} } })
	w.entity("default", "ann")
	for _, c := range []struct {
		path, mediaType, body string
		kind                  shoal.Kind
		places                []string
	}{
		{agentBase, "application/json", `{"version": "2.0", "agent": {}, "model": {"provider": "script", "name": 7}, "tools": [{"name": "a b"}]}`, shoal.InvalidArgument, []string{
			"body.agent.system", "body.model.name", "body.tools[0].name", "body.version",
		}},
		{agentBase, "application/yaml", shopConfig + "loop: {maxSteps: many}\n", shoal.InvalidArgument, []string{"body.loop.maxSteps"}},
		{agentBase, "application/json", `{"version": "1.0", "agent": {"id": "other", "system": "a"}, "model": {"provider": "script", "name": "a"}}`, shoal.InvalidArgument, []string{"body.agent.id"}},
		{agentBase, "application/yaml", "a: [", shoal.InvalidJSON, nil},
		{agentBase, "application/json", "{", shoal.InvalidJSON, nil},
		{agentBase, "application/yaml", "", shoal.InvalidJSON, nil},
		{agentBase, "text/plain", shopConfig, shoal.UnsupportedMediaType, nil},
		{base + "/agents/ann", "application/yaml", shopConfig, shoal.Conflict, nil},
		{agentBase, "application/yaml", strings.Repeat("#", 1<<20+1), shoal.TooLarge, nil},
	} {
		p := w.do(w.admin, "PUT", c.path, c.body, "Content-Type", c.mediaType).refuses(c.kind)
		var places []string
		for _, f := range p.Errors {
			places = append(places, f.Location)
		}
		slices.Sort(places)
		if c.places != nil && !slices.Equal(places, c.places) {
			t.Errorf("%.60s names %q, want %q", c.body, places, c.places)
		}
	}
	secret := func(name string) string {
		return shopConfig + "mcp: {servers: [{name: kb, url: 'https://kb.example', headers: {Authorization: '${env." + name + "}'}}]}\n"
	}
	w.do(w.admin, "PUT", agentBase, secret("KB"), "Content-Type", "application/yaml").wants(201)
	w.do(w.admin, "PUT", agentBase, secret("OTHER"), "Content-Type", "application/yaml").refuses(shoal.InvalidArgument)
}

// A preview shows a config that nobody has stored, or the stored one, and leaves
// everything as it is. It is refused as a config is that is put, and to others
// before anything is said about it.
func TestPreviews(t *testing.T) {
	w, ann, _ := shop(t)
	preview := func(query, body, mediaType string) shoal.AgentPreview {
		t.Helper()
		var in any
		if body != "" {
			in = body
		}
		return into[shoal.AgentPreview](w.do(w.admin, "POST", agentBase+"/preview"+query, in, "Content-Type", mediaType).wants(200))
	}
	w.post(ann, "shop", "I need a laptop.")
	stored := preview("?space=shop", "", "application/json")
	if !strings.Contains(stored.System, "You sell laptops.") || !strings.Contains(stored.Input, "I need a laptop.") || len(stored.Tools) == 0 {
		t.Errorf("the stored config shows %+v", stored)
	}
	card := `tools: [{name: card, displayTool: true, execution: {mode: no-execution}, inputSchema: {type: object, properties: {name: {type: string}}}}]`
	draft := preview("", strings.ReplaceAll(shopConfig, "laptops", "lamps")+card, "application/yaml")
	at := slices.IndexFunc(draft.Tools, func(tool shoal.ModelTool) bool { return tool.Name == "card" })
	if !strings.Contains(draft.System, "You sell lamps.") || at < 0 || !strings.HasPrefix(string(draft.Tools[at].InputSchema), `{"type":"object","properties":{"targetSpaceId":`) {
		t.Errorf("the draft shows %+v", draft)
	}
	other := into[shoal.AgentPreview](w.do(w.admin, "POST", base+"/agents/other/preview?space=shop", configOf("You are new.")).wants(200))
	if len(other.Warnings) != 2 || !strings.Contains(other.Warnings[0], "A run would fail") || !strings.Contains(other.Warnings[1], `"other" is not a member of the space "shop"`) {
		t.Errorf("an agent that is nowhere is warned %q", other.Warnings)
	}
	w.do(w.admin, "GET", base+"/agents/other", nil).refuses(shoal.NotFound)
	w.do(w.admin, "GET", base+"/entities/other", nil).refuses(shoal.NotFound)
	if a := into[shoal.HostedAgent](w.do(w.admin, "GET", agentBase, nil).wants(200)); a.Version != 1 {
		t.Errorf("a preview has made version %d", a.Version)
	}
	w.do(w.admin, "POST", agentBase+"/preview", "version: '2.0'", "Content-Type", "application/yaml").refuses(shoal.InvalidArgument)
	w.do(w.admin, "POST", agentBase+"/preview", shopConfig, "Content-Type", "text/plain").refuses(shoal.UnsupportedMediaType)
	w.do(ann, "POST", agentBase+"/preview", "version: '2.0'", "Content-Type", "application/yaml").refuses(shoal.Forbidden)
}

func TestConfigSchemaIsPublished(t *testing.T) {
	w := newWorld(t)
	a := w.do("", "GET", "/v1/agent-config.schema.json", nil).wants(200)
	if string(a.body) != string(agentconfig.Schema()) || a.header.Get("Content-Type") != "application/schema+json" {
		t.Errorf("the schema is served as %s", a.header.Get("Content-Type"))
	}
}
