package mcpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// The conversation of the seed, from two agents that know nothing of each other
// to the closed thread, over every transport.
func TestTheConversationOfTheSeed(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			writer, analyzer := w.join(by, "report-writer"), w.join(by, "data-analyzer")

			writer.do("register_agent", inputs{"agentId": "report-writer", "agentName": "Report Writer", "description": "writes reports"})
			analyzer.do("register_agent", inputs{"agentName": "Data Analyzer", "description": "knows the figures"})
			agents := writer.do("list_agents", inputs{"includeDetails": true})
			wantText(t, agents, "ID: data-analyzer, Name: Data Analyzer", "Description: knows the figures", "ID: report-writer")
			writer.do("wait_for_agents", inputs{"agentIds": []string{"data-analyzer"}, "timeoutMs": 5000})

			var space shoal.Space
			writer.do("create_thread", inputs{"threadName": "Data Source Discussion", "participantIds": []string{"data-analyzer"}}).into(t, &space)

			// The analyzer waits; the question wakes it.
			heard := make(chan answer, 1)
			go func() {
				a, err := analyzer.try(t.Context(), "wait_for_mentions", inputs{"agentId": "data-analyzer", "timeoutMs": 60000})
				if err != nil {
					t.Error(err)
				}
				heard <- a
			}()
			w.waiting("data-analyzer", true)
			sent := writer.do("send_message", inputs{
				"threadId": space.ID, "senderId": "report-writer", "content": "What were the final Q4 sales figures?", "mentions": []string{"data-analyzer"},
			})
			var question shoal.Message
			sent.into(t, &question)
			wantText(t, sent, "Message sent successfully:\nID: "+string(question.ID)+"\nThread: "+string(space.ID)+
				"\nSender: report-writer\nContent: What were the final Q4 sales figures?\nMentions: data-analyzer")

			got := receive(t, heard)
			wantText(t, got,
				`<thread id="`+string(space.ID)+`" name="Data Source Discussion">`, "<status>open</status>",
				`<participant id="report-writer" name="Report Writer" kind="agent"/>`,
				`<message id="`+string(question.ID)+`" seq="1" timestamp="`+question.CreatedAt.String()+`">`,
				`<sender id="report-writer" name="Report Writer"/>`, `<mention id="data-analyzer" name="Data Analyzer"/>`,
				"<content>What were the final Q4 sales figures?</content>")
			var batch shoal.WaitResult
			got.into(t, &batch)
			if batch.TimedOut || len(batch.Items) != 1 || batch.Items[0].Messages[0].Reason != shoal.ReasonMention || batch.Items[0].Messages[0].Delivery != 1 {
				t.Fatalf("batch = %s", got.Structured)
			}

			// It answers; the writer finds the answer waiting for it.
			analyzer.do("send_message", inputs{"threadId": space.ID, "content": "Q4 sales were 4.2 million.", "mentions": []string{"report-writer"}})
			wantText(t, writer.do("wait_for_mentions", inputs{}), "<content>Q4 sales were 4.2 million.</content>")

			// The thread closes; both members get a message, and nobody can write any more.
			writer.do("close_thread", inputs{"threadId": space.ID, "summary": "Q4: 4.2 million"})
			closed := analyzer.do("wait_for_mentions", inputs{"ack": *batch.Cursor})
			wantText(t, closed, "<status>closed</status>", "<summary>Q4: 4.2 million</summary>", `<sender id="system" name="System"/>`,
				"<content>Thread closed: Q4: 4.2 million</content>")
			wantFailure(t, analyzer.call("send_message", inputs{"threadId": space.ID, "content": "One more thing"}), shoal.SpaceClosed)
			wantFailure(t, writer.call("close_thread", inputs{"threadId": space.ID, "summary": "again"}), shoal.SpaceClosed)
			wantText(t, analyzer.do("read_thread", inputs{"threadId": space.ID}), "final Q4 sales figures", "4.2 million", "Thread closed")
		})
	}
}

// wantText checks that an answer says all of these.
func wantText(t testing.TB, a answer, says ...string) {
	t.Helper()
	for _, s := range says {
		if !strings.Contains(a.Text, s) {
			t.Errorf("the text lacks %q:\n%s", s, a.Text)
		}
	}
}

// wantFailure checks that an answer is a failure in the contract's form.
func wantFailure(t testing.TB, a answer, kind shoal.Kind, says ...string) {
	t.Helper()
	if !a.IsError || a.Structured != nil {
		t.Errorf("isError = %v with structured content %s, want a failure without: %s", a.IsError, a.Structured, a.Text)
	}
	code, sentence, _ := strings.Cut(a.Text, ": ")
	if code != string(kind) || len(sentence) < 15 {
		t.Errorf("the failure reads %q, want %q and a sentence", a.Text, kind)
	}
	wantText(t, a, says...)
}

func compact(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
