package aisdkapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/chatapi"
	"github.com/shoal-dev/shoal/internal/eventstream"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// response is one stream: what the client says, and what it is shown. It belongs to the goroutine of the
// request.
type response struct {
	*call
	*exchange.Exchange
	in      *request             // empty for a stream that is resumed
	sent    *storage.ClientInput // what runs get of the request, nil for nothing
	ignored []chatapi.Ignored
	id      string // of the message of the assistant, "" where the client has one
	view    *projection
	out     *eventstream.Stream
	named   map[shoal.RunID]bool // the runs that were named as waiting for somebody else
}

func (x *response) ignore(what, why string) {
	x.ignored = append(x.ignored, chatapi.Ignored{What: what, Why: why})
}

// send serves POST: it posts a message of the user, or answers what waits, and shows what follows.
func (c *call) send() error {
	in, err := decode(guard.Body(c.r))
	if err != nil {
		return err
	}
	said, err := in.said()
	if err != nil {
		return err
	}
	x := &response{call: c, in: in, ignored: in.ignored}
	if x.sent, err = in.clientInput(); err != nil {
		return err
	}
	end, err := x.open(in.holds(len(said.user) == 0))
	if err != nil {
		return err
	}
	defer end()
	if err := x.say(c.r.Context(), said); err != nil {
		return err
	}
	err = x.stream()
	if !in.Resume {
		x.cancel(err)
	}
	return nil
}

// open opens the exchange with a client that has these parts already.
func (x *response) open(had held) (end func(), err error) {
	x.Exchange, end, err = x.Open(x.r, x.caller, x.session, x.space)
	if err != nil {
		return nil, err
	}
	x.named = map[shoal.RunID]bool{}
	x.view = newProjection(had, func(id shoal.RunID) shoal.EntityID {
		if run := x.Runs[id]; run != nil {
			return run.AgentID
		}
		return ""
	})
	return end, nil
}

// say posts what the client says, or answers what waits for it, and finds the runs that follow.
func (x *response) say(ctx context.Context, said said) error {
	if len(said.user) == 0 {
		x.id = said.continues
		if err := x.answer(ctx, said.answers); err != nil {
			return err
		}
	} else if err := x.post(ctx, said.user); err != nil {
		return err
	}
	if err := x.Find(ctx); err != nil {
		return err
	}
	if x.in.Trigger == regenerate {
		if err := x.regenerate(ctx); err != nil {
			return err
		}
	}
	if x.Posted != nil && len(x.Runs) == 0 {
		return x.Nobody("name one in the field mentions of the body")
	}
	tools, context, err := x.Unused(ctx, x.sent)
	if tools {
		x.ignore("tools", chatapi.LateInput)
	}
	if context {
		x.ignore("system", chatapi.LateInput)
	}
	return err
}

// answerID returns the id of the message of the assistant that answers a message.
func answerID(to shoal.MessageID) string { return string(to) + ".answer" }

// post posts messages of the user as one, or gives their text to a question of an agent.
func (x *response) post(ctx context.Context, messages []uiMessage) error {
	d, files, err := draft(messages, x.ignore)
	if err != nil {
		return err
	}
	for _, id := range x.in.Mentions {
		if _, err := x.API.Hub.Spaces.Member(ctx, x.caller, x.Session, x.Space, id); err != nil {
			return err
		}
	}
	d.Mentions = x.in.Mentions
	if x.in.Trigger != regenerate {
		answered, err := x.AnswerQuestion(ctx, "", d)
		if answered || err != nil {
			x.hideShown()
			return err
		}
	}
	key := x.key(messages)
	if err := x.upload(ctx, &d, files, key); err != nil {
		return err
	}
	if err := x.Post(ctx, d, x.sent, key); err != nil {
		return err
	}
	x.id = answerID(x.Posted.ID)
	x.hide(x.Posted.Seq)
	return nil
}

// key makes messages of a user unique among all that the caller posts in the session. A message that is edited has
// another key: it is posted anew.
func (x *response) key(messages []uiMessage) string {
	last := messages[len(messages)-1]
	if last.ID == "" {
		return ""
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %q %q", x.Space, x.in.ID, x.in.Mentions) // a hash takes everything
	for _, m := range messages {
		_, _ = fmt.Fprintf(sum, " %q", m.ID)
		for _, p := range m.Parts {
			if p.Text != nil {
				_, _ = fmt.Fprintf(sum, " %q", *p.Text)
			}
			_, _ = fmt.Fprintf(sum, " %q %q", p.URL, p.Filename)
		}
	}
	return "ai-sdk-" + hex.EncodeToString(sum.Sum(nil))
}

// upload uploads the files of a draft. key makes a repetition harmless, "" for none.
func (x *response) upload(ctx context.Context, d *shoal.Draft, files []attachment, key string) error {
	for _, f := range files {
		p := &d.Parts[f.part]
		n := shoal.File{Name: p.Name, MediaType: p.MediaType, Size: int64(len(f.content))}
		again := ""
		if key != "" {
			again = fmt.Sprintf("%s-%d", key, f.part)
		}
		stored, err := x.API.Hub.Files.Upload(ctx, x.caller, x.Session, n, f.content, func(id shoal.FileID) string { return shoal.FilePath(x.Session, id) }, again)
		if err != nil {
			return err
		}
		p.URL, p.Size = stored.URL, stored.Size
	}
	return nil
}

// hide leaves out the messages of runs that are before a message: they belong to earlier answers.
func (x *response) hide(before int64) {
	for _, m := range x.Snapshot.Messages {
		if m.RunID != nil && m.Seq < before {
			x.view.hidden[m.ID] = true
		}
	}
}

// hideShown leaves out the parts that were there before the client said something new.
func (x *response) hideShown() {
	for _, m := range x.Snapshot.Messages {
		for _, p := range m.Parts {
			x.view.had.texts[p.ID], x.view.had.parts[p.ID] = p.Text, true
			if id := exchange.CallID(orEmpty(m.RunID), p.ToolCallID); p.Type == shoal.ToolPart && x.view.had.calls[id].Type == "" {
				x.view.had.closed[id] = true
				x.view.had.calls[id] = uiPart{Type: toolPrefix + p.ToolName, ToolCallID: id, State: inputComplete, Input: p.Args}
			}
		}
	}
}

func orEmpty(id *shoal.RunID) shoal.RunID {
	if id == nil {
		return ""
	}
	return *id
}

// regenerate starts the runs of the message again that have ended. The space keeps what they have written.
func (x *response) regenerate(ctx context.Context) error {
	if x.Posted == nil {
		return nil
	}
	newest := map[shoal.EntityID]shoal.RunID{}
	for id, run := range x.Runs {
		if run.Trigger.MessageID == x.Posted.ID && id > newest[run.AgentID] {
			newest[run.AgentID] = id
		}
	}
	for _, id := range newest {
		if !x.Runs[id].Status.Ended() {
			continue
		}
		again, err := x.API.Hub.Runs.Retry(ctx, x.caller, x.Session, id, "")
		if err != nil {
			return err
		}
		x.Runs[id].Past = true
		if err := x.Want(ctx, again.ID); err != nil {
			return err
		}
		for _, m := range x.Snapshot.Messages {
			x.view.hidden[m.ID] = x.view.hidden[m.ID] || m.RunID != nil && *m.RunID != again.ID
		}
	}
	return nil
}

// answer gives the answers of the client to what waits for them. One that was given before changes nothing.
func (x *response) answer(ctx context.Context, answers []answer) error {
	open, err := x.Waiting(ctx)
	if err != nil {
		return err
	}
	for _, a := range answers {
		at := slices.IndexFunc(open, func(w shoal.PendingAction) bool { return callID(w) == a.call })
		switch {
		case at >= 0 && (a.Approved != nil) == (open[at].Kind == shoal.PendingPermission):
			_, err = x.API.Hub.Pending.Answer(ctx, x.caller, x.Session, open[at].ID, a.to(open[at].Kind))
		case !a.newest:
			continue
		default:
			err = x.answerAgain(ctx, a)
		}
		if err != nil {
			return err
		}
		run, _, _ := exchange.ParseCallID(a.call)
		if err := x.Want(ctx, run); err != nil {
			return err
		}
	}
	newest, _ := x.NewestOwn()
	x.hide(newest.Seq)
	return nil
}

// answerAgain repeats an answer to what waits no longer for it: the client may have lost what followed.
func (x *response) answerAgain(ctx context.Context, a answer) error {
	if a.Approved != nil {
		_, err := x.API.Hub.Pending.Answer(ctx, x.caller, x.Session, shoal.PendingID(a.action), a.PendingAnswer)
		return err
	}
	run, call, ours := exchange.ParseCallID(a.call)
	if !ours {
		return shoal.E("aisdkapi", shoal.NotFound, "No tool call with the id "+a.call+" is known.")
	}
	_, err := x.API.Hub.Pending.AnswerCall(ctx, x.caller, x.Session, run, call, a.PendingAnswer)
	return err
}

// cancel cancels the runs, if the client has disconnected.
func (x *response) cancel(err error) {
	gone := errors.Is(err, eventstream.ErrGone) || x.r.Context().Err() != nil
	if !gone || errors.Is(err, core.ErrStopping) {
		return
	}
	if err := x.CancelRunning(x.r.Context()); err != nil && !errors.Is(err, core.ErrStopping) {
		x.Log.Error("the runs of a client that has disconnected cannot be canceled", "request", guard.RequestID(x.w), "error", err)
	}
}
