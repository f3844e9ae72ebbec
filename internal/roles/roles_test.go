package roles_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/roles"
)

// docs/roles.md shows the table as the server applies it.
func TestTheManualShowsTheTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/roles.md")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Builder{}
	for _, act := range roles.Acts() {
		fmt.Fprintf(&want, "| %s | `%s` |", act, string(act))
		for _, role := range roles.All {
			if roles.Allows(role, act) {
				want.WriteString(" yes |")
			} else {
				want.WriteString(" – |")
			}
		}
		want.WriteString("\n")
	}
	if !strings.Contains(string(text), "\n"+want.String()) {
		t.Errorf("docs/roles.md does not have the table:\n%s", &want)
	}
}

// An act that is not in the table is allowed to nobody, and an empty role is that of a member.
func TestWhatTheTableDoesNotName(t *testing.T) {
	for _, role := range append([]shoal.SessionRole{"", "king"}, roles.All...) {
		if roles.Allows(role, "fly") || roles.AllowsService("fly") {
			t.Errorf("%q may fly", role)
		}
	}
	for _, act := range roles.Acts() {
		if roles.Allows("king", act) {
			t.Errorf("an unknown role may %s", act)
		}
		if roles.Allows("", act) != roles.Allows(shoal.SessionMember, act) {
			t.Errorf("an entity whose role is not known differs from a member: %s", act)
		}
	}
}

// An owner gives every role, an admin those that see nothing that it does not see, and nobody
// else gives any.
func TestGiven(t *testing.T) {
	for role, want := range map[shoal.SessionRole]string{"": "[]", "owner": "[owner admin member guest auditor]", "admin": "[admin member guest]", "member": "[]", "guest": "[]", "auditor": "[]", "king": "[]"} {
		if got := fmt.Sprint(roles.Given(role)); got != want {
			t.Errorf("%q gives %s, want %s", role, got, want)
		}
	}
}

// An auditor changes nothing: of what it may do, nothing is seen by others but its read receipts.
func TestAuditorsOnlyRead(t *testing.T) {
	for _, act := range roles.Acts() {
		switch act {
		case roles.ReadSession, roles.SeeEverything, roles.SeeEverybody, roles.KeepInbox, roles.ReadModels, roles.ReadSettings, roles.ReadInvites, roles.ReadAudit:
		default:
			if roles.Allows(shoal.SessionAuditor, act) {
				t.Errorf("an auditor may %s", act)
			}
		}
	}
}
