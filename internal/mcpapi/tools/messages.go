package tools

import (
	"context"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
)

func sendMessage() *tool {
	return &tool{
		name:  "send_message",
		about: "Post a message to a thread that you are in. It wakes only the participants in mentions; a name in the text wakes nobody.",
		inputs: []input{
			threadInput,
			{name: "content", kind: textInput, length: shoal.MaxContent, checked: true, required: true, about: "The text of the message."},
			{name: "mentions", kind: listInput, empty: true, about: "The ids of the participants that should read it now."},
			{name: "replyTo", kind: textInput, length: shoal.MaxID, about: "The id of a message of the thread that this one replies to."},
			{name: "senderId", kind: textInput, actor: true, about: "Your own id. Leave it out: your key says who you are."},
			{name: "idempotencyKey", kind: textInput, length: shoal.MaxIdempotency, about: "Any text of your choice. Repeating a call with the same key posts nothing twice: use it when you do not know whether a call arrived."},
		},
		output: shoal.Message{},
		words:  map[string]string{"parts[0].text": "content", "parts": "content"},
		call: func(ctx context.Context, c *call) (result, error) {
			draft := shoal.Draft{Parts: []shoal.Part{shoal.Text(c.text("content"))}, Mentions: c.ids("mentions"), ReplyTo: shoal.MessageID(c.text("replyTo"))}
			m, err := c.Hub.Messages.Post(ctx, c.Principal, c.Session, c.thread(), draft, c.text("idempotencyKey"))
			if err != nil {
				return result{}, err
			}
			return result{text: sentText(m), structured: m}, nil
		},
	}
}

// sentText confirms a message.
func sentText(m shoal.Message) string {
	var b strings.Builder
	b.WriteString("Message sent successfully:\nID: " + string(m.ID))
	b.WriteString("\nThread: " + string(m.SpaceID))
	b.WriteString("\nSender: " + string(m.EntityID))
	b.WriteString("\nContent: " + m.Text())
	b.WriteString("\nMentions: " + join(m.Mentions))
	if m.ReplyTo != nil {
		b.WriteString("\nReply to: " + string(*m.ReplyTo))
	}
	b.WriteString(droppedText(m))
	if len(m.SkippedAgents) > 0 {
		b.WriteString("\nSkipped agents: " + join(m.SkippedAgents) + " (at work, and they take one message at a time)")
	}
	b.WriteString(reachLines(m.Reach))
	return b.String()
}

// droppedText names the mentions that a message was not given: those of entities outside the thread.
func droppedText(m shoal.Message) string {
	if len(m.DroppedMentions) == 0 {
		return ""
	}
	return "\nDropped mentions: " + join(m.DroppedMentions) + " (no participants of this thread: add_participant adds them)"
}

// reachLines names the agents that a message does not wake, or may not, with the reasons.
func reachLines(reach []shoal.Reach) string {
	const reads = " They read it when they next wait."
	var asleep, idle, unsure []string
	for _, r := range reach {
		why := string(r.EntityID) + " (" + r.Text + ")"
		switch {
		case r.KnownAt != nil:
			unsure = append(unsure, string(r.EntityID)+" (the server has just started)")
		case r.Missed() && r.Via == nil:
			asleep = append(asleep, why)
		case r.Missed():
			idle = append(idle, why)
		}
	}
	text := ""
	for _, line := range []struct {
		begin string
		ids   []string
		end   string
	}{{"Not reached", asleep, reads}, {"Not reached", idle, ""}, {"Not known yet", unsure, reads}} {
		if len(line.ids) > 0 {
			text += "\n" + line.begin + ": " + strings.Join(line.ids, ", ") + "." + line.end
		}
	}
	return text
}

func editMessage() *tool {
	return &tool{
		name:    "edit_message",
		repeats: true,
		about:   "Change the text of a message that you sent: the new text replaces the old one, which stays readable as a version. An edit wakes nobody: to be read now, send a new message.",
		inputs: []input{
			{name: "messageId", kind: textInput, length: shoal.MaxID, required: true, about: "The id of the message."},
			{name: "content", kind: textInput, length: shoal.MaxContent, checked: true, required: true, about: "The new text of the message."},
			{name: "mentions", kind: listInput, about: "The new list of mentioned participants, by id. Omit it to keep the current list."},
		},
		output: shoal.Message{},
		words:  map[string]string{"parts[0].text": "content", "parts": "content"},
		call: func(ctx context.Context, c *call) (result, error) {
			e := shoal.MessageEdit{Parts: []shoal.Part{shoal.Text(c.text("content"))}}
			if c.given("mentions") {
				e.Mentions = append([]shoal.EntityID{}, c.ids("mentions")...)
			}
			m, err := c.Hub.Messages.Edit(ctx, c.Principal, c.Session, shoal.MessageID(c.text("messageId")), e)
			if err != nil {
				return result{}, err
			}
			return result{text: "Message edited successfully:\nID: " + string(m.ID) + "\nThread: " + string(m.SpaceID) + "\nContent: " + m.Text() + "\nMentions: " + join(m.Mentions) + droppedText(m), structured: m}, nil
		},
	}
}

func react() *tool {
	return &tool{
		name:    "react",
		repeats: true,
		about:   "React to a message with an emoji, or remove your reaction. A reaction wakes nobody: use it instead of a reply that would only say yes, seen or thanks.",
		inputs: []input{
			{name: "messageId", kind: textInput, length: shoal.MaxID, required: true, about: "The id of the message."},
			{name: "emoji", kind: textInput, length: shoal.MaxEmoji, required: true, about: "One emoji."},
			{name: "remove", kind: flagInput, about: "true removes your reaction."},
		},
		output: shoal.Message{},
		call: func(ctx context.Context, c *call) (result, error) {
			apply, text := c.Hub.Messages.React, "Reaction added successfully:"
			if c.flag("remove") {
				apply, text = c.Hub.Messages.Unreact, "Reaction removed successfully:"
			}
			m, err := apply(ctx, c.Principal, c.Session, shoal.MessageID(c.text("messageId")), c.text("emoji"))
			if err != nil {
				return result{}, err
			}
			return result{text: text + "\nID: " + string(m.ID) + "\nThread: " + string(m.SpaceID) + "\nReactions: " + reactionsText(m), structured: m}, nil
		},
	}
}

// reactionsText lists the reactions to a message with those who reacted.
func reactionsText(m shoal.Message) string {
	if len(m.Reactions) == 0 {
		return "none"
	}
	all := make([]string, len(m.Reactions))
	for i, r := range m.Reactions {
		all[i] = r.Emoji + " " + join(r.EntityIDs)
	}
	return strings.Join(all, "; ")
}

func deleteMessage() *tool {
	return &tool{
		name:    "delete_message",
		removes: true,
		repeats: true,
		about:   "Delete a message that you sent: its content is erased for everybody, and a tombstone stays in the thread.",
		inputs: []input{
			{name: "messageId", kind: textInput, length: shoal.MaxID, required: true, about: "The id of the message."},
		},
		output: shoal.Message{},
		call: func(ctx context.Context, c *call) (result, error) {
			id := shoal.MessageID(c.text("messageId"))
			if err := c.Hub.Messages.Delete(ctx, c.Principal, c.Session, id); err != nil {
				return result{}, err
			}
			m, err := c.Hub.Messages.Get(ctx, c.Principal, c.Session, id)
			if err != nil {
				return result{}, err
			}
			return result{text: "Message deleted successfully:\nID: " + string(m.ID) + "\nThread: " + string(m.SpaceID), structured: m}, nil
		},
	}
}

// reading is the structured result of read_thread.
type reading struct {
	Space shoal.Space     `json:"space"`
	Items []shoal.Message `json:"items"`
}

func readThread() *tool {
	return &tool{
		name:  "read_thread",
		about: "Read messages of a thread, oldest first: the newest ones unless beforeSeq or afterSeq is set. Reading acknowledges nothing.",
		reads: true,
		inputs: []input{
			threadInput,
			{name: "limit", kind: wholeInput, otherwise: shoal.DefaultPage, least: 1, most: shoal.MaxPage, about: "How many messages."},
			{name: "beforeSeq", kind: wholeInput, least: 1, most: anyNumber, about: "Read the last messages below this seq."},
			{name: "afterSeq", kind: wholeInput, least: 0, most: anyNumber, about: "Read the first messages above this seq."},
		},
		output: reading{},
		call: func(ctx context.Context, c *call) (result, error) {
			page, err := c.page()
			if err != nil {
				return result{}, err
			}
			messages, err := c.Hub.Messages.Read(ctx, c.Principal, c.Session, c.thread(), page)
			if err != nil {
				return result{}, err
			}
			space, err := c.Hub.Spaces.Get(ctx, c.Principal, c.Session, c.thread())
			if err != nil {
				return result{}, err
			}
			text, err := c.messagesText(ctx, []threadText{textOf(space, messages)})
			return result{text: text, structured: reading{Space: space, Items: append([]shoal.Message{}, messages...)}}, err
		},
	}
}

// page returns the page of the timeline that the arguments select.
func (c *call) page() (storage.Page, error) {
	page := storage.Page{Limit: int(c.whole("limit")), Before: c.whole("beforeSeq"), After: c.whole("afterSeq")}
	switch {
	case c.given("beforeSeq") && c.given("afterSeq"):
		return page, shoal.Invalid("beforeSeq", "and afterSeq exclude each other: give one of them")
	case c.given("afterSeq") && page.After == 0:
		// The hub reads 0 as "not given". A timeline starts at 1 and has no gaps.
		page.Before = int64(page.Limit) + 1
	}
	return page, nil
}

func searchMessages() *tool {
	return &tool{
		name:  "search_messages",
		about: "Find the messages in your threads that match every term of the query, the newest first.",
		reads: true,
		inputs: []input{
			{name: "query", kind: textInput, length: maxQuery, checked: true, required: true, about: `Words, the last one may be the beginning of a word; "words that follow each other"; lap* for beginnings; -without; from:ID, in:THREAD, mentions:me, has:file|image|link|code|tool|approval|data, kind:human|agent|system, before:2027-01-31, after:2027-01-31.`},
			threadInput.optional("Search this thread only."),
			{name: "limit", kind: wholeInput, otherwise: 20, least: 1, most: shoal.MaxPage, about: "How many hits."},
			{name: "sort", kind: textInput, about: "newest, which is the default, or relevance: the best first."},
		},
		output: list[shoal.Hit]{},
		call: func(ctx context.Context, c *call) (result, error) {
			hits, err := c.search(ctx)
			if err != nil {
				return result{}, err
			}
			messages := make([]shoal.Message, len(hits))
			for i, h := range hits {
				messages[i] = h.Message
			}
			n := names{shoal.System: naming.SystemName}
			if err := c.addNames(ctx, n, messages); err != nil {
				return result{}, err
			}
			return result{text: hitsXML(hits, naming.DisplayNames(n)), structured: list[shoal.Hit]{Items: append([]shoal.Hit{}, hits...)}}, nil
		},
	}
}

// searchPages is how many pages a call reads in search of a first hit.
const searchPages = 20

// search returns the first page that has hits: a page can be empty although later ones
// are not.
func (c *call) search(ctx context.Context) ([]shoal.Hit, error) {
	ask := spaces.Search{Query: c.text("query"), Space: c.thread(), Sort: spaces.SearchSort(c.text("sort")), Limit: int(c.whole("limit"))}
	for range searchPages {
		page, err := c.Hub.Messages.Search(ctx, c.Principal, c.Session, ask)
		if err != nil || len(page.Hits) > 0 || page.Next == nil {
			return page.Hits, err
		}
		ask.Position = *page.Next
	}
	return nil, nil
}
