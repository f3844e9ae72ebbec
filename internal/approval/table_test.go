package approval_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
)

type ids = []shoal.EntityID

// The participants of the tests. ann is the requester, bob and eve are members, tom is a
// person outside of the space, boss owns the agent; bot asks; hers is ann's agent and free has
// no owner, both are members.
var recordVote = map[string]approval.Voter{
	"ann":        {Entity: "ann", Kind: shoal.Human, Role: shoal.RoleEntity, Member: true},
	"bob":        {Entity: "bob", Kind: shoal.Human, Role: shoal.RoleEntity, Member: true},
	"eve":        {Entity: "eve", Kind: shoal.Human, Role: shoal.RoleEntity, Member: true, Manages: true},
	"tom":        {Entity: "tom", Kind: shoal.Human, Role: shoal.RoleEntity},
	"boss":       {Entity: "boss", Kind: shoal.Human, Role: shoal.RoleEntity},
	"bot":        {Entity: "bot", Kind: shoal.Agent, Role: shoal.RoleEntity, Owner: "boss", Member: true},
	"hers":       {Entity: "hers", Kind: shoal.Agent, Role: shoal.RoleEntity, Owner: "ann", Member: true},
	"free":       {Entity: "free", Kind: shoal.Agent, Role: shoal.RoleEntity, Member: true},
	"service":    {Role: shoal.RoleService},
	"admin":      {Role: shoal.RoleAdmin},
	"admin(bob)": {Entity: "bob", Kind: shoal.Human, Role: shoal.RoleAdmin, Member: true},
}

var everybody = []string{"ann", "bob", "eve", "tom", "boss", "bot", "hers", "free", "service", "admin", "admin(bob)"}

func yes() shoal.PendingAnswer { v := true; return shoal.PendingAnswer{Approved: &v} }
func no() shoal.PendingAnswer  { v := false; return shoal.PendingAnswer{Approved: &v} }
func result(json string) shoal.PendingAnswer {
	return shoal.PendingAnswer{Result: []byte(json)}
}

func open(kind shoal.PendingKind) approval.Action {
	return approval.Action{
		ID: "pnd_1", Kind: kind, Open: true, Agent: "bot", Owner: "boss", Targeted: true, Quorum: 1, Requesters: ids{"ann"}, ArgsHash: "h", Editable: true,
	}
}

// Permitted answers, by kind, by, quorum, notRequester, target and the origin of the run.
func TestWhoMayAnswer(t *testing.T) {
	permission, client, question := shoal.PendingPermission, shoal.PendingClientTool, shoal.PendingQuestion
	for _, c := range []struct {
		name   string
		kind   shoal.PendingKind
		change func(*approval.Action)
		may    string
	}{
		{"a permission that a space is named for", permission, nil, "ann bob eve admin admin(bob)"},
		{"without one: requesters and the owner", permission, func(a *approval.Action) { a.Targeted = false }, "ann boss admin"},
		{"nobody asked, nobody owns", permission, func(a *approval.Action) { a.Targeted, a.Requesters, a.Owner = false, nil, "" }, "admin"},
		{"not the requester", permission, func(a *approval.Action) { a.NotRequester = true }, "bob eve admin admin(bob)"},
		{"none of the requesters", permission, func(a *approval.Action) { a.NotRequester, a.Requesters = true, ids{"ann", "bob"} }, "eve admin"},
		{"not the requester, without a target", permission, func(a *approval.Action) { a.NotRequester, a.Targeted = true, false }, "boss admin"},
		{"a quorum", permission, func(a *approval.Action) { a.Quorum = 2 }, "ann bob eve admin(bob)"},
		{"humans", permission, func(a *approval.Action) { a.By = ids{"humans"} }, "ann bob eve admin admin(bob)"},
		{"members: agents too, but no agent of a requester", permission, func(a *approval.Action) { a.By = ids{"members"} }, "ann bob eve free admin admin(bob)"},
		{"agents", permission, func(a *approval.Action) { a.By = ids{"agents"} }, "free"},
		{"agents of another requester", permission, func(a *approval.Action) { a.By, a.Requesters = ids{"agents"}, ids{"bob"} }, "hers free"},
		{"services", permission, func(a *approval.Action) { a.By = ids{"services"} }, "service"},
		{"services cannot make a quorum", permission, func(a *approval.Action) { a.By, a.Quorum = ids{"services"}, 2 }, ""},
		{"admins", permission, func(a *approval.Action) { a.By = ids{"admins"} }, "eve admin admin(bob)"},
		{"ids", permission, func(a *approval.Action) { a.By = ids{"bob", "tom"} }, "bob tom admin(bob)"},
		{"ids of the asking agent and a requester's", permission, func(a *approval.Action) { a.By = ids{"bot", "hers", "free"} }, "free"},
		{"ids and words", permission, func(a *approval.Action) { a.By = ids{"tom", "services"} }, "tom service"},
		{"ids, not the requester", permission, func(a *approval.Action) { a.By, a.NotRequester = ids{"ann", "bob"}, true }, "bob admin(bob)"},
		{"for one member", permission, func(a *approval.Action) { a.Only = "bob" }, "bob admin(bob)"},
		{"a service started the run", permission, func(a *approval.Action) { a.ByService, a.Requesters = true, nil }, "ann bob eve admin admin(bob)"},
		{"a client tool", client, nil, "ann bob eve hers free admin admin(bob)"},
		{"a client tool of a service's run", client, func(a *approval.Action) { a.ByService, a.Requesters = true, nil }, "ann bob eve hers free service admin admin(bob)"},
		{"a client tool for services", client, func(a *approval.Action) { a.By = ids{"services"} }, "service"},
		{"a client tool, not the requester", client, func(a *approval.Action) { a.NotRequester = true }, "bob eve hers free admin admin(bob)"},
		{"a client tool, humans", client, func(a *approval.Action) { a.By = ids{"humans"} }, "ann bob eve admin admin(bob)"},
		{"a client tool for one member", client, func(a *approval.Action) { a.Only = "ann" }, "ann"},
		{"a client tool, a quorum", client, func(a *approval.Action) { a.Quorum = 2 }, "ann bob eve hers free admin(bob)"},
		{"a question", question, nil, "ann bob eve hers free admin admin(bob)"},
		{"a question of a service's run", question, func(a *approval.Action) { a.ByService = true }, "ann bob eve hers free admin admin(bob)"},
	} {
		a := open(c.kind)
		if c.change != nil {
			c.change(&a)
		}
		var may []string
		for _, name := range everybody {
			if approval.Contract().Objection(a, recordVote[name]) == "" {
				may = append(may, name)
			}
		}
		if got := strings.Join(may, " "); got != c.may {
			t.Errorf("%s: %s may; want %s", c.name, got, c.may)
		}
	}
}

// vote is one answer of a sequence and its outcome: settled, recorded, or the kind of the
// error.
type vote struct {
	who    string
	answer shoal.PendingAnswer
	want   string
}

// The outcomes of answers, by quorum, equal and different answers, denial, edits, hash,
// remember and time.
func TestOutcomes(t *testing.T) {
	edited := func(args string) shoal.PendingAnswer { a := yes(); a.Args = []byte(args); return a }
	hashed := func(h string) shoal.PendingAnswer { a := yes(); a.ArgsHash = &h; return a }
	remembered := func() shoal.PendingAnswer {
		a := yes()
		a.Remember = &shoal.Remember{Decision: "allow"}
		return a
	}
	ask := func() shoal.PendingAnswer { a, q := no(), "Why?"; a.Ask = &q; return a }
	for _, c := range []struct {
		name   string
		kind   shoal.PendingKind
		change func(*approval.Action)
		votes  []vote
	}{
		{"one is enough", shoal.PendingPermission, nil, []vote{{"bob", yes(), "settled"}}},
		{"two of two", shoal.PendingPermission, func(a *approval.Action) { a.Quorum = 2 }, []vote{{"ann", yes(), "recorded"}, {"bob", yes(), "settled"}}},
		{"one person is not two", shoal.PendingPermission, func(a *approval.Action) { a.Quorum = 2 }, []vote{{"bob", yes(), "recorded"}, {"admin(bob)", yes(), "recorded"}}},
		{"one denial denies", shoal.PendingPermission, func(a *approval.Action) { a.Quorum = 3 }, []vote{{"ann", yes(), "recorded"}, {"bob", no(), "settled"}}},
		{"a question sends it back", shoal.PendingPermission, func(a *approval.Action) { a.Quorum = 3 }, []vote{{"bob", ask(), "settled"}}},
		{"an admin key is nobody of two", shoal.PendingPermission, func(a *approval.Action) { a.Quorum = 2 }, []vote{{"admin", yes(), "forbidden"}, {"admin", no(), "forbidden"}}},
		{"equal edits", shoal.PendingPermission, func(a *approval.Action) { a.Quorum = 2 }, []vote{
			{"ann", edited(`{"n": 1, "m": 2}`), "recorded"}, {"bob", yes(), "recorded"}, {"eve", edited(`{"m":2,"n":1}`), "settled"},
		}},
		{"edits that nobody can execute", shoal.PendingPermission, func(a *approval.Action) { a.Editable = false }, []vote{{"bob", edited(`{}`), "invalid_argument"}}},
		{"equal results of a client tool", shoal.PendingClientTool, func(a *approval.Action) { a.By, a.Quorum = ids{"ann", "bob", "eve"}, 2 }, []vote{
			{"ann", result(`{"a":1,"b":[2]}`), "recorded"}, {"bob", result(`{"a":1}`), "recorded"}, {"bob", result(`{"b":[2], "a":1}`), "settled"},
		}},
		{"a voter who replaced a vote is counted once", shoal.PendingClientTool, func(a *approval.Action) { a.Quorum = 2 }, []vote{
			{"ann", result(`1`), "recorded"}, {"ann", result(`2`), "recorded"}, {"bob", result(`1`), "recorded"}, {"eve", result(`2`), "settled"},
		}},
		{"the right hash", shoal.PendingPermission, nil, []vote{{"bob", hashed("h"), "settled"}}},
		{"another hash", shoal.PendingPermission, nil, []vote{{"bob", hashed("g"), "args_changed"}}},
		{"late", shoal.PendingPermission, func(a *approval.Action) { a.Expired = true }, []vote{{"bob", yes(), "expired"}}},
		{"settled", shoal.PendingPermission, func(a *approval.Action) { a.Open = false }, []vote{{"bob", yes(), "already_answered"}}},
		{"remembered", shoal.PendingPermission, nil, []vote{{"bob", remembered(), "settled"}}},
		{"remembered, with a quorum", shoal.PendingPermission, func(a *approval.Action) { a.Quorum = 2 }, []vote{{"bob", remembered(), "invalid_argument"}}},
		{"remembered, not the requester", shoal.PendingPermission, func(a *approval.Action) { a.NotRequester = true }, []vote{{"bob", remembered(), "invalid_argument"}}},
		{"remembered by one of a list", shoal.PendingPermission, func(a *approval.Action) { a.By = ids{"bob"} }, []vote{{"bob", remembered(), "settled"}}},
		{"remembered by a word beside a list", shoal.PendingPermission, func(a *approval.Action) { a.By = ids{"tom", "humans"} }, []vote{{"bob", remembered(), "invalid_argument"}}},
	} {
		a := open(c.kind)
		if c.change != nil {
			c.change(&a)
		}
		for i, v := range c.votes {
			out, err := approval.Contract().Settle(a, recordVote[v.who], v.answer, time.Unix(int64(i), 0))
			got := map[bool]string{true: "settled", false: "recorded"}[out.Settled]
			if err != nil {
				got = string(shoal.KindOf(err))
			}
			if got != v.want {
				t.Errorf("%s: answer %d is %s (%v), want %s", c.name, i, got, err, v.want)
			}
			if err == nil {
				a.Votes = out.Votes
			}
		}
	}
}

// The hash is that of canonical JSON: it does not depend on order or white space, only on
// tool and arguments.
func TestArgsHash(t *testing.T) {
	// printf '{"args":{"a":"<é>","n":1.50},"context":null,"toolName":"pay"}' | sha256sum
	const want = "01027dbb2f30447705a144b8a7832a57931243aaa627b547add17c5c344aaaa4"
	one := approval.ArgsHash("pay", []byte(`{"n":1.50,"a":"<é>"}`))
	if one != approval.ArgsHash("pay", []byte(" {\n\"a\" : \"<\\u00e9>\", \"n\":1.50}")) {
		t.Error("order, space or escapes change the hash")
	}
	for _, other := range []string{approval.ArgsHash("pays", []byte(`{"n":1.50,"a":"<é>"}`)), approval.ArgsHash("pay", []byte(`{"n":1.51,"a":"<é>"}`))} {
		if other == one {
			t.Error("another call has the same hash")
		}
	}
	if one != want {
		t.Errorf("got the hash %s, want %s", one, want)
	}
	if approval.ArgsHash("pay", nil) != approval.ArgsHash("pay", []byte("{}")) {
		t.Error("no arguments are not {}")
	}
}

// The calls that a remembered decision answers.
func TestRemembered(t *testing.T) {
	shop, yard := shoal.SpaceID("shop"), shoal.SpaceID("yard")
	now := shoal.At(time.Unix(1000, 0))
	base := approval.Remembered{
		RememberedDecision: shoal.RememberedDecision{
			ID: "dec_1", AgentID: "bot", ToolName: "pay", SpaceID: &shop, Requesters: ids{"ann", "eve"}, Decision: "allow", Scope: "call", ArgsHash: "h",
			ExpiresAt: shoal.At(now.Add(time.Hour)),
		},
		Voter: recordVote["bob"],
	}
	call := approval.Call{Action: open(shoal.PendingPermission), Tool: "pay", Space: shop, Now: now}
	for _, c := range []struct {
		name   string
		change func(*approval.Remembered, *approval.Call)
		want   bool
	}{
		{"the same call", func(*approval.Remembered, *approval.Call) {}, true},
		{"other arguments", func(_ *approval.Remembered, c *approval.Call) { c.ArgsHash = "g" }, false},
		{"other arguments of the tool", func(d *approval.Remembered, c *approval.Call) { c.ArgsHash, d.Scope = "g", "tool" }, true},
		{"another tool", func(d *approval.Remembered, c *approval.Call) { c.Tool, d.Scope = "tip", "tool" }, false},
		{"another agent", func(_ *approval.Remembered, c *approval.Call) { c.Agent = "free" }, false},
		{"another space", func(d *approval.Remembered, _ *approval.Call) { d.SpaceID = &yard }, false},
		{"no space", func(d *approval.Remembered, _ *approval.Call) { d.SpaceID = nil }, false},
		{"another requester", func(_ *approval.Remembered, c *approval.Call) { c.Requesters = ids{"tom"} }, false},
		{"one requester more", func(_ *approval.Remembered, c *approval.Call) { c.Requesters = ids{"ann", "tom"} }, false},
		{"nobody asked", func(_ *approval.Remembered, c *approval.Call) { c.Requesters = nil }, false},
		{"nobody asked then either", func(d *approval.Remembered, c *approval.Call) { c.Requesters, d.Requesters = nil, nil }, true},
		{"later", func(d *approval.Remembered, _ *approval.Call) { d.ExpiresAt = now }, false},
		{"the call now requires several approvals", func(_ *approval.Remembered, c *approval.Call) { c.Quorum = 2 }, false},
		{"its requester may not approve now", func(_ *approval.Remembered, c *approval.Call) { c.NotRequester = true }, false},
		{"the decider may no longer decide", func(d *approval.Remembered, _ *approval.Call) { d.Voter.Member = false }, false},
		{"no permission", func(_ *approval.Remembered, c *approval.Call) { c.Kind = shoal.PendingClientTool }, false},
	} {
		d, k := base, call
		c.change(&d, &k)
		if got := approval.Contract().Answers([]approval.Remembered{d}, k) != nil; got != c.want {
			t.Errorf("%s: got answered = %v", c.name, got)
		}
	}
	denied := base
	denied.Decision = "deny"
	if got := approval.Contract().Answers([]approval.Remembered{base, denied, base}, call); got == nil || got.Decision != "deny" {
		t.Errorf("a denial does not come before approvals: %+v", got)
	}
	if got := fmt.Sprint(approval.Contract().Eligible(call.Action, []approval.Voter{recordVote["ann"], recordVote["bob"], recordVote["tom"], recordVote["bot"]})); got != "2" {
		t.Errorf("%s may still vote", got)
	}
}
