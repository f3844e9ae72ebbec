package storage

import "github.com/shoal-dev/shoal"

// OAuthTx stores OAuth clients, and the grants that people have given them. A grant belongs to a key and
// is not found without it.
type OAuthTx interface {
	// PutOAuthClient stores a client. One with the same id is replaced, but for its CreatedAt.
	PutOAuthClient(c OAuthClient) error
	// OAuthClient fails with NotFound for a client that is not stored.
	OAuthClient(id string) (OAuthClient, error)
	// TrimOAuthClients deletes clients without a grant, the oldest first, until at most so many are left.
	TrimOAuthClients(most int) error
	InsertOAuthGrant(g OAuthGrant) error
	// OAuthGrant returns the grant of a key, or NotFound.
	OAuthGrant(key shoal.KeyID) (OAuthGrant, error)
	// OAuthGrantByCode and OAuthGrantByFamily find a grant by a hash, or fail with NotFound.
	OAuthGrantByCode(hash string) (OAuthGrant, error)
	OAuthGrantByFamily(hash string) (OAuthGrant, error)
	// RenewOAuthGrant stores the family, the refresh token and the end of a grant, and the hash and the
	// end of its key.
	RenewOAuthGrant(g OAuthGrant, keyHash string, keyEnds shoal.Time) error
	// SweepOAuthGrants deletes the grants that had ended at a time, with their keys, and those whose
	// keys are gone. RevokedKey does not report these keys as revoked.
	SweepOAuthGrants(at shoal.Time) error
}

// OAuthClient is a program that wants to act for people. Nothing has verified what it says. The ID of one
// that is described by a metadata document is the address of the document, which has been read and is not
// read again before FreshUntil; FreshUntil is nil for one that has registered.
type OAuthClient struct {
	ID           string
	Name         string
	RedirectURIs []string
	CreatedAt    shoal.Time
	FreshUntil   *shoal.Time
}

// OAuthGrant is what a person has allowed a client. CodeHash is the hash of the code that the client
// exchanges, FamilyHash that of the part that all of its refresh tokens have in common, nil before the
// exchange, and RefreshHash that of the rest of the newest one. EndsAt is when the code, or the newest
// refresh token, ends; LatestEnd is the latest time to which a refresh may move it.
type OAuthGrant struct {
	Key                     shoal.KeyID
	Session                 shoal.SessionID
	ClientID, RedirectURI   string
	Challenge, Resource     string
	CodeHash                string
	FamilyHash, RefreshHash *string
	EndsAt                  shoal.Time
	LatestEnd               *shoal.Time
}
