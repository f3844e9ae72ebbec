package openai

import (
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func TestOverflow(t *testing.T) {
	const refused = `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`
	for _, c := range []struct {
		name       string
		model      func(string, ...Options) agent.Model
		tooLong    http.HandlerFunc
		transcript string
	}{
		{
			"chat", Chat, wiretest.Refuses(http.StatusBadRequest, refused, "Content-Type", "application/json"),
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		},
		{
			"responses", Responses,
			wiretest.Plays("data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n"),
			"data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[{\"type\":\"output_text\",\"text\":\"Yes.\"}]}]}}\n\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			wiretest.Overflows(t, func(v *wiretest.Vendor) agent.Model {
				return c.model("test", Options{BaseURL: v.URL + "/v1", HTTPClient: wiretest.NewClient(t)})
			}, c.tooLong, c.transcript)
		})
	}
}
