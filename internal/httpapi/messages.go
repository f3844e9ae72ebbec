package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	messagesPath = spacePath + "/messages"
	messagePath  = sessionPath + "/messages/{message}"
)

func messageRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: messagesPath, do: listMessages, id: "listMessages", tag: "Messages",
			summary: "Read a timeline",
			about: "Always in ascending order of `seq`: the last messages below `before`, the first above `after`, or with neither the newest. " +
				"`nextCursor` goes on in the same direction. Reading moves nothing.",
			query: []param{
				{"before", "A `seq`: the last `limit` messages below it.", integerParam},
				{"after", "A `seq`: the first `limit` messages above it; 0 starts at the beginning.", integerParam},
				{"cursor", "Where to go on, instead of `before` and `after`.", stringParam},
				limitParam,
			},
			status: http.StatusOK, out: page[shoal.Message]{},
		},
		{
			method: http.MethodPost, path: messagesPath, do: postMessage, id: "postMessage", tag: "Messages",
			summary: "Post a message",
			about: "Give `text`, or `parts` for anything else. The answer means that the message is stored for good and has its place; whoever waits for it wakes. " +
				"Mentions that are no members are dropped and named in `droppedMentions`. Hosted agents act on it, unless `triggerAgents` is false; " +
				"who refuses, since it is at work, is named in `skippedAgents`. `reach` says for every agent that is mentioned how it is reached, `runs` which runs were started. A repeated Idempotency-Key returns the first message, as long as it exists.",
			in: messageInput{}, example: `{"text": "What were the final Q4 sales figures?", "mentions": ["data-analyzer"]}`, once: true,
			status: http.StatusCreated, out: shoal.Message{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.IdentityMismatch, shoal.Forbidden, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: messagePath, do: getMessage, id: "getMessage", tag: "Messages",
			summary: "Get one message", about: "From any space that the caller may read.",
			status: http.StatusOK, out: shoal.Message{},
		},
		{
			method: http.MethodDelete, path: messagePath, do: deleteMessage, id: "deleteMessage", tag: "Messages",
			summary: "Delete a message",
			about: "Erases what the message says: in the timeline, events, inboxes, the search index, and in the runs and conversations of hosted agents. " +
				"The message stays at its place with `deletedAt`, without parts and mentions; followers get `message.updated`. What models were sent stays until its retention ends, backups stay. " +
				"For the sender, the owner of the agent that sent it, and admins and owners of the session, in closed spaces too. " +
				"`conflict` while a run is writing the message or working with it; a run that it started and that has not begun is canceled.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
	}
}

// messageInput is a message as clients post it.
type messageInput struct {
	Text          *string          `json:"text,omitempty"`
	Parts         []shoal.Part     `json:"parts,omitempty"`
	Mentions      []shoal.EntityID `json:"mentions,omitempty"`
	TriggerAgents *bool            `json:"triggerAgents,omitempty"`
	SenderID      shoal.EntityID   `json:"senderId,omitempty"`
}

func (in messageInput) draft() (shoal.Draft, error) {
	draft := shoal.Draft{Parts: in.Parts, Mentions: in.Mentions, TriggerAgents: in.TriggerAgents}
	if in.Text == nil {
		return draft, nil
	}
	if in.Parts != nil {
		return draft, shoal.Invalid("body.text", "and parts exclude each other: put the text into a part, or leave parts out")
	}
	draft.Parts = []shoal.Part{shoal.Text(*in.Text)}
	return draft, nil
}

func postMessage(c *call) error {
	var in messageInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := c.actor("senderId", in.SenderID); err != nil {
		return err
	}
	draft, err := in.draft()
	if err != nil {
		return err
	}
	posted, err := c.Hub.Messages.Post(c.ctx(), c.who, c.session(), c.space(), draft, c.idempotencyKey())
	if in.Text != nil {
		err = renamed(renamed(err, "parts[0].text", "text"), "parts", "text")
	}
	return c.answerOr(err, http.StatusCreated, posted)
}

func (c *call) message() shoal.MessageID { return shoal.MessageID(c.r.PathValue("message")) }

func getMessage(c *call) error {
	m, err := c.Hub.Messages.Get(c.ctx(), c.who, c.session(), c.message())
	return c.answerOr(err, http.StatusOK, m)
}

func deleteMessage(c *call) error {
	return c.done(c.Hub.Messages.Delete(c.ctx(), c.who, c.session(), c.message()))
}

func listMessages(c *call) error {
	p, onward, err := c.timeline()
	if err != nil {
		return err
	}
	found, err := c.Hub.Messages.Read(c.ctx(), c.who, c.session(), c.space(), p)
	if onward {
		return c.answerOr(err, http.StatusOK, pageOf(found, p.Limit-1, func(m shoal.Message) string { return "after " + strconv.FormatInt(m.Seq, 10) }))
	}
	out := pageOf(found, p.Limit, nil)
	if len(found) > 0 && found[0].Seq > 1 {
		out.NextCursor = cursorOf("before " + strconv.FormatInt(found[0].Seq, 10))
	}
	return c.answerOr(err, http.StatusOK, out)
}

// timeline reads which page of a timeline is asked for. Onward, the page has
// one message more than asked for, if there is one.
func (c *call) timeline() (p hub.Page, onward bool, err error) {
	if p.Limit, err = c.limit(shoal.DefaultPage); err != nil {
		return p, false, err
	}
	direction, seq, err := c.timelinePlace()
	switch {
	case err != nil || direction == "":
		return p, false, err
	case direction == "before":
		p.Before = max(seq, 1) // seq starts at 1, and the hub takes 0 for not given
		return p, false, nil
	}
	p.Limit++
	if p.After = seq; seq == 0 {
		p.Before = int64(p.Limit) + 1 // seq has no gaps: the beginning is what lies below this
	}
	return p, true, nil
}

// timelinePlace reads before, after or the cursor that stands for one of them.
func (c *call) timelinePlace() (direction string, seq int64, err error) {
	for _, name := range []string{"before", "after"} {
		n, given, err := c.number(name)
		switch {
		case err != nil:
			return "", 0, err
		case !given:
			continue
		case n < 0:
			return "", 0, shoal.Invalid("query."+name, "is a seq and never negative")
		case direction != "":
			return "", 0, shoal.Invalid("query.after", "and before exclude each other: give one of them")
		}
		direction, seq = name, n
	}
	place, err := c.cursor()
	if err != nil || place == "" {
		return direction, seq, err
	}
	if direction != "" {
		return "", 0, shoal.Invalid("query.cursor", "and "+direction+" exclude each other: give one of them")
	}
	return cursorPlace(place)
}

// cursorPlace reads what listMessages writes into a cursor.
func cursorPlace(place string) (direction string, seq int64, err error) {
	direction, number, _ := strings.Cut(place, " ")
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 1 || direction != "before" && direction != "after" {
		return "", 0, badCursor()
	}
	return direction, seq, nil
}
