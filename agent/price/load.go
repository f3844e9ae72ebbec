package price

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// maxListBytes bounds a list of prices, maxRate a price for a million tokens: a
// higher one is a price per token in the wrong place.
const (
	maxListBytes = 1 << 20
	maxRate      = 10_000
)

// Load reads a list of prices, at most 1 MiB of JSON like this:
//
//	{
//	  "asOf": "2026-11-20",
//	  "source": "our contract",
//	  "providers": {
//	    "openai": {
//	      "aliases": ["azure.ai.openai"],
//	      "models": {
//	        "gpt-5-mini": {"input": 0.25, "cached": 0.025, "output": 2},
//	        "gpt-5.5": {"input": 5, "output": 30,
//	          "long": {"over": 272000, "input": 10, "output": 45}}
//	      }
//	    }
//	  }
//	}
//
// Providers are named as in agent.ModelInfo. Rates are USD for a million tokens;
// input and output are required, cached and cacheWrite default to input. long
// has the rates of a call with more than over input tokens. source, note and
// aliases may be given with every provider, note with every model.
//
// The error is of kind ErrInvalidArgument and names every wrong entry with its
// path; one that reading r returned is of kind Internal.
func Load(r io.Reader) (*List, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxListBytes+1))
	if err != nil {
		return nil, &agent.Error{Op: "price.Load", Kind: agent.ErrInternal, Msg: "the list of prices could not be read", Err: err}
	}
	if len(data) > maxListBytes {
		return nil, agent.Invalid("list", "is longer than 1 MiB")
	}
	root, err := parse(data)
	if err != nil {
		return nil, &agent.Error{Op: "price.Load", Kind: agent.ErrInvalidArgument, Msg: "the price list is not valid JSON: " + err.Error(), Err: err}
	}
	l := loader{list: &List{providers: map[string]*provider{}}}
	l.root(root)
	if len(l.wrong) > 0 {
		return nil, l.err()
	}
	return l.list, nil
}

// loader makes a list of what was parsed and collects what is wrong.
type loader struct {
	list  *List
	wrong []agent.FieldError
}

func (l *loader) complain(path, format string, args ...any) {
	l.wrong = append(l.wrong, agent.FieldError{Location: path, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) err() error {
	var b strings.Builder
	for i, f := range l.wrong {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.Location + " " + f.Message)
	}
	return &agent.Error{Op: "price.Load", Kind: agent.ErrInvalidArgument, Msg: b.String(), Fields: l.wrong}
}

// fields returns v's members by name, complains about those that are given
// twice or not known, and says whether v is an object at all.
func (l *loader) fields(path string, v any, known ...string) (map[string]any, bool) {
	o, ok := v.(object)
	if !ok {
		l.complain(path, "must be an object")
		return nil, false
	}
	out := make(map[string]any, len(o))
	for _, m := range o {
		switch _, twice := out[m.name]; {
		case twice:
			l.complain(join(path, m.name), "is given twice")
		case len(known) > 0 && !slices.Contains(known, m.name):
			l.complain(join(path, m.name), "is unknown; %s are known", strings.Join(known, ", "))
		default:
			out[m.name] = m.value
		}
	}
	return out, true
}

func (l *loader) text(path string, v any) string {
	s, ok := v.(string)
	if v != nil && !ok {
		l.complain(path, "must be a text")
	}
	return s
}

func (l *loader) root(v any) {
	f, ok := l.fields("list", v, "asOf", "source", "providers")
	if !ok {
		return
	}
	l.list.asOf, l.list.source = l.text("asOf", f["asOf"]), l.text("source", f["source"])
	if _, err := time.Parse(time.DateOnly, l.list.asOf); err != nil {
		l.complain("asOf", "must be a day such as 2026-11-20")
	}
	if _, ok := l.fields("providers", f["providers"]); !ok {
		return
	}
	for _, m := range f["providers"].(object) {
		l.provider(m.name, m.value)
	}
}

func (l *loader) provider(name string, v any) {
	path := join("providers", name)
	f, ok := l.fields(path, v, "source", "note", "aliases", "models")
	if !ok {
		return
	}
	l.text(path+".source", f["source"])
	l.text(path+".note", f["note"])
	p := &provider{name: name, models: map[string]Price{}}
	l.name(path, name, p)
	if a := f["aliases"]; a != nil {
		aliases, ok := a.([]any)
		if !ok {
			l.complain(path+".aliases", "must be a list of names")
		}
		for i, alias := range aliases {
			at := fmt.Sprintf("%s.aliases[%d]", path, i)
			l.name(at, l.text(at, alias), p)
		}
	}
	if _, ok := l.fields(path+".models", f["models"]); !ok {
		return
	}
	for _, m := range f["models"].(object) {
		l.model(join(path+".models", m.name), m.name, m.value, p)
	}
}

func (l *loader) name(path, name string, p *provider) {
	key := canonical(name)
	switch other := l.list.providers[key]; {
	case key == "" || strings.Contains(key, "/"):
		l.complain(path, "is not a valid provider name: it is empty or contains a slash")
	case other != nil && other != p:
		l.complain(path, "is a name of %s already", other.name)
	default:
		l.list.providers[key] = p
	}
}

func (l *loader) model(path, name string, v any, p *provider) {
	f, ok := l.fields(path, v, "input", "cached", "cacheWrite", "output", "long", "note")
	if !ok {
		return
	}
	price := Price{Provider: p.name, Name: name, Rates: l.rates(path, f), Note: l.text(path+".note", f["note"])}
	if long := f["long"]; long != nil {
		if f, ok := l.fields(path+".long", long, "over", "input", "cached", "cacheWrite", "output"); ok {
			price.Long = l.rates(path+".long", f)
			price.LongOver = l.over(path+".long.over", f["over"])
		}
	}
	key := canonical(name)
	other, twice := p.models[key]
	switch {
	case key == "":
		l.complain(path, "is not a valid model name: it is empty")
	case twice && other.Name != name: // the same spelling was complained about
		l.complain(path, "is the same model as %s", other.Name)
	default:
		p.models[key] = price
		l.list.all = append(l.list.all, price)
	}
}

func (l *loader) rates(path string, f map[string]any) Rates {
	r := Rates{Input: l.rate(path+".input", f["input"], nil), Output: l.rate(path+".output", f["output"], nil)}
	r.Cached = l.rate(path+".cached", f["cached"], &r.Input)
	r.CacheWrite = l.rate(path+".cacheWrite", f["cacheWrite"], &r.Input)
	return r
}

// rate returns the number v, or the fallback if v is nil.
func (l *loader) rate(path string, v any, fallback *float64) float64 {
	if v == nil && fallback != nil {
		return *fallback
	}
	n, ok := v.(json.Number)
	f, err := n.Float64()
	switch {
	case v == nil:
		l.complain(path, "is missing")
	case !ok || err != nil:
		l.complain(path, "must be a number")
	case f < 0 || f > maxRate || math.Signbit(f):
		l.complain(path, "must be USD for a million tokens, from 0 to %d", maxRate)
	}
	return f
}

func (l *loader) over(path string, v any) int64 {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if err != nil || i <= 0 {
		l.complain(path, "must be a number of tokens greater than zero")
	}
	return i
}
