package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// Decision is whether an act was carried out.
type Decision string

// The decisions.
const (
	Allowed Decision = "allowed"
	Refused Decision = "refused"
)

// Role is what proved who acted: a [shoal.Role], or one of those below.
type Role string

// RoleServer is the role of the server itself, and RoleNobody that of calls without a key that works.
const (
	RoleServer Role = "server"
	RoleNobody Role = "nobody"
)

// Target is what an act changes: the kind of an object, such as "key", and its id.
type Target struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Record is one entry of the audit log. It contains ids and no text of messages, no names and no
// secrets.
//
// SessionID is nil in the chain of the server. KeyID is the key that proved the caller, and SignInID
// the sign-in of a browser that used it; both are empty for acts of the server itself. EntityID is
// the entity of an entity key, nil for admins and services. ActingAs is the entity that an admin
// named, which did not make the call. Count is how many equal refusals the record counts; it is 1
// for everything else.
type Record struct {
	SessionID *shoal.SessionID  `json:"sessionId"`
	Seq       int64             `json:"seq"`
	At        shoal.Time        `json:"at"`
	Act       Act               `json:"act"`
	Decision  Decision          `json:"decision"`
	Role      Role              `json:"role"`
	KeyID     shoal.KeyID       `json:"keyId"`
	SignInID  shoal.KeyID       `json:"signInId"`
	EntityID  *shoal.EntityID   `json:"entityId"`
	ActingAs  *shoal.EntityID   `json:"actingAs"`
	Target    Target            `json:"target"`
	Details   map[string]string `json:"details"`
	Address   string            `json:"address"`
	RequestID string            `json:"requestId"`
	Count     int64             `json:"count"`
	PrevHash  string            `json:"prevHash"`
	Hash      string            `json:"hash"`
}

// By sets who acts in a record: the principal that the key proved, and apart from it the entity
// that an admin acts as.
func (r *Record) By(caller shoal.Principal) {
	r.Role, r.KeyID, r.SignInID = Role(caller.Role), caller.KeyID, caller.SignIn
	r.EntityID, r.ActingAs = nil, nil
	switch {
	case r.Role == "":
		r.Role = RoleServer
	case caller.EntityID == "":
	case caller.Role == shoal.RoleEntity:
		r.EntityID = &caller.EntityID
	default:
		r.ActingAs = &caller.EntityID
	}
}

// Session returns the session of the chain, empty for that of the server.
func (r *Record) Session() shoal.SessionID {
	if r.SessionID == nil {
		return ""
	}
	return *r.SessionID
}

// Link appends r to the chain that ends with head: it sets its number and both hashes, and returns
// the new head.
func (r *Record) Link(head Head) (Head, error) {
	if r.Details == nil {
		r.Details = map[string]string{}
	}
	r.At = shoal.At(r.At.Truncate(time.Millisecond)) // as precise as its JSON, which is hashed
	r.Seq, r.PrevHash = head.Seq+1, head.Hash
	var err error
	r.Hash, err = r.computeHash()
	return Head{r.Seq, r.Hash}, err
}

// computeHash returns the SHA-256, in hexadecimal, of the record as JSON with an empty hash. The
// hash of the record before is part of it.
func (r *Record) computeHash() (string, error) {
	open := *r
	open.Hash = ""
	text, err := shoal.EncodeJSON(open)
	if err != nil {
		return "", fmt.Errorf("audit: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Head is the end of a chain: the number and the hash of its last record. The zero value is the
// head of an empty chain.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// String returns the head in the form SEQ:HASH, which [ParseHead] reads.
func (h Head) String() string { return strconv.FormatInt(h.Seq, 10) + ":" + h.Hash }

// ParseHead returns the head that [Head.String] has written, or an error of kind InvalidArgument.
func ParseHead(text string) (Head, error) {
	seq, hash, found := strings.Cut(text, ":")
	n, err := strconv.ParseInt(seq, 10, 64)
	if raw, errHash := hex.DecodeString(hash); !found || err != nil || n < 1 || errHash != nil || len(raw) != sha256.Size {
		return Head{}, shoal.Invalid("head", "must be a head that `shoal audit verify` has printed, such as 12:9f86d0…")
	}
	return Head{n, hash}, nil
}
