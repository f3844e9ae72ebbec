package limit_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// Two callers that take all they can get of a limit leave a third caller its share and the
// admin the reserved share, for any size of the limit.
func TestSharesOfABound(t *testing.T) {
	for _, tt := range []struct{ all, two, third, admin int }{
		{all: 512, two: 384, third: 64, admin: 10},
		{all: 10_000, two: 7500, third: 1250, admin: 200},
		{all: 100, two: 75, third: 12, admin: 2},
		{all: 8, two: 6, third: 1, admin: 0}, // too few for a share of 2 %
	} {
		o := limit.NewOpen(0, tt.all)
		fill := func(callers ...limit.Caller) (n int) {
			for refused := 0; refused < len(callers); {
				refused = 0
				for _, c := range callers {
					if o.Enter(c) == limit.Entered {
						n++
					} else {
						refused++
					}
				}
			}
			return n
		}
		ann := limit.Of(shoal.Principal{Role: shoal.RoleEntity, SessionID: "s", EntityID: "ann"})
		bob := limit.Of(shoal.Principal{Role: shoal.RoleService, SessionID: "s", KeyID: "key_bob"})
		if n := fill(ann, bob); n != tt.two {
			t.Errorf("of %d two callers get %d, want %d", tt.all, n, tt.two)
		}
		if n := fill(limit.From("192.0.2.1")); n != tt.third {
			t.Errorf("of %d a third caller gets %d, want %d", tt.all, n, tt.third)
		}
		for i := range 100 { // everybody else
			fill(limit.From(string(rune('a' + i))))
		}
		if n := fill(limit.Of(shoal.Principal{Role: shoal.RoleAdmin, KeyID: "key_admin"})); n != tt.admin {
			t.Errorf("of %d the admin gets %d when nobody else gets any, want %d", tt.all, n, tt.admin)
		}
	}
}

// Refusing returns the time of refusals without a lull, and ignores a caller that has its
// share.
func TestRefusing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := limit.NewPrincipals(limit.Bounds{}, nil)
		o := limit.NewOpen(0, 16)
		p.Watch(o)
		greedy := limit.From("greedy")
		for o.Enter(greedy) == limit.Entered {
		}
		pass(time.Second)
		o.Enter(greedy)
		if d := p.Refusing(); d != 0 {
			t.Errorf("got %v for the refusal of a caller that has its share, want 0", d)
		}
		for i := range 8 {
			o.Enter(limit.From(string(rune('a' + i))))
		}
		for range 7 {
			o.Enter(limit.From("late"))
			pass(time.Second)
		}
		if d := p.Refusing(); d != 6*time.Second {
			t.Errorf("callers have been refused for %v, want 6s", d)
		}
		pass(2 * time.Second)
		if d := p.Refusing(); d != 0 {
			t.Errorf("after a lull callers have been refused for %v, want 0", d)
		}
	})
}

// Peek returns the errors of Call and Begin, and takes nothing.
func TestPeekTakesNothing(t *testing.T) {
	ann, bob := shoal.Principal{KeyID: "a", Role: shoal.RoleService}, shoal.Principal{KeyID: "b", Role: shoal.RoleService}
	root := shoal.Principal{KeyID: "root", Role: shoal.RoleAdmin}
	p := limit.NewPrincipals(limit.Bounds{CallsPerSecond: .001, CallsEach: 2, Calls: 100}, nil)
	for range 10 {
		if err := p.Peek(limit.Of(ann), true); err != nil {
			t.Fatalf("before any call: %v", err)
		}
	}
	for range 2 {
		if err := p.Begin(ann); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Peek(limit.Of(ann), true); !errors.Is(err, shoal.RateLimited) {
		t.Errorf("with two calls under way: %v, want rate_limited", err)
	}
	if err := p.Peek(limit.Of(ann), false); err != nil {
		t.Errorf("a wait, with two calls under way: %v", err)
	}
	if err := p.Peek(limit.Of(bob), true); err != nil {
		t.Errorf("another caller: %v", err)
	}
	p.End(ann)
	if err := p.Peek(limit.Of(ann), true); err != nil {
		t.Errorf("when a call has ended: %v", err)
	}
	for p.Call(bob) == nil {
		if p.Call(root) != nil {
			t.Fatal("the admin is limited")
		}
	}
	for _, concurrent := range []bool{true, false} {
		if err := p.Peek(limit.Of(bob), concurrent); !errors.Is(err, shoal.RateLimited) {
			t.Errorf("over the rate: %v, want rate_limited", err)
		}
	}
	if err := p.Peek(limit.Of(root), true); err != nil {
		t.Errorf("the admin: %v", err)
	}
}

// Peek reserves the same share for callers that hold little, and its refusals count for the
// readiness of the server.
func TestPeekKeepsShares(t *testing.T) {
	o := limit.NewOpen(0, 100)
	big, small := limit.From("big"), limit.From("small")
	for o.Enter(big) == limit.Entered {
	}
	if o.Peek(big) != limit.AllFull || o.Peek(small) != limit.Entered || o.Refusing() != 0 {
		t.Errorf("big %v, small %v, refusing %v", o.Peek(big), o.Peek(small), o.Refusing())
	}
	if n := o.Count(); n != 75 {
		t.Errorf("%d are taken, want three quarters", n)
	}
}
