package storage

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
)

// ErrUnknownOutcome is in the error chain of an Update whose commit got no answer from the
// database: its changes may be stored, so callers must not simply repeat it.
var ErrUnknownOutcome = errors.New("the commit had no answer")

// Store is the persistent state. It has one implementation for two databases; both pass
// the conformance suite in internal/shoaltest.
type Store interface {
	// View runs fn on a consistent snapshot that contains at least every change whose
	// Update has returned before. fn must not change anything. Views run concurrently
	// with each other and with Updates.
	View(ctx context.Context, fn func(Tx) error) error

	// ViewFirst is View for the few reads that the server itself needs in time. It never
	// waits for Views, however many run, only for other calls of ViewFirst.
	ViewFirst(ctx context.Context, fn func(Tx) error) error

	// Update runs fn in a transaction and returns nil when the transaction is durable. at
	// names the sessions that fn changes; an event in another session fails the Update
	// with an error of kind Internal.
	// When fn returns an error, the transaction is rolled back and Update returns that
	// same error. Updates of one session run one after the other, and one of Global runs
	// alone; a store may run others at the same time. Which of the waiting ones is next, the
	// store decides so that the sessions take turns, and the callers ([limit.For] of ctx) of a
	// session. fn must not wait for anything but tx; several Updates may share one commit.
	// fn may run more than once: it must assign its results, not append to them. An
	// Update that has begun completes even if ctx ends.
	//
	// Errors of the store itself: Busy when its queue is full or the database cannot be
	// reached (nothing was changed, unless the error is [ErrUnknownOutcome]); StorageFull when
	// the disk is full (nothing was changed); otherwise Internal, and the outcome is
	// unknown.
	Update(ctx context.Context, at At, fn func(Tx) error) error

	// Epoch identifies everything that is written through this store now. It is different
	// for every opening of this database, of a copy of it, or of another database, except
	// that servers which share the database have one epoch; a server that has lost all of
	// its connections may get another one. [EventTx.Descends] uses it to decide whether a
	// position that was known then still belongs to the same event.
	Epoch() string
}

// Tx reads and changes the state inside a transaction. Its methods are grouped by
// resource. A missing object is an error of kind NotFound, an id that is in use one of
// kind AlreadyExists; the transaction can continue after either.
type Tx interface {
	SessionTx
	EntityTx
	SpaceTx
	MemberTx
	MessageTx
	EraseTx
	EditTx
	InboxTx
	EventTx
	KeyTx
	InviteTx
	OAuthTx
	AnswerTx
	AgentTx
	RunTx
	RemoteTx
	RunnerTx
	StepTx
	RequestTx
	ComposedTx
	PendingTx
	RememberTx
	PlanTx
	NoteTx
	UsageTx
	FileTx
	RendererTx
	RecordTx
	NodeTx
	AuditTx
	PushTx
	PersonTx
	RetentionTx
	// Now returns the time of the database's clock, which decides when leases expire.
	Now() (shoal.Time, error)
}
