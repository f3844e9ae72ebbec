package httpapi

import (
	"net/http"
	"strconv"

	"github.com/shoal-dev/shoal"
)

const (
	conversationsPath = agentPath + "/conversations"
	conversationPath  = conversationsPath + "/{conversation}"
)

func conversationRoutes() []route {
	const who = " For admins and owners of the session: neither being a member of the space nor owning the agent is enough, as runs may read other spaces for those that they act for."
	return []route{
		{
			method: http.MethodGet, path: conversationsPath, do: listConversations, id: "listAgentConversations", tag: "Agents",
			summary: "List the conversations of a hosted agent",
			about:   "One for each space, plan and service that its runs began for, in the order of ids, without those that were cleared." + who,
			query:   listParams, status: http.StatusOK, out: page[shoal.Conversation]{},
		},
		{
			method: http.MethodGet, path: conversationPath, do: getConversation, id: "getAgentConversation", tag: "Agents",
			summary: "Read what a hosted agent and its model said",
			about: "What each ended run added: the newest run first, the messages of a run in order. A page ends early where its runs have more than about 1 MiB. " +
				"What only the provider reads is left out. An agent whose config has `context.conversation: false` does not read it." + who,
			query: listParams, status: http.StatusOK, out: page[shoal.ConversationRun]{},
		},
		{
			method: http.MethodDelete, path: conversationPath, do: clearConversation, id: "clearAgentConversation", tag: "Agents",
			summary: "Clear a conversation of a hosted agent",
			about: "Later runs begin without what was said so far. The runs, their steps and the messages of the space stay, and so do the agent's memories and goals. " +
				"`conflict` while a run of it is under way." + who,
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Conflict, shoal.SessionClosed},
		},
	}
}

func (c *call) conversation() string { return c.r.PathValue("conversation") }

func listConversations(c *call) error {
	after, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	found, err := c.Hub.Agents.Conversations(c.ctx(), c.who, c.session(), c.agent(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(v shoal.Conversation) string { return v.ID }))
}

func getConversation(c *call) error {
	place, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	before, err := strconv.ParseInt(place, 10, 64)
	if place != "" && (err != nil || before < 1) {
		return badCursor()
	}
	found, err := c.Hub.Agents.ReadConversation(c.ctx(), c.who, c.session(), c.agent(), c.conversation(), before, limit)
	if err != nil {
		return err
	}
	runs, err := c.Conversation(found.Conversation, found.Blocks)
	out := page[shoal.ConversationRun]{Items: runs}
	if found.Before > 0 {
		out.NextCursor = cursorOf(strconv.FormatInt(found.Before, 10))
	}
	return c.answerOr(err, http.StatusOK, out)
}

func clearConversation(c *call) error {
	return c.noContentOr(c.Hub.Agents.ClearConversation(c.ctx(), c.who, c.session(), c.agent(), c.conversation()))
}
