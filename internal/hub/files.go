package hub

import (
	"context"

	"github.com/shoal-dev/shoal"
)

// Files keeps uploaded files.
type Files struct{ *core }

// Upload stores a file. url makes its URL from its id. TooLarge over
// [shoal.MaxFile] bytes.
func (f *Files) Upload(ctx context.Context, who shoal.Principal, session shoal.SessionID, n shoal.File, data []byte, url func(shoal.FileID) string, idempotencyKey string) (shoal.File, error) {
	panic("not built")
}

// Get returns a file to its uploader, to members of the spaces that show it, to
// services and admins.
func (f *Files) Get(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.FileID) (shoal.File, []byte, error) {
	panic("not built")
}

// Usage says what model calls used.
type Usage struct{ *core }

// Sum adds up what was used, grouped. Admins only.
func (u *Usage) Sum(ctx context.Context, who shoal.Principal, session shoal.SessionID, q UsageQuery) ([]shoal.UsageRow, error) {
	panic("not built")
}
