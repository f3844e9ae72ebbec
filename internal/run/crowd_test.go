package run_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// Runs that run at once read the same messages of their space. What comes later
// shows each of them once: a request grows with the messages of the space, not with
// the runs times the history that each of them read.
func TestRequestAfterManyConcurrentRunsIsBounded(t *testing.T) {
	const runs = 120
	w := newWorld(t)
	w.exe.Stop()
	w.limit = 2 * runs // a quarter of the slots is for other requesters
	w.start()
	var mu sync.Mutex
	began, open := 0, make(chan struct{})
	var last []byte
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		mu.Lock()
		began++
		n := began
		mu.Unlock()
		if n == runs {
			close(open)
		}
		if n > runs {
			text, err := json.Marshal(req.Messages)
			if err != nil {
				t.Error(err)
			}
			last = text
		}
		<-open
		return silent
	}), "")
	for i := range runs {
		_, err := w.hub.Messages.Post(t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(fmt.Sprintf("Question %d.", i))}}, "")
		w.must(err)
	}
	w.until("all runs have ended", func() bool {
		for _, r := range w.runs() {
			if !r.Status.Ended() {
				return false
			}
		}
		return true
	})
	w.reaches(w.says("And now?"), shoal.RunCompleted)
	// Every message once as what started its run, at most once more as what another run
	// read first, and an answer: each well below 400 bytes.
	if most := 3 * 400 * runs; len(last) == 0 || len(last) > most {
		t.Errorf("after %d runs at once a request has %d bytes, want at most %d", runs, len(last), most)
	}
	t.Logf("the request has %d bytes", len(last))
}
