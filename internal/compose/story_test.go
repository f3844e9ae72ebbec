package compose_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/storytest"
)

var update = flag.Bool("update", false, "write testdata/stories again")

// The stories in testdata/stories describe the composer's behavior as text: commands, a line
// of four dashes, and the effects. Blocks are separated by blank lines.
//
//	tool NAME WORDS        describes a tool: display targeted hidden hideInput hideOutput; sendSpaceMessage always exists
//	trigger SPACE          names the trigger's space
//	stream                 plain text streams into the trigger's space
//	limit parts|bytes N    sets a limit
//	space ID WORD          membership of the agent in a space: member stranger closed later; member by default.
//	                       "later" postpones the answer; "in SPACE" adds other members
//	in SPACE ENTITY        makes an entity a member of a space
//	model ID               the model starts a message
//	call ID NAME ARGS      the model writes a call; a | in ARGS separates deltas
//	open ID NAME           the same in three commands: start, deltas, end
//	args ID ARGS
//	close ID
//	text PIECES            the model writes plain text; a | separates deltas, _ is a space
//	ended                  the message ends; "ended discarded", "ended interrupted"
//	request CALL KIND      permission, client_call, clarification, continuation; "via CALL" for a sub-agent's
//	answer CALL KIND BY WORDS   yes, no REASON, or the text
//	start CALL, accept CALL, refuse CALL
//	result CALL STATUS TEXT
//	step                   the step ends
//	turn OUTCOME           the turn ends
//	membership SPACE WORD  reports a membership: member stranger closed notarget (followed by an entity)
//	end OUTCOME            the run ends
//	say ENTITY TEXT        the run says a text; - mentions nobody
//	spoke                  shows whether the run has shown output of its own
//	route CALL             shows the destination of a call
//	drafts                 shows the drafts
//	lose                   everything stored since the last drafts is lost
//	crash                  the process dies; saved messages and steps remain
func TestStories(t *testing.T) {
	storytest.Play(t, "testdata/stories/*.txt", 10, *update, func(t *testing.T, _, text string) string { return runStory(t, text) })
}

func runStory(t *testing.T, text string) string {
	s := newStory(t)
	return storytest.Blocks(t, text, func(commands string) string {
		s.out.Reset()
		for line := range strings.Lines(commands) {
			if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
				s.command(line)
			}
		}
		return s.out.String()
	})
}

// story is the execution of one story: a composer, its spaces, and the stored state.
type story struct {
	t        *testing.T
	opts     compose.Options
	composer *compose.Composer
	spaces   map[string]string
	inside   []string
	out      strings.Builder

	source string
	args   map[string]string
	names  map[string]string
	steps  []agent.Step
	open   *agent.Step
	stored []compose.Message
	// drafted is the stored state when drafts were last shown.
	drafted []compose.Message
	follow  *follower
}

func newStory(t *testing.T) *story {
	return &story{
		t: t, spaces: map[string]string{}, args: map[string]string{}, names: map[string]string{}, follow: newFollower(),
		opts: compose.Options{Run: "r", Tools: []compose.Tool{{Name: "sendSpaceMessage", Send: true}}},
	}
}

func (s *story) command(line string) {
	words := strings.Fields(line)
	rest := func(n int) string { // the line after n words, unchanged
		text := line
		for range n {
			_, text, _ = strings.Cut(strings.TrimLeft(text, " "), " ")
		}
		return text
	}
	word := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	switch words[0] {
	case "tool":
		s.opts.Tools = append(s.opts.Tools, toolOf(words[1], words[2:]))
	case "trigger":
		s.opts.Trigger = shoal.SpaceID(words[1])
	case "stream":
		s.opts.Stream = true
	case "say":
		mention, _ := strings.CutPrefix(words[1], "-")
		s.perform(s.run().Say(rest(2), shoal.EntityID(mention)))
	case "spoke":
		fmt.Fprintln(&s.out, "spoke", s.run().HasOutput())
	case "limit":
		n := 0
		if _, err := fmt.Sscan(words[2], &n); err != nil {
			s.t.Fatal(err)
		}
		if words[1] == "parts" {
			s.opts.MaxParts = n
		} else {
			s.opts.MaxPart = n
		}
	case "space":
		s.spaces[words[1]] = words[2]
	case "in":
		s.inside = append(s.inside, words[1]+"/"+words[2])
	case "membership":
		s.perform(s.run().SetMembership(shoal.SpaceID(words[1]), shoal.EntityID(word(3)), memberships[words[2]]))
	case "accept":
		s.perform(s.run().Accept(words[1]))
	case "refuse":
		s.perform(s.run().Refuse(words[1], compose.RefusedMention))
	case "end":
		s.perform(s.run().End(agent.Outcome(words[1])))
	case "route":
		s.route(words[1])
	case "drafts":
		for _, m := range s.run().Drafts() {
			s.store(m)
			fmt.Fprintf(&s.out, "draft %s\n", showMessage(m))
		}
		s.drafted = slices.Clone(s.stored)
	case "lose":
		s.stored = slices.Clone(s.drafted)
	case "crash":
		s.crash()
	default:
		if !s.modelCommand(words, rest) {
			s.runCommand(words, word, rest)
		}
	}
}

var memberships = map[string]compose.Membership{
	"member": compose.Member, "stranger": compose.NotMember, "closed": compose.SpaceClosed, "notarget": compose.NoTarget,
}

func (s *story) run() *compose.Composer {
	if s.composer == nil {
		s.composer = compose.New(s.opts)
	}
	return s.composer
}

func (s *story) apply(e agent.Event) { s.perform(s.run().Apply(e)) }

// perform shows effects, stores what a store would, and then answers AskSpace.
func (s *story) perform(effects []compose.Effect) {
	var asked []compose.AskSpace
	for _, e := range effects {
		if _, ok := e.(compose.SaveMessage); !ok {
			fmt.Fprintln(&s.out, showEffect(e))
		}
		if err := s.follow.take(e); err != nil {
			s.t.Errorf("%s: %v", showEffect(e), err)
		}
		switch e := e.(type) {
		case compose.OpenMessage:
			s.store(e.Message)
		case compose.SaveMessage:
			s.store(e.Message)
		case compose.CloseMessage:
			s.store(e.Message)
		case compose.AskSpace:
			asked = append(asked, e)
		}
	}
	for _, e := range asked {
		s.answer(e)
	}
}

func (s *story) store(m compose.Message) {
	raw := []byte(mustJSON(m)) // what a database returns
	var kept compose.Message
	if err := json.Unmarshal(raw, &kept); err != nil {
		s.t.Fatal(err)
	}
	at := slices.IndexFunc(s.stored, func(o compose.Message) bool { return o.ID == m.ID })
	if at < 0 {
		s.stored = append(s.stored, kept)
		return
	}
	s.stored[at] = kept
}

func (s *story) answer(e compose.AskSpace) {
	membership := compose.Member
	switch word := s.spaces[string(e.Space)]; {
	case word == "later":
		return
	case word != "":
		membership = memberships[word]
	case e.Target != "" && !slices.Contains(s.inside, string(e.Space)+"/"+string(e.Target)):
		membership = compose.NoTarget
	}
	s.perform(s.composer.SetMembership(e.Space, e.Target, membership))
}

// crash restores a composer from the stored state; followers reload.
func (s *story) crash() {
	s.follow = newFollower()
	for _, m := range s.stored {
		s.follow.load(m)
	}
	var effects []compose.Effect
	s.composer, effects = compose.Restore(s.opts, s.stored, s.steps)
	s.perform(effects)
}

func (s *story) route(id string) {
	r, ok := s.run().Route(id)
	if !ok {
		fmt.Fprintf(&s.out, "route %s nowhere\n", id)
		return
	}
	place := ""
	if r.Place != nil {
		place = string(r.Place.Part)
	}
	fmt.Fprintf(&s.out, "route %s space=%s mention=%s target=%s wait=%v part=%s refusal=%s\n", id, r.Space, r.Mention, r.Target, r.Wait, place, r.Refusal)
}
