package doors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/storytest"
)

// doors are all doors, and the clients at them. lacks is what of the story the protocol has no form for, in the words
// of docs/clients.md: then the person does it with the Go client.
var doors = []struct {
	name  string
	lacks string
	open  func(*place) (customer, approver)
}{
	{name: "REST, with the Go client", open: func(p *place) (customer, approver) {
		return p.native("ann", shop), p.native("bob", finance)
	}},
	{name: "REST, with the TypeScript client", open: func(p *place) (customer, approver) {
		person := program.TypeScript(p.t, "person.ts")
		return p.lines("ann", shop, "node", person), p.lines("bob", finance, "node", person)
	}},
	{name: "REST, with the Python client", open: func(p *place) (customer, approver) {
		person := append(program.PythonClient(p.t), "person.py")
		return p.lines("ann", shop, person...), p.lines("bob", finance, person...)
	}},
	{name: "MCP", open: func(p *place) (customer, approver) {
		return p.mcp("ann", shop), p.mcp("bob", finance)
	}},
	{name: "AG-UI", open: func(p *place) (customer, approver) {
		return p.agui("ann", shop), p.agui("bob", finance)
	}},
	{name: "AI SDK", open: func(p *place) (customer, approver) {
		return p.aisdk("ann", shop), p.aisdk("bob", finance)
	}},
	{name: "OpenAI, chat completions", lacks: noCards, open: func(p *place) (customer, approver) {
		return p.openAI("ann", shop, false), p.native("bob", finance)
	}},
	{name: "OpenAI, responses", lacks: noCards, open: func(p *place) (customer, approver) {
		return p.openAI("ann", shop, true), p.native("bob", finance)
	}},
}

const noCards = "The protocol has no form for cards and forms of an agent: its tools are those of the client. They are answered elsewhere, and the stream stays open and goes on."

// The seed's shopping run (004), once through each door: the agent shows two cards, of which ann chooses one, looks
// into the stock in a space without people, asks for an approval in bob's space, and says that it was given. Each
// client has the texts that are stored, and all doors leave the same messages.
func TestShoppingThroughEveryDoor(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "stored.json")
	want, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	w := newWorld(t)
	for i, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			p := w.place(t, shoal.SessionID("door-"+string(rune('a'+i))))
			ann, bob := d.open(p)
			ann.ask("I need a laptop")
			p.until(shop, shoal.EventPendingOpened, 2)
			ann.choose(args{"selected": true}, args{"selected": false})
			p.until(finance, shoal.EventPendingOpened, 1)
			bob.approve(args{"approved": true})
			const written = "Here are some laptops: ☂ 😀 — both in stock.\n\nWant me to add any to your cart?\n\nBudget approved by finance!"
			if got := ann.texts(); got != written {
				t.Errorf("the client has the texts %q", got)
			}
			p.until(shop, shoal.EventRunCompleted, 1)
			switch got := p.stored(); {
			case i == 0 && *update:
				want = []byte(got)
				if err := os.WriteFile(file, want, 0o644); err != nil {
					t.Fatal(err)
				}
			case got != string(want):
				t.Errorf("what is stored differs from %s:\n%s", file, storytest.Difference(string(want), got))
			}
			if !strings.Contains(string(page), d.lacks) {
				t.Errorf("docs/clients.md does not say: %s", d.lacks)
			}
		})
	}
}
