package tools

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

func createThread() *tool {
	return &tool{
		name:  "create_thread",
		about: "Create a thread (a space): a conversation between you and the participants that you name. Check with list_threads first whether one exists.",
		inputs: []input{
			{name: "threadName", kind: textInput, length: shoal.MaxName, checked: true, required: true, about: "What the thread is about."},
			{name: "participantIds", kind: listInput, items: shoal.MaxNewMembers, empty: true, about: "The ids of the other participants; list_agents returns them. You are added automatically."},
			{name: "creatorId", kind: textInput, actor: true, about: "Your own id. Leave it out: your key says who you are."},
			{name: "adminAgentId", kind: textInput, about: "The agent that answers people who mention nobody."},
		},
		output: shoal.Space{},
		words:  map[string]string{"name": "threadName", "members": "participantIds"},
		call: func(ctx context.Context, c *call) (result, error) {
			if _, err := c.actor(); err != nil {
				return result{}, err
			}
			n := shoal.NewSpace{Name: c.text("threadName"), Members: c.ids("participantIds")}
			if admin := shoal.EntityID(c.text("adminAgentId")); admin != "" {
				n.AdminAgentID = &admin
			}
			s, err := c.Hub.Spaces.Create(ctx, c.Principal, c.Session, n, "")
			return spaceResult("Thread created successfully:", s), err
		},
	}
}

// spaceResult describes a thread after a change; what is the first line.
func spaceResult(what string, s shoal.Space) result {
	text := what + "\nID: " + string(s.ID) + "\nName: " + s.Name + "\nParticipants: " + memberIDs(s)
	if s.Summary != nil {
		text += "\nSummary: " + *s.Summary
	}
	return result{text: text, structured: s}
}

// memberIDs names the members that a thread lists, and says how many more there are.
func memberIDs(s shoal.Space) string {
	ids := make([]shoal.EntityID, len(s.Members))
	for i, m := range s.Members {
		ids[i] = m.EntityID
	}
	if s.Complete() {
		return join(ids)
	}
	return fmt.Sprintf("%s and %d more", join(ids), s.MemberCount-int64(len(ids)))
}

func listThreads() *tool {
	return &tool{
		name:  "list_threads",
		about: "List the threads (spaces) that you are in, each with the number of messages that you have not acknowledged, how many of them mention you, and whether you have muted it.",
		reads: true,
		inputs: []input{
			{name: "includeClosed", kind: flagInput, about: "List closed threads, too."},
			cursorInput,
		},
		output: list[shoal.Space]{},
		call: func(ctx context.Context, c *call) (result, error) {
			after, err := c.place()
			if err != nil {
				return result{}, err
			}
			page, err := c.threads(ctx, c.Caller, !c.flag("includeClosed"), shoal.SpaceID(after))
			if err != nil {
				return result{}, err
			}
			lines := make([]string, len(page.Items))
			for i, s := range page.Items {
				lines[i] = fmt.Sprintf("ID: %s, Name: %s, Status: %s, Participants: %s, Unread: %d, Mentions: %d",
					s.ID, s.Name, s.Status, memberIDs(s), s.UnreadCount, s.MentionCount)
				if s.Muted {
					lines[i] += ", Muted"
				}
			}
			return result{text: listText(lines, "You are in no thread. Create one with create_thread.", page.NextCursor), structured: page}, nil
		},
	}
}

// threads returns a page of the caller's threads. An admin without an acting entity has
// no threads of its own and gets all.
func (s Set) threads(ctx context.Context, c Caller, openOnly bool, after shoal.SpaceID) (list[shoal.Space], error) {
	found, err := s.Hub.Spaces.List(ctx, c.Principal, c.Session, storage.SpaceFilter{
		Member: c.Principal.EntityID, OpenOnly: openOnly, After: after, Limit: shoal.MaxPage + 1,
	})
	return pageOf(found, func(s shoal.Space) string { return string(s.ID) }), err
}

// spaceMethod is a method of the hub's spaces that changes the members of one.
type spaceMethod func(*spaces.Spaces, context.Context, shoal.Principal, shoal.SessionID, shoal.SpaceID, shoal.EntityID) (shoal.Space, error)

// membership returns a tool that changes the members of a thread: add_participant or
// remove_participant.
func membership(name, about, done string, removes bool, change spaceMethod) *tool {
	return &tool{
		name: name, about: about, repeats: true, removes: removes,
		inputs: []input{
			threadInput,
			{name: "participantId", kind: textInput, required: true, about: "The id of the participant."},
		},
		output: shoal.Space{},
		call: func(ctx context.Context, c *call) (result, error) {
			s, err := change(c.Hub.Spaces, ctx, c.Principal, c.Session, c.thread(), shoal.EntityID(c.text("participantId")))
			return spaceResult(done, s), err
		},
	}
}

func addParticipant() *tool {
	return membership("add_participant",
		"Add a participant to a thread that you are in. The new participant sees the whole history.",
		"Participant added successfully:", false, (*spaces.Spaces).Join)
}

func removeParticipant() *tool {
	return membership("remove_participant",
		"Remove a participant, or yourself, from a thread that you are in.",
		"Participant removed successfully:", true, (*spaces.Spaces).Leave)
}

func muteThread() *tool {
	return &tool{
		name:    "mute_thread",
		repeats: true,
		about:   "Mute a thread that you are in: from then on you get only its messages that mention you. Set unmute to get all of them again. To get none, leave with remove_participant.",
		inputs: []input{
			threadInput,
			{name: "unmute", kind: flagInput, about: "Get all messages again."},
		},
		output: shoal.Space{},
		call: func(ctx context.Context, c *call) (result, error) {
			if _, err := c.actor(); err != nil {
				return result{}, err
			}
			s, err := c.Hub.Spaces.Mute(ctx, c.Principal, c.Session, c.thread(), !c.flag("unmute"))
			done := "Thread muted successfully:"
			if c.flag("unmute") {
				done = "Thread unmuted successfully:"
			}
			return spaceResult(done, s), err
		},
	}
}

func closeThread() *tool {
	return &tool{
		name:    "close_thread",
		removes: true,
		about:   "Close a thread when its conversation has ended. Every member gets your summary. The history stays readable, and nothing can be added.",
		inputs: []input{
			threadInput,
			{name: "summary", kind: textInput, length: shoal.MaxSummary, checked: true, required: true, about: "The outcome of the conversation."},
		},
		output: shoal.Space{},
		call: func(ctx context.Context, c *call) (result, error) {
			s, err := c.Hub.Spaces.Close(ctx, c.Principal, c.Session, c.thread(), c.text("summary"))
			return spaceResult("Thread closed successfully:", s), err
		},
	}
}
