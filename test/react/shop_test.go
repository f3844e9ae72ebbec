// Package react_test plays the story of examples/react-shop in Chromium: a page of another origin, made with
// @shoal-dev/react, and a whole server with the example's agent.
//
// `make setup` installs what page.mjs needs.
package react_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	if _, err := os.Stat(filepath.Join("node_modules", "vite")); err != nil {
		fmt.Fprintf(os.Stderr, "test/react: %v; run `make setup`\n", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// args is a JSON object.
type args = map[string]any

// look is what the page shows.
type look struct{ Texts, Cards, Faults []string }

// page is the page of the example in Chromium.
type page struct {
	*program.Lines
	t *testing.T
}

// order gives the page an order, which must succeed.
func (p *page) order(o args) (got look) {
	p.t.Helper()
	p.Send(o)
	p.Next(patience, &got)
	if len(got.Faults) > 0 {
		p.t.Fatalf("%v: %q; the page shows %+v", o, got.Faults, got)
	}
	return got
}

// shop is a server with the agent of the example.
type shop struct {
	*app.Server
	t   *testing.T
	key string
}

var admin = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test", EntityID: shoal.Operator}

func serve(t *testing.T, c app.Config) *shop {
	t.Helper()
	s, _ := apptest.Run(t, c)
	t.Cleanup(func() {
		if runs, err := s.Hub.Runs.List(context.WithoutCancel(t.Context()), admin, shoal.DefaultSession, storage.RunFilter{Limit: 10}); t.Failed() {
			for _, r := range runs {
				t.Logf("run of %s: %s %+v %v", r.AgentID, r.Status, r.Error, err)
			}
		}
	})
	secret := auth.NewSecret()
	n := shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann", Kind: shoal.Human}
	if _, _, err := s.Hub.Keys.Create(t.Context(), admin, n, auth.Hash(secret), ""); err != nil {
		t.Fatal(err)
	}
	return &shop{s, t, secret}
}

// open adds a space with an agent that is configured as the example's, but for some words, and returns how the page
// is opened there.
func (s *shop) open(id string, words ...string) args {
	s.t.Helper()
	config, err := os.ReadFile(filepath.Join("..", "..", "examples", "react-shop", "agent.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	agent := shoal.EntityID("seller-" + id)
	words = append(words, "id: seller", "id: "+string(agent))
	apptest.Host(s.t, s.Server, agent, strings.NewReplacer(words...).Replace(string(config)))
	n := shoal.NewSpace{ID: shoal.SpaceID(id), Name: id, Members: []shoal.EntityID{agent, "ann"}, AdminAgentID: &agent}
	if _, err := s.Hub.Spaces.Create(s.t.Context(), admin, shoal.DefaultSession, n, ""); err != nil {
		s.t.Fatal(err)
	}
	return args{"url": s.URL(), "key": s.key, "space": id}
}

// A page of another origin shows text while it is written and cards of which one is chosen, executes a client tool,
// approves, goes on when it is loaded again in the middle, and stops the agent. A page of an origin that is not
// allowed, and one with a wrong key, show why they show nothing.
func TestShop(t *testing.T) {
	chromium, err := program.Browser()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHROMIUM", chromium)
	p := &page{program.StartLines(t, program.Node(t), "page.mjs"), t}
	var site struct{ Origin string }
	p.Next(patience, &site)
	s := serve(t, app.Config{AllowOrigins: []string{site.Origin}})

	p.order(args{"open": s.open("shop"), "until": "What are you looking for?"})
	p.order(args{"send": "I need a laptop", "button": "Choose Lark Pro 16"})
	p.picture("cards")
	p.order(args{"click": "Choose Lark Air 13", "until": "Holstenstraße 12"})
	p.order(args{"button": "Approve"})
	got := p.order(args{"reload": true, "button": "Approve"}) // what waits is there again
	if len(got.Cards) != 4 || !strings.Contains(got.Cards[2], "Holstenstraße 12, 8 minutes") {
		t.Errorf("loaded again, the page has the cards %q", got.Cards)
	}
	p.order(args{"click": "Approve", "until": "Ordered! Pick it up from 4 pm."})
	got = p.order(args{"gone": "…"})
	if cards := strings.Join(got.Cards, "; "); !strings.Contains(cards, "Lark Air 13 Light, 16 hours of battery $1,199 Chosen; Lark Pro 16 Fast, for video and games $1,899; Holstenstraße 12, 8 minutes on foot; Lark Air 13 for $1,199 Ordered") {
		t.Errorf("in the end the page has the cards %q", got.Cards)
	}
	s.sees(got, "shop", "I need a laptop")
	p.picture("ordered")

	const words = 60
	p.order(args{"open": s.open("long", "Every laptop here", strings.Repeat("größer 🐟 ", words)+"Ende"), "until": "What are you looking for?"})
	got = p.order(args{"send": "How do repairs work?", "until": "größer 🐟 größer"})
	p.halfway(got)
	p.halfway(p.order(args{"reload": true, "until": "größer 🐟 größer"}))
	s.sees(p.order(args{"until": "in stock?"}), "long", "How do repairs work?")

	p.order(args{"open": s.open("stopped", "Every laptop here", strings.Repeat("word ", 2000)), "until": "What are you looking for?"})
	p.order(args{"send": "How do repairs work?", "until": "word word"})
	p.order(args{"click": "Stop", "gone": "Stop"})
	runs, err := s.Hub.Runs.List(t.Context(), admin, shoal.DefaultSession, storage.RunFilter{Agent: "seller-stopped", Limit: 1})
	if err != nil || len(runs) != 1 || runs[0].Status != shoal.RunCanceled {
		t.Errorf("after Stop the runs are %+v: %v", runs, err)
	}

	got = p.order(args{"open": args{"url": s.URL(), "key": "shoal_wrong"}, "until": "Your key is not valid any more."})
	closed := serve(t, app.Config{})
	refused := p.order(args{"open": closed.open("shop"), "until": "Connecting …"})
	if len(got.Texts)+len(refused.Texts) > 0 {
		t.Errorf("with a wrong key the page shows %+v, and from a server that does not allow its origin %+v", got, refused)
	}
}

// halfway checks that the long text is still being written.
func (p *page) halfway(got look) {
	p.t.Helper()
	if text := got.Texts[len(got.Texts)-1]; strings.Contains(text, "Ende") {
		p.t.Errorf("the text is complete already: %q", text)
	}
}

// picture takes pictures of the page, if SHOAL_PICTURES names a directory for them.
func (p *page) picture(name string) {
	p.t.Helper()
	if dir := os.Getenv("SHOAL_PICTURES"); dir != "" {
		p.order(args{"picture": filepath.Join(dir, name)})
	}
}

// sees compares the texts on the page with those that are stored.
func (s *shop) sees(got look, space shoal.SpaceID, asked string) {
	s.t.Helper()
	all, err := s.Hub.Messages.Read(s.t.Context(), admin, shoal.DefaultSession, space, storage.Page{Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	var stored []string
	for _, m := range all {
		for _, p := range m.Parts {
			if p.Type == shoal.TextPart {
				stored = append(stored, strings.Join(strings.Fields(p.Text), " "))
			}
		}
	}
	if !slices.Equal(got.Texts, stored) || stored[0] != asked {
		s.t.Errorf("the page shows %q, stored is %q", got.Texts, stored)
	}
}
