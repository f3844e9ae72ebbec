package httpapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// columns are those of the table of roles: entities of one session. sender has sent the
// message that a call names, minder owns the sender, an agent, and creator has created the space. The
// others but outsider are members of it with a session role: chief is an admin of the session.
// outsider is one, too, and not a member.
var columns = []string{"sender", "minder", "creator", "owner", "chief", "member", "guest", "auditor", "outsider"}

// roleRows say for every route of invitations and every action on a message what each role gets:
// first where members may change their spaces, then, if it differs, where moderators do.
var roleRows = map[string]struct {
	body     string
	statuses string
	moderate string
}{
	"GET " + sessionPath + "/audit": {"", "403 403 403 200 200 403 403 200 200", ""},

	"POST " + sessionPath + "/invites":            {`{"name": "more"}`, "403 403 403 201 201 403 403 403 201", ""},
	"GET " + sessionPath + "/invites":             {"", "403 403 403 200 200 403 403 200 200", ""},
	"DELETE " + sessionPath + "/invites/{invite}": {"", "403 403 403 204 204 403 403 403 204", ""},

	"GET " + messagePath:            {"", "200 200 200 200 200 200 200 200 404", ""},
	"PATCH " + messagePath:          {`{"text": "less"}`, "200 403 403 403 403 403 403 403 404", ""},
	"DELETE " + messagePath:         {"", "204 204 403 204 403 403 403 403 404", "204 204 204 204 204 403 403 403 404"},
	"GET " + versionsPath:           {"", "200 200 200 200 200 200 200 200 404", ""},
	"GET " + deliveriesPath:         {"", "200 200 200 200 200 200 200 200 404", ""},
	"PUT " + reactionPath:           {"", "200 200 200 200 200 200 200 403 404", ""},
	"DELETE " + reactionPath:        {"", "200 200 200 200 200 200 200 403 404", ""},
	"POST " + messagesPath:          {`{"text": "more", "replyTo": "{message}"}`, "201 201 201 201 201 201 201 403 404", ""},
	"POST " + spacePath + "/unread": {`{"seq": 1}`, "403 200 200 200 200 200 200 200 404", ""},
}

// Every route whose path names an invitation or a message has a row in roleRows.
func TestRoleRowsCoverTheRoutes(t *testing.T) {
	for _, rt := range newWorld(t).api.Routes() {
		if _, found := roleRows[rt.Method+" "+rt.Pattern]; !found && (strings.HasSuffix(rt.Pattern, "}/audit") || strings.Contains(rt.Pattern, "/invites") || strings.Contains(rt.Pattern, "{message}")) {
			t.Errorf("%s %s has no row in roleRows", rt.Method, rt.Pattern)
		}
	}
}

func TestRoles(t *testing.T) {
	for _, rights := range []shoal.SpaceRights{shoal.SpaceRightsMembers, shoal.SpaceRightsModerators} {
		w := newWorld(t)
		for i, name := range slices.Sorted(maps.Keys(roleRows)) {
			row := roleRows[name]
			want := row.statuses
			if rights == shoal.SpaceRightsModerators && row.moderate != "" {
				want = row.moderate
			}
			for j, role := range columns {
				t.Run(fmt.Sprintf("%s as %s of %s", name, role, rights), func(t *testing.T) {
					w := *w
					w.TB = t
					f := w.roles(fmt.Sprintf("s%d-%d", i, j), rights)
					method, pattern, _ := strings.Cut(name, " ")
					status, body := f.call(Route{Method: method, Pattern: pattern}, f.keys[role], "", row.body)
					if fmt.Sprint(status) != strings.Fields(want)[j] {
						t.Errorf("%d, want %s\n%s", status, strings.Fields(want)[j], body)
					}
					if status == 404 && strings.Contains(body, confidential) {
						t.Errorf("the answer shows the message: %s", body)
					}
				})
			}
		}
	}
}

// roles is a session of its own with an entity in each role, a message and an invitation.
func (w *world) roles(session string, rights shoal.SpaceRights) *fixture {
	w.Helper()
	f := &fixture{world: w, keys: map[string]string{}}
	at := "/v1/sessions/" + session
	w.do(w.admin, "POST", "/v1/sessions", map[string]string{"id": session}).wants(201)
	w.do(w.admin, "PATCH", at, map[string]any{"spaceRights": rights}).wants(200)
	for _, role := range columns {
		f.keys[role] = w.entity(session, role)
	}
	w.do(w.admin, "PATCH", at+"/entities/sender", `{"ownerId": "minder"}`).wants(200)
	is := map[string]string{"owner": "owner", "chief": "admin", "guest": "guest", "auditor": "auditor", "outsider": "admin"}
	for _, role := range columns[1:] { // all but the sender are people
		w.do(w.admin, "PATCH", at+"/entities/"+role, map[string]string{"kind": "human", "sessionRole": cmp.Or(is[role], "member")}).wants(200)
	}
	w.do(f.keys["creator"], "POST", at+"/spaces", map[string]any{"id": "room", "name": confidential, "members": columns[:len(columns)-1]}).wants(201)
	said := into[shoal.Message](w.do(f.keys["sender"], "POST", at+"/spaces/room/messages", `{"text": "`+confidential+`"}`).wants(201))
	for _, role := range columns[:len(columns)-1] {
		w.do(f.keys[role], "POST", at+"/spaces/room/read", `{"seq": 1}`).wants(200)
	}
	made := into[shoal.Invite](w.do(w.admin, "POST", at+"/invites", nil).wants(201))
	f.path = strings.NewReplacer("{session}", session, "{space}", "room", "{message}", string(said.ID), "{emoji}", "%F0%9F%91%8D", "{invite}", string(made.ID))
	return f
}
