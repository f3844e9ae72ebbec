package httpapi

import (
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
)

// Members are listed page by page, in the order of ids, to callers that see the space.
func TestMembersAreListed(t *testing.T) {
	w, ann, _ := conversation(t)
	for _, id := range []string{"zoe", "bob", "Cat"} {
		w.entity("default", id)
		w.do(ann, "PUT", base+"/spaces/shop/members/"+id, nil).wants(200)
	}
	var got []shoal.EntityID
	for cursor := ""; ; {
		p := into[page[shoal.Member]](w.do(ann, "GET", base+"/spaces/shop/members?limit=2&cursor="+cursor, nil).wants(200))
		for _, m := range p.Items {
			if m.Name == "" || m.Kind == "" || m.JoinedAt.IsZero() {
				t.Errorf("a member is %+v", m)
			}
			got = append(got, m.EntityID)
		}
		if p.NextCursor == nil {
			break
		}
		// Joining and leaving meanwhile moves nobody.
		w.do(ann, "DELETE", base+"/spaces/shop/members/"+string(got[len(got)-1]), nil)
		cursor = *p.NextCursor
		ann = w.admin
	}
	if want := []shoal.EntityID{"Cat", "ann", "bob", "bot", "zoe"}; !slices.Equal(got, want) {
		t.Errorf("the members are %v, want %v", got, want)
	}
	w.do(w.entity("default", "stranger"), "GET", base+"/spaces/shop/members", nil).refuses(shoal.NotFound)
	w.do(w.admin, "GET", base+"/spaces/shop/members?cursor=%21", nil).refuses(shoal.InvalidArgument)
}
