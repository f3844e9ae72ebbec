package httpapi

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

const permissions = base + "/entities/bot/permissions"

// terminal is a world in which bot, an agent of ann, has opened a request in the smaller of their spaces.
func terminal(t *testing.T) (w *world, ann, bot string, open shoal.PendingAction) {
	t.Helper()
	w, ann, bot = conversation(t)
	w.entity("default", "eve")
	w.do(w.admin, "PATCH", base+"/entities/ann", `{"kind": "human"}`).wants(200)
	w.do(w.admin, "PATCH", base+"/entities/bot", `{"kind": "agent", "ownerId": "ann"}`).wants(200)
	w.space(ann, "all", "bot", "eve")
	open = into[shoal.PendingAction](w.do(bot, "POST", permissions, `{"toolName": "Bash", "args": {"command": "make"}}`).wants(200))
	if open.Status != shoal.PendingOpen || open.SpaceID == nil || *open.SpaceID != "shop" || open.Decision != nil {
		t.Errorf("the request is %+v", open)
	}
	return w, ann, bot, open
}

// What a program asks for an agent without a run is answered as any other permission: by the owner, once,
// for the arguments that were shown. The program that waits gets the verdict at once.
func TestPermissionsWithoutARun(t *testing.T) {
	w, ann, bot, open := terminal(t)
	list := into[page[shoal.PendingAction]](w.do(ann, "GET", base+"/pending-actions", nil).wants(200)).Items
	if len(list) != 1 || list[0].ID != open.ID || list[0].RunID != "" || list[0].AgentID != "bot" || list[0].ToolName != "Bash" || string(list[0].Args) != `{"command":"make"}` && string(list[0].Args) != `{"command": "make"}` {
		t.Fatalf("ann reads %+v", list)
	}
	eve := w.mint(shoal.NewKey{Role: shoal.RoleEntity, SessionID: "default", EntityID: "eve"})
	w.do(ann, "PUT", base+"/spaces/shop/members/eve", nil).wants(200)
	answer := base + "/pending-actions/" + string(open.ID) + "/answer"
	w.do(eve, "POST", answer, `{"approved": true}`).refuses(shoal.Forbidden)
	w.do(bot, "POST", answer, `{"approved": true}`).refuses(shoal.Forbidden)
	w.do(ann, "POST", answer, `{"approved": true, "argsHash": "0000"}`).refuses(shoal.ArgsChanged)
	w.do(ann, "POST", answer, `{"approved": true, "args": {"command": "rm"}}`).refuses(shoal.InvalidArgument)
	w.do(ann, "POST", answer, `{"approved": true, "remember": "allow"}`).refuses(shoal.InvalidArgument)

	var waiting sync.WaitGroup
	var got shoal.PendingAction
	waiting.Go(func() {
		got = into[shoal.PendingAction](w.do(bot, "POST", permissions, `{"id": "`+string(open.ID)+`", "waitMs": 20000}`))
	})
	w.do(ann, "POST", answer, `{"approved": false, "reason": "ok, but later", "argsHash": "`+open.ArgsHash+`"}`).wants(200)
	waiting.Wait()
	by, reason := shoal.EntityID("ann"), "ok, but later"
	if diff := cmp.Diff(&shoal.Decision{By: &by, Reason: &reason}, got.Decision); got.Status != shoal.PendingAnswered || diff != "" {
		t.Errorf("the program gets %+v (-want +got):\n%s", got, diff)
	}
	w.do(ann, "POST", answer, `{"approved": true}`).refuses(shoal.AlreadyAnswered)
	late := into[shoal.PendingAction](w.do(bot, "POST", permissions, `{"id": "`+string(open.ID)+`", "withdrawn": true}`).wants(200))
	if late.Status != shoal.PendingAnswered {
		t.Errorf("taken back too late it is %+v", late)
	}
}

// A request that was answered in the terminal is settled here, and one of another agent does not exist.
func TestPermissionsAreTakenBack(t *testing.T) {
	w, ann, bot, open := terminal(t)
	w.entity("default", "other")
	other := w.mint(shoal.NewKey{Role: shoal.RoleEntity, SessionID: "default", EntityID: "other"})
	w.do(other, "POST", base+"/entities/other/permissions", `{"id": "`+string(open.ID)+`"}`).refuses(shoal.NotFound)
	w.do(other, "POST", permissions, `{"toolName": "Bash"}`).refuses(shoal.Forbidden)
	w.do(bot, "POST", permissions, `{"toolName": "Bash", "spaceId": "nowhere"}`).refuses(shoal.NotFound)
	for _, wrong := range []string{`{}`, `{"withdrawn": true}`, `{"toolName": "Bash", "args": []}`, `{"toolName": "Bash", "waitMs": 20001}`, `{"id": "` + string(open.ID) + `", "toolName": "Bash"}`} {
		w.do(bot, "POST", permissions, wrong).refuses(shoal.InvalidArgument)
	}
	back := into[shoal.PendingAction](w.do(bot, "POST", permissions, `{"id": "`+string(open.ID)+`", "withdrawn": true}`).wants(200))
	if back.Status != shoal.PendingCanceled {
		t.Errorf("taken back it is %+v", back)
	}
	w.do(ann, "POST", base+"/pending-actions/"+string(open.ID)+"/answer", `{"approved": true}`).refuses(shoal.Expired)
	if left := into[page[shoal.PendingAction]](w.do(ann, "GET", base+"/pending-actions", nil).wants(200)).Items; len(left) != 0 {
		t.Errorf("open are %+v", left)
	}
	for i := range 32 {
		args, err := json.Marshal(map[string]any{"toolName": "Bash", "args": map[string]any{"n": i}})
		if err != nil {
			t.Fatal(err)
		}
		w.do(bot, "POST", permissions, string(args)).wants(200)
	}
	w.do(bot, "POST", permissions, `{"toolName": "Bash"}`).refuses(shoal.Conflict)
	w.do(w.admin, "DELETE", base+"/entities/bot", nil).wants(204)
	if left := into[page[shoal.PendingAction]](w.do(ann, "GET", base+"/pending-actions", nil).wants(200)).Items; len(left) != 0 {
		t.Errorf("of the deleted agent, %d are open", len(left))
	}
}
