package scopes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

func TestClean(t *testing.T) {
	many := "spaces:a" + strings.Repeat(",a", scopes.MaxNames)
	for in, want := range map[string]string{
		"": "[]", "post read read": "[read post]", "spaces:shop,hall tools:react run spaces:hall,attic": "[run spaces:attic,hall,shop tools:react]",
		"write": "scopes[0]", "read Read": "scopes[1]", "spaces:": "scopes[0]", "spaces:a,,b": "scopes[0]", "tools:a tools:b/c": "scopes[1]", many: "scopes[0]",
	} {
		got, err := scopes.Clean(strings.Fields(in))
		shown := fmt.Sprint(got)
		if e, is := err.(*shoal.Error); is && e.Kind == shoal.InvalidArgument { //nolint:errorlint // Clean returns it as it is
			shown = e.Fields[0].Location
		}
		if shown != want {
			t.Errorf("%q: %s (%v), want %s", in, shown, err, want)
		}
		if err == nil && fmt.Sprint(scopes.List(scopes.Text(got))) != want {
			t.Errorf("%q does not survive as text: %q", in, scopes.Text(got))
		}
	}
}

// Every act is in one scope or in none, and a key has those of its words: of all, if it has only
// other scopes.
func TestAct(t *testing.T) {
	words := []string{roles.ScopeRead, roles.ScopePost, roles.ScopeAnswer, roles.ScopeRun}
	for _, act := range roles.Acts() {
		if err := scopes.Act("", act); err != nil {
			t.Errorf("a key without scopes may not %s: %v", act, err)
		}
		need := roles.ScopeOf(act)
		for _, word := range words {
			err := scopes.Act(word, act)
			if (err == nil) != (word == need) {
				t.Errorf("a key with the scope %s may %s: %v", word, act, err)
			}
			if err != nil && (shoal.KindOf(err) != shoal.Forbidden || need != "" && !strings.Contains(err.Error(), `it needs the scope "`+need+`"`)) {
				t.Errorf("the refusal to %s does not name %q: %v", act, need, err)
			}
		}
		for _, other := range []string{"spaces:shop", "tools:react", "spaces:shop tools:react"} {
			if scopes.AllowAct(other, act) != (need != "") {
				t.Errorf("a key with the scopes %s may %s: %v", other, act, need == "")
			}
		}
	}
}

func TestSpacesAndTools(t *testing.T) {
	for of, want := range map[string]string{
		"":                        "all all",
		"read":                    "all all",
		"read spaces:shop":        "shop all",
		"spaces:hall,shop":        "shop all",
		"spaces:hall":             "- all",
		"spaces:shopping,hall":    "- all",
		"tools:react":             "all react",
		"tools:reac,eact":         "all -",
		"spaces:shop tools:react": "shop react",
	} {
		space, tool := "-", "-"
		if scopes.Space(of, "shop") == nil {
			space = "shop"
		}
		if scopes.Session(of) == nil {
			space = "all"
		}
		if scopes.Tool(of, "react") == nil {
			tool = "react"
		}
		if scopes.Tool(of, "") == nil {
			tool = "all"
		}
		if got := space + " " + tool; got != want {
			t.Errorf("%q: %s, want %s", of, got, want)
		}
		if is := scopes.AllowSpace(of, ""); is != (space == "all") {
			t.Errorf("%q: what is in no space: %v", of, is)
		}
	}
	if err := scopes.Space("read spaces:hall", "shop"); err == nil || !strings.Contains(err.Error(), `This key has the scopes "read", "spaces:hall": for the space "shop" it needs the scope "spaces:shop".`) {
		t.Error(err)
	}
	for _, c := range []struct {
		of    string
		named shoal.SpaceID
		want  string
	}{
		{"", "", "<nil>"},
		{"", "shop", "shop <nil>"},
		{"spaces:shop", "", "shop <nil>"},
		{"spaces:shop", "hall", "forbidden"},
		{"spaces:hall,shop", "", "forbidden"},
		{"spaces:hall,shop", "shop", "shop <nil>"},
	} {
		got, err := scopes.One(c.of, c.named)
		shown := strings.TrimSpace(fmt.Sprint(got, " ", err))
		if err != nil {
			shown = string(shoal.KindOf(err))
		}
		if shown != c.want {
			t.Errorf("%q, %q: %s, want %s", c.of, c.named, shown, c.want)
		}
	}
}

// What a caller reads about itself is what the server lets it do.
func TestDescribe(t *testing.T) {
	every := len(roles.Acts())
	for name, c := range map[string]struct {
		caller  shoal.Principal
		acts    int
		has, no roles.Act
	}{
		"an admin":                      {shoal.Principal{Role: shoal.RoleAdmin}, every, roles.Manage, "fly"},
		"an admin that acts as a guest": {shoal.Principal{Role: shoal.RoleAdmin, EntityID: "gil", SessionRole: shoal.SessionGuest}, every, roles.Manage, "fly"},
		"a service":                     {shoal.Principal{Role: shoal.RoleService, SessionID: "default"}, 15, roles.TriggerRun, roles.Manage},
		"an owner":                      {shoal.Principal{Role: shoal.RoleEntity, EntityID: "ann", SessionRole: shoal.SessionOwner}, every, roles.Manage, "fly"},
		"a guest":                       {shoal.Principal{Role: shoal.RoleEntity, EntityID: "gil", SessionRole: shoal.SessionGuest}, 6, roles.Answer, roles.Approve},
		"an auditor":                    {shoal.Principal{Role: shoal.RoleEntity, EntityID: "aud", SessionRole: shoal.SessionAuditor}, 8, roles.ReadSettings, roles.Post},
		"a key that only reads":         {shoal.Principal{Role: shoal.RoleEntity, EntityID: "ann", SessionRole: shoal.SessionAdmin, Scopes: "read"}, 5, roles.ReadInvites, roles.Post},
		"nobody":                        {shoal.Principal{}, 0, "", roles.ReadSession},
	} {
		got := scopes.Describe(c.caller).Acts
		if got == nil || len(got) != c.acts || c.has != "" && !slices.Contains(got, string(c.has)) || slices.Contains(got, string(c.no)) {
			t.Errorf("%s: %d acts, want %d with %q and without %q: %q", name, len(got), c.acts, c.has, c.no, got)
		}
	}
}
