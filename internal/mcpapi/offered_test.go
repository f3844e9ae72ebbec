package mcpapi_test

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
)

// Every key connects and lists the tools, also one whose role or scopes do not allow to execute runs:
// only the tools with which remote agents do that are missing then.
func TestEveryKeyConnects(t *testing.T) {
	w := newWorld(t)
	w.host("clerk")
	clerk := func(scopes ...string) string {
		return w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "clerk", Scopes: scopes})
	}
	for _, row := range []struct {
		who, key string
		composes bool
	}{
		{"a remote agent", clerk(), true},
		{"a remote agent with the scope run", clerk("run"), true},
		{"a remote agent with the scope read", clerk("read"), false},
		{"a remote agent with a key for one space", clerk("spaces:shop"), false},
		{"a remote agent with a key for one tool", clerk("tools:begin_message"), true},
		{"an entity with the scope read", w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Scopes: []string{"read"}}), false},
		{"a guest", w.inRole("gus", shoal.SessionGuest), false},
		{"an auditor", w.inRole("aud", shoal.SessionAuditor), false},
	} {
		for _, by := range transports {
			if by.connect == nil {
				continue // it has no key
			}
			t.Run(row.who+" over "+by.name, func(t *testing.T) {
				client := mcp.NewClient(&mcp.Implementation{Name: "any", Version: "1"}, nil)
				s, err := client.Connect(t.Context(), by.connect(w, row.key), &mcp.ClientSessionOptions{ProtocolVersion: by.version})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				tools := (&agent{s, t, "any", by.version}).tools()
				if tools["send_message"] == nil {
					t.Errorf("send_message is not among %d tools", len(tools))
				}
				if got := tools["begin_message"] != nil; got != row.composes {
					t.Errorf("begin_message is offered: %v, want %v", got, row.composes)
				}
			})
		}
	}
}
