package price_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/price"
)

const ours = `{
  "asOf": "2026-11-01", "source": "our contract",
  "providers": {"openai": {"aliases": ["proxy"], "models": {
    "gpt-5-mini": {"input": 0.2, "output": 1.6},
    "house/brand": {"input": 0, "output": 0, "note": "our own machines"}
  }}}
}`

func ExampleLoad() {
	mine, err := price.Load(strings.NewReader(ours))
	if err != nil {
		fmt.Println(err)
		return
	}
	// Our prices first, then the list prices.
	cost := func(model agent.ModelInfo, u agent.Usage) float64 {
		if p, ok := mine.Lookup(model); ok {
			return p.Cost(u)
		}
		return price.Of(model, u)
	}
	u := agent.Usage{InputTokens: 1_000_000}
	fmt.Println(cost(agent.ModelInfo{Provider: "openai", Name: "gpt-5-mini"}, u))
	fmt.Println(cost(agent.ModelInfo{Provider: "openai", Name: "gpt-5"}, u))
	// Output:
	// 0.2
	// 1.25
}

func TestLoad(t *testing.T) {
	list, err := price.Load(strings.NewReader(ours))
	if err != nil {
		t.Fatal(err)
	}
	if list.AsOf() != "2026-11-01" || list.Source() != "our contract" || len(list.All()) != 2 {
		t.Errorf("got %q %q %v", list.AsOf(), list.Source(), list.All())
	}
	p, ok := list.Lookup(info("proxy", "gpt-5-mini"))
	if !ok || p.Cached != 0.2 || p.CacheWrite != 0.2 {
		t.Errorf("a rate that is not given is not the one for input: %+v, %v", p, ok)
	}
	if p, ok := list.Lookup(info("openai", "house/brand")); !ok || p.Note != "our own machines" {
		t.Errorf("a whole name with a slash is not found: %+v, %v", p, ok)
	}
	list.All()[0].Input = 99
	if list.All()[0].Input == 99 {
		t.Error("a caller can write into the list")
	}
}

func TestLoadNamesEveryWrongEntry(t *testing.T) {
	_, err := price.Load(strings.NewReader(`{
	  "asOf": "yesterday", "sauce": 1, "source": 7,
	  "providers": {
	    "a": {"aliases": ["b", 3, "A"], "models": {
	      "m1": {"input": -1, "output": "2", "cached": 20000, "price": 3},
	      "m2": {"input": 1},
	      "m2": {"input": 1, "output": 2},
	      "m.3": {"input": 1, "output": 2, "long": {"over": 0, "input": 2}},
	      "m-3": {"input": 1, "output": 2, "note": false},
	      "": {"input": 1, "output": 1},
	      "m4": 5
	    }},
	    "B": {"models": []},
	    "x/y": {"aliases": "z", "models": {}},
	    "c": null
	  }}`))
	var e *agent.Error
	if !errors.As(err, &e) || e.Kind != agent.ErrInvalidArgument {
		t.Fatalf("got %v, want an InvalidArgument", err)
	}
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Location)
		if !strings.Contains(err.Error(), f.Location+" "+f.Message) {
			t.Errorf("the error does not say %s %s: %v", f.Location, f.Message, err)
		}
	}
	want := []string{
		"list.sauce", "source", "asOf",
		"providers.a.aliases[1]", "providers.a.aliases[1]",
		"providers.a.models.m2", // given twice
		"providers.a.models.m1.price", "providers.a.models.m1.input", "providers.a.models.m1.output", "providers.a.models.m1.cached",
		"providers.a.models.m2.output",
		`providers.a.models["m.3"].long.output`, `providers.a.models["m.3"].long.over`,
		"providers.a.models.m-3.note", "providers.a.models.m-3",
		`providers.a.models[""]`, "providers.a.models.m4",
		"providers.B", "providers.B.models",
		"providers.x/y", "providers.x/y.aliases",
		"providers.c",
	}
	if !slices.Equal(got, want) {
		t.Errorf("wrong entries:\ngot  %q\nwant %q", got, want)
	}
}

func TestLoadRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100_000)
	for name, c := range map[string]struct {
		in   io.Reader
		kind agent.ErrorKind
		says string
	}{
		"nothing":       {strings.NewReader(""), agent.ErrInvalidArgument, "not valid JSON"},
		"half":          {strings.NewReader(`{"asOf":`), agent.ErrInvalidArgument, "not valid JSON"},
		"two values":    {strings.NewReader(`{} {}`), agent.ErrInvalidArgument, "follows"},
		"a list":        {strings.NewReader(`[]`), agent.ErrInvalidArgument, "list must be an object"},
		"null":          {strings.NewReader(`null`), agent.ErrInvalidArgument, "list must be an object"},
		"no providers":  {strings.NewReader(`{"asOf":"2026-11-20"}`), agent.ErrInvalidArgument, "providers must be an object"},
		"huge number":   {strings.NewReader(`{"asOf":"2026-11-20","providers":{"a":{"models":{"m":{"input":1e999,"output":1}}}}}`), agent.ErrInvalidArgument, "models.m.input must be a number"},
		"too deep":      {strings.NewReader(deep), agent.ErrInvalidArgument, "too deeply"},
		"too long":      {strings.NewReader(strings.Repeat(" ", 2<<20)), agent.ErrInvalidArgument, "1 MiB"},
		"broken reader": {iotest.ErrReader(io.ErrClosedPipe), agent.ErrInternal, "could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := price.Load(c.in)
			if list != nil || agent.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, %v; want a %s error that says %q", list, err, c.kind, c.says)
			}
		})
	}
}

// Whatever Load accepts has prices that can be added up.
func FuzzLoad(f *testing.F) {
	builtin, err := os.ReadFile("prices.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(builtin)
	f.Add([]byte(ours))
	f.Add([]byte(`{"asOf":"2026-11-20","providers":{"a":{"models":{"m":{"input":1,"output":1,"long":{"over":1,"input":1,"output":1}}}}}}`))
	f.Add([]byte(`{"asOf":"2026-11-20","providers":{"a":{"models":{"m":{"input":1},"m":null}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := price.Load(strings.NewReader(string(data)))
		if err != nil {
			if agent.KindOf(err) != agent.ErrInvalidArgument || list != nil {
				t.Fatalf("got %v, %v", list, err)
			}
			return
		}
		for _, p := range list.All() {
			for _, r := range []float64{p.Input, p.Cached, p.CacheWrite, p.Output, p.Long.Input, p.Long.Cached, p.Long.CacheWrite, p.Long.Output} {
				if math.IsNaN(r) || r < 0 || r > 10_000 {
					t.Fatalf("%s has the rate %v", p.Name, r)
				}
			}
			if c := p.Cost(agent.Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64}); math.IsNaN(c) || math.IsInf(c, 0) || c < 0 {
				t.Fatalf("%s costs %v", p.Name, c)
			}
		}
	})
}
