package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

const (
	messagesPath = spacePath + "/messages"
	messagePath  = sessionPath + "/messages/{message}"
	versionsPath = messagePath + "/versions"
	reactionPath = messagePath + "/reactions/{emoji}"
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
				"`replyTo` names the message of the same space that it replies to. Mentions that are no members are dropped and named in `droppedMentions`. Hosted agents act on it, unless `triggerAgents` is false; " +
				"who refuses, since it is at work, is named in `skippedAgents`. `reach` says for every agent that is mentioned how it is reached, `runs` which runs were started. A repeated Idempotency-Key returns the first message, as long as it exists.",
			in: messageInput{}, example: `{"text": "What were the final Q4 sales figures?", "mentions": ["data-analyzer"]}`, idempotent: true,
			status: http.StatusCreated, out: shoal.Message{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.IdentityMismatch, shoal.Forbidden, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: messagePath, do: getMessage, id: "getMessage", tag: "Messages",
			summary: "Get one message", about: "From any space that the caller may read.",
			status: http.StatusOK, out: shoal.Message{},
		},
		{
			method: http.MethodPatch, path: messagePath, do: editMessage, id: "editMessage", tag: "Messages",
			summary: "Edit a message",
			about: "Changes what a posted message says: give `text`, or `parts`. Only its sender edits it, while it may post to the space; messages of runs are not edited. " +
				"`mentions` replaces whom it mentions, and notifies nobody: who is added is not woken. Without it the mentions stay. " +
				"Every read shows the message as it is now, with `editedAt`; unread it is delivered as it is; followers get `message.updated`. Earlier texts stay readable under `versions`. " +
				"With `updatedAt`, the one that you have read, `conflict` if the message was edited since.",
			in: editInput{}, example: `{"text": "What were the final Q3 sales figures?"}`,
			status: http.StatusOK, out: shoal.Message{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden, shoal.Conflict, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: versionsPath, do: listVersionsOf, id: "listMessageVersions", tag: "Messages",
			summary: "Read what an edited message said before",
			about:   fmt.Sprintf("The newest first, without what it says now. For everybody who may read the message. The first and the newest are kept, %d in all; deleting the message erases them.", shoal.MaxVersions),
			query:   listParams, status: http.StatusOK, out: page[shoal.MessageVersion]{},
		},
		{
			method: http.MethodPut, path: reactionPath, do: addReaction, id: "addReaction", tag: "Messages",
			summary: "React to a message",
			about: fmt.Sprintf("With one emoji, percent-encoded, as the acting entity. Nobody is notified; followers get `message.updated`. Repeated, it changes nothing. "+
				"A message has at most %d different reactions of at most %d entities each, %d of one entity: beyond that, and for deleted messages and those that are still written, `conflict`.",
				shoal.MaxReactions, shoal.MaxReactors, shoal.MaxOwnReactions),
			status: http.StatusOK, out: shoal.Message{},
			errors: []shoal.Kind{shoal.InvalidArgument, shoal.EntityRequired, shoal.Forbidden, shoal.Conflict, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: reactionPath, do: removeReaction, id: "removeReaction", tag: "Messages",
			summary: "Take a reaction back", about: "The acting entity's own. One that is not there is no error.",
			status: http.StatusOK, out: shoal.Message{},
			errors: []shoal.Kind{shoal.InvalidArgument, shoal.EntityRequired, shoal.Forbidden, shoal.Conflict, shoal.SpaceClosed, shoal.SessionClosed},
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
	ReplyTo       shoal.MessageID  `json:"replyTo,omitempty"`
	SenderID      shoal.EntityID   `json:"senderId,omitempty"`
}

func (in messageInput) draft() (shoal.Draft, error) {
	draft := shoal.Draft{Parts: in.Parts, Mentions: in.Mentions, TriggerAgents: in.TriggerAgents, ReplyTo: in.ReplyTo}
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
		err = renameField(renameField(err, "parts[0].text", "text"), "parts", "text")
	}
	return c.answerOr(err, http.StatusCreated, posted)
}

func (c *call) message() shoal.MessageID { return shoal.MessageID(c.r.PathValue("message")) }

func getMessage(c *call) error {
	m, err := c.Hub.Messages.Get(c.ctx(), c.who, c.session(), c.message())
	return c.answerOr(err, http.StatusOK, m)
}

// editInput is a change of a message as clients send it.
type editInput struct {
	Text      *string          `json:"text,omitempty"`
	Parts     []shoal.Part     `json:"parts,omitempty"`
	Mentions  []shoal.EntityID `json:"mentions,omitempty"`
	UpdatedAt *shoal.Time      `json:"updatedAt,omitempty"`
}

func editMessage(c *call) error {
	var in editInput
	if err := c.decode(&in); err != nil {
		return err
	}
	draft, err := messageInput{Text: in.Text, Parts: in.Parts}.draft()
	if err != nil {
		return err
	}
	edited, err := c.Hub.Messages.Edit(c.ctx(), c.who, c.session(), c.message(), shoal.MessageEdit{Parts: draft.Parts, Mentions: in.Mentions, UpdatedAt: in.UpdatedAt})
	if in.Text != nil {
		err = renameField(renameField(err, "parts[0].text", "text"), "parts", "text")
	}
	return c.answerOr(err, http.StatusOK, edited)
}

func addReaction(c *call) error {
	m, err := c.Hub.Messages.React(c.ctx(), c.who, c.session(), c.message(), c.r.PathValue("emoji"))
	return c.answerOr(renameField(err, "emoji", "path.emoji"), http.StatusOK, m)
}

func removeReaction(c *call) error {
	m, err := c.Hub.Messages.Unreact(c.ctx(), c.who, c.session(), c.message(), c.r.PathValue("emoji"))
	return c.answerOr(renameField(err, "emoji", "path.emoji"), http.StatusOK, m)
}

func listVersionsOf(c *call) error {
	place, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	before, err := strconv.ParseInt(place, 10, 64)
	if place != "" && (err != nil || before < 1) {
		return badCursor()
	}
	found, err := c.Hub.Messages.Versions(c.ctx(), c.who, c.session(), c.message(), before, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(v shoal.MessageVersion) string { return strconv.FormatInt(v.Version, 10) }))
}

func deleteMessage(c *call) error {
	return c.noContentOr(c.Hub.Messages.Delete(c.ctx(), c.who, c.session(), c.message()))
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
	direction, seq, err := c.timelinePosition()
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
func (c *call) timelinePosition() (direction string, seq int64, err error) {
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
	return parseTimelineCursor(place)
}

// cursorPlace reads what listMessages writes into a cursor.
func parseTimelineCursor(place string) (direction string, seq int64, err error) {
	direction, number, _ := strings.Cut(place, " ")
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 1 || direction != "before" && direction != "after" {
		return "", 0, badCursor()
	}
	return direction, seq, nil
}
