package compose_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
)

// perform follows and stores effects. It answers AskSpace immediately or later.
func (w *world) perform(effects []compose.Effect) {
	for _, e := range effects {
		if err := w.follow.take(e); err != nil && w.err == nil {
			w.err = fmt.Errorf("%s: %w", showEffect(e), err)
		}
		switch e := e.(type) {
		case compose.OpenMessage:
			w.store(e.Message)
		case compose.SaveMessage:
			w.store(e.Message)
		case compose.CloseMessage:
			w.store(e.Message)
		case compose.StartMention:
			w.started = append(w.started, e.Call)
		case compose.AskSpace:
			w.asked = append(w.asked, e)
		}
	}
}

func (w *world) store(m compose.Message) {
	var kept compose.Message
	if err := json.Unmarshal([]byte(mustJSON(m)), &kept); err != nil {
		w.err = err
	}
	at := slices.IndexFunc(w.stored, func(o compose.Message) bool { return o.ID == m.ID })
	if at < 0 {
		w.stored = append(w.stored, kept)
		return
	}
	w.stored[at] = kept
}

func (w *world) answerAll() {
	for len(w.asked) > 0 {
		asked := w.asked[0]
		w.asked = w.asked[1:]
		membership := compose.Member
		switch {
		case asked.Space == "secret":
			membership = compose.NotMember
		case asked.Target == "nobody":
			membership = compose.NoTarget
		}
		w.perform(w.composer.SetMembership(asked.Space, asked.Target, membership))
	}
}

func (w *world) crash() {
	if w.IntN(2) == 0 {
		for _, m := range w.composer.Drafts() {
			w.store(m)
		}
	}
	w.follow = newFollower()
	for _, m := range w.stored {
		w.follow.load(m)
	}
	w.asked = nil
	var effects []compose.Effect
	w.composer, effects = compose.Restore(w.opts, w.stored, w.steps)
	w.perform(effects)
	w.answerAll()
}

// arguments returns the arguments of a call with its keys in random order, or arguments that
// do not fit the tool.
func (w *world) arguments(tool string) string {
	if w.IntN(12) == 0 {
		return argumentSamples[w.IntN(60)]
	}
	space := []string{`"shop"`, `"ops"`, `"shop"`, `"secret"`, `null`, `7`}[w.IntN(6)]
	text := []string{`"Hello"`, `"é\u00e9\ud83d\ude00 \"x\""`, `"two\nlines"`, `""`, `null`, `"😀😀"`}[w.IntN(6)]
	var members []string
	if tool == "send" {
		members = append(members, `"spaceId":`+space, `"text":`+text)
	} else {
		members = append(members, `"targetSpaceId":`+space, `"name":`+text, `"n":[1,{"mention":2}]`)
	}
	for _, extra := range []string{`"mention":"bob"`, `"wait":{"for":[]}`, `"targetEntityId":"ann"`, `"targetEntityId":"nobody"`, `"text":"again"`, `"spaceId":"ops"`} {
		if w.IntN(6) == 0 {
			members = append(members, extra)
		}
	}
	w.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ", ") + "}"
}

// expect records the parts that an ended call must leave.
func (w *world) expect(call agent.ToolCall, status agent.ResultStatus, refusal compose.Refusal) {
	var args map[string]any
	if call.Arguments == "" || json.Unmarshal([]byte(call.Arguments), &args) != nil || args == nil {
		return
	}
	space, _ := args["targetSpaceId"].(string)
	target, _ := args["targetEntityId"].(string)
	mention, _ := args["mention"].(string)
	if call.Name == "send" {
		space, _ = args["spaceId"].(string)
		target = ""
	}
	if call.Name != "gift" {
		target = ""
	}
	if call.Name == "other" || shoal.CheckID("space", space) != nil || space == "secret" || target == "nobody" {
		return
	}
	if refusal != "" && (strings.Count(call.Arguments, `"spaceId"`) > 1 || strings.Count(call.Arguments, `"targetEntityId"`) > 1) {
		return // it named a destination that was refused before it named another
	}
	text, _ := args["text"].(string)
	if call.Name != "send" {
		stripped := map[string]any{}
		for name, value := range args {
			if name != "targetSpaceId" && name != "mention" && (name != "targetEntityId" || call.Name != "gift") {
				stripped[name] = value
			}
		}
		text = mustJSON(stripped)
	} else if status != agent.ResultOK || text == "" {
		return
	}
	w.want[shoal.SpaceID(space)] = append(w.want[shoal.SpaceID(space)], text)
	if mention != "" {
		w.mentions = append(w.mentions, call.ID)
	}
}

func (w *world) check() error {
	got := map[shoal.SpaceID][]string{}
	ids := make([]shoal.MessageID, 0, len(w.follow.messages))
	for id := range w.follow.messages {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		m := w.follow.messages[id]
		if m.Status == shoal.MessageStreaming {
			return fmt.Errorf("message %s is still open", id)
		}
		for _, p := range m.Parts {
			switch {
			case p.Status == shoal.PartInterrupted || p.Type == shoal.ToolPart && m.text[p.ID] == "":
			case p.Type == shoal.ToolPart:
				var args any
				if err := json.Unmarshal([]byte(m.text[p.ID]), &args); err != nil {
					return err
				}
				got[m.Space] = append(got[m.Space], mustJSON(args))
			default:
				got[m.Space] = append(got[m.Space], m.text[p.ID])
			}
		}
	}
	if w.wild {
		return nil
	}
	if mustJSON(got) != mustJSON(w.want) {
		return fmt.Errorf("got the spaces %s, want %s", mustJSON(got), mustJSON(w.want))
	}
	slices.Sort(w.started)
	slices.Sort(w.mentions)
	if !slices.Equal(w.started, w.mentions) {
		return fmt.Errorf("got mentions of %v, want %v", w.started, w.mentions)
	}
	return nil
}
