package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
)

func registerAgent() *tool {
	return &tool{
		name:    "register_agent",
		about:   "Introduce yourself: sets your display name and description and returns your entity. Call it once, first. Without arguments it only returns your entity.",
		repeats: true,
		inputs: []input{
			agentInput,
			{name: "agentName", kind: textInput, length: shoal.MaxName, checked: true, about: "Your display name."},
			{name: "description", kind: textInput, length: shoal.MaxDescription, checked: true, about: "What you can do for the others."},
		},
		output: shoal.Entity{},
		words:  map[string]string{"name": "agentName"},
		call: func(ctx context.Context, c *call) (result, error) {
			id, err := c.actor()
			if err != nil {
				return result{}, err
			}
			e, err := c.present(ctx, id)
			return result{text: "Registered: " + entityLine(e, true), structured: e}, err
		},
	}
}

// present sets the name and the description if the arguments contain them, and returns
// the entity.
func (c *call) present(ctx context.Context, id shoal.EntityID) (shoal.Entity, error) {
	var change shoal.EntityChange
	if name := c.text("agentName"); c.given("agentName") {
		change.Name = &name
	}
	if about := c.text("description"); c.given("description") {
		change.Description = &about
	}
	if change.Name == nil && change.Description == nil {
		return c.Hub.Entities.Get(ctx, c.Principal, c.Session, id)
	}
	return c.Hub.Entities.Update(ctx, c.Principal, c.Session, id, change)
}

// cursorInput continues a list.
var cursorInput = input{name: "cursor", kind: textInput, length: shoal.MaxCursor, about: "The nextCursor of the page before, to get the next one."}

// place returns the id in the input cursor, empty if the input is missing.
func (c *call) place() (string, error) {
	at := c.text("cursor")
	if at != "" && shoal.CheckID("cursor", at) != nil {
		return "", shoal.Invalid("cursor", "must be the nextCursor of an earlier page, unchanged")
	}
	return at, nil
}

func listAgents() *tool {
	return &tool{
		name:  "list_agents",
		about: "List the agents and people in your session, an isolated workspace, and the current state of each.",
		reads: true,
		inputs: []input{
			{name: "includeDetails", kind: flagInput, about: "Add kind and description to the text."},
			cursorInput,
		},
		output: list[shoal.Entity]{},
		call: func(ctx context.Context, c *call) (result, error) {
			after, err := c.place()
			if err != nil {
				return result{}, err
			}
			found, err := c.Hub.Entities.List(ctx, c.Principal, c.Session, shoal.EntityID(after), shoal.MaxPage+1)
			if err != nil {
				return result{}, err
			}
			page := pageOf(found, func(e shoal.Entity) string { return string(e.ID) })
			return result{text: entityLines(page, c.flag("includeDetails")), structured: page}, nil
		},
	}
}

// pageOf makes a page of the items found. The caller reads one item more than a page
// holds, so an extra item means that another page follows. place returns the cursor of
// an item; the next page starts after that item.
func pageOf[T any](found []T, place func(T) string) list[T] {
	if len(found) <= shoal.MaxPage {
		return list[T]{Items: append([]T{}, found...)}
	}
	return list[T]{Items: found[:shoal.MaxPage], NextCursor: place(found[shoal.MaxPage-1])}
}

func entityLines(page list[shoal.Entity], details bool) string {
	lines := make([]string, len(page.Items))
	for i, e := range page.Items {
		lines[i] = entityLine(e, details)
	}
	return listText(lines, "There is nobody in this session.", page.NextCursor)
}

// listText formats a list as lines, or returns empty if there are none.
func listText(lines []string, empty, nextCursor string) string {
	if len(lines) == 0 {
		return empty
	}
	if nextCursor != "" {
		lines = append(lines, fmt.Sprintf("There are more: call again with cursor %q.", nextCursor))
	}
	return strings.Join(lines, "\n")
}

func entityLine(e shoal.Entity, details bool) string {
	line := fmt.Sprintf("ID: %s, Name: %s, State: %s", e.ID, e.Name, e.State)
	if details {
		line += fmt.Sprintf(", Kind: %s, Description: %s", e.Kind, oneLine(e.Description))
	}
	return line
}

// oneLine puts a participant's text on one line, so that it cannot imitate lines of the
// result.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// arrivals is the structured result of wait_for_agents.
type arrivals struct {
	Items     []shoal.Entity   `json:"items"`
	Missing   []shoal.EntityID `json:"missing"`
	TimedOut  bool             `json:"timedOut"`
	TimeoutMs int64            `json:"timeoutMs"`
}

func waitForAgents() *tool {
	return &tool{
		name:  "wait_for_agents",
		about: "Wait until other participants are present: the ones in agentIds, or as many as count says, yourself excluded. A participant is present unless it is offline.",
		waits: true, reads: true,
		inputs: []input{
			{name: "agentIds", kind: listInput, items: shoal.MaxWaitAgents, unique: true, about: "The ids to wait for. Set this or count."},
			{name: "count", kind: wholeInput, least: 1, most: 10_000, about: "How many others to wait for. Set this or agentIds."},
			timeoutInput(60_000),
		},
		output: arrivals{},
		wait: func(ctx context.Context, c *call, while time.Duration) (*inbox.Delivery, *inbox.HeldWait, error) {
			if c.given("agentIds") && c.given("count") {
				return nil, nil, shoal.Invalid("agentIds", "and count exclude each other: give one of them")
			}
			return c.Hub.Inbox.WaitShortly(ctx, c.Principal, &inbox.WaitRequest{
				Session: c.Session, Timeout: c.timeout(),
				Agents: &inbox.AgentsRequest{IDs: c.ids("agentIds"), Count: int(c.whole("count"))},
			}, while)
		},
	}
}

// arrivalsResult formats the result of a wait for agents.
func arrivalsResult(d *inbox.Delivery) result {
	found, r := d.Agents, d.Result
	return result{
		text:       arrivalText(found.Present, found.Missing, r.TimedOut),
		structured: arrivals{Items: found.Present, Missing: found.Missing, TimedOut: r.TimedOut, TimeoutMs: r.TimeoutMs},
	}
}

func arrivalText(here []shoal.Entity, missing []shoal.EntityID, timedOut bool) string {
	text := entityLines(list[shoal.Entity]{Items: here}, false)
	if len(here) == 0 {
		text = "Nobody is present."
	}
	if !timedOut {
		return text
	}
	if len(missing) > 0 {
		text += "\nMissing: " + join(missing)
	}
	return text + "\nThe time is up. Call again to continue waiting."
}

func join[T ~string](ids []T) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, ", ")
}
