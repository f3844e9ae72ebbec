package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/ledger"
)

// Work is a number of hosted agents that do jobs, the person that posts one job after the
// other, and the ledger of the effects of their tools.
type Work struct {
	Admin   *client.Session
	Ledger  *ledger.Ledger
	Jobbers []*Jobber
}

// effectTime is the time that a tool takes after its effect.
const effectTime = 10 * time.Millisecond

// Jobber is one agent in a space of its own, and the person that posts its jobs.
type Jobber struct {
	*Caller
	work    *Work
	session *client.Session
	Agent   shoal.EntityID
	Space   shoal.SpaceID
	busy    int // the maximum number of jobs in progress

	Jobs []*Job

	mu      sync.Mutex
	Texts   Texts // as the stream reported; nil if it is not followed
	over    map[shoal.RunID]bool
	last    string // what the stream reported last
	wrong   []string
	changed chan struct{} // capacity 1
}

// Job is one message that an agent acts on.
type Job struct {
	Word    string
	message shoal.MessageID // empty while the outcome is unknown
}

// jobWords is the number of words that the script knows; later jobs reuse them.
const jobWords = 100

const (
	jobBegins = "This takes a while to write down, and this takes a while to write down."
	jobEnds   = "It is done, and this takes a while to say, and this takes a while to say."
)

// script returns the script of an agent's model: it writes that it starts, has two effects
// for the word of its job, and writes that it is done.
func (j *Jobber) script(pause time.Duration) string {
	var b strings.Builder
	say := func(text string) {
		fmt.Fprintf(&b, "call sendSpaceMessage {\"spaceId\":%q,\"text\":%q}\n", j.Space, text)
	}
	fmt.Fprintf(&b, "pause %v\n", pause)
	say(jobBegins)
	b.WriteString("---\n")
	for n := jobWords - 1; n >= 0; n-- {
		word := j.Word(n)
		fmt.Fprintf(&b, "hears %s\ncall record {\"key\":%q,\"step\":\"once\"}\ncall touch {\"key\":%q,\"step\":\"again\"}\nelse\n", word, word, word)
	}
	b.WriteString("say I do not know this job.\n---\n")
	fmt.Fprintf(&b, "pause %v\n", pause)
	say(jobEnds)
	b.WriteString("---\nsay That is all.\n")
	return b.String()
}

// Word returns the word that stands for the nth job.
func (j *Jobber) Word(n int) string { return fmt.Sprintf("%sjob%d", j.Agent, n%jobWords) }

// NewWork creates a number of hosted agents, each with a space of its own and a person that
// posts its jobs.
func NewWork(t *testing.T, w *Crowd, agents int) *Work {
	t.Helper()
	out := &Work{Admin: w.Admin, Ledger: ledger.New(t, effectTime)}
	for i := range agents {
		boss := shoal.EntityID(fmt.Sprintf("boss-%d", i))
		c := &Caller{HTTP: w.HTTP, URL: w.URL, Key: w.NewKey(t, boss), As: boss}
		j := &Jobber{
			Caller: c, work: out, session: w.Session(t, c.Key), Agent: shoal.EntityID(fmt.Sprintf("worker%d", i)), Space: shoal.SpaceID(fmt.Sprintf("work-%d", i)),
			busy: 2, Texts: Texts{}, over: map[shoal.RunID]bool{}, changed: make(chan struct{}, 1),
		}
		out.Hire(t, j, time.Millisecond)
		if _, err := w.Admin.CreateSpace(t.Context(), shoal.NewSpace{ID: j.Space, Name: "Work", Members: []shoal.EntityID{boss, j.Agent}}); err != nil {
			t.Fatal(err)
		}
		out.Jobbers = append(out.Jobbers, j)
	}
	return out
}

// Hire creates the hosted agent of a jobber.
func (w *Work) Hire(t *testing.T, j *Jobber, pause time.Duration) {
	t.Helper()
	record := func(name string, idempotent bool) map[string]any {
		return map[string]any{
			"name": name, "executionType": "request", "idempotent": idempotent,
			"execution":   map[string]any{"url": w.Ledger.URL, "method": "POST"},
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"key": map[string]any{"type": "string"}, "step": map[string]any{"type": "string"}}},
		}
	}
	config, err := json.Marshal(map[string]any{
		"version": "1.0", "agent": map[string]any{"id": j.Agent, "system": "You do jobs."},
		"model": map[string]any{"provider": "script", "name": "jobs", "providerOptions": map[string]any{"script": j.script(pause)}},
		"loop":  map[string]any{"maxSteps": 10},
		"tools": []any{record("record", false), record("touch", true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Admin.PutAgent(t.Context(), j.Agent, client.ConfigJSON, config); err != nil {
		t.Fatal(err)
	}
}

// Run posts jobs until ctx ends or the server is gone.
func (j *Jobber) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if n := len(j.Jobs); n == 0 || j.Jobs[n-1].message != "" {
			for len(j.Jobs)-j.ended() >= j.busy {
				select {
				case <-j.changed:
				case <-ctx.Done():
					return
				}
			}
			j.Jobs = append(j.Jobs, &Job{Word: j.Word(n)})
		}
		switch err := j.HandIn(ctx); {
		case err == nil:
		case errors.Is(err, ErrGone):
			return
		case !errors.Is(err, ErrUnknown):
			j.note("%s: a job: %v", j.Agent, err)
			return
		default:
			Pause(ctx, ThinkTime)
		}
	}
}

// HandIn posts the last job, for the first time or as a retry.
func (j *Jobber) HandIn(ctx context.Context) error {
	last := j.Jobs[len(j.Jobs)-1]
	header := map[string]string{"Idempotency-Key": fmt.Sprintf("%s-%d", j.Agent, len(j.Jobs))}
	answer, _, err := j.Exchange(ctx, "/v1/sessions/default/spaces/"+string(j.Space)+"/messages", header, map[string]any{"text": last.Word, "mentions": []shoal.EntityID{j.Agent}})
	if err != nil {
		return err
	}
	var m shoal.Message
	if err := json.Unmarshal(answer, &m); err != nil {
		return err
	}
	last.message = m.ID
	return nil
}

func (j *Jobber) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// ended counts the runs whose end the stream has reported.
func (j *Jobber) ended() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.over)
}

// lastEvent describes the last event of the stream.
func (j *Jobber) lastEvent() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// Watch follows the space across all lives of the server, and keeps the texts as the stream
// reports them.
func (j *Jobber) Watch(ctx context.Context) {
	for ev, err := range j.session.Follow(ctx, client.FollowOptions{Space: j.Space}) {
		if err == nil {
			err = j.see(ev)
		}
		if err != nil && !errors.Is(err, client.ErrUnreachable) && ctx.Err() == nil {
			j.note("a reader of %s: %v", j.Space, err)
		}
		select {
		case j.changed <- struct{}{}:
		default:
		}
	}
}

func (j *Jobber) see(ev shoal.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = origin(ev)
	ended, err := j.Texts.See(ev)
	if ended != "" {
		j.over[ended] = true
	}
	return err
}

// unexpected returns the findings of the jobbers.
func (w *Work) unexpected() (wrong []string) {
	for _, j := range w.Jobbers {
		j.mu.Lock()
		wrong = append(wrong, j.wrong...)
		j.mu.Unlock()
	}
	return wrong
}

// ended counts the runs that have ended.
func (w *Work) ended() (n int) {
	for _, j := range w.Jobbers {
		n += j.ended()
	}
	return n
}

// UnderWay counts the acknowledged jobs that have not ended.
func (w *Work) UnderWay() (n int) {
	for _, j := range w.Jobbers {
		for _, job := range j.Jobs {
			if job.message != "" {
				n++
			}
		}
		n -= j.ended()
	}
	return n
}

// Settle determines the outcome of unknown jobs and waits until all jobs have ended.
func (w *Work) Settle(ctx context.Context) {
	for _, j := range w.Jobbers {
		for n := len(j.Jobs); n > 0 && j.Jobs[n-1].message == "" && ctx.Err() == nil; Pause(ctx, ThinkTime) {
			if err := j.HandIn(ctx); err != nil && !errors.Is(err, ErrUnknown) {
				j.note("%s: a job: %v", j.Agent, err)
				return
			}
		}
		for j.ended() < len(j.Jobs) {
			select {
			case <-j.changed:
			case <-ctx.Done():
				j.note("stuck: %d of %d jobs of %s have ended: %s; its stream had %s last", j.ended(), len(j.Jobs), j.Agent, j.runs(context.WithoutCancel(ctx)), j.lastEvent())
				return
			}
		}
	}
}

// runs describes the runs of the agent.
func (j *Jobber) runs(ctx context.Context) string {
	var left []shoal.Run
	for r, err := range j.work.Admin.Runs(ctx, client.RunsOptions{Agent: j.Agent}) {
		if err != nil {
			return err.Error()
		}
		left = append(left, r)
	}
	return ends(left)
}
