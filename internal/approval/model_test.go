package approval_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
)

// course is one random sequence of events: a run that people cause, its action, and answers
// to it. It records what really happened, from which [course.judge] independently determines
// what the policy allows.
type course struct {
	r      *rand.Rand
	rules  approval.Rules
	people []approval.Voter

	action approval.Action
	caused []shoal.EntityID // every human that caused the run, recorded independently of the rules
	now    time.Time
	ends   time.Time // when the action expires

	cast       map[shoal.EntityID]shoal.PendingAnswer // each entity's last vote
	remembered []approval.Remembered
	justified  []shoal.RememberedDecision // the decisions, as recorded by the model
	fault      string
}

func newCourse(seed uint64, rules approval.Rules) *course {
	c := &course{r: rand.New(rand.NewPCG(seed, 7)), rules: rules, now: time.Unix(1000, 0), cast: map[shoal.EntityID]shoal.PendingAnswer{}}
	humans := []shoal.EntityID{"h0", "h1", "h2", "h3"}
	for _, id := range humans {
		c.people = append(c.people, approval.Voter{Entity: id, Kind: shoal.Human, Role: shoal.RoleEntity, Member: c.r.IntN(4) > 0, Manages: c.r.IntN(6) == 0})
	}
	for _, id := range []shoal.EntityID{"a0", "a1", "bot"} {
		owner := append(slices.Clone(humans), "")[c.r.IntN(5)]
		c.people = append(c.people, approval.Voter{Entity: id, Kind: shoal.Agent, Role: shoal.RoleEntity, Member: c.r.IntN(4) > 0, Owner: owner})
	}
	c.people = append(c.people, approval.Voter{Role: shoal.RoleService}, approval.Voter{Role: shoal.RoleAdmin})
	c.begin()
	return c
}

// begin creates the causes of a run (messages that settle, other agents, retries) and opens
// its action.
func (c *course) begin() {
	kinds := []shoal.PendingKind{shoal.PendingPermission, shoal.PendingPermission, shoal.PendingClientTool, shoal.PendingQuestion}
	bys := [][]shoal.EntityID{
		nil, nil, {"humans"}, {"members"}, {"agents"}, {"services"}, {"admins"}, {"h1", "h2"}, {"h1", "a0", "bot"}, {"humans", "agents"}, {"members", "h3"},
	}
	c.caused, c.cast = nil, map[shoal.EntityID]shoal.PendingAnswer{}
	var requesters []shoal.EntityID
	byService := c.r.IntN(6) == 0
	for range c.r.IntN(3) { // a message, one more in the settle window, a retry, a root further up
		h := c.people[c.r.IntN(4)].Entity
		requesters = c.rules.JoinRequesters(requesters, h)
		c.caused = append(c.caused, h)
	}
	by := bys[c.r.IntN(len(bys))]
	c.action = approval.Action{
		ID: "pnd_1", Kind: kinds[c.r.IntN(len(kinds))], Open: true, Agent: "bot", Owner: c.people[6].Owner, Targeted: c.r.IntN(2) == 0,
		By: by, Quorum: 1 + c.r.IntN(3), NotRequester: c.r.IntN(3) == 0, Requesters: requesters, ByService: byService,
		ArgsHash: fmt.Sprintf("hash%d", c.r.IntN(3)), Editable: c.r.IntN(4) > 0,
	}
	if c.r.IntN(8) == 0 {
		c.action.Only = c.people[c.r.IntN(4)].Entity
	}
	c.ends = c.now.Add(time.Duration(5+c.r.IntN(20)) * time.Second)
}

// play performs some steps and returns the first fault, or an empty string.
func (c *course) play() string {
	for range 40 {
		switch c.r.IntN(8) {
		case 0:
			c.now = c.now.Add(time.Duration(c.r.IntN(8)) * time.Second)
		case 1:
			c.begin()
			c.recall()
		default:
			c.answer()
		}
		if c.fault != "" {
			return c.fault
		}
	}
	return ""
}

// recall looks up a remembered decision for the new call.
func (c *course) recall() {
	call := approval.Call{Action: c.action, Tool: "pay", Space: "shop", Now: shoal.At(c.now)}
	d := c.rules.Answers(c.remembered, call)
	if d == nil {
		return
	}
	was := c.justified[slices.IndexFunc(c.justified, func(j shoal.RememberedDecision) bool { return j.ID == d.ID })]
	maker := c.people[slices.IndexFunc(c.people, func(v approval.Voter) bool { return v.Entity == d.Voter.Entity && v.Role == d.Voter.Role })]
	switch {
	case c.action.Kind != shoal.PendingPermission, c.action.Quorum > 1, c.action.NotRequester:
		c.fault = "a remembered decision answers what it must not"
	case was.Scope != "tool" && was.ArgsHash != c.action.ArgsHash:
		c.fault = "a decision about other arguments was taken"
	case !c.now.Before(was.ExpiresAt.Time):
		c.fault = "a decision was taken after its time"
	case len(c.caused) == 0 && len(was.Requesters) > 0:
		c.fault = "a decision was taken for a run that nobody asked for"
	case !c.allowed(maker):
		c.fault = "a decision of somebody who may not decide was taken"
	}
	for _, h := range c.caused {
		if !slices.Contains(was.Requesters, h) {
			c.fault = "a decision was taken for another requester"
		}
	}
	c.action.Open = false
}

// answer applies the answer of a random voter.
func (c *course) answer() {
	v := c.people[c.r.IntN(len(c.people))]
	in := c.randomAnswer()
	action := c.action
	action.Expired = !c.now.Before(c.ends)
	out, err := c.rules.Settle(action, v, in, c.now)
	if err != nil {
		return
	}
	c.judge(v, in, out)
	if v.Entity != "" {
		c.cast[v.Entity] = in
	}
	c.action.Votes = out.Votes
	if !out.Settled {
		return
	}
	c.action.Open = false
	if in.Remember != nil {
		d := shoal.RememberedDecision{
			ID: shoal.RememberedID(strconv.Itoa(len(c.justified))), AgentID: "bot", ToolName: "pay", Requesters: c.action.Requesters,
			Decision: in.Remember.Decision, Scope: in.Remember.Scope, ArgsHash: c.action.ArgsHash, ExpiresAt: shoal.At(c.now.Add(20 * time.Second)),
		}
		shop := shoal.SpaceID("shop")
		d.SpaceID = &shop
		c.remembered = append(c.remembered, approval.Remembered{RememberedDecision: d, Voter: v})
		d.Requesters = slices.Clone(c.caused)
		c.justified = append(c.justified, d)
	}
}

func (c *course) randomAnswer() (a shoal.PendingAnswer) {
	switch c.action.Kind {
	case shoal.PendingClientTool:
		a.Result = json.RawMessage([]string{`{"a":1,"b":2}`, `{"b":2, "a":1}`, `2`}[c.r.IntN(3)])
	case shoal.PendingQuestion:
		text := []string{"red", "blue"}[c.r.IntN(2)]
		a.Answer = &text
	default:
		approved := c.r.IntN(4) > 0
		a.Approved = &approved
		if approved && c.r.IntN(3) == 0 {
			a.Args = json.RawMessage([]string{`{"n":1}`, `{"n": 1}`, `{"n":2}`}[c.r.IntN(3)])
		}
		if c.r.IntN(4) == 0 {
			a.Remember = &shoal.Remember{Decision: map[bool]string{true: "allow", false: "deny"}[approved], Scope: []string{"call", "tool"}[c.r.IntN(2)]}
		}
	}
	if c.r.IntN(3) == 0 {
		hash := fmt.Sprintf("hash%d", c.r.IntN(3))
		a.ArgsHash = &hash
	}
	return a
}

// judge checks that the policy allows the outcome of an answer.
func (c *course) judge(v approval.Voter, in shoal.PendingAnswer, out approval.Outcome) {
	a := c.action
	yes := in.Approved != nil && *in.Approved
	switch {
	case !a.Open || !c.now.Before(c.ends):
		c.fault = "an answer counted after its time"
	case in.ArgsHash != nil && *in.ArgsHash != a.ArgsHash:
		c.fault = "an answer to other arguments counted"
	case !c.allowed(v):
		c.fault = fmt.Sprintf("%q (%s) answered %+v", v.Entity, v.Role, a)
	case in.Args != nil && !a.Editable:
		c.fault = "arguments were changed that nobody can execute"
	case in.Remember != nil && (a.Quorum > 1 || a.NotRequester):
		c.fault = "a decision was remembered that must not be"
	case out.Settled && yes && string(out.EditedArgs) != string(in.Args):
		c.fault = "changed arguments run that nobody sees"
	case out.Settled && a.Quorum > 1 && (a.Kind != shoal.PendingPermission || yes):
		c.agreed(v, in)
	}
}

// agreed checks that enough different entities gave the same answer.
func (c *course) agreed(v approval.Voter, in shoal.PendingAnswer) {
	who := map[shoal.EntityID]bool{}
	if v.Entity != "" {
		who[v.Entity] = true
	}
	for id, said := range c.cast {
		if id != v.Entity && says(said) == says(in) {
			who[id] = true
		}
	}
	if len(who) < c.action.Quorum {
		c.fault = fmt.Sprintf("%d of %d agreed", len(who), c.action.Quorum)
	}
}

// says returns a normalized description of an answer.
func says(a shoal.PendingAnswer) string {
	var result, args any
	_ = json.Unmarshal(a.Result, &result) // an empty result is nil
	_ = json.Unmarshal(a.Args, &args)
	out := fmt.Sprint(result, "|", args)
	if a.Approved != nil {
		out += fmt.Sprint("|", *a.Approved)
	}
	if a.Answer != nil {
		out += "|" + *a.Answer
	}
	return out
}

// allowed restates the contract's rules about permitted answers, sentence by sentence,
// from the real causes of the run.
func (c *course) allowed(v approval.Voter) bool {
	a := c.action
	isPermission := a.Kind == shoal.PendingPermission
	caused := slices.Contains(c.caused, v.Entity)
	key := v.Entity == "" && v.Role == shoal.RoleAdmin
	// "The agent that asks never settles its own request, nor do agents whose ownerId
	// is one of the requesters settle a permission."
	if v.Entity == "bot" {
		return false
	}
	if isPermission && v.Kind == shoal.Agent && v.Owner != "" && slices.Contains(c.caused, v.Owner) {
		return false
	}
	// "notRequester excludes all of them."
	if a.NotRequester && caused {
		return false
	}
	// "An admin key without an entity … never towards a larger one"; "n different
	// entities".
	if v.Entity == "" && a.Quorum > 1 {
		return false
	}
	if a.Only != "" && v.Entity != a.Only {
		return false
	}
	// "A service settles what by grants it, and client tools of runs that a service
	// started."
	if v.Role == shoal.RoleService {
		return slices.Contains(a.By, "services") || a.Kind == shoal.PendingClientTool && a.ByService
	}
	if a.By == nil {
		switch {
		case isPermission && a.Targeted: // "the humans of the space that the call targets"
			return key || v.Kind == shoal.Human && v.Member
		case isPermission: // "its requesters and the agent's owner"
			return key || v.Kind == shoal.Human && (caused || v.Entity == c.people[6].Owner)
		}
		return key || v.Member // "for client tools and questions it means members"
	}
	may := slices.Contains(a.By, v.Entity) && v.Entity != ""
	may = may || slices.Contains(a.By, "humans") && (key || v.Kind == shoal.Human && v.Member)
	may = may || slices.Contains(a.By, "members") && (key || v.Member)
	may = may || slices.Contains(a.By, "agents") && v.Kind == shoal.Agent && v.Member
	return may || slices.Contains(a.By, "admins") && (key || v.Manages)
}

// courses plays n courses and returns the first fault with its seed.
func courses(from uint64, n int, rules approval.Rules) (seed uint64, fault string) {
	for i := range uint64(n) {
		if fault := newCourse(from+i, rules).play(); fault != "" {
			return from + i, fault
		}
	}
	return 0, ""
}

// firstSeed is random, or the one of SHOAL_SEED.
func firstSeed(t *testing.T) uint64 {
	seed := rand.Uint64N(1 << 40)
	if text := os.Getenv("SHOAL_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("the first seed is %d", seed)
	return seed
}

// In 10,000 random courses every decision complies with the policy.
func TestDecisionsComplyWithPolicy(t *testing.T) {
	if seed, fault := courses(firstSeed(t), 10_000, approval.Contract()); fault != "" {
		t.Errorf("SHOAL_SEED=%d: %s", seed, fault)
	}
}

// The model check finds faults that are planted in the rules.
func TestModelFindsPlantedFaults(t *testing.T) {
	for name, plant := range map[string]func(*approval.Rules){
		"remember ignores arguments": func(r *approval.Rules) {
			covers := r.Covers
			r.Covers = func(d approval.Remembered, c approval.Call) bool { d.Scope = shoal.RememberTool; return covers(d, c) }
		},
		"a retry changes the requester": func(r *approval.Rules) {
			r.JoinRequesters = func(_ []shoal.EntityID, more ...shoal.EntityID) []shoal.EntityID { return more }
		},
		"the quorum counts the requester's agents": func(r *approval.Rules) {
			may := r.Objection
			r.Objection = func(a approval.Action, v approval.Voter) string { v.Owner = ""; return may(a, v) }
		},
		"the hash is not compared": func(r *approval.Rules) {
			r.SameArgs = func(approval.Action, shoal.PendingAnswer) bool { return true }
		},
		"a late vote counts": func(r *approval.Rules) {
			r.CheckOpen = func(approval.Action) error { return nil }
		},
		"edited arguments are not shown": func(r *approval.Rules) {
			r.EditedArgs = func(shoal.PendingAnswer) json.RawMessage { return nil }
		},
	} {
		rules := approval.Contract()
		plant(&rules)
		seed, fault := courses(1, 2000, rules)
		if fault == "" {
			t.Errorf("%s: the fault was not found", name)
			continue
		}
		t.Logf("%s: seed %d: %s", name, seed, fault)
	}
}
