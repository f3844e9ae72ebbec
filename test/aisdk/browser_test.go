package aisdk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// look is what a page shows.
type look struct {
	Texts  []string `json:"texts"`
	Tools  []string `json:"tools"`
	Status string   `json:"status"`
	Alert  string   `json:"alert"`
	Faults []string `json:"faults"`
}

// page is a page in Chromium.
type page struct {
	*program.Lines
	t *testing.T
}

// order gives the page an order, which must succeed.
func (p *page) order(o args) (got look) {
	p.t.Helper()
	p.Send(o)
	p.Next(2*patience, &got)
	if len(got.Faults) > 0 {
		p.t.Fatalf("%v: %q; the page shows %+v", o, got.Faults, got)
	}
	return got
}

// A page of another origin with useChat shows text while it is written, executes a tool, approves, resumes when it
// is loaded again in the middle, and stops the model. A page of an origin that is not allowed reads nothing.
func TestPageOfAnotherOrigin(t *testing.T) { playPage(t, "page.jsx") }

// A page with assistant-ui does the same.
func TestAssistantUI(t *testing.T) { playPage(t, "assistant.jsx") }

// playPage plays the story of a page.
func playPage(t *testing.T, source string) {
	t.Helper()
	chromium, err := program.Browser()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHROMIUM", chromium)
	p := &page{program.StartLines(t, program.Node(t), "page.mjs", source), t}
	var site struct{ Origin string }
	p.Next(patience, &site)
	s := serve(t, app.Config{AllowOrigins: []string{site.Origin}})
	ann := s.key("ann")
	open := func(space string) args { return args{"open": args{"api": s.api(space), "key": ann}, "status": "ready"} }

	s.host("guide", "[]", forecast)
	p.order(open("guide"))
	p.order(args{"send": "Rain?", "until": "It rains"})
	got := p.order(args{"click": "It rains", "until": "Take an umbrella."})
	if !slices.Equal(got.Texts, []string{"Rain?", "Take an umbrella."}) || len(got.Tools) != 1 || !strings.Contains(got.Tools[0], `output-available "rain"`) {
		t.Errorf("after the tool the page shows %+v", got)
	}

	s.host("payer", fmt.Sprintf(careful, true, ""), fmt.Sprintf(paying, `"targetSpaceId":"here",`))
	p.order(open("payer"))
	p.order(args{"send": "Pay.", "until": "Approve"})
	p.order(args{"reload": true, "until": "Approve"}) // what waits is there again
	got = p.order(args{"click": "Approve", "until": "Paid."})
	if !slices.Equal(got.Texts, []string{"Pay.", "I pay.", "Paid."}) || len(got.Tools) != 1 || !strings.Contains(got.Tools[0], "output-available") {
		t.Errorf("after the approval the page shows %+v", got)
	}

	const words = 60
	s.host("teller", "[]", fmt.Sprintf(slow, strings.Repeat("größer 🐟 ", words)+"Ende"))
	p.order(open("teller"))
	p.order(args{"send": "Go on.", "until": "größer 🐟 größer"})
	got = p.order(args{"reload": true, "until": "größer 🐟 größer"})
	if strings.Contains(got.Texts[len(got.Texts)-1], "Ende") {
		t.Error("the page was loaded again too late")
	}
	got = p.order(args{"until": "Ende", "status": "ready"})
	if stored := s.stored("teller", "bot-teller"); !slices.Equal(got.Texts, append([]string{"Go on."}, stored...)) {
		t.Errorf("the page shows %q, stored is %q", got.Texts, stored)
	}

	s.host("long", "[]", fmt.Sprintf(slow, strings.Repeat("word ", 2000)))
	p.order(open("long"))
	p.order(args{"send": "Count.", "until": "word word"})
	p.order(args{"click": "Stop", "status": "ready"})
	if run := s.newest("bot-long", func(shoal.RunStatus) bool { return true }); run.Status != shoal.RunCanceled {
		t.Errorf("after Stop the run is %s", run.Status)
	}

	p.Send(args{"open": args{"api": s.api("guide"), "key": "shoal_wrong"}, "until": "key"})
	p.Next(2*patience, &got)
	if len(got.Texts) > 0 || strings.ContainsAny(got.Alert, "{}") || got.Alert == "" {
		t.Errorf("with a wrong key the page shows %+v", got)
	}

	closed := serve(t, app.Config{})
	p.Send(args{"open": args{"api": closed.api("guide"), "key": closed.key("ann")}})
	p.Next(2*patience, &got)
	if len(got.Texts) > 0 || len(got.Faults) == 0 || !strings.Contains(got.Faults[0], "Failed to fetch") {
		t.Errorf("of a server that does not allow its origin the page shows %+v", got)
	}
}
