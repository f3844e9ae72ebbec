package shoaltest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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
	Fits  func(name string, schema, value json.RawMessage) error
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

func (h *hosting) fits() func(name string, schema, value json.RawMessage) error {
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
