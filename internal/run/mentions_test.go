package run_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// Whatever models, tools and people do, and wherever the server dies, ann can say of each
// agent that she has mentioned what became of it: it answered, works, waits for somebody
// or for a time, waits for the end of another run, failed, gives no sign of life, was
// canceled, or was not started, and why. What the models know does not contradict it, and
// no chain uses more than the session allows.
func TestEveryMentionIsExplained(t *testing.T) {
	seen := map[state]int{}
	for seed := range int(setting.Number(t, "SHOAL_MENTION_WORLDS", uint64(setting.Repeats(8, 3)))) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newMentions(t, uint64(seed)+1)
				s.play(mentionsPerWorld)
				for state, n := range s.seen {
					seen[state] += n
				}
			})
		})
	}
	t.Logf("states that were seen: %v", seen)
	for _, s := range []state{answered, progressing, waiting, queued, failed, stalled, canceled, unreachable} {
		if seen[s] == 0 {
			t.Errorf("no mention was ever %s, so this test does not see whether it is explained", s)
		}
	}
}

const mentionsPerWorld = 50

// state is what a mention is in.
type state string

const (
	answered    state = "answered"
	progressing state = "progressing"
	waiting     state = "waiting"
	queued      state = "queued"
	failed      state = "failed"
	stalled     state = "stalled"
	canceled    state = "canceled"
	unreachable state = "unreachable"
)

// mentioned is one agent in one message of ann's.
type mentioned struct {
	agent   shoal.EntityID
	message shoal.MessageID
	token   string
	run     shoal.RunID // empty: none was started
	over    bool        // its end was checked
}

// mentions is a world in which ann mentions agents whose models and tools misbehave.
type mentions struct {
	*world
	rand   *rand.Rand
	models *misbehaving
	all    []*mentioned
	seen   map[state]int

	others   int // messages that mention nobody
	reported map[shoal.RunID]bool
}

// tokensPerMessage is the limit of the session.
const tokensPerMessage = 12_000

func newMentions(t *testing.T, seed uint64) *mentions {
	s := &mentions{world: newWorld(t), rand: rand.New(rand.NewPCG(seed, 0)), models: newMisbehaving(t, seed), seen: map[state]int{}, reported: map[shoal.RunID]bool{}}
	s.exe.Stop()
	s.limit = 1000
	s.start()
	s.limitTokens(tokensPerMessage)
	s.hosts("expert", script.Func(s.models.expert), "")
	for i, on := range []string{"parallel", "enqueue", "reject", "interrupt", "parallel"} {
		id := shoal.EntityID("agent-" + fmt.Sprint(i))
		s.models.names = append(s.models.names, id)
		s.hosts(id, s.models.of(id), fmt.Sprintf(`"loop":{"onNewMessage":%q,"maxSteps":6,"runTimeoutMs":1800000,"toolTimeoutMs":600000},"context":{"history":3},%s`, on, misbehavingTools))
		s.join("shop", id)
		if i == 0 {
			_, err := s.hub.Spaces.Update(t.Context(), ann, session, "shop", shoal.SpaceChange{AdminAgentID: &id})
			s.must(err)
		}
	}
	return s
}

// play lets ann mention agents and do what people do, until nothing is open any more.
func (s *mentions) play(n int) {
	for len(s.all) < n {
		switch r := s.rand.IntN(100); {
		case r < 45:
			s.mention()
		case r < 60:
			s.answerSome()
		case r < 70:
			s.others++ // for a run that waits for a reply, else for the admin agent
			_, err := s.post(fmt.Sprintf("Well, go on with m9%03d!", s.others))
			s.must(err)
		case r < 78:
			s.cancelSome()
		case r < 82:
			s.crashes()
		case r < 87: // dies in the middle of what it stores
			s.store.refuses(shoal.E("", shoal.Busy, "The process is dead."), s.rand.IntN(12))
			s.mention()
			<-time.After(time.Second)
			s.crashes()
		}
		<-time.After(time.Duration(s.rand.IntN(20_000)) * time.Millisecond)
		s.check()
	}
	s.models.calm.Store(true)
	for range 2000 {
		s.answerSome()
		s.cancelSome()
		<-time.After(10 * time.Second)
		s.check()
		if !slices.ContainsFunc(s.runs(), func(r storage.Run) bool { return !r.Status.Ended() }) {
			return
		}
	}
	s.t.Error("some runs do not end, although every model answers and every question is answered")
}

func (s *mentions) post(text string, to ...shoal.EntityID) (shoal.Message, error) {
	return s.hub.Messages.Post(s.t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: to}, "")
}

// mention posts a message to one or two agents. A server that dies may not take it.
func (s *mentions) mention() {
	token := fmt.Sprintf("m%d!", len(s.all))
	to := []shoal.EntityID{s.models.names[s.rand.IntN(len(s.models.names))]}
	if other := s.models.names[s.rand.IntN(len(s.models.names))]; other != to[0] && s.rand.IntN(4) == 0 {
		to = append(to, other)
	}
	m, err := s.post("Please do "+token, to...)
	if err != nil {
		return
	}
	for _, id := range to {
		one := &mentioned{agent: id, message: m.ID, token: token}
		if i := slices.IndexFunc(m.Runs, func(r shoal.StartedRun) bool { return r.AgentID == id }); i >= 0 {
			one.run = m.Runs[i].RunID
		} else if slices.ContainsFunc(m.Reach, func(r shoal.Reach) bool { return r.EntityID == id && r.State == shoal.ReachListening }) {
			continue // it is the reply that a run of the agent waits for
		} else if !slices.ContainsFunc(m.Reach, func(r shoal.Reach) bool { return r.EntityID == id && r.Text != "" }) {
			s.t.Errorf("%s of %s: no run, and the reach %+v does not say why", id, m.ID, m.Reach)
		}
		s.all = append(s.all, one)
	}
}

// answerSome answers some of what waits for ann, one way or the other.
func (s *mentions) answerSome() {
	open, err := s.hub.Pending.List(s.t.Context(), ann, session, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: shoal.MaxPage})
	s.must(err)
	for _, p := range open {
		yes := s.rand.IntN(3) > 0
		a := shoal.PendingAnswer{Approved: &yes}
		if p.Kind != shoal.PendingPermission {
			a = shoal.PendingAnswer{Result: []byte(`{"chosen":1}`)}
		}
		if s.rand.IntN(2) == 0 || s.models.calm.Load() {
			_, err := s.hub.Pending.Answer(s.t.Context(), ann, session, p.ID, a)
			s.must(err)
		}
	}
}

// cancelSome cancels some of the runs that have stalled.
func (s *mentions) cancelSome() {
	for _, r := range s.runs() {
		if r.StalledSince != nil && s.rand.IntN(2) == 0 {
			_, err := s.hub.Runs.Cancel(s.t.Context(), ann, session, r.ID)
			s.must(err)
		}
	}
}

// check checks the state of every mention. What is on its way from one state to the next
// has five seconds to arrive.
func (s *mentions) check() {
	s.t.Helper()
	synctest.Wait()
	before := s.wrong()
	if len(before) == 0 {
		return
	}
	<-time.After(5 * time.Second)
	synctest.Wait()
	after := s.wrong()
	for id, what := range after {
		if before[id] != "" && !s.reported[id] {
			s.t.Errorf("%s: %s", id, what)
			s.reported[id] = true
		}
	}
}

// wrong returns what is not explained, by run.
func (s *mentions) wrong() map[shoal.RunID]string {
	out := map[shoal.RunID]string{}
	for _, m := range s.all {
		switch {
		case m.over:
		case m.run == "":
			m.over = true
			s.seen[unreachable]++
			if problem := s.contradicts(m, unreachable, shoal.Run{}); problem != "" {
				out[shoal.RunID(m.message)] = problem
			}
		default:
			r, err := s.hub.Runs.Get(s.t.Context(), ann, session, m.run)
			s.must(err)
			is, problem := s.explain(m, r)
			if problem == "" {
				problem = s.contradicts(m, is, r)
			}
			if problem != "" {
				out[r.ID] = fmt.Sprintf("%s is %s: %s\n%s", m.token, is, problem, s.models.logOf(m))
				continue
			}
			m.over = r.Status.Ended()
			s.seen[is]++
		}
	}
	maps.Copy(out, s.wrongFailures())
	if token, used := s.models.most(); used > tokensPerMessage {
		s.t.Errorf("%s has used %d tokens, more than %d", token, used, tokensPerMessage)
	}
	return out
}

// explain returns the state of a mention with a run, and what contradicts it.
func (s *mentions) explain(m *mentioned, r shoal.Run) (is state, problem string) {
	now := time.Now()
	switch r.Status {
	case shoal.RunQueued:
		if r.QueuedBehind == nil {
			return progressing, ago(now, r.CreatedAt.Time, time.Second, "queued with nothing before it, and not started")
		}
		other := s.run(*r.QueuedBehind)
		if other.Status.Ended() || other.AgentID != r.AgentID {
			problem = fmt.Sprintf("%s, which it waits for, is %s of %s", other.ID, other.Status, other.AgentID)
		}
		return queued, problem
	case shoal.RunRunning:
		return s.explainRunning(m, r)
	case shoal.RunWaitingTool:
		return waiting, s.explainWaiting(r)
	case shoal.RunWaitingReply:
		if r.WaitingFor == nil {
			return waiting, "for nobody"
		}
		return waiting, ago(now, r.WaitingFor.Until.Time, 0, "its time is over since")
	case shoal.RunCompleted:
		return answered, s.explainAnswered(m, r)
	case shoal.RunCanceled:
		return canceled, s.explainEnd(r)
	}
	return failed, s.explainEnd(r)
}

// contradicts returns what the receipt of a mention says that does not fit its state.
func (s *mentions) contradicts(m *mentioned, is state, r shoal.Run) string {
	receipts, err := s.hub.Messages.Receipts(s.t.Context(), ann, session, m.message)
	s.must(err)
	at := slices.IndexFunc(receipts, func(r shoal.Receipt) bool { return r.EntityID == m.agent })
	if at < 0 {
		return fmt.Sprintf("%s has no receipt among %+v", m.agent, receipts)
	}
	receipt := receipts[at]
	problem := func(why string) string { return fmt.Sprintf("%s: its receipt is %+v", why, receipt) }
	var fits bool
	switch is {
	case unreachable:
		fits = receipt.State == shoal.ReceiptSent && receipt.RunID == nil
	case queued:
		fits = receipt.State == shoal.ReceiptSent && strings.Contains(receipt.Text, string(*r.QueuedBehind))
	case failed, canceled:
		fits = receipt.State == shoal.ReceiptFailed && *receipt.FailedReason == r.Error.Code
	case answered:
		fits = receipt.State == shoal.ReceiptAnswered || receipt.State == shoal.ReceiptResumed && strings.Contains(receipt.Text, "ended")
	case stalled:
		fits = receipt.State == shoal.ReceiptAnswered || strings.Contains(receipt.Text, "no sign of life")
	case waiting:
		fits = receipt.State == shoal.ReceiptAnswered || receipt.State == shoal.ReceiptResumed && strings.Contains(receipt.Text, "waits for")
	case progressing:
		fits = receipt.State != shoal.ReceiptFailed
	}
	switch inOrder := func(a, b *shoal.Time) bool { return b == nil || a != nil && !b.Before(a.Time) }; {
	case !fits:
		return problem("it is " + string(is))
	case receipt.State != shoal.ReceiptAnswered && receipt.Text == "":
		return problem("nothing says what it waits for")
	case receipt.RunID != nil && *receipt.RunID != m.run:
		return problem("another run acts on it")
	case !inOrder(receipt.DeliveredAt, receipt.ResumedAt) || !inOrder(receipt.ResumedAt, receipt.AnsweredAt):
		return problem("its times are not in order")
	case (receipt.State == shoal.ReceiptAnswered) != (receipt.AnsweredBy != nil) && receipt.State != shoal.ReceiptFailed:
		return problem("its answer does not fit its state")
	}
	return ""
}

// renewal is how old the stored activity of a run may be.
const renewal = 6 * time.Second

func (s *mentions) explainRunning(m *mentioned, r shoal.Run) (state, string) {
	now, last := time.Now(), s.models.last(m)
	if r.StalledSince != nil {
		if last.After(r.StalledSince.Add(time.Second)) && now.Sub(last) > renewal {
			return stalled, fmt.Sprintf("since %v, and its model spoke %v ago", r.StalledSince, now.Sub(last))
		}
		return stalled, ""
	}
	if last.Before(r.Activity.At.Add(-time.Second)) && (r.Activity.Kind == shoal.ActivityDelta || r.Activity.Kind == shoal.ActivityModel) {
		return progressing, fmt.Sprintf("%s at %v, and its model spoke last at %v", r.Activity.Kind, r.Activity.At, last)
	}
	return progressing, ago(now, r.Activity.At.Time, 75*time.Second, "silent since")
}

func (s *mentions) explainWaiting(r shoal.Run) string {
	if len(r.PendingToolCalls) == 0 {
		return "for nothing that ann sees"
	}
	open, err := s.hub.Pending.List(s.t.Context(), ann, session, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Run: r.ID, Limit: shoal.MaxPage})
	s.must(err)
	if !slices.ContainsFunc(open, func(p shoal.PendingAction) bool { return p.By == nil || slices.Contains(p.By, "ann") }) {
		return fmt.Sprintf("for nobody: %+v", open)
	}
	return ""
}

func (s *mentions) explainAnswered(m *mentioned, r shoal.Run) string {
	if s.models.wentSilent(m) || s.said(func(m shoal.Message) bool { return m.RunID != nil && *m.RunID == r.ID }) {
		return ""
	}
	return "it has said nothing"
}

func (s *mentions) explainEnd(r shoal.Run) string {
	if r.Error == nil || r.Error.Code == "" || r.Error.Message == "" {
		return fmt.Sprintf("nothing says why: %+v", r.Error)
	}
	if r.Status == shoal.RunCanceled || s.said(func(m shoal.Message) bool {
		return m.EntityID == shoal.System && strings.Contains(m.Text(), string(r.AgentID)+" could not answer ("+r.Error.Code+")")
	}) {
		return ""
	}
	return "the space was not informed of " + r.Error.Code
}

// wrongFailures returns for each agent whose last failure is not that of its last run.
func (s *mentions) wrongFailures() map[shoal.RunID]string {
	last := map[shoal.EntityID]storage.Run{}
	for _, r := range s.runs() {
		if r.Status != shoal.RunFailed && r.Status != shoal.RunCompleted {
			continue
		}
		switch before, is := last[r.AgentID]; {
		case !is || r.EndedAt.After(before.EndedAt.Time):
			last[r.AgentID] = r
		case r.EndedAt.Equal(before.EndedAt.Time) && r.Status != before.Status:
			before.ID = "" // nobody knows which one was the last
			last[r.AgentID] = before
		}
	}
	out := map[shoal.RunID]string{}
	for id, r := range last {
		e, err := s.hub.Entities.Get(s.t.Context(), ann, session, id)
		s.must(err)
		if is := e.LastFailure != nil; r.ID != "" && is != (r.Status == shoal.RunFailed) {
			out[r.ID] = fmt.Sprintf("%s ended last, %s, and the last failure of %s is %+v", r.ID, r.Status, id, e.LastFailure)
		}
	}
	return out
}

// said reports whether one of the messages of the shop is so.
func (s *mentions) said(is func(shoal.Message) bool) bool {
	page := storage.Page{Limit: shoal.MaxPage}
	for {
		messages, err := s.hub.Messages.Read(s.t.Context(), ann, session, "shop", page)
		s.must(err)
		if slices.ContainsFunc(messages, is) {
			return true
		}
		if len(messages) < page.Limit {
			return false
		}
		page.Before = messages[0].Seq
	}
}

// ago returns what if then is longer ago than it may be.
func ago(now, then time.Time, most time.Duration, what string) string {
	if since := now.Sub(then); since > most {
		return fmt.Sprintf("%s %v", what, since)
	}
	return ""
}
