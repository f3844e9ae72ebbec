package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/shoal-dev/shoal"
)

// MessagesOptions select a page of a timeline by seq: with Before the last Limit messages
// before it, with After the first Limit messages after it, with neither the newest. Setting
// both is an error. Limit is shoal.DefaultPage if zero, and at most shoal.MaxPage.
type MessagesOptions struct {
	Before, After int64
	Limit         int
}

func (o MessagesOptions) query() url.Values {
	q := url.Values{"limit": {strconv.Itoa(shoal.PageLimit(o.Limit, shoal.DefaultPage))}}
	if o.Before != 0 {
		q.Set("before", strconv.FormatInt(o.Before, 10))
	}
	if o.After != 0 {
		q.Set("after", strconv.FormatInt(o.After, 10))
	}
	return q
}

// Messages returns a page of a space's timeline in ascending order. Reading acknowledges
// nothing.
func (s *Session) Messages(ctx context.Context, space shoal.SpaceID, o MessagesOptions) ([]shoal.Message, error) {
	var got page[shoal.Message]
	in := call{op: "client.Messages", path: s.path("spaces", string(space), "messages"), query: o.query()}
	err := s.client.do(ctx, in, &got)
	return got.Items, err
}

// Timeline yields the messages of a space with a sequence number above after, 0 for all, in
// ascending order. It ends when there is no further message.
func (s *Session) Timeline(ctx context.Context, space shoal.SpaceID, after int64) iter.Seq2[shoal.Message, error] {
	return func(yield func(shoal.Message, error) bool) {
		for {
			var got page[shoal.Message]
			in := call{op: "client.Timeline", path: s.path("spaces", string(space), "messages")}
			in.query = url.Values{"limit": {strconv.Itoa(shoal.MaxPage)}, "after": {strconv.FormatInt(after, 10)}}
			if err := s.client.do(ctx, in, &got); err != nil {
				yield(shoal.Message{}, err)
				return
			}
			for _, m := range got.Items {
				if !yield(m, nil) {
					return
				}
				after = m.Seq
			}
			if len(got.Items) < shoal.MaxPage {
				return
			}
		}
	}
}

// Post posts a message as the acting entity. It is stored once, however often the call
// is repeated. Mentions of entities that are not members of the space are dropped and
// listed in the message.
func (s *Session) Post(ctx context.Context, space shoal.SpaceID, draft shoal.Draft, options ...CallOption) (made shoal.Message, err error) {
	in := call{op: "client.Post", path: s.path("spaces", string(space), "messages"), body: draft}
	return made, s.client.create(ctx, in, &made, options)
}

// Message returns one message of a space that the caller may read.
func (s *Session) Message(ctx context.Context, id shoal.MessageID) (out shoal.Message, err error) {
	return out, s.client.do(ctx, call{op: "client.Message", path: s.path("messages", string(id))}, &out)
}

// EditMessage changes a message of the caller and returns the new state. Nobody is notified
// again. It fails with Conflict for a deleted message, and for one that was changed after
// e.UpdatedAt; with Forbidden for messages of other entities and of runs.
func (s *Session) EditMessage(ctx context.Context, id shoal.MessageID, e shoal.MessageEdit) (out shoal.Message, err error) {
	in := call{op: "client.EditMessage", method: http.MethodPatch, path: s.path("messages", string(id)), body: e}
	return out, s.client.do(ctx, in, &out)
}

// MessageVersions lists the earlier versions of an edited message, the newest first.
func (s *Session) MessageVersions(ctx context.Context, id shoal.MessageID) iter.Seq2[shoal.MessageVersion, error] {
	return list[shoal.MessageVersion](ctx, s.client, call{op: "client.MessageVersions", path: s.path("messages", string(id), "versions")})
}

// Receipts returns what became of the mention of each agent in a message that the caller may
// read. Mentions of people have no receipts. A follower of the space that has sent the message
// gets delivery.updated when they change.
func (s *Session) Receipts(ctx context.Context, id shoal.MessageID) ([]shoal.Receipt, error) {
	var got page[shoal.Receipt]
	err := s.client.do(ctx, call{op: "client.Receipts", path: s.path("messages", string(id), "deliveries")}, &got)
	return got.Items, err
}

// React adds an emoji of the acting entity to a message. It fails with Conflict if the
// message has the maximum number of reactions, or is deleted.
func (s *Session) React(ctx context.Context, id shoal.MessageID, emoji string) (out shoal.Message, err error) {
	if err := shoal.CheckEmoji("emoji", emoji); err != nil {
		return out, err
	}
	in := call{op: "client.React", method: http.MethodPut, path: s.path("messages", string(id), "reactions", emoji)}
	return out, s.client.do(ctx, in, &out)
}

// Unreact removes a reaction of the acting entity. A missing reaction is not an error.
func (s *Session) Unreact(ctx context.Context, id shoal.MessageID, emoji string) (out shoal.Message, err error) {
	if err := shoal.CheckEmoji("emoji", emoji); err != nil {
		return out, err
	}
	in := call{op: "client.Unreact", method: http.MethodDelete, path: s.path("messages", string(id), "reactions", emoji)}
	return out, s.client.do(ctx, in, &out)
}

// DeleteMessage erases the content of a message: it keeps its position, with DeletedAt and
// without parts. It is for the sender, the owner of the agent that sent it, moderators of the
// space, and admins and owners of the session. It fails with Conflict while a run is using the
// message.
func (s *Session) DeleteMessage(ctx context.Context, id shoal.MessageID) error {
	in := call{op: "client.DeleteMessage", method: http.MethodDelete, path: s.path("messages", string(id))}
	return s.client.do(ctx, in, nil)
}

// MarkRead acknowledges the messages of the space in the acting entity's inbox up to and
// including seq.
func (s *Session) MarkRead(ctx context.Context, space shoal.SpaceID, seq int64) error {
	in := call{op: "client.MarkRead", method: http.MethodPost, path: s.path("spaces", string(space), "read")}
	in.body = struct {
		Seq int64 `json:"seq"`
	}{seq}
	return s.client.do(ctx, in, nil)
}

// SearchOptions narrow a search, if set.
type SearchOptions struct {
	Space shoal.SpaceID
	// SenderKind restricts the search to messages of people or of agents.
	SenderKind shoal.EntityKind
	// BestFirst sorts by relevance: the newest 200 matches, then the next 200.
	BestFirst bool
	// Page is how many hits are fetched at once, at most 200, which is also the default.
	// Use a small number if only a few hits are needed.
	Page int
}

// Search finds messages in the spaces that the caller sees, the newest first. The query
// contains words and filters, such as "words that follow each other", lap*, -without,
// from:ID, in:SPACE, mentions:me, has:link and before:2027-01-31: see docs/search.md. A
// message must match all of them.
func (s *Session) Search(ctx context.Context, query string, o SearchOptions) iter.Seq2[shoal.Hit, error] {
	q := url.Values{"q": {query}}
	if o.Space != "" {
		q.Set("space", string(o.Space))
	}
	if o.SenderKind != "" {
		q.Set("kind", string(o.SenderKind))
	}
	if o.BestFirst {
		q.Set("sort", "relevance")
	}
	if o.Page > 0 {
		q.Set("limit", strconv.Itoa(o.Page))
	}
	return list[shoal.Hit](ctx, s.client, call{op: "client.Search", path: s.path("search"), query: q})
}
