package shoaltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/storytest"
)

// Stages on which hosted agents really run. Commands besides those of the package:
//
//	host FILE [NAME=VALUE …]          hosts the agents of a file beside the scenario: agent configs in YAML with
//	                                  lines of --- between them, in which %NAME% stands for VALUE
//	work ACTOR [agent=]               the runs, the oldest first, with their steps and errors
//	told RUN                          what the model wrote for itself, and was told about its calls
//	show ACTOR SPACE [limit=]         the timeline with the parts of its messages
//	waiting ACTOR [status=open]       what waits for answers: pnd1 is the first that was shown
//	give ACTOR PND [result=JSON] [error=] [approve|deny] [reason=] [remember=] [says=]
//	restart [killed] …                killed: nothing that is under way gets to store its end
//
// What runs at the same moment has no order: a script that has to be behind
// another one pauses.
func init() {
	maps.Copy(verbs, map[string]func(*stage, *command) error{
		"host": host, "work": work, "told": toldTo, "show": showParts, "waiting": waiting, "give": give,
	})
}

// Executor is what executes runs on a stage. Start gets a hub that has started, and
// stop is called before that one stops. Fits judges results; see hub.Options.
type Executor struct {
	Start func(t *testing.T, h *hub.Hub) (stop func())
	Fits  func(schema, result json.RawMessage) error
}

// PlayWith is [Play] on stages whose runs are executed.
func PlayWith(t *testing.T, pattern string, update bool, executor Executor) {
	t.Helper()
	storytest.Play(t, pattern, 1, update, func(t *testing.T, file, text string) (got string) {
		synctest.Test(t, func(t *testing.T) {
			s := newStageOf(t, &executor)
			defer s.stop()
			got = s.play(file, text)
		})
		return got
	})
}

// hosting is what a stage has because its runs are executed.
type hosting struct {
	executor *Executor
	folder   string // where the scenario stands
	stopRuns func()
	others   map[string]string // names of what has no map of its own, by id
}

func (h *hosting) fits() func(schema, result json.RawMessage) error {
	if h.executor == nil {
		return nil
	}
	return h.executor.Fits
}

// execute begins to execute runs, if the stage does that.
func (s *stage) execute() {
	if s.executor != nil {
		s.stopRuns = s.executor.Start(s.t, s.hub)
	}
}

// idle ends what execute began.
func (s *stage) idle() {
	if s.stopRuns != nil {
		s.stopRuns()
		s.stopRuns = nil
	}
}

func host(s *stage, c *command) error {
	who, session := s.by(c)
	text, err := os.ReadFile(filepath.Join(s.folder, c.word()))
	if err != nil {
		return err
	}
	filled := string(text)
	for name := range maps.Clone(c.options) {
		filled = strings.ReplaceAll(filled, "%"+name+"%", c.option(name))
	}
	for one := range strings.SplitSeq(filled, "\n---\n") {
		config, err := agentconfig.Decode([]byte(one), agentconfig.Options{})
		if err != nil {
			return err
		}
		made, _, err := s.hub.Agents.Put(ctx, who, hub.StoredAgent{
			HostedAgent: shoal.HostedAgent{ID: config.Agent.ID, SessionID: session, Hash: config.Hash(), Config: config.Canonical()},
			Name:        config.Agent.Name, Description: config.Agent.Description,
			OnNewMessage: config.Loop.OnNewMessage, SettleMs: config.Loop.SettleMs, MaxSteps: config.Loop.MaxSteps,
		})
		if err != nil {
			return err
		}
		s.say("agent %s version %d", made.ID, made.Version)
	}
	return nil
}

// generated is what an id looks like that nobody has chosen.
var generated = regexp.MustCompile(`\b(msg|run|prt|pnd|trn)_[0-9a-hjkmnp-tv-z]{22}`)

// steady gives whatever has a generated id a name that is the same in every play.
func (s *stage) steady(line string) string {
	return generated.ReplaceAllStringFunc(line, func(id string) string {
		switch kind, _, _ := strings.Cut(id, "_"); kind {
		case "msg":
			return s.name(shoal.MessageID(id))
		case "run":
			return s.runName(shoal.RunID(id))
		default:
			return s.other(kind, id)
		}
	})
}

// other names what is neither a message nor a run.
func (s *stage) other(kind, id string) string {
	if s.others == nil {
		s.others = map[string]string{}
	}
	if s.others[id] == "" {
		n := 1
		for _, name := range s.others {
			if strings.HasPrefix(name, kind) {
				n++
			}
		}
		s.others[id] = kind + strconv.Itoa(n)
	}
	return s.others[id]
}

func work(s *stage, c *command) error {
	who, session := s.actor(c, c.word())
	all, err := s.hub.Runs.List(ctx, who, session, hub.RunFilter{Agent: shoal.EntityID(c.option("agent")), Limit: shoal.MaxPage})
	// What came at the same moment has no order of its own.
	slices.SortFunc(all, func(a, b shoal.Run) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(s.runNumber(a.ID), s.runNumber(b.ID)), cmp.Compare(a.Depth, b.Depth),
			cmp.Compare(a.AgentID, b.AgentID), cmp.Compare(a.Trigger.MessageContent, b.Trigger.MessageContent))
	})
	for _, r := range all {
		line := s.run(r) + fmt.Sprintf(" steps=%d", r.Steps)
		if r.Error != nil {
			line += fmt.Sprintf(" %q", r.Error.Message)
		}
		s.say("%s", line)
	}
	if err == nil && len(all) == 0 {
		s.say("none")
	}
	return err
}

// runNumber is the number in the name of a run; one that was not shown yet comes
// behind all others.
func (s *stage) runNumber(id shoal.RunID) int {
	s.naming.Lock()
	defer s.naming.Unlock()
	if n, err := strconv.Atoi(strings.TrimPrefix(s.runNames[id], "run")); err == nil {
		return n
	}
	return math.MaxInt
}

func toldTo(s *stage, c *command) error {
	id, err := s.runID(c.word())
	if err != nil {
		return err
	}
	who, session := s.by(c)
	steps, err := s.hub.Runs.Steps(ctx, who, session, id)
	for _, step := range steps {
		s.say("step %d %q", step.Index, step.Text)
		for _, call := range step.ToolCalls {
			result := "nothing yet"
			if call.Result != nil {
				result = *call.Result
			}
			s.say("  %s#%s %s: %s", call.ToolName, call.ToolCallID, call.Status, result)
		}
	}
	if err == nil && len(steps) == 0 {
		s.say("nothing")
	}
	return err
}

func showParts(s *stage, c *command) error {
	who, session := s.actor(c, c.word())
	limit, err := c.number("limit")
	if err != nil {
		return err
	}
	messages, err := s.hub.Messages.Read(ctx, who, session, shoal.SpaceID(c.word()), hub.Page{Limit: shoal.PageLimit(int(limit), shoal.DefaultPage)})
	for _, m := range messages {
		head := fmt.Sprintf("#%d %s %s", m.Seq, m.EntityID, m.Status)
		if m.RunID != nil {
			head += " " + s.runName(*m.RunID)
		}
		if len(m.Mentions) > 0 {
			head += " mentions=" + join(m.Mentions)
		}
		s.say("%s", head)
		for _, p := range m.Parts {
			s.say("  %s", part(p))
		}
	}
	if err == nil && len(messages) == 0 {
		s.say("nothing")
	}
	return err
}

func part(p shoal.Part) string {
	switch {
	case p.Private:
		return "private " + string(p.Type)
	case p.Type == shoal.TextPart && p.Status == shoal.PartDone:
		return strconv.Quote(p.Text)
	case p.Type == shoal.TextPart:
		return fmt.Sprintf("%q %s", p.Text, p.Status)
	}
	out := fmt.Sprintf("%s#%s %s %s", p.ToolName, p.ToolCallID, p.Args, p.Status)
	if p.Target != "" {
		out += " for " + string(p.Target)
	}
	if p.AnsweredBy != "" {
		out += " by " + string(p.AnsweredBy)
	}
	if p.Result != nil {
		out += " = " + string(p.Result)
	}
	if p.Error != "" {
		out += fmt.Sprintf(" error %q", p.Error)
	}
	return out
}

func waiting(s *stage, c *command) error {
	who, session := s.actor(c, c.word())
	status := shoal.PendingOpen
	if c.has("status") {
		status = shoal.PendingStatus(c.option("status"))
	}
	all, err := s.hub.Pending.List(ctx, who, session, hub.PendingFilter{Status: status, Limit: shoal.MaxPage})
	slices.SortFunc(all, func(a, b shoal.PendingAction) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ToolCallID, b.ToolCallID))
	})
	for _, p := range all {
		s.say("%s", s.pending(p))
	}
	if err == nil && len(all) == 0 {
		s.say("nothing")
	}
	return err
}

func (s *stage) pending(p shoal.PendingAction) string {
	out := fmt.Sprintf("%s %s", p.ID, p.Kind)
	if p.ToolName != "" {
		out += fmt.Sprintf(" %s#%s %s", p.ToolName, p.ToolCallID, p.Args)
	}
	if p.Question != nil {
		out += fmt.Sprintf(" %q", *p.Question)
	}
	out += fmt.Sprintf(" of %s", s.runName(p.RunID))
	if p.SpaceID != nil {
		out += " in " + string(*p.SpaceID)
	}
	out += " " + string(p.Status)
	if p.AnsweredBy != nil {
		out += " by " + string(*p.AnsweredBy)
	}
	if p.ExpiresAt != nil {
		out += " until " + s.since(p.ExpiresAt.Time)
	}
	return out
}

func give(s *stage, c *command) error {
	who, session := s.actor(c, c.word())
	name := c.word()
	var id shoal.PendingID
	for known, given := range s.others {
		if given == name {
			id = shoal.PendingID(known)
		}
	}
	if id == "" {
		return fmt.Errorf("nothing was shown as %q", name)
	}
	a := shoal.PendingAnswer{Error: c.maybe("error"), Reason: c.maybe("reason"), Remember: c.maybe("remember"), Answer: c.maybe("says"), Result: json.RawMessage(c.option("result"))}
	yes, no := c.flag("approve"), c.flag("deny")
	if yes || no {
		a.Approved = &yes
	}
	p, err := s.hub.Pending.Answer(ctx, who, session, id, a)
	if err != nil {
		s.say("%s", told(err))
		return nil
	}
	s.say("%s", s.pending(p))
	return nil
}
