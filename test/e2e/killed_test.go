package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/ledger"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// The runs of a server that is killed again and again, at random moments: every
// job that was acknowledged comes to its end once, whatever happened on the way.
//
//	SHOAL_KILLS=200 SHOAL_CRASH_SEED=7 go test ./test/e2e -run TestKilledRuns -timeout 30m
//
// What must hold (the invariants of runs):
//   - an acknowledged job has one run, which completes, and one message with its
//     parts in order and each text once;
//   - a tool that is not idempotent is executed at most once for each call; if
//     it was not reported as interrupted, exactly once;
//   - an idempotent one is executed at least once;
//   - a follower that resumes has of every part exactly its text;
//   - nothing waits for anybody at the end.
func TestKilledRuns(t *testing.T) {
	kills, seed := int(setting.Number(t, "SHOAL_KILLS", 5)), setting.Seed(t, "SHOAL_CRASH_SEED")
	dice := rand.New(rand.NewPCG(seed, 0))

	k := newKilled(t)
	slowest, counted := time.Duration(0), 0
	for tries := 0; counted < kills; tries++ {
		if tries > 3*kills+5 {
			t.Fatalf("in only %d of %d lives a run was under way at the kill", counted, tries)
		}
		began := time.Now()
		k.start(t)
		if took := time.Since(began); took > startLimit {
			slowest = max(slowest, startLimit, took-program.WaitedForCPU(k.server.cmd.Process))
		} else {
			slowest = max(slowest, took)
		}
		pause(t, 50*time.Millisecond+time.Duration(dice.Int64N(int64(1200*time.Millisecond))))
		if k.posted.Load() > k.ended() {
			counted++
		}
		k.kill()
	}
	k.start(t)
	k.settle(t)
	k.check(t)
	k.stop(t)
	if slowest > startLimit {
		t.Errorf("the slowest restart took %v until the first answer; the limit is %v", slowest, startLimit)
	}
	t.Logf("%d kills with runs under way, %d jobs, slowest start %v; calls reported as interrupted: %d", counted, k.posted.Load(), slowest, k.interrupted)
}

// startLimit is the time within which a killed server answers again.
const startLimit = 2 * time.Second

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal("the test is over")
	}
}

const (
	killedBase   = "/v1/sessions/default"
	killedSpaces = 4
)

// killed is a server that is killed and started several times, and its users.
type killed struct {
	data    string
	effects *ledger.Ledger
	admin   http.Header
	ann     http.Header
	server  *server

	url     atomic.Pointer[string] // of the present life
	cancel  context.CancelFunc     // ends its users
	users   sync.WaitGroup
	posted  atomic.Int64
	stopped atomic.Bool // no more jobs

	views       [killedSpaces]*view
	interrupted int
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	k := &killed{data: t.TempDir(), effects: ledger.New(t, 15*time.Millisecond)}
	k.start(t)
	k.admin, k.ann = bearer(k.server.admin), k.server.human(t, "default", "ann")
	k.server.rest(t, http.MethodPut, killedBase+"/agents/worker", jobAgent(wires[0].model(t, "job"), k.effects.URL), nil)
	for i := range killedSpaces {
		k.server.rest(t, http.MethodPost, killedBase+"/spaces", shoal.NewSpace{
			ID: shoal.SpaceID(fmt.Sprintf("w%d", i)), Name: "Work", Members: []shoal.EntityID{"ann", "worker"},
		}, nil)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	k.cancel = cancel
	t.Cleanup(func() { cancel(); k.users.Wait() })
	k.users.Go(func() { k.post(ctx, t) })
	k.users.Go(func() { k.answer(ctx, t) })
	for i := range killedSpaces {
		k.views[i] = newView()
		k.users.Go(func() { k.views[i].follow(ctx, t, k, fmt.Sprintf("%s/spaces/w%d/events", killedBase, i)) })
	}
	k.kill()
	return k
}

// jobAgent does jobs: hosted.mjs says how.
func jobAgent(model map[string]any, effects string) map[string]any {
	record := func(name string, idempotent bool) map[string]any {
		return map[string]any{
			"name": name, "executionType": "request", "idempotent": idempotent,
			"execution":   map[string]any{"url": effects, "method": "POST"},
			"inputSchema": object(`"key":{"type":"string"},"step":{"type":"string"}`),
		}
	}
	return map[string]any{
		"version": "1.0", "agent": map[string]any{"id": "worker", "system": "You do jobs."}, "model": model,
		"loop": map[string]any{"maxSteps": 10},
		"tools": []any{
			record("record", false), record("touch", true),
			map[string]any{"name": "choose", "displayTool": true, "inputSchema": object(`"key":{"type":"string"}`)},
		},
	}
}

func (k *killed) start(t *testing.T) {
	t.Helper()
	k.server = serve(t, k.data, "--allow-private", "127.0.0.0/8")
	url := k.server.url
	k.url.Store(&url)
}

func (k *killed) kill() {
	k.server.signal(syscall.SIGKILL)
	<-k.server.ended
}

func (k *killed) stop(t *testing.T) {
	t.Helper()
	k.cancel()
	k.users.Wait()
	k.server.stop()
}

// call makes a call to the present process. An error does not prove anything.
func (k *killed) call(ctx context.Context, header http.Header, method, path string, in any) (status int, body []byte, err error) {
	var sent io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return 0, nil, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, *k.url.Load()+path, sent)
	if err != nil {
		return 0, nil, err
	}
	req.Header = header.Clone()
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// mostJobs is how many jobs may be under way. With more, a short life would be
// over before any of them came a step further.
const mostJobs = 40

// post hands in one job after the other, each until it is acknowledged.
func (k *killed) post(ctx context.Context, t *testing.T) {
	for n := 0; !k.stopped.Load() && ctx.Err() == nil; n++ {
		header := k.ann.Clone()
		header.Set("Idempotency-Key", fmt.Sprintf("job-%d", n))
		for ctx.Err() == nil {
			path := fmt.Sprintf("%s/spaces/w%d/messages", killedBase, n%killedSpaces)
			status, body, err := k.call(ctx, header, http.MethodPost, path, map[string]any{"text": fmt.Sprintf("job-%d", n)})
			if err == nil && status == http.StatusCreated {
				k.posted.Add(1)
				break
			}
			if err == nil && status != http.StatusServiceUnavailable {
				t.Errorf("job %d: %d %s", n, status, body)
				return
			}
			tick(ctx, 5*time.Millisecond)
		}
		for tick(ctx, 60*time.Millisecond); ctx.Err() == nil && k.posted.Load()-k.ended() >= mostJobs; {
			tick(ctx, 10*time.Millisecond)
		}
	}
}

func tick(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// answer chooses whatever is to be chosen.
func (k *killed) answer(ctx context.Context, t *testing.T) {
	for ; ctx.Err() == nil; tick(ctx, 20*time.Millisecond) {
		status, body, err := k.call(ctx, k.ann, http.MethodGet, killedBase+"/pending-actions?status=open", nil)
		var page struct{ Items []shoal.PendingAction }
		if err != nil || status == http.StatusServiceUnavailable {
			continue
		}
		if status != http.StatusOK || json.Unmarshal(body, &page) != nil {
			t.Errorf("what is to be answered: %d %s", status, body)
			return
		}
		for _, p := range page.Items {
			answer := killedBase + "/pending-actions/" + string(p.ID) + "/answer"
			status, body, err := k.call(ctx, k.ann, http.MethodPost, answer, map[string]any{"result": map[string]any{"chosen": true}})
			if err == nil && status != http.StatusOK && status != http.StatusServiceUnavailable {
				t.Errorf("%s: %d %s", answer, status, body)
			}
		}
	}
}

// ended counts the runs whose end a follower has seen.
func (k *killed) ended() (n int64) {
	for _, v := range k.views {
		v.mu.Lock()
		n += int64(len(v.completed))
		v.mu.Unlock()
	}
	return n
}

// settle takes no more jobs and waits until all have ended.
func (k *killed) settle(t *testing.T) {
	t.Helper()
	k.stopped.Store(true)
	deadline := time.Now().Add(patience)
	for {
		var page struct{ Items []shoal.Run }
		k.server.rest(t, http.MethodGet, killedBase+"/runs?agent=worker&status=queued,running,waiting_tool,waiting_reply", nil, &page)
		if len(page.Items) == 0 {
			return
		}
		if time.Now().After(deadline) {
			k.server.signal(syscall.SIGQUIT) // it says where it is
			<-k.server.ended
			t.Fatalf("%d runs do not end, such as %+v", len(page.Items), page.Items[0])
		}
		pause(t, 50*time.Millisecond)
	}
}

// everything reads all pages of a list.
func everything[T any](t *testing.T, s *server, path string) (all []T) {
	t.Helper()
	for cursor := ""; ; {
		var page struct {
			Items      []T
			NextCursor *string
		}
		s.rest(t, http.MethodGet, path+cursor, nil, &page)
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			return all
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// check holds what clients saw and effects happened against what is there now.
func (k *killed) check(t *testing.T) {
	t.Helper()
	jobs := k.posted.Load()
	runs := map[string][]shoal.Run{}
	for _, r := range everything[shoal.Run](t, k.server, killedBase+"/runs?agent=worker&limit=200") {
		runs[r.Trigger.MessageContent] = append(runs[r.Trigger.MessageContent], r)
	}
	messages := map[shoal.RunID][]shoal.Message{}
	for i := range killedSpaces {
		seq := int64(0)
		for after := int64(0); ; after = seq {
			var page struct{ Items []shoal.Message }
			k.server.rest(t, http.MethodGet, fmt.Sprintf("%s/spaces/w%d/messages?limit=200&after=%d", killedBase, i, after), nil, &page)
			for _, m := range page.Items {
				if seq++; m.Seq != seq {
					t.Fatalf("space w%d has sequence %d after %d", i, m.Seq, seq-1)
				}
				if m.RunID != nil {
					messages[*m.RunID] = append(messages[*m.RunID], m)
				}
				k.views[i].agrees(t, m)
			}
			if len(page.Items) == 0 {
				break
			}
		}
	}
	for n := range jobs {
		key := fmt.Sprintf("job-%d", n)
		if len(runs[key]) != 1 || runs[key][0].Status != shoal.RunCompleted {
			t.Errorf("%s has %d runs: %s", key, len(runs[key]), states(runs[key]))
			continue
		}
		k.checkRun(t, key, runs[key][0], messages[runs[key][0].ID])
	}
}

// states says how runs ended.
func states(runs []shoal.Run) (said string) {
	for _, r := range runs {
		said += fmt.Sprintf(" %s %s", r.ID, r.Status)
		if r.Error != nil {
			said += fmt.Sprintf(" (%s: %s)", r.Error.Code, r.Error.Message)
		}
	}
	return said
}

const killedFiller = ", and this takes a while to write down, and this takes a while to write down" +
	", and this takes a while to write down, and this takes a while to write down."

func (k *killed) checkRun(t *testing.T, key string, r shoal.Run, messages []shoal.Message) {
	t.Helper()
	want := []string{
		"text done " + key + " begins" + killedFiller,
		"text done " + key + " asks.",
		`tool_call done choose {"key":"` + key + `"} {"chosen":true} ann`,
		"text done " + key + " ends" + killedFiller,
	}
	if len(messages) != 1 || messages[0].Status != shoal.MessageCompleted || !slices.Equal(shown(messages[0]), want) {
		t.Errorf("%s (%s) shows %d messages: %+v", key, r.ID, len(messages), messages)
	}
	var steps struct{ Items []shoal.Step }
	k.server.rest(t, http.MethodGet, killedBase+"/runs/"+string(r.ID)+"/steps", nil, &steps)
	if len(steps.Items) != 4 {
		t.Errorf("%s has %d steps", key, len(steps.Items))
	}
	for _, s := range steps.Items {
		for _, call := range s.ToolCalls {
			var in struct{ Step string }
			if err := json.Unmarshal(call.Args, &in); err != nil || in.Step == "" {
				continue
			}
			done, result := k.effects.Of(key, in.Step), ""
			if call.Result != nil {
				result = *call.Result
			}
			cut := strings.Contains(result, "interrupted, effect unknown")
			switch {
			case call.ToolName == "touch" && (done < 1 || cut):
				t.Errorf("%s: the idempotent %s was executed %d times, the model received %q", key, in.Step, done, result)
			case call.ToolName == "record" && (done > 1 || done == 0 && !cut):
				t.Errorf("%s: %s was executed %d times, the model received %q", key, in.Step, done, result)
			case cut:
				k.interrupted++
			}
		}
	}
}

// view is the state of a client that knows only the stream of one space.
type view struct {
	mu        sync.Mutex
	texts     map[shoal.PartID]string
	completed map[shoal.RunID]bool
	last      string // the cursor
	wrong     []string
}

func newView() *view {
	return &view{texts: map[shoal.PartID]string{}, completed: map[shoal.RunID]bool{}}
}

// follow reads through all lives of the server, each time from where it was.
func (v *view) follow(ctx context.Context, t *testing.T, k *killed, path string) {
	for ; ctx.Err() == nil; tick(ctx, 5*time.Millisecond) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, *k.url.Load()+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = k.ann.Clone()
		if v.last != "" {
			req.Header.Set("Last-Event-ID", v.last)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		if res.StatusCode == http.StatusOK {
			readEvents(res.Body, v.see)
		}
		_ = res.Body.Close() // what was read of it is all that counts
	}
}

func (v *view) see(e streamEvent) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.id != "" {
		v.last = e.id
	}
	part := e.data.PartID
	switch shoal.EventType(e.event) {
	case shoal.EventSnapshot:
		for _, m := range e.data.Messages {
			for _, p := range m.Parts {
				v.texts[p.ID] = p.Text
			}
		}
	case shoal.EventTextStart:
		v.texts[part] = ""
	case shoal.EventTextDelta:
		if e.data.Offset != len(v.texts[part]) {
			v.wrong = append(v.wrong, fmt.Sprintf("a delta at %d where there are %d bytes: %s", e.data.Offset, len(v.texts[part]), e.raw))
			return
		}
		v.texts[part] += e.data.Delta
	case shoal.EventPartReset:
		v.texts[part] = v.texts[part][:min(e.data.Offset, len(v.texts[part]))]
	case shoal.EventPartRemoved:
		delete(v.texts, part)
	case shoal.EventRunCompleted:
		v.completed[e.data.Run.ID] = true
	}
}

// agrees compares what the reader has of a message with the message.
func (v *view) agrees(t *testing.T, m shoal.Message) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range m.Parts {
		if p.Type == shoal.TextPart && m.RunID != nil && v.texts[p.ID] != p.Text {
			t.Errorf("%s: a reader has %q of the part %q", m.ID, v.texts[p.ID], p.Text)
		}
	}
	for _, w := range v.wrong {
		t.Error(w)
	}
	v.wrong = nil
}
