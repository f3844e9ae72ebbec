package aisdk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// shown returns the texts of the last message, and what else it has.
func (got *report) shown() (texts, others []string) {
	for _, p := range got.Messages[len(got.Messages)-1].Parts {
		switch p.Type {
		case "step-start":
		case "text":
			texts = append(texts, p.Text)
		default:
			others = append(others, fmt.Sprint(p.Type, string(p.Input), p.State, string(p.Output)))
		}
	}
	return texts, others
}

// A client that loses its connection anywhere, also in the middle of a character or of the stream with which it
// resumes, or whose page is loaded again, ends with what is stored. SHOAL_CHAT_CUTS is the number of cuts.
func TestCuts(t *testing.T) {
	t.Parallel()
	cuts := int(setting.Number(t, "SHOAL_CHAT_CUTS", 8))
	random := rand.New(rand.NewPCG(setting.Seed(t, "SHOAL_CHAT_SEED"), 0))
	s := serve(t, app.Config{})
	ann := s.key("ann")
	s.host("teller", `[{"name":"Card","execution":{"mode":"pass-through"},"displayTool":true,"inputSchema":{"type":"object","properties":{"title":{"type":"string"}}}}]`,
		`pause 2ms
call sendSpaceMessage {"spaceId":"here","text":"`+strings.Repeat("größer 🐟 »Ahoi« ", 12)+`"}
call Card {"targetSpaceId":"here","title":"Der Seebär"}
call sendSpaceMessage {"spaceId":"here","text":"`+strings.Repeat("und noch <b>mehr</b> ", 12)+`"}
---
say over`)
	c := start(t)
	for i, cut := 0, 0; cut < cuts; i++ {
		c.as(s.api("teller"), ann, args{"resume": true})
		got := c.order(args{"send": args{"text": fmt.Sprint("Go on ", i)}, "cutAfter": random.IntN(9_000)})
		for tries := 0; got.Status == "error" && tries < 50; tries++ {
			cut++
			o := args{"resume": true, "last": true}
			if random.IntN(3) > 0 {
				o["cutAfter"] = random.IntN(12_000)
			}
			switch random.IntN(3) {
			case 0:
				o["forget"] = true
			case 1:
				o["history"] = true
			}
			got = c.order(o)
		}
		newest := s.answerTo(fmt.Sprint("Go on ", i))
		var texts, others []string
		for _, p := range newest.Parts {
			switch p.Type {
			case shoal.TextPart:
				texts = append(texts, p.Text)
			case shoal.ToolPart:
				others = append(others, fmt.Sprint("tool-"+p.ToolName, string(p.Args), "output-available", string(p.Result)))
			}
		}
		hasTexts, hasOthers := got.shown()
		if got.Status != "ready" || fmt.Sprint(hasTexts, hasOthers) != fmt.Sprint(texts, others) || len(texts) != 2 || len(others) != 1 {
			t.Fatalf("chat %d: the client is %s (%s) and has\n%q %q, stored is\n%q %q", i, got.Status, got.Error, hasTexts, hasOthers, texts, others)
		}
	}
}

// answerTo returns what the agent has written in answer to a message.
func (s *server) answerTo(text string) shoal.Message {
	s.t.Helper()
	all, err := s.Hub.Messages.Read(s.t.Context(), admin, shoal.DefaultSession, "teller", storage.Page{Limit: 4})
	if err != nil {
		s.t.Fatal(err)
	}
	for i, m := range all {
		if m.Text() == text && i+1 < len(all) {
			return all[i+1]
		}
	}
	s.t.Fatalf("nothing answers %q", text)
	return shoal.Message{}
}
