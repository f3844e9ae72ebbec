package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/fields"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	messagesPath   = spacePath + "/messages"
	messagePath    = sessionPath + "/messages/{message}"
	versionsPath   = messagePath + "/versions"
	deliveriesPath = messagePath + "/deliveries"
	reactionPath   = messagePath + "/reactions/{emoji}"
)

func messageRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: messagesPath, do: listMessages, id: "listMessages", tag: "Messages",
			summary: "Read a timeline",
			about: "Always in ascending order of `seq`: the last messages below `before`, the first above `after`, or by default the newest. " +
				"`nextCursor` continues in the same direction. Reading acknowledges nothing.",
			query: []param{
				{"before", "A `seq`: the last `limit` messages below it.", integerParam},
				{"after", "A `seq`: the first `limit` messages above it; 0 starts at the beginning.", integerParam},
				{"cursor", "The `nextCursor` of the previous page, instead of `before` and `after`.", stringParam},
				limitParam,
			},
			status: http.StatusOK, out: page[shoal.Message]{},
		},
		{
			method: http.MethodPost, path: messagesPath, do: postMessage, id: "postMessage", tag: "Messages",
			summary: "Post a message",
			about: "Send `text`, or `parts` for other content. The response means that the message is stored durably and has its position; waiters for it wake up. " +
				"`replyTo` is the message of the same space to which it replies. Mentions of entities that are not members are dropped and listed in `droppedMentions`. The message triggers hosted agents, unless `triggerAgents` is false; " +
				"`skippedAgents` lists those that skip it because they are busy. `reach` states for every mentioned agent how the message reaches it, `runs` lists the started runs. A repeated Idempotency-Key returns the first message, as long as it exists.",
			in: messageInput{}, example: `{"text": "What were the final Q4 sales figures?", "mentions": ["data-analyzer"]}`, idempotent: true,
			status: http.StatusCreated, out: shoal.Message{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.IdentityMismatch, shoal.Forbidden, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: messagePath, do: getMessage, id: "getMessage", tag: "Messages",
			summary: "Read one message", about: "From any space that the caller may read.",
			status: http.StatusOK, out: shoal.Message{},
		},
		{
			method: http.MethodPatch, path: messagePath, do: editMessage, id: "editMessage", tag: "Messages",
			summary: "Edit a message",
			about: "Replaces the content of a posted message: send `text`, or `parts`. Only its sender can edit it, and only while it may post to the space; messages of runs cannot be edited. " +
				"`mentions` replaces the mentions and wakes nobody; without it the mentions do not change. " +
				"Every read returns the current content, with `editedAt`; an unread message is delivered with its current content; followers get `message.updated`. `versions` returns earlier content. " +
				"With the `updatedAt` that you have read, the call fails with `conflict` if the message was edited since then.",
			in: editInput{}, example: `{"text": "What were the final Q3 sales figures?"}`,
			status: http.StatusOK, out: shoal.Message{},
			errors: []shoal.Kind{shoal.EntityRequired, shoal.Forbidden, shoal.Conflict, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: versionsPath, do: listVersionsOf, id: "listMessageVersions", tag: "Messages",
			summary: "List the earlier versions of a message",
			about:   fmt.Sprintf("Newest first, without the current version. For all readers of the message. The first and the newest versions are stored, %d in total; deleting the message erases them.", shoal.MaxVersions),
			query:   listParams, status: http.StatusOK, out: page[shoal.MessageVersion]{},
		},
		{
			method: http.MethodGet, path: deliveriesPath, do: listDeliveries, id: "listDeliveries", tag: "Messages",
			summary: "Read what became of the mentions of a message",
			about: "One receipt for each agent that the message mentions, for all readers of the message, on one page. Mentions of people have none. " +
				"Followers of the space get `delivery.updated` when a receipt changes, if they have sent the message or are admins.",
			status: http.StatusOK, out: page[shoal.Receipt]{},
		},
		{
			method: http.MethodPut, path: reactionPath, do: addReaction, id: "addReaction", tag: "Messages",
			summary: "React to a message",
			about: fmt.Sprintf("Adds one emoji, percent-encoded, for the acting entity. Nobody is notified; followers get `message.updated`. Repeating the call changes nothing. "+
				"A message has at most %d different reactions of at most %d entities each, and at most %d of one entity. Beyond that, and for deleted and streaming messages, the call fails with `conflict`.",
				shoal.MaxReactions, shoal.MaxReactors, shoal.MaxOwnReactions),
			status: http.StatusOK, out: shoal.Message{},
			errors: []shoal.Kind{shoal.InvalidArgument, shoal.EntityRequired, shoal.Forbidden, shoal.Conflict, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: reactionPath, do: removeReaction, id: "removeReaction", tag: "Messages",
			summary: "Remove a reaction", about: "Removes a reaction of the acting entity. Removing one that does not exist succeeds.",
			status: http.StatusOK, out: shoal.Message{},
			errors: []shoal.Kind{shoal.InvalidArgument, shoal.EntityRequired, shoal.Forbidden, shoal.Conflict, shoal.SpaceClosed, shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: messagePath, do: deleteMessage, id: "deleteMessage", tag: "Messages",
			summary: "Delete a message",
			about: "Erases the content of the message in the timeline, events, inboxes, the search index, and in the runs and conversations of hosted agents. " +
				"The message keeps its position and gets `deletedAt`, without parts and mentions; followers get `message.updated`. Stored model requests remain until their retention ends, and backups remain. " +
				"For the sender, the owner of the agent that sent it, admins and owners of the session, and, in a session with `spaceRights: moderators`, the owner of the space and admins of the session; in closed spaces, too. " +
				"A run that is still writing the message is canceled, with what it asks people; so is a queued run that the message has triggered. " +
				"Fails with `conflict` while the run does not end, or another run is using the message; try again in a moment.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden, shoal.Conflict},
		},
	}
}

// messageInput is the body of a post.
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
		return draft, shoal.Invalid("body.text", "cannot be combined with parts: put the text into a part, or leave parts out")
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
	posted, err := c.Hub.Messages.Post(c.ctx(), c.caller, c.session(), c.space(), draft, c.idempotencyKey())
	if in.Text != nil {
		err = fields.Rename(fields.Rename(err, "parts[0].text", "text"), "parts", "text")
	}
	return c.answerOr(err, http.StatusCreated, posted)
}

func (c *call) message() shoal.MessageID { return shoal.MessageID(c.r.PathValue("message")) }

func getMessage(c *call) error {
	m, err := c.Hub.Messages.Get(c.ctx(), c.caller, c.session(), c.message())
	return c.answerOr(err, http.StatusOK, m)
}

// editInput is the body of an edit.
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
	edited, err := c.Hub.Messages.Edit(c.ctx(), c.caller, c.session(), c.message(), shoal.MessageEdit{Parts: draft.Parts, Mentions: in.Mentions, UpdatedAt: in.UpdatedAt})
	if in.Text != nil {
		err = fields.Rename(fields.Rename(err, "parts[0].text", "text"), "parts", "text")
	}
	return c.answerOr(err, http.StatusOK, edited)
}

func addReaction(c *call) error {
	m, err := c.Hub.Messages.React(c.ctx(), c.caller, c.session(), c.message(), c.r.PathValue("emoji"))
	return c.answerOr(fields.Rename(err, "emoji", "path.emoji"), http.StatusOK, m)
}

func removeReaction(c *call) error {
	m, err := c.Hub.Messages.Unreact(c.ctx(), c.caller, c.session(), c.message(), c.r.PathValue("emoji"))
	return c.answerOr(fields.Rename(err, "emoji", "path.emoji"), http.StatusOK, m)
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
	found, err := c.Hub.Messages.Versions(c.ctx(), c.caller, c.session(), c.message(), before, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(v shoal.MessageVersion) string { return strconv.FormatInt(v.Version, 10) }))
}

func listDeliveries(c *call) error {
	found, err := c.Hub.Messages.Receipts(c.ctx(), c.caller, c.session(), c.message())
	return c.answerOr(err, http.StatusOK, page[shoal.Receipt]{Items: found})
}

func deleteMessage(c *call) error {
	return c.noContentOr(c.Hub.Messages.Delete(c.ctx(), c.caller, c.session(), c.message()))
}

func listMessages(c *call) error {
	p, onward, err := c.timeline()
	if err != nil {
		return err
	}
	found, err := c.Hub.Messages.Read(c.ctx(), c.caller, c.session(), c.space(), p)
	if onward {
		return c.answerOr(err, http.StatusOK, pageOf(found, p.Limit-1, func(m shoal.Message) string { return "after " + strconv.FormatInt(m.Seq, 10) }))
	}
	out := pageOf(found, p.Limit, nil)
	if len(found) > 0 && found[0].Seq > 1 {
		out.NextCursor = cursorOf("before " + strconv.FormatInt(found[0].Seq, 10))
	}
	return c.answerOr(err, http.StatusOK, out)
}

// timeline returns the requested page of a timeline. With onward, which means ascending pages, its
// limit is one more than requested.
func (c *call) timeline() (p storage.Page, onward bool, err error) {
	if p.Limit, err = c.limit(shoal.DefaultPage); err != nil {
		return p, false, err
	}
	direction, seq, err := c.timelinePosition()
	switch {
	case err != nil || direction == "":
		return p, false, err
	case direction == "before":
		p.Before = max(seq, 1) // seq starts at 1, and 0 means no bound to the hub
		return p, false, nil
	}
	p.Limit++
	if p.After = seq; seq == 0 {
		p.Before = int64(p.Limit) + 1 // seq has no gaps, so this is the first page
	}
	return p, true, nil
}

// timelinePosition returns the parameter before or after, or the one that the cursor encodes.
func (c *call) timelinePosition() (direction string, seq int64, err error) {
	for _, name := range []string{"before", "after"} {
		n, given, err := c.number(name)
		switch {
		case err != nil:
			return "", 0, err
		case !given:
			continue
		case n < 0:
			return "", 0, shoal.Invalid("query."+name, "must not be negative")
		case direction != "":
			return "", 0, shoal.Invalid("query.after", "cannot be combined with before: send one of them")
		}
		direction, seq = name, n
	}
	place, err := c.cursor()
	if err != nil || place == "" {
		return direction, seq, err
	}
	if direction != "" {
		return "", 0, shoal.Invalid("query.cursor", "cannot be combined with "+direction+": send one of them")
	}
	return parseTimelineCursor(place)
}

// parseTimelineCursor parses the decoded cursors of listMessages.
func parseTimelineCursor(place string) (direction string, seq int64, err error) {
	direction, number, _ := strings.Cut(place, " ")
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 1 || direction != "before" && direction != "after" {
		return "", 0, badCursor()
	}
	return direction, seq, nil
}
