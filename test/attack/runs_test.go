package attack_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// vendor is a model that responds once its gate is open, and counts its requests.
type vendor struct {
	*httptest.Server
	gate  chan struct{}
	calls atomic.Int64
}

func newVendor(t *testing.T) *vendor {
	v := &vendor{gate: make(chan struct{})}
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	return v
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	v.calls.Add(1)
	select {
	case <-v.gate:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Done."},"finish_reason":"stop"}]}`+"\n\n"+
		`data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`+"\n\ndata: [DONE]\n\n")
}

// host creates a hosted agent that uses the vendor.
func (w *world) host(id string, v *vendor) {
	w.Helper()
	w.ask(w.admin, "PUT", "/v1/sessions/default/agents/"+id, fmt.Sprintf(
		`{"version":"1.0","agent":{"id":%q,"name":%[1]q,"system":"You answer."},"model":{"provider":"openai","api":"chat","name":"m","baseURL":%q}}`, id, v.URL+"/v1"), 201)
}

// runPage is a page of runs.
type runPage struct {
	Items []struct {
		Status string
		Error  *struct{ Code, Message string }
	}
	NextCursor *string
}

// pageOfRuns returns a page of the runs of the agent worker.
func (w *world) pageOfRuns(query string) (page runPage) {
	w.Helper()
	said := w.ask(w.admin, "GET", "/v1/sessions/default/runs?agent=worker&"+query, "", 200)
	if err := json.Unmarshal([]byte(said), &page); err != nil {
		w.Fatal(err)
	}
	return page
}

// haveEnded reports whether no run of the agent worker is queued or running.
func (w *world) haveEnded() bool {
	w.Helper()
	return len(w.pageOfRuns("status=queued&limit=1").Items) == 0 && len(w.pageOfRuns("status=running&limit=1").Items) == 0
}

// runs counts the runs of the agent worker by their status.
func (w *world) runs() map[string]int {
	w.Helper()
	found := map[string]int{}
	for cursor := ""; ; {
		page := w.pageOfRuns("limit=200&cursor=" + url.QueryEscape(cursor))
		for _, r := range page.Items {
			if r.Error != nil {
				r.Status += ": " + r.Error.Code + ": " + r.Error.Message
			}
			found[r.Status]++
		}
		if page.NextCursor == nil {
			return found
		}
		cursor = *page.NextCursor
	}
}

// answered is how long it takes from a mention of the agent calm to what its run answers.
func (w *world) answered(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	w.ask(w.ann, "POST", "/v1/sessions/default/spaces/desk/messages", `{"text":"hello","mentions":["calm"]}`, 201)
	for time.Since(began) < 2*time.Minute {
		said := w.ask(w.ann, "POST", "/v1/sessions/default/entities/ann/wait", `{"kind":"messages","spaceId":"desk","from":["calm"],"timeoutMs":20000}`, 200)
		if strings.Contains(said, "Done.") {
			return time.Since(began)
		}
	}
	t.Fatal("the bystander's run did not answer within two minutes")
	return 0
}

// queue mentions the agent worker a number of times in the space mine. A busy server may refuse
// a post for a moment; the same post comes again.
func (w *world) queue(key string, jobs int, done func()) {
	many(8, func(worker int) {
		for i := worker; i < jobs; i += 8 {
			status, text := 0, ""
			for tries := 0; tries < 20 && (tries == 0 || status == http.StatusServiceUnavailable); tries++ {
				if tries > 0 {
					<-time.After(time.Second)
				}
				var err error
				if status, text, err = w.postJob(key, i); err != nil {
					w.Error(err)
					return
				}
			}
			if status != http.StatusCreated {
				w.Errorf("job %d: %d %s", i, status, text)
			}
			done()
		}
	})()
}

// postJob posts a job once, whatever number of times it is called.
func (w *world) postJob(key string, i int) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.url+"/v1/sessions/default/spaces/mine/messages",
		strings.NewReader(fmt.Sprintf(`{"text":"job %d","mentions":["worker"]}`, i)))
	if err != nil {
		return 0, "", err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Idempotency-Key": {fmt.Sprint("job-", i)}}
	res, err := w.crowd.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	all, err := io.ReadAll(res.Body)
	return res.StatusCode, string(all), err
}

// While many runs of one entity wait for a model, and while they end, a bystander's
// calls and the admin's revocation cost at most twice as much as before, a bystander's run
// is answered before those of the attack, and no model is asked twice for the same step.
func TestManyRunsOfOneEntity(t *testing.T) {
	jobs := int(setting.Number(t, "SHOAL_JOBS", 500)) // more than the slots for runs
	w := start(t)
	slow, quick := newVendor(t), newVendor(t)
	close(quick.gate)
	w.host("worker", slow)
	w.host("calm", quick)
	mallory := w.key("mallory")
	w.ask(w.ann, "POST", "/v1/sessions/default/spaces", `{"id":"desk","name":"desk","members":["calm"]}`, 201)
	w.ask(mallory, "POST", "/v1/sessions/default/spaces", `{"id":"mine","name":"mine","members":["worker"]}`, 201)
	w.measure()
	w.answered(t)
	before, beforeRun := w.measure(), w.answered(t)

	var posted atomic.Int64
	w.queue(mallory, jobs, func() { posted.Add(1) })
	during, duringRun := w.measure(), w.answered(t)
	rss, waiting := w.rss(), w.runs()
	close(slow.gate)
	drainRun, left := w.answered(t), w.runs()
	drain := w.measure()
	if n := posted.Load(); n != int64(jobs) || waiting["queued"]+waiting["running"] != jobs || waiting["queued"] == 0 {
		t.Errorf("got %[2]d posted jobs, want %[1]d; runs %[3]v", jobs, n, waiting)
	}
	for what := range before {
		if most := 2*before[what] + slack; during[what] > most {
			t.Errorf("%s took %v while the runs are queued, without the attack %v", what, during[what], before[what])
		}
		// What the runs that end at once write shares the commits of everybody, and the
		// processors. The bystander's run is answered soon, so most of them are still at it.
		if most := 2*before[what] + 6*slack; drain[what] > most {
			t.Errorf("%s took %v while the runs end, without the attack %v", what, drain[what], before[what])
		}
	}
	if left["completed"] > waiting["running"]/2 {
		t.Errorf("when the bystander's run was answered, %d of the %d runs of the attack had ended", left["completed"], waiting["running"])
	}
	// 384 runs, three quarters of the slots, have a request in progress.
	if rss > mostRSS {
		t.Errorf("the server uses %d MiB of resident memory", rss>>20)
	}
	for end := time.Now().Add(2 * time.Minute); !w.haveEnded(); {
		if time.Now().After(end) {
			t.Fatalf("some runs have not ended: %v", w.runs())
		}
		<-time.After(100 * time.Millisecond)
	}
	if all := w.runs(); all["completed"] != jobs || len(all) != 1 {
		t.Errorf("got runs %v", all)
	}
	if n := slow.calls.Load(); n != int64(jobs) {
		t.Errorf("%d runs of one step called the model %d times", jobs, n)
	}
	peak := w.memory("VmHWM") // once the model responds, all runs continue
	if peak > 2*mostRSS {
		t.Errorf("the server used %d MiB of resident memory", peak>>20)
	}
	t.Logf("%d MiB resident, at most %d, before %v and %v, during %v and %v with %v, at the end %v and %v with %v", rss>>20, peak>>20, before, beforeRun, during, duringRun, waiting, drain, drainRun, left)
}
