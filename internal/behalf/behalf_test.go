package behalf_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
)

type ids = []shoal.EntityID

// where lists the readers of each space: ann of both, bob of the shop, cat of the yard.
var where = map[shoal.SpaceID]ids{"shop": {"ann", "bob"}, "yard": {"ann", "cat"}}

func reads(id shoal.EntityID, space shoal.SpaceID) (bool, error) {
	if id == "broken" {
		return false, errBroken
	}
	return slices.Contains(where[space], id), nil
}

var errBroken = errors.New("the store is unavailable")

func TestMayRead(t *testing.T) {
	open := behalf.Access{Read: behalf.Agent}
	for name, c := range map[string]struct {
		run   behalf.Run
		space shoal.SpaceID
		want  bool
	}{
		"the trigger's space, any requester":               {behalf.Run{Space: "shop", For: ids{"cat"}}, "shop", true},
		"the trigger's space, for nobody known":            {behalf.Run{Space: "shop"}, "shop", true},
		"another that the requester may read":              {behalf.Run{Space: "shop", For: ids{"ann"}}, "yard", true},
		"another that the requester may not read":          {behalf.Run{Space: "shop", For: ids{"bob"}}, "yard", false},
		"another that one of two may not read":             {behalf.Run{Space: "shop", For: ids{"ann", "bob"}}, "yard", false},
		"another, for an unknown entity":                   {behalf.Run{Space: "shop", For: ids{"nobody"}}, "yard", false},
		"another, for nobody known":                        {behalf.Run{Space: "shop"}, "yard", false},
		"any, for a service":                               {behalf.Run{For: ids{behalf.Service("crm")}}, "yard", true},
		"any, for the server itself":                       {behalf.Run{For: ids{shoal.System}}, "yard", true},
		"any for a service, but not for who joins it":      {behalf.Run{For: ids{behalf.Service("crm"), "bob"}}, "yard", false},
		"a plan's, that its maker may read":                {behalf.Run{For: ids{"cat"}}, "yard", true},
		"a plan's, that its maker may not read":            {behalf.Run{For: ids{"cat"}}, "shop", false},
		"a plan's without a maker":                         {behalf.Run{}, "shop", false},
		"no space at all, without one of the trigger":      {behalf.Run{For: ids{"ann"}}, "", false},
		"another, where the configuration is the agent's":  {behalf.Run{Space: "shop", For: ids{"bob"}, Access: open}, "yard", true},
		"another, where only writing is open":              {behalf.Run{Space: "shop", For: ids{"bob"}, Access: behalf.Access{Write: behalf.Agent}}, "yard", false},
		"another, where reading is said to be requester's": {behalf.Run{Space: "shop", For: ids{"bob"}, Access: behalf.Access{Read: behalf.Requester}}, "yard", false},
	} {
		if got, err := c.run.MayRead(c.space, reads); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := (behalf.Run{For: ids{"broken"}}).MayRead("yard", reads); !errors.Is(err, errBroken) {
		t.Errorf("got the error %v of the lookup", err)
	}
}

func TestMayWrite(t *testing.T) {
	bounded := behalf.Access{Write: behalf.Requester}
	for name, c := range map[string]struct {
		run   behalf.Run
		space shoal.SpaceID
		want  bool
	}{
		"a form in a space that the asker is not in": {behalf.Run{Space: "shop", For: ids{"bob"}}, "yard", true},
		"for nobody known":                           {behalf.Run{}, "yard", true},
		"bounded, the trigger's space":               {behalf.Run{Space: "shop", For: ids{"cat"}, Access: bounded}, "shop", true},
		"bounded, a space of the asker":              {behalf.Run{Space: "shop", For: ids{"ann"}, Access: bounded}, "yard", true},
		"bounded, another space":                     {behalf.Run{Space: "shop", For: ids{"bob"}, Access: bounded}, "yard", false},
	} {
		if got, err := c.run.MayWrite(c.space, reads); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestMaySee(t *testing.T) {
	for name, c := range map[string]struct {
		run   behalf.Run
		other ids
		want  bool
	}{
		"one for the same":              {behalf.Run{For: ids{"ann"}}, ids{"ann"}, true},
		"one for the same and others":   {behalf.Run{For: ids{"ann"}}, ids{"ann", "bob"}, true},
		"one for somebody else":         {behalf.Run{For: ids{"ann", "bob"}}, ids{"ann"}, false},
		"any, for a service":            {behalf.Run{For: ids{behalf.Service("crm")}}, ids{"ann"}, true},
		"none, for nobody known":        {behalf.Run{}, ids{}, false},
		"any, where reading is open":    {behalf.Run{Access: behalf.Access{Read: behalf.Agent}}, ids{"ann"}, true},
		"a service's, for a person":     {behalf.Run{For: ids{"ann"}}, ids{behalf.Service("crm")}, false},
		"the server's own, for a human": {behalf.Run{For: ids{"ann"}}, ids{shoal.System}, false},
	} {
		if got := c.run.MaySee(c.other); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestOnBehalfOf(t *testing.T) {
	run := behalf.Run{Space: "shop", For: ids{"ann", "bob"}}
	if got := run.OnBehalfOf("shop"); got == nil || len(got) > 0 {
		t.Errorf("in the trigger's space: %v", got)
	}
	if got := run.OnBehalfOf("yard"); !slices.Equal(got, ids{"ann", "bob"}) {
		t.Errorf("elsewhere: %v", got)
	}
}

func TestRequesters(t *testing.T) {
	owner := shoal.EntityID("eve")
	entities := map[shoal.EntityID]shoal.Entity{
		"ann": {ID: "ann", Kind: shoal.Human}, "pal": {ID: "pal", Kind: shoal.Agent, OwnerID: &owner}, "cat": {ID: "cat", Kind: shoal.Agent},
	}
	find := func(id shoal.EntityID) (shoal.Entity, error) { return entities[id], nil }
	for name, c := range map[string]struct{ actingFor, want ids }{
		"a human":                                {ids{"ann"}, ids{"ann"}},
		"the owner of an agent":                  {ids{"pal"}, ids{"eve"}},
		"nobody's agent":                         {ids{"cat"}, ids{}},
		"a service, the server, someone deleted": {ids{behalf.Service("crm"), shoal.System, "gone"}, ids{}},
		"all of them, sorted, once each":         {ids{"pal", "ann", "pal", "cat"}, ids{"ann", "eve"}},
	} {
		got, err := behalf.Requesters(c.actingFor, find)
		if err != nil || !slices.Equal(got, c.want) || got == nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	fails := func(shoal.EntityID) (shoal.Entity, error) { return shoal.Entity{}, errBroken }
	if _, err := behalf.Requesters(ids{"ann"}, fails); !errors.Is(err, errBroken) {
		t.Errorf("got the error %v of the lookup", err)
	}
}

func TestJoin(t *testing.T) {
	a, b := ids{"b", "", "a"}, ids{"c", "a"}
	if got := behalf.Join(a, b); !slices.Equal(got, ids{"a", "b", "c"}) {
		t.Errorf("%v", got)
	}
	if !slices.Equal(a, ids{"b", "", "a"}) || !slices.Equal(b, ids{"c", "a"}) {
		t.Errorf("the sets were changed to %v and %v", a, b)
	}
	if got := behalf.Join(); got == nil {
		t.Error("the union of no sets is nil")
	}
}
