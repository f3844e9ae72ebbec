package mcpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// principals are those of the matrix, in the order of its columns. Everybody
// calls about the thread "shop", whose members are ann and bob.
var principals = []string{"member", "outsider", "foreigner", "service", "admin", "admin as ann", "admin as cleo", "guest", "visitor", "auditor"}

// rights says for each tool what each principal gets: "ok", or the code of the
// failure. The call is about the thread "shop". guest is a guest of the session in it, visitor one in no
// thread, and auditor an auditor in no thread.
var rights = []struct {
	tool string
	in   inputs
	want string // one word a principal
}{
	//                                                                                        member outsider  foreigner service   admin           as ann as cleo
	{"register_agent", inputs{"description": "x"}, "                                           ok     ok        ok        forbidden entity_required ok     ok   ok ok forbidden"},
	{"list_agents", inputs{}, "                                                                ok     ok        ok        ok        ok              ok     ok   ok ok ok"},
	{"wait_for_agents", inputs{"count": 50, "timeoutMs": 0}, "                                 ok     ok        ok        ok        ok              ok     ok   ok ok ok"},
	{"create_thread", inputs{"threadName": "new"}, "                                           ok     ok        ok        forbidden entity_required ok     ok   forbidden forbidden forbidden"},
	{"list_threads", inputs{}, "                                                               ok     ok        ok        ok        ok              ok     ok   ok ok ok"},
	{"add_participant", inputs{"threadId": "shop", "participantId": "bob"}, "                  ok     not_found not_found forbidden ok              ok     ok   forbidden forbidden forbidden"},
	{"remove_participant", inputs{"threadId": "shop", "participantId": "dan"}, "               ok     not_found not_found forbidden ok              ok     ok   forbidden forbidden forbidden"},
	{"mute_thread", inputs{"threadId": "shop"}, "                                              ok     not_found not_found forbidden entity_required ok     forbidden   ok not_found forbidden"},
	{"send_message", inputs{"threadId": "shop", "content": "hi"}, "                            ok     not_found not_found forbidden entity_required ok     forbidden   ok not_found forbidden"},
	{"edit_message", inputs{"messageId": "HERE", "content": "x"}, "                             ok     not_found not_found forbidden entity_required ok     forbidden   forbidden not_found forbidden"},
	{"react", inputs{"messageId": "HERE", "emoji": "👍"}, "                                      ok     not_found not_found forbidden entity_required ok     forbidden   ok not_found forbidden"},
	{"delete_message", inputs{"messageId": "HERE"}, "                                          ok     not_found not_found forbidden ok              ok     ok   forbidden not_found forbidden"},
	{"wait_for_mentions", inputs{"timeoutMs": 0, "threadId": "shop"}, "                        ok     not_found not_found forbidden entity_required ok     not_found   ok not_found not_found"},
	{"wait_for_messages", inputs{"timeoutMs": 0}, "                                            ok     ok        ok        forbidden entity_required ok     ok   ok ok ok"},
	{"read_thread", inputs{"threadId": "shop"}, "                                              ok     not_found not_found ok        ok              ok     ok   ok not_found ok"},
	{"search_messages", inputs{"query": "hi", "threadId": "shop"}, "                           ok     not_found not_found ok        ok              ok     ok   ok not_found ok"},
	{"list_pending_actions", inputs{}, "                                                       ok     ok        ok        ok        ok              ok     ok   ok ok ok"},
	{"answer_pending_action", inputs{"id": "pnd_none", "approved": true}, "                    not_found not_found not_found not_found not_found not_found not_found   not_found not_found forbidden"},
	{"begin_message", inputs{"timeoutMs": 0}, "                                                forbidden forbidden forbidden forbidden entity_required forbidden forbidden   forbidden forbidden forbidden"},
	{"append_text", inputs{"claim": "run_none.1", "text": "x"}, "                              forbidden forbidden forbidden forbidden entity_required forbidden forbidden   forbidden forbidden forbidden"},
	{"show_card", inputs{"claim": "run_none.1", "card": "x"}, "                                forbidden forbidden forbidden forbidden entity_required forbidden forbidden   forbidden forbidden forbidden"},
	{"ask", inputs{"claim": "run_none.1", "question": "x", "timeoutMs": 0}, "                  forbidden forbidden forbidden forbidden entity_required forbidden forbidden   forbidden forbidden forbidden"},
	{"finish_message", inputs{"claim": "run_none.1"}, "                                        forbidden forbidden forbidden forbidden entity_required forbidden forbidden   forbidden forbidden forbidden"},
	{"close_thread", inputs{"threadId": "shop", "summary": "over"}, "                          ok     not_found not_found forbidden ok              ok     ok   forbidden forbidden forbidden"},
}

// Every tool has a row, and every principal gets from it what the row says.
func TestRights(t *testing.T) {
	covered := []string{}
	for _, row := range rights {
		covered = append(covered, row.tool)
	}
	slices.Sort(covered)
	for _, tool := range newWorld(t).api.Tools() {
		if _, found := slices.BinarySearch(covered, tool); !found {
			t.Errorf("the tool %s has no row in rights", tool)
		}
	}
	for _, row := range rights {
		for i, want := range strings.Fields(row.want) {
			t.Run(row.tool+"/"+strings.ReplaceAll(principals[i], " ", "-"), func(t *testing.T) {
				w := newWorld(t)
				w.space("shop", "ann", "bob", "dan", "gus")
				w.space("hers", "cleo")
				in := maps.Clone(row.in)
				if in["messageId"] == "HERE" {
					in["messageId"] = w.say("ann", "shop", "oops").ID
				}
				key, header := w.as(principals[i])
				for _, era := range []string{session, modern} {
					got := w.callRaw(key, era, row.tool, in, header...)
					if got.IsError {
						wantFailure(t, got, shoal.Kind(want))
					} else if want != "ok" {
						t.Errorf("%s: succeeded, want %s: %s", era, want, got.Text)
					}
					if row.tool == "close_thread" || row.tool == "remove_participant" {
						break // a second time it would fail for another reason
					}
				}
			})
		}
	}
}

// as returns the key and the headers of a principal.
func (w *world) as(principal string) (key string, header []string) {
	w.t.Helper()
	switch principal {
	case "member":
		return w.key("ann"), nil
	case "outsider":
		return w.key("cleo"), nil
	case "foreigner":
		if _, err := w.hub.Sessions.Create(w.t.Context(), adminWho, shoal.NewSession{ID: "other"}, ""); err != nil {
			w.t.Fatal(err)
		}
		return w.mint(shoal.NewKey{Role: shoal.RoleEntity, SessionID: "other", EntityID: "ann"}), nil
	case "service":
		return w.mint(shoal.NewKey{Role: shoal.RoleService}), nil
	case "guest":
		return w.inRole("gus", shoal.SessionGuest), nil
	case "visitor":
		return w.inRole("vic", shoal.SessionGuest), nil
	case "auditor":
		return w.inRole("aud", shoal.SessionAuditor), nil
	}
	key = w.mint(shoal.NewKey{Role: shoal.RoleAdmin})
	if entity, ok := strings.CutPrefix(principal, "admin as "); ok {
		return key, []string{"X-Shoal-Entity", entity, "X-Shoal-Session", "default"}
	}
	return key, nil
}

// inRole returns the key of an entity with a role in the session.
func (w *world) inRole(id shoal.EntityID, role shoal.SessionRole) string {
	w.t.Helper()
	key := w.key(id)
	if _, err := w.hub.Entities.Update(w.t.Context(), adminWho, shoal.DefaultSession, id, shoal.EntityChange{SessionRole: &role}); err != nil {
		w.t.Fatal(err)
	}
	return key
}

// callRaw calls a tool by a bare HTTP request.
func (w *world) callRaw(key, era, tool string, in inputs, header ...string) answer {
	w.t.Helper()
	body, h := rpc(1, tool, in), []string{"Mcp-Protocol-Version", era}
	if era == modern {
		body, h = modernRPC(1, tool, in)
	}
	status, _, text, err := w.post(w.t.Context(), key, body, append(h, header...)...)
	if err != nil || status != http.StatusOK {
		w.t.Fatalf("%s: %d %s %v", tool, status, text, err)
	}
	res := new(mcp.CallToolResult)
	raw := text[strings.Index(text, `"result":`)+len(`"result":`) : len(text)-1]
	if err := res.UnmarshalJSON([]byte(raw)); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	a, err := answerOf(res)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// The caller's threads are those of the entity that it acts as, also for an
// admin; one that names nobody sees all.
func TestThreadsAreThoseOfTheActor(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	w.space("hers", "cleo")
	for principal, want := range map[string]string{"member": "shop", "outsider": "hers", "admin as cleo": "hers", "admin as ann": "shop", "admin": "hers shop", "service": "hers shop"} {
		key, header := w.as(principal)
		var got struct{ Items []shoal.Space }
		w.callRaw(key, session, "list_threads", inputs{}, header...).into(t, &got)
		var ids []string
		for _, s := range got.Items {
			ids = append(ids, string(s.ID))
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("%s: %q, want %q", principal, ids, want)
		}
	}
}

// Nobody learns from a failure whether a thread exists that is not his.
func TestForeignThreadsAreLikeNone(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	w.space("hers", "cleo")
	for _, row := range rights {
		if _, about := row.in["threadId"]; !about {
			continue
		}
		in := inputs{}
		for k, v := range row.in {
			in[k] = v
		}
		in["threadId"] = "hers"
		foreign := w.callRaw(w.key("ann"), session, row.tool, in)
		in["threadId"] = "none"
		none := w.callRaw(w.key("ann"), session, row.tool, in)
		if got, want := strings.ReplaceAll(foreign.Text, "hers", "none"), none.Text; !foreign.IsError || got != want {
			t.Errorf("%s: a foreign thread says %q, none says %q", row.tool, got, want)
		}
	}
}

// A call whose actor input names another entity writes nothing, for every kind of key.
func TestNobodyActsAsAnother(t *testing.T) {
	claims := []struct {
		tool string
		in   inputs
	}{
		{"register_agent", inputs{"agentId": "bob", "agentName": "Eve"}},
		{"create_thread", inputs{"creatorId": "bob", "threadName": "x"}},
		{"send_message", inputs{"senderId": "bob", "threadId": "shop", "content": "x"}},
		{"wait_for_mentions", inputs{"agentId": "bob", "timeoutMs": 0}},
		{"wait_for_messages", inputs{"agentId": "bob", "timeoutMs": 0}},
	}
	for _, principal := range []string{"member", "outsider", "foreigner", "service", "admin", "admin as ann"} {
		t.Run(principal, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			w.key("cleo")
			m := w.say("ann", "shop", "hello", "bob")
			key, header := w.as(principal)
			for _, c := range claims {
				wantFailure(t, w.callRaw(key, session, c.tool, c.in, header...), shoal.IdentityMismatch, "bob")
			}
			spaces, err := w.hub.Spaces.List(t.Context(), adminWho, shoal.DefaultSession, spaceFilter)
			if err != nil || len(spaces) != 1 || spaces[0].LastSeq != 1 {
				t.Errorf("%v %v: something was written", spaces, err)
			}
			bob, err := w.hub.Entities.Get(t.Context(), adminWho, shoal.DefaultSession, "bob")
			if err != nil || bob.Name != "bob" {
				t.Errorf("%v %v: bob was changed", bob, err)
			}
			wantHeard(t, w.join(transports[0], "bob").do("wait_for_mentions", inputs{}), times(1, m))
		})
	}
}

// Without a good key there is no answer but 401, wherever one knocks.
func TestNoKeyNoAnswer(t *testing.T) {
	w := newWorld(t)
	expired := w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Name: "x"})
	w.revoke("x")
	for _, key := range []string{"", "shoal_wrong", expired} {
		for _, path := range []string{"/mcp", "/sse", "/sse?sessionid=x", "/mcp?key=" + w.key("ann")} {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(rpc(1, "list_agents", nil)))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				res, err := withKey(key).Do(r)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") == "" {
					t.Errorf("%s %s with key %q: %d %v", method, path, key, res.StatusCode, res.Header)
				}
			}
		}
	}
}

// A server without keys takes the actor from the URL and makes it if it is new.
func TestWithoutKeys(t *testing.T) {
	w := newWorld(t, func(w *world) { w.open = true })
	for _, by := range []struct{ path, version string }{{"/mcp", session}, {"/mcp", modern}, {"/sse", session}} {
		name := fmt.Sprintf("scout%s%s", by.path[1:], by.version[:4])
		url := w.url + by.path + "?agent=" + name
		var to mcp.Transport = &mcp.StreamableClientTransport{Endpoint: url}
		if by.path == "/sse" {
			to = &mcp.SSEClientTransport{Endpoint: url}
		}
		s, err := mcp.NewClient(&mcp.Implementation{Name: "x", Version: "1"}, nil).Connect(t.Context(), to, &mcp.ClientSessionOptions{ProtocolVersion: by.version})
		if err != nil {
			t.Fatal(err)
		}
		a := &agent{ClientSession: s, t: t}
		wantText(t, a.do("register_agent", inputs{}), "ID: "+name)
		s.Close()
	}
}
