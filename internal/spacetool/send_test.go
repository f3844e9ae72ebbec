package spacetool_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

func TestParseSend(t *testing.T) {
	wait := func(timeout time.Duration, from ...storage.ReplyFrom) *spacetool.SendWait {
		return &spacetool.SendWait{For: from, Timeout: timeout}
	}
	for _, c := range []struct {
		about, arguments string
		want             spacetool.Send
	}{
		{"a text", `{"spaceId":"shop","text":"hello"}`, spacetool.Send{SpaceID: "shop", Text: "hello"}},
		{"a mention", `{"spaceId":"shop","text":"hello","mention":"ann"}`, spacetool.Send{SpaceID: "shop", Text: "hello", Mention: "ann"}},
		{"null is nothing", `{"spaceId":"shop","text":"hello","mention":null,"wait":null}`, spacetool.Send{SpaceID: "shop", Text: "hello"}},
		{
			"a wait of the default length", `{"spaceId":"shop","text":"?","wait":{"for":[{"type":"any"}]}}`,
			spacetool.Send{SpaceID: "shop", Text: "?", Wait: wait(60*time.Second, storage.ReplyFrom{Type: "any"})},
		},
		{
			"whose reply counts", `{"spaceId":"shop","text":"?","wait":{"for":[{"type":"human"},{"type":"entity","entityId":"bob"}],"timeout":1.5}}`,
			spacetool.Send{SpaceID: "shop", Text: "?", Wait: wait(1500*time.Millisecond, storage.ReplyFrom{Type: "human"}, storage.ReplyFrom{Type: "entity", EntityID: "bob"})},
		},
		{
			"too long is cut", `{"spaceId":"shop","text":"?","wait":{"for":[{"type":"agent"}],"timeout":1e300}}`,
			spacetool.Send{SpaceID: "shop", Text: "?", Wait: wait(120*time.Second, storage.ReplyFrom{Type: "agent"})},
		},
		{
			"too short is a second", `{"spaceId":"shop","text":"?","wait":{"for":[{"type":"agent"}],"timeout":-5}}`,
			spacetool.Send{SpaceID: "shop", Text: "?", Wait: wait(time.Second, storage.ReplyFrom{Type: "agent"})},
		},
		{
			"an id beside any is passed over", `{"spaceId":"shop","text":"?","wait":{"for":[{"type":"any","entityId":"bob"}]}}`,
			spacetool.Send{SpaceID: "shop", Text: "?", Wait: wait(60*time.Second, storage.ReplyFrom{Type: "any"})},
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			got, err := spacetool.ParseSend(c.arguments)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s is %+v, %v; want %+v", c.arguments, got, err, c.want)
			}
		})
	}
}

func TestParseSendRefuses(t *testing.T) {
	for _, c := range []struct {
		about, arguments string
		kind             shoal.Kind
		says             string
	}{
		{"no object", `[]`, shoal.InvalidArgument, "arguments must be an object"},
		{"half an object", `{"spaceId":"shop","te`, shoal.InvalidArgument, "arguments must be an object"},
		{"no space", `{"text":"hello"}`, shoal.InvalidArgument, "spaceId is missing"},
		{"a malformed space id", `{"spaceId":"a/b","text":"hello"}`, shoal.InvalidArgument, "spaceId may contain only"},
		{"no text", `{"spaceId":"shop","text":" \n"}`, shoal.InvalidArgument, "text is missing"},
		{"more than a message holds", `{"spaceId":"shop","text":"` + strings.Repeat("a", shoal.MaxContent+1) + `"}`, shoal.TooLarge, "send it in several messages"},
		{"a malformed mention", `{"spaceId":"shop","text":"hello","mention":"@ann"}`, shoal.InvalidArgument, "mention may contain only"},
		{"the server", `{"spaceId":"shop","text":"hello","mention":"system"}`, shoal.InvalidArgument, `mention must not be "system"`},
		{"a wait for nobody", `{"spaceId":"shop","text":"?","wait":{"for":[]}}`, shoal.InvalidArgument, "wait.for must say whose reply counts"},
		{"a wait without for", `{"spaceId":"shop","text":"?","wait":{"timeout":5}}`, shoal.InvalidArgument, "wait.for must say whose reply counts"},
		{"a wait for something else", `{"spaceId":"shop","text":"?","wait":{"for":[{"type":"any"},{"type":"dog"}]}}`, shoal.InvalidArgument, "wait.for[1].type must be any, agent, human or entity"},
		{"a wait for an entity without id", `{"spaceId":"shop","text":"?","wait":{"for":[{"type":"entity"}]}}`, shoal.InvalidArgument, "wait.for[0].entityId is missing"},
	} {
		t.Run(c.about, func(t *testing.T) {
			_, err := spacetool.ParseSend(c.arguments)
			if shoal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want %s with %q", err, c.kind, c.says)
			}
		})
	}
}

// Whatever a model writes, what is let through can be posted.
func FuzzParseSend(f *testing.F) {
	for _, arguments := range []string{
		`{"spaceId":"shop","text":"hello","mention":"ann","wait":{"for":[{"type":"entity","entityId":"bob"}],"timeout":5}}`, `{"wait":{}}`, `null`, `{"text":"\u0000"}`, `{"spaceId":1}`,
	} {
		f.Add(arguments)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		s, err := spacetool.ParseSend(arguments)
		if err != nil {
			if kind := shoal.KindOf(err); kind != shoal.InvalidArgument && kind != shoal.TooLarge {
				t.Fatalf("%q gives %v", arguments, err)
			}
			return
		}
		if err := (shoal.Draft{Parts: []shoal.Part{shoal.Text(s.Text)}}).Validate(); err != nil || shoal.CheckID("spaceId", string(s.SpaceID)) != nil {
			t.Fatalf("%q gives %+v, which cannot be posted: %v", arguments, s, err)
		}
		if w := s.Wait; w != nil && (len(w.For) == 0 || w.Timeout < time.Second || w.Timeout > 120*time.Second) {
			t.Fatalf("%q waits for %+v", arguments, w)
		}
	})
}

func TestSendResult(t *testing.T) {
	reply := &spacetool.Reply{Text: "a <b> & c", EntityID: "bob", EntityName: "Bob", EntityType: shoal.Human}
	for _, c := range []struct {
		about            string
		reply            *spacetool.Reply
		waited, timedOut bool
		want             string
	}{
		{"not waited", nil, false, false, `{"messageId":"msg_1","sent":true}`},
		{"a reply", reply, true, false, `{"messageId":"msg_1","sent":true,"timedOut":false,"reply":{"text":"a <b> & c","entityId":"bob","entityName":"Bob","entityType":"human"}}`},
		{"no reply", nil, true, true, `{"messageId":"msg_1","sent":true,"timedOut":true,"reply":null}`},
	} {
		t.Run(c.about, func(t *testing.T) {
			if got := spacetool.SendResult("msg_1", c.reply, c.waited, c.timedOut); got != c.want {
				t.Errorf("the result is %s, want %s", got, c.want)
			}
		})
	}
}

// The schema of sendSpaceMessage is one that the agent's checks understand, and
// leaves to ParseSend what it can say better.
func TestSendSpec(t *testing.T) {
	spec := spacetool.SendSpec()
	if spec.Name != "sendSpaceMessage" || !spec.External || spec.Description == "" {
		t.Errorf("the spec is %+v", spec)
	}
	schema, err := agent.CompileSchema("schema", spec.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for arguments, fits := range map[string]bool{
		`{"spaceId":"shop","text":"hello"}`: true,
		`{"spaceId":"shop","text":"hello","mention":null,"wait":{"for":[{"type":"any"}],"timeout":500}}`: true,
		`{"text":"hello"}`: false,
		`{"spaceId":"shop","text":"?","wait":{"for":[{"type":"dog"}]}}`: false,
	} {
		if err := schema.Check("arguments", arguments); (err == nil) != fits {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}
