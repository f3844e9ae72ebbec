package storage

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/search"
)

// MemberKind is a member of a space with what decides how a mention reaches it.
type MemberKind struct {
	ID     shoal.EntityID
	Kind   shoal.EntityKind
	Hosted bool
}

// EntityRef names an entity across sessions.
type EntityRef struct {
	Session shoal.SessionID
	ID      shoal.EntityID
}

// HeldRights are the keys, entities and sessions that open calls depend on. Owners are
// the entities that have to be owners of their session besides.
type HeldRights struct {
	Keys     []shoal.KeyID
	Entities []EntityRef
	Owners   []EntityRef
	Sessions []shoal.SessionID
}

// ErrUnsure is in the error chain of an Update whose commit got no answer from the
// database: its changes may be stored, so callers must not simply repeat it.
var ErrUnsure = errors.New("the commit had no answer")

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

	// Update runs fn in a transaction and returns nil when the transaction is durable.
	// When fn returns an error, the transaction is rolled back and Update returns that
	// same error. Updates run one after the other in the order in which they were
	// accepted, so fn must not wait for anything but tx; several may share one commit.
	// fn may run more than once: it must assign its results, not append to them. An
	// Update that has begun completes even if ctx ends.
	//
	// Errors of the store itself: Busy when its queue is full or the database cannot be
	// reached (nothing was changed, unless the error is [ErrUnsure]); StorageFull when
	// the disk is full (nothing was changed); otherwise Internal, and the outcome is
	// unknown.
	Update(ctx context.Context, fn func(Tx) error) error

	// Epoch identifies everything that is written through this store since it was
	// opened. It is different for every opening of this database, of a copy of it, or of
	// another database. [EventTx.Descends] uses it to decide whether a position that was
	// known then still belongs to the same event.
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
	AnswerTx
	AgentTx
	RunTx
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
	// Now returns the time of the database's clock, which decides when leases expire.
	Now() (shoal.Time, error)
}

// SessionTx stores sessions.
type SessionTx interface {
	Session(id shoal.SessionID) (shoal.Session, error)
	// Sessions lists sessions in the order of ids, starting after the given one.
	Sessions(after shoal.SessionID, limit int) ([]shoal.Session, error)
	// InsertSession fails with AlreadyExists also for the id of a deleted session.
	InsertSession(s shoal.Session) error
	CloseSession(id shoal.SessionID, at shoal.Time) error
	// UpdateSession stores the limits and the space rights of a session.
	UpdateSession(s shoal.Session) error
	// DeleteSession erases the session and everything that belongs to it, including its
	// keys. The id cannot be used again.
	DeleteSession(id shoal.SessionID) error
}

// EntityTx stores entities. State and WaitEndsAt of the returned entities are zero;
// LastSeenAt is the last stored value.
type EntityTx interface {
	// Entity fails with NotFound for a deleted entity.
	Entity(session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error)
	// Entities lists entities in the order of ids, starting after the given one.
	Entities(session shoal.SessionID, after shoal.EntityID, limit int) ([]shoal.Entity, error)
	// InsertEntity fails with AlreadyExists also for the id of a deleted entity and for an
	// external id that another entity of the session has.
	InsertEntity(e shoal.Entity) error
	// UpdateEntity stores kind, session role, owner, name, description, external id and
	// metadata. It fails with AlreadyExists when another entity has the external id.
	UpdateEntity(e shoal.Entity) error
	// DeleteEntity hides the entity and erases its inbox and its memberships. Its messages
	// stay, and its id cannot be used again.
	DeleteEntity(session shoal.SessionID, id shoal.EntityID, at shoal.Time) error
	// EntityNames returns the display names of those entities that exist or existed.
	EntityNames(session shoal.SessionID, ids []shoal.EntityID) (map[shoal.EntityID]string, error)
	// SetLastFailure stores the last failure of an agent; nil removes it.
	SetLastFailure(session shoal.SessionID, agent shoal.EntityID, f *shoal.Failure) error
	// HumanNames returns the display names of the session's humans, without deleted ones.
	HumanNames(session shoal.SessionID) (map[shoal.EntityID]string, error)
	// SawEntities stores when entities were last seen. Unknown entities are ignored.
	SawEntities(seen []Sighting) error
}

// Sighting records when an entity was last active.
type Sighting struct {
	Session shoal.SessionID
	Entity  shoal.EntityID
	At      shoal.Time
}

// SpaceTx stores spaces. Members and counts of the returned spaces are empty. LastSeq is
// the seq of the last message, regardless of the LastSeq that was stored.
type SpaceTx interface {
	Space(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	// LockSpace is Space for a transaction that will change the space, its members or its
	// timeline: no other transaction changes them until this one ends.
	LockSpace(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	Spaces(session shoal.SessionID, filter SpaceFilter) ([]shoal.Space, error)
	InsertSpace(s shoal.Space) error
	// DeleteSpace removes a space with its memberships and inbox entries. Its id cannot be
	// used again. EraseSpace erases the rest of its data. place is the position of its
	// last event.
	DeleteSpace(session shoal.SessionID, id shoal.SpaceID, place int64) error
	// DeletedSpace reports whether a space with this id existed and is deleted.
	DeletedSpace(session shoal.SessionID, id shoal.SpaceID) (bool, error)
	// EraseSpace erases about limit rows of the remaining data of a deleted space:
	// messages and their words in the search index, runs that started there and their
	// pending actions, conversations, memories, files that no other space shows, and all
	// but its last events. It reports whether there may be more.
	EraseSpace(session shoal.SessionID, id shoal.SpaceID, limit int) (more bool, err error)
	// LeftSpaces returns the first limit deleted spaces that may have remaining data.
	LeftSpaces(limit int) ([]DeletedSpace, error)
	// CountCreated counts the spaces that an entity owns, and stops at upTo.
	CountCreated(session shoal.SessionID, by shoal.EntityID, upTo int) (int, error)
	// UpdateSpace stores name, status, summary, admin agent, reasoning flag,
	// metadata and closing time. The owner does not change.
	UpdateSpace(s shoal.Space) error
}

// DeletedSpace identifies a deleted space.
type DeletedSpace struct {
	Session shoal.SessionID
	ID      shoal.SpaceID
}

// SpaceFilter selects spaces, in the order of ids.
type SpaceFilter struct {
	// Member, if set, selects only spaces that this entity is in.
	Member shoal.EntityID
	// OpenOnly excludes closed spaces.
	OpenOnly bool
	// After is the id after which the list starts; Limit is its maximum length, 0 for
	// all.
	After shoal.SpaceID
	Limit int
}

// MemberTx stores the members of spaces.
type MemberTx interface {
	// Members lists members in the order of joining.
	Members(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Member, error)
	// MembersOf is Members for several spaces at once.
	MembersOf(session shoal.SessionID, spaces []shoal.SpaceID) (map[shoal.SpaceID][]shoal.Member, error)
	IsMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (bool, error)
	// MembersAmong returns those of ids that are members, in any order.
	MembersAmong(session shoal.SessionID, space shoal.SpaceID, ids []shoal.EntityID) ([]MemberKind, error)
	CountMembers(session shoal.SessionID, space shoal.SpaceID) (int, error)
	// InsertMember stores the id, the time, AddedBy and Muted of a member. It fails with
	// AlreadyExists when the entity is already a member. The entity must exist.
	InsertMember(session shoal.SessionID, space shoal.SpaceID, m shoal.Member) error
	// MuteMember stores whether a member has muted the space; NotFound when it is not a
	// member.
	MuteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, muted bool) error
	// DeleteMember ends a membership and removes the entity's inbox entries of that
	// space; NotFound when the entity is not a member.
	DeleteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) error
}

// MessageTx stores timelines.
type MessageTx interface {
	// InsertMessage stores m at m.Seq, which must be the space's LastSeq plus one, and
	// advances LastSeq. post may be the zero value.
	InsertMessage(m shoal.Message, post PostKey) error
	// PostMessage is InsertMessage for a posted message, which is complete from the start.
	// It also appends the message.created event. The data of that event, a
	// [shoal.MessageData], is built from the current message whenever the event is read.
	PostMessage(m shoal.Message, post PostKey) error
	// MessageByKey returns the message that was posted under a key and the hash that it
	// was posted with; NotFound when there is no such message.
	MessageByKey(session shoal.SessionID, scope, key string) (shoal.Message, string, error)
	// Messages returns a page of the timeline in ascending order.
	Messages(session shoal.SessionID, space shoal.SpaceID, page Page) ([]shoal.Message, error)
	// Search finds messages that match a query, the newest first. It does not find
	// messages in progress. It finds every other message from the transaction on that
	// stored or completed it.
	Search(session shoal.SessionID, query SearchQuery) (SearchResult, error)
}

// PostKey is the idempotency key of a message. Scope identifies the principal, Hash is a
// hash of the content.
type PostKey struct{ Scope, Key, Hash string }

// Page selects messages by seq: with Before the last Limit messages below it, with After
// the first Limit messages above it, with neither the newest Limit messages. Before and
// After must not both be set.
type Page struct {
	Before, After int64
	Limit         int
}

// SearchQuery selects messages.
type SearchQuery struct {
	// Query must match the message as Reader may see it. It must not contain the name
	// "me".
	Query search.Query
	// Reader, if set, limits the search to spaces that this entity is in.
	Reader shoal.EntityID
	// Before, if set, limits the search to messages before this position.
	Before int64
	Limit  int
}

// SearchResult contains the messages that a search found, the most recently committed
// first. Next is the position before which there may be more matches, 0 if there are no
// more. To limit its duration, a search may stop before it has found Limit messages.
type SearchResult struct {
	Found []Found
	Next  int64
}

// Found is one complete message that a search found, with its space and its position
// among all messages.
type Found struct {
	Space   shoal.SpaceRef
	Message shoal.Message
	Place   int64
}

// InboxTx stores inboxes: for each entity the messages that it has not acknowledged, in
// an order of their own without gaps.
type InboxTx interface {
	// Deliver puts the message into the inbox of every member of its space as a mention, a
	// system message or a message, except for its sender and for hosted agents, which are
	// started instead. A message of [shoal.System] reaches every other member, or only
	// the mentioned ones if it mentions any. Members that have muted the space get only
	// messages that mention them. Deliver returns the receivers.
	Deliver(m shoal.Message) ([]Receiver, error)
	// Unread returns the first limit entries that match filter, in order.
	Unread(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, limit int) ([]InboxEntry, error)
	// MarkDelivered counts one more delivery of the entries at these positions and
	// ignores positions that no longer exist.
	MarkDelivered(session shoal.SessionID, entity shoal.EntityID, places []int64) error
	// Acknowledge removes the entries up to and including upTo that match filter.
	Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, upTo int64) error
	// AcknowledgeSpace removes the entries of a space up to and including seq, whether
	// delivered or not.
	AcknowledgeSpace(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64) error
	// MarkUnread puts messages of a space, starting with a seq, into the inbox of an entity
	// at new positions, in their order: those that would have entered it and are not in
	// it, at most the newest limit of them. It skips messages in progress, deleted
	// messages and the entity's own.
	MarkUnread(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64, limit int) error
	// InboxEnd returns the last position that was ever assigned in the inbox, or 0.
	InboxEnd(session shoal.SessionID, entity shoal.EntityID) (int64, error)
	// Counts returns the unread counts of each of the given spaces.
	Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]Unread, error)
	// Explicit reports whether this key acknowledges explicitly. SetExplicit makes it do
	// so permanently.
	Explicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) (bool, error)
	SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error
}

// InboxFilter selects inbox entries. With WaitMentions only mentions and system messages
// match. Space and From, if set, narrow the selection further; From never excludes
// system messages.
type InboxFilter struct {
	Kind  shoal.WaitKind
	Space shoal.SpaceID
	From  []shoal.EntityID
}

// Receiver is an entity whose inbox a message entered, with the position and the reason.
type Receiver struct {
	ID     shoal.EntityID
	Place  int64
	Reason shoal.Reason
}

// InboxEntry is one unread message with its position in the inbox. Delivery counts how
// often it has been delivered so far.
type InboxEntry struct {
	Place    int64
	Reason   shoal.Reason
	Delivery int
	Space    shoal.SpaceRef
	Message  shoal.Message
	// EventPlace is the position of an event of the session that was assigned no earlier
	// than this entry, or 0 if no such position is known.
	EventPlace int64
}

// Unread counts the unread messages of a space, and the mentions among them.
type Unread struct{ Messages, Mentions int64 }

// EventTx stores the events of a session in one order without gaps.
type EventTx interface {
	// AppendEvent assigns the next position to the event and stores it.
	AppendEvent(e Event) (place int64, err error)
	// Events returns the first limit events after a position that match filter.
	Events(session shoal.SessionID, filter EventFilter, after int64, limit int) ([]Event, error)
	// EventEnd returns the last position that was assigned, or 0.
	EventEnd(session shoal.SessionID) (int64, error)
	// Descends reports whether the events of the session up to place are those that the
	// store of that epoch had. They are not if the database was meanwhile replaced by a
	// copy from before that event.
	Descends(session shoal.SessionID, epoch string, place int64) (bool, error)
	// EventFloor returns the position up to which matching events may be missing because
	// they were trimmed.
	EventFloor(session shoal.SessionID, filter EventFilter) (int64, error)
	// TrimEvents erases all but the newest keep events of a space, or of no space if space
	// is empty. Events about posted messages and other events are counted separately.
	TrimEvents(session shoal.SessionID, space shoal.SpaceID, keep int) error
}

// Event is an event with its position. Entity is set for events about a
// membership: the entity receives the event even when it is not, or no longer, a member.
//
// Run is the run whose stream contains the event, if any. An event without a space
// appears only there. Private means that Data contains parts for one member (and for
// admins and services): other readers get a redacted copy.
type Event struct {
	Session shoal.SessionID
	Place   int64
	Space   shoal.SpaceID
	Entity  shoal.EntityID
	Run     shoal.RunID
	Private bool
	Type    shoal.EventType
	Data    []byte
	// Message is set for an event that contains the current state of a message whenever
	// the event is read: it is appended with only the event head as Data and is read with
	// a [shoal.MessageData].
	Message shoal.MessageID
}

// EventFilter selects the events of one run; of one space; of all spaces that an entity is
// in, and those about the entity itself; or, with all fields empty, of all spaces of the
// session. Only the filter by run includes events without a space.
type EventFilter struct {
	Run    shoal.RunID
	Space  shoal.SpaceID
	Entity shoal.EntityID
}

// KeyTx stores keys. A hash is the SHA-256 of the secret, in hexadecimal.
type KeyTx interface {
	InsertKey(k shoal.Key, hash string) error
	// InsertSignIn stores the sign-in of a browser that used the key of, or no key if of
	// is empty.
	InsertSignIn(k shoal.Key, hash string, of shoal.KeyID) error
	// SignIns lists the sign-ins of a key, or those without a key if of is empty, in any
	// order.
	SignIns(of shoal.KeyID) ([]shoal.KeyID, error)
	// SweepSignIns deletes the sign-ins that had expired at the time ended or were not used
	// since the time unused. RevokedKey does not report them as revoked.
	SweepSignIns(ended, unused shoal.Time) error
	// KeyHash returns the hash of a key; NotFound for a revoked key.
	KeyHash(id shoal.KeyID) (string, error)
	// KeyByHash fails with NotFound for a revoked key; it returns expired keys.
	KeyByHash(hash string) (shoal.Key, error)
	// Keys lists the keys of a session, or all if session is empty, in the order of ids,
	// starting after the given one.
	Keys(session shoal.SessionID, after shoal.KeyID, limit int) ([]shoal.Key, error)
	// DeleteKey fails with NotFound also for a key of another session; an empty session
	// means any.
	DeleteKey(session shoal.SessionID, id shoal.KeyID) error
	// RevokedKey reports whether a key with this hash was deleted, alone or together with
	// its entity. It does not know the keys of deleted sessions.
	RevokedKey(hash string) (bool, error)
	// DeleteEntityKeys revokes every key of an entity.
	DeleteEntityKeys(session shoal.SessionID, entity shoal.EntityID) error
	// EndedRights returns those of the given rights that have ended at a time: revoked or
	// expired keys, deleted entities and sessions, and owners that no longer own their
	// session. It uses one query, however many rights are given.
	EndedRights(held HeldRights, at shoal.Time) (HeldRights, error)
	// UsedKeys stores when keys were last used. Unknown keys are ignored.
	UsedKeys(used map[shoal.KeyID]shoal.Time) error
}

// AnswerTx stores the first responses to calls with idempotency keys.
type AnswerTx interface {
	// Answer fails with NotFound when no response is stored.
	Answer(key AnswerKey) (Answer, error)
	// InsertAnswer replaces an older response under the same key.
	InsertAnswer(key AnswerKey, a Answer) error
	// DropAnswers erases the responses from before a time.
	DropAnswers(before time.Time) error
}

// AnswerKey identifies a stored response: an idempotency key, the principal that used it
// and the operation.
type AnswerKey struct {
	Session           shoal.SessionID
	Scope, Route, Key string
}

// Answer is the response to the first call, with the hash of its request.
type Answer struct {
	Hash string
	Body []byte
	At   shoal.Time
}
