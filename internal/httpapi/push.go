package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/push"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const pushPath = sessionPath + "/push-subscriptions"

func pushRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: pushPath, do: listPush, id: "listPushSubscriptions", tag: "Entities",
			summary: "List the browsers in which you are notified", about: "Ordered by creation. `publicKey` is the `applicationServerKey` with which a browser subscribes.",
			status: http.StatusOK, out: push.SubscriptionPage{}, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodPost, path: pushPath, do: decoded(http.StatusCreated, subscribePush), id: "createPushSubscription", tag: "Entities",
			summary: "Be notified in a browser", about: "Of mentions of the acting human, and of pending actions that it may answer, from then on: who and in which space, never the text. " +
				"Nothing is sent within five seconds, of what was read or answered meanwhile, or from a muted space. The body is what `PushSubscription.toJSON()` of the browser returns, with its `keys` beside `endpoint`. " +
				"Repeating the call renews the subscription, which ends with the sign-in or key of the caller, and after 30 days. Each participant has at most ten; one more replaces the oldest.",
			in: push.NewSubscription{}, example: `{"endpoint": "https://push.example/2f6e", "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}`,
			status: http.StatusCreated, out: storage.PushSubscription{}, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodDelete, path: pushPath + "/{subscription}", do: deletePush, id: "deletePushSubscription", tag: "Entities",
			summary: "Stop notifications in a browser", status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

func listPush(c *call) error {
	found, err := c.Hub.Push.List(c.ctx(), c.caller, c.session())
	return c.answerOr(err, http.StatusOK, found)
}

func subscribePush(c *call, in push.NewSubscription) (storage.PushSubscription, error) {
	return c.Hub.Push.Subscribe(c.ctx(), c.caller, c.session(), in)
}

func deletePush(c *call) error {
	return c.noContentOr(c.Hub.Push.Unsubscribe(c.ctx(), c.caller, c.session(), storage.PushID(c.r.PathValue("subscription"))))
}
