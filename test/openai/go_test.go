package openai_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// The official client for Go has what the agents write: as completions and as responses, in pieces and whole.
func TestGoClient(t *testing.T) {
	t.Parallel()
	client := filepath.Join(t.TempDir(), "openaigo")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../bench/peers", "-o", client, "./openaigo")
	build.Env = append(build.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := serve(t)
	const hello = "Guten Tag, »Ann« 🐻‍❄️."
	s.host("greeter", "[]", "call sendSpaceMessage {\"spaceId\":\"here\",\"text\":\""+hello+"\"}\n---\nsay over")
	s.host("guide", "[]", `
call sendSpaceMessage {"spaceId":"here","text":"Let me see."}
---
call weather {"city":"Kiel"}
---
when weather ok
call sendSpaceMessage {"spaceId":"here","text":"Take an umbrella."}
---
say over`)
	key := apptest.PersonKey(t, s.Server, "ann", shoal.DoorOpenAI)
	run := exec.CommandContext(t.Context(), client, s.URL()+"/openai/v1", key, "greeter", "guide")
	out, err := run.Output()
	var got struct {
		Models                                               []string
		Chat, Whole, Pieces, Response, Call, Answer, Refused string
	}
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !slices.Contains(got.Models, "guide") {
		t.Errorf("the models are %q", got.Models)
	}
	if got.Chat != hello || got.Whole != hello {
		t.Errorf("the completion is %q in pieces and %q as a whole", got.Chat, got.Whole)
	}
	if got.Pieces != "Let me see." || got.Response != got.Pieces || got.Call != `weather{"city":"Kiel"}` || got.Answer != "Take an umbrella." {
		t.Errorf("the responses are %+v", got)
	}
	if got.Refused != "404 not_found model" {
		t.Errorf("an unknown model is refused with %q", got.Refused)
	}
}
