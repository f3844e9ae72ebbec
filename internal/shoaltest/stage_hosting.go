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
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/storytest"
)

// Stages that execute hosted agents. Additional commands:
//
//	host FILE [NAME=VALUE …]          hosts the agents of a file beside the scenario: agent configs in YAML with
//	                                  lines of --- between them, in which %NAME% is replaced by VALUE
//	work ACTOR [agent=]               the runs, the oldest first, with their steps and errors
//	transcript RUN                    the text that the model wrote for itself, and the results of its calls
//	show ACTOR SPACE [limit=]         the timeline with the parts of its messages
//	waiting ACTOR [status=open]       the pending actions; pnd1 is the first that was printed
//	give ACTOR PND [result=JSON] [error=] [approve|deny] [reason=] [remember=] [says=]
//	restart [killed] …                killed: nothing in progress can store its end
//
// Runs of the same moment have no defined order: a script that must come after another one
// has to pause.
func init() {
	maps.Copy(verbs, map[string]func(*stage, *command) error{
		"host": host, "work": work, "transcript": printTranscript, "show": showParts, "waiting": waiting, "give": giveAnswer,
	})
}

// Executor executes runs on a stage. Start gets a started hub; the stop function that it
// returns is called before the hub stops. Fits validates results; see hub.Options.
type Executor struct {
	Start func(t *testing.T, h *hub.Hub) (stop func())
	Fits  func(name string, schema, value json.RawMessage) error
}

// PlayWith is like [Play], on stages that execute runs.
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

// hosting is the additional state of a stage that executes runs.
type hosting struct {
	executor *Executor
	folder   string // the directory of the scenario
	stopRuns func()
	others   map[string]string // names of things without a map of their own, by id
}

func (h *hosting) fits() func(name string, schema, value json.RawMessage) error {
	if h.executor == nil {
		return nil
	}
	return h.executor.Fits
}

// execute starts the executor, if the stage has one.
func (s *stage) execute() {
	if s.executor != nil {
		s.stopRuns = s.executor.Start(s.t, s.hub)
	}
}

// idle stops the executor.
func (s *stage) idle() {
	if s.stopRuns != nil {
		s.stopRuns()
		s.stopRuns = nil
	}
}

func host(s *stage, c *command) error {
	caller, session := s.by(c)
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
		made, _, err := s.hub.Agents.Put(ctx, caller, storage.Agent{
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

// generated matches generated ids.
var generated = regexp.MustCompile(`\b(msg|run|prt|pnd|trn)_[0-9a-hjkmnp-tv-z]{22}`)

// stabilize replaces generated ids by names that are the same in every run.
func (s *stage) stabilize(line string) string {
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

// other returns the name of something that is neither a message nor a run.
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
