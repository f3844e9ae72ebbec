package e2e_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// xmlMessages is the text form of messages.
type xmlMessages struct {
	XMLName xml.Name    `xml:"messages"`
	Threads []xmlThread `xml:"thread"`
}

type xmlThread struct {
	ID           string       `xml:"id,attr"`
	Name         string       `xml:"name,attr"`
	Status       string       `xml:"status"`
	Summary      *string      `xml:"summary"`
	Participants []xmlEntity  `xml:"participants>participant"`
	Messages     []xmlMessage `xml:"messages>message"`
}

type xmlEntity struct {
	ID   string `xml:"id,attr"`
	Name string `xml:"name,attr"`
	Kind string `xml:"kind,attr"`
}

type xmlMessage struct {
	ID        string      `xml:"id,attr"`
	Seq       int64       `xml:"seq,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Sender    xmlEntity   `xml:"sender"`
	Mentions  []xmlEntity `xml:"mentions>mention"`
	Content   string      `xml:"content"`
}

// checkText checks that text is one XML document that shows exactly these
// messages of the space, and nothing that a sender could have forged.
func checkText(t *testing.T, text string, space shoal.Space, messages ...shoal.Message) {
	t.Helper()
	names := map[shoal.EntityID]string{shoal.System: "System"}
	thread := xmlThread{ID: string(space.ID), Name: space.Name, Status: string(space.Status), Summary: space.Summary}
	for _, m := range space.Members {
		names[m.EntityID] = m.Name
		thread.Participants = append(thread.Participants, xmlEntity{string(m.EntityID), m.Name, string(m.Kind)})
	}
	for _, m := range messages {
		shown := xmlMessage{
			ID: string(m.ID), Seq: m.Seq, Timestamp: m.CreatedAt.String(), Content: m.Text(),
			Sender: xmlEntity{ID: string(m.EntityID), Name: names[m.EntityID]},
		}
		for _, id := range m.Mentions {
			shown.Mentions = append(shown.Mentions, xmlEntity{ID: string(id), Name: names[id]})
		}
		thread.Messages = append(thread.Messages, shown)
	}
	want := xmlMessages{XMLName: xml.Name{Local: "messages"}, Threads: []xmlThread{thread}}
	var got xmlMessages
	decoder := xml.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("the text is not XML: %v\n%s", err, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the text shows something else (-want +got):\n%s\n%s", diff, text)
	}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if chars, ok := token.(xml.CharData); err != nil || !ok || strings.TrimSpace(string(chars)) != "" {
			t.Fatalf("something follows the XML: %v %v\n%s", token, err, text)
		}
	}
}
