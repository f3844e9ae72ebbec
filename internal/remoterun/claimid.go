package remoterun

import (
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// ClaimID identifies a claim of a run in one word, for programs that call tools.
type ClaimID struct {
	Run        shoal.RunID
	Generation int64
}

// String returns the id as [ParseClaimID] reads it.
func (id ClaimID) String() string {
	return string(id.Run) + "." + strconv.FormatInt(id.Generation, 10)
}

// ParseClaimID returns the claim that a text identifies. ok is false if it is not the id of a claim.
func ParseClaimID(text string) (id ClaimID, ok bool) {
	at := strings.LastIndexByte(text, '.')
	if at < 0 || shoal.CheckID("claim", text[:at]) != nil {
		return id, false
	}
	n, err := strconv.ParseInt(text[at+1:], 10, 64)
	return ClaimID{shoal.RunID(text[:at]), n}, err == nil && n > 0
}
