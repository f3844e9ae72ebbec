package hub

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/search"
)

// ErrUnsure is in the chain of the error of an Update whose commit had no answer: what
// it did may be stored, so that it must not simply run again.
var ErrUnsure = errors.New("the commit had no answer")

// Store keeps everything that must survive. It has one implementation over two
// databases; both pass the conformance suite in internal/shoaltest.
type Store interface {
	// View runs fn on a consistent snapshot that holds at least every change
	// whose Update had returned before. fn must not change anything. Views run
	// beside each other and beside Updates.
	View(ctx context.Context, fn func(Tx) error) error

	// ViewFirst is View for the little that the server itself must know in time: it
	// does not wait for Views, however many there are, only for another ViewFirst.
	ViewFirst(ctx context.Context, fn func(Tx) error) error

	// Update runs fn in a transaction and returns nil when that is durable.
	// When fn returns an error, nothing of it is kept and Update returns that
	// very error. Updates run one after the other in the order in which they
	// were accepted, so fn must not wait for anything but tx; several may share
	// one commit. fn may run more than once: it must set, not add to, what it
	// hands out. An Update that has begun ends whatever becomes of ctx.
	//
	// Errors of the store itself: Busy when its queue is full or the database
	// is away (nothing is done, unless it is [ErrUnsure]), StorageFull when the
	// disk is full (nothing is done), Internal otherwise: then the outcome is
	// unknown.
	Update(ctx context.Context, fn func(Tx) error) error

	// Epoch names what is written through this store since it was opened. No other
	// opening of this database, of a copy of it or of another one has the same, so
	// that [EventTx.Descends] tells whether a place that was known then is still
	// that of the same event.
	Epoch() string
}

// Tx is what can be read and changed inside a transaction, noun by noun. A
// missing thing is an error of kind NotFound, a taken id one of AlreadyExists;
// neither spoils the transaction.
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
	// Now is the time of the database's clock, by which leases are judged.
	Now() (shoal.Time, error)
}

// SessionTx keeps sessions.
type SessionTx interface {
	Session(id shoal.SessionID) (shoal.Session, error)
	// Sessions lists in the order of ids, those after the given one.
	Sessions(after shoal.SessionID, limit int) ([]shoal.Session, error)
	// InsertSession is AlreadyExists also for the id of a deleted session.
	InsertSession(s shoal.Session) error
	CloseSession(id shoal.SessionID, at shoal.Time) error
	// UpdateSession stores the limits and the space rights of a session.
	UpdateSession(s shoal.Session) error
	// DeleteSession erases the session with all that belongs to it, its keys
	// included. The id stays taken.
	DeleteSession(id shoal.SessionID) error
}

// EntityTx keeps entities. State and WaitEndsAt of what it returns are zero; LastSeenAt is what was stored last.
type EntityTx interface {
	// Entity is NotFound for a deleted entity.
	Entity(session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error)
	// Entities lists in the order of ids, those after the given one.
	Entities(session shoal.SessionID, after shoal.EntityID, limit int) ([]shoal.Entity, error)
	// InsertEntity is AlreadyExists also for the id of a deleted entity and for
	// an external id that another entity of the session has.
	InsertEntity(e shoal.Entity) error
	// UpdateEntity stores kind, session role, owner, name, description, external id and
	// metadata;
	// AlreadyExists when the external id is another's.
	UpdateEntity(e shoal.Entity) error
	// DeleteEntity hides the entity, erases its inbox and its memberships. Its
	// messages stay and its id stays taken.
	DeleteEntity(session shoal.SessionID, id shoal.EntityID, at shoal.Time) error
	// EntityNames returns the display names of those ids that exist or existed.
	EntityNames(session shoal.SessionID, ids []shoal.EntityID) (map[shoal.EntityID]string, error)
	// SetLastFailure stores the last failure of an agent; nil is none.
	SetLastFailure(session shoal.SessionID, agent shoal.EntityID, f *shoal.Failure) error
	// HumanNames returns the display names of the session's people, without those who
	// are deleted.
	HumanNames(session shoal.SessionID) (map[shoal.EntityID]string, error)
	// SawEntities stores when entities were last seen. Unknown ones are passed
	// over.
	SawEntities(seen []Sighting) error
}

// Sighting says when an entity made itself felt.
type Sighting struct {
	Session shoal.SessionID
	Entity  shoal.EntityID
	At      shoal.Time
}

// SpaceTx keeps spaces. Members and counts of what it returns are empty; LastSeq is
// the seq of the last message, whatever was stored.
type SpaceTx interface {
	Space(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	// LockSpace is Space for a transaction that goes on to change the space, its
	// members or its timeline: nobody else changes them until it ends.
	LockSpace(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	Spaces(session shoal.SessionID, filter SpaceFilter) ([]shoal.Space, error)
	InsertSpace(s shoal.Space) error
	// DeleteSpace removes a space with its memberships and inbox entries; its id stays
	// taken. What else there is of it is for EraseSpace. place is that of its last event.
	DeleteSpace(session shoal.SessionID, id shoal.SpaceID, place int64) error
	// DeletedSpace reports whether there was a space that is deleted.
	DeletedSpace(session shoal.SessionID, id shoal.SpaceID) (bool, error)
	// EraseSpace erases some of what is left of a deleted space, about as many rows as
	// limit says: messages and their words in the search index, runs that started there,
	// what they waited for, conversations, memories, files that no other space shows, and
	// events before its last ones. It reports whether there may be more.
	EraseSpace(session shoal.SessionID, id shoal.SpaceID, limit int) (more bool, err error)
	// LeftSpaces returns the first limit deleted spaces of which something may be left.
	LeftSpaces(limit int) ([]DeletedSpace, error)
	// CountCreated counts the spaces that an entity owns, up to a number.
	CountCreated(session shoal.SessionID, by shoal.EntityID, upTo int) (int, error)
	// UpdateSpace stores name, status, summary, admin agent, reasoning flag,
	// metadata and closing time. The owner stays.
	UpdateSpace(s shoal.Space) error
}

// DeletedSpace names a space that is deleted.
type DeletedSpace struct {
	Session shoal.SessionID
	ID      shoal.SpaceID
}

// SpaceFilter chooses spaces. They come in the order of ids.
type SpaceFilter struct {
	// Member keeps only spaces of that entity, if set.
	Member shoal.EntityID
	// OpenOnly leaves out closed spaces.
	OpenOnly bool
	// After is the id behind which the list starts; Limit is its length, 0 for
	// all.
	After shoal.SpaceID
	Limit int
}

// MemberTx keeps who is in which space.
type MemberTx interface {
	// Members lists in the order of joining.
	Members(session shoal.SessionID, space shoal.SpaceID) ([]shoal.Member, error)
	// MembersOf is Members of several spaces at once.
	MembersOf(session shoal.SessionID, spaces []shoal.SpaceID) (map[shoal.SpaceID][]shoal.Member, error)
	IsMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (bool, error)
	// MembersAmong returns those of ids that are members, in any order.
	MembersAmong(session shoal.SessionID, space shoal.SpaceID, ids []shoal.EntityID) ([]MemberKind, error)
	CountMembers(session shoal.SessionID, space shoal.SpaceID) (int, error)
	// InsertMember stores the id, the time, AddedBy and Muted of a member; AlreadyExists
	// if it is one. The entity must exist.
	InsertMember(session shoal.SessionID, space shoal.SpaceID, m shoal.Member) error
	// MuteMember stores whether a member has muted the space; NotFound when it is not a
	// member.
	MuteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, muted bool) error
	// DeleteMember ends a membership and withdraws the entity's inbox entries
	// of that space; NotFound when there is none.
	DeleteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) error
}

// MessageTx keeps timelines.
type MessageTx interface {
	// InsertMessage stores m at the place m.Seq, which must be one behind the
	// space's last, and moves that last place on. post may be the zero value.
	InsertMessage(m shoal.Message, post PostKey) error
	// PostMessage is InsertMessage for a message that is posted, and so finished. It gives the event that tells of it, its message.created, the next
	// place. That event's data, the [shoal.MessageData] of the moment, is made of the
	// message whenever the event is read.
	PostMessage(m shoal.Message, post PostKey) error
	// MessageByKey returns the message that was posted under a key and the hash
	// it was posted with; NotFound when there is none.
	MessageByKey(session shoal.SessionID, scope, key string) (shoal.Message, string, error)
	// Messages returns a page of the timeline in ascending order.
	Messages(session shoal.SessionID, space shoal.SpaceID, page Page) ([]shoal.Message, error)
	// Search finds messages for which a query holds, the newest first. Messages in
	// progress are not found; any other is, from the transaction on that stored or
	// closed it.
	Search(session shoal.SessionID, query SearchQuery) (SearchResult, error)
}

// PostKey is the idempotency key of a message: Scope names the principal, Hash
// the content.
type PostKey struct{ Scope, Key, Hash string }

// Page chooses messages by seq: with Before the last Limit below it, with After
// the first Limit above it, with neither the newest Limit. Never both.
type Page struct {
	Before, After int64
	Limit         int
}

// SearchQuery chooses messages.
type SearchQuery struct {
	// Query is what must hold for a message as Reader may see it. It names nobody
	// as me.
	Query search.Query
	// Reader keeps only spaces that this entity is in, if set.
	Reader shoal.EntityID
	// Before keeps only messages before this place, if set.
	Before int64
	Limit  int
}

// SearchResult is what a search found, the newest first, which is what was
// committed last. Next is the place before which there may be more, 0 if there
// is none. A search may stop before it has found Limit messages, for the sake of
// its time.
type SearchResult struct {
	Found []Found
	Next  int64
}

// Found is one message that a search found, whole, with its space and its place
// among all messages.
type Found struct {
	Space   shoal.SpaceRef
	Message shoal.Message
	Place   int64
}

// InboxTx keeps inboxes: for each entity the messages it has not acknowledged,
// in a gap-free order of their own.
type InboxTx interface {
	// Deliver puts the message into the inbox of every member of its space, but
	// for its sender and for hosted agents, who are started instead, as mention,
	// system message or message. A message of [shoal.System] reaches every other
	// member, one that mentions some of them these alone. Members that have muted the
	// space get only what mentions them. It returns the receivers.
	Deliver(m shoal.Message) ([]Receiver, error)
	// Unread returns the first limit entries that match, in order.
	Unread(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, limit int) ([]InboxEntry, error)
	// MarkDelivered counts one more delivery of the entries at these places;
	// places that are gone are passed over.
	MarkDelivered(session shoal.SessionID, entity shoal.EntityID, places []int64) error
	// Acknowledge removes the entries that match and stand at or before upTo.
	Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter InboxFilter, upTo int64) error
	// AcknowledgeSpace removes the entries of a space up to and with seq,
	// delivered or not.
	AcknowledgeSpace(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64) error
	// MarkUnread puts the messages of a space from a seq on into the inbox of an entity, at
	// new places, in their order: those that would have entered it and are not in it, the
	// newest limit of them. Messages in progress, deleted ones and its own are left out.
	MarkUnread(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID, seq int64, limit int) error
	// InboxEnd is the last place that was ever given in the inbox, 0 when none.
	InboxEnd(session shoal.SessionID, entity shoal.EntityID) (int64, error)
	// Counts returns how much of each of these spaces is unread.
	Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]Unread, error)
	// Explicit reports whether this key acknowledges explicitly; SetExplicit
	// makes it so for good.
	Explicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) (bool, error)
	SetExplicit(session shoal.SessionID, entity shoal.EntityID, key shoal.KeyID) error
}

// InboxFilter chooses inbox entries. With WaitMentions only mentions and system
// messages match. Space and From narrow further, if set; From never keeps out
// the system.
type InboxFilter struct {
	Kind  shoal.WaitKind
	Space shoal.SpaceID
	From  []shoal.EntityID
}

// Receiver is in whose inbox a message came to stand, where, and why.
type Receiver struct {
	ID     shoal.EntityID
	Place  int64
	Reason shoal.Reason
}

// InboxEntry is one unread message with its place in the inbox. Delivery is how
// often it was delivered so far.
type InboxEntry struct {
	Place    int64
	Reason   shoal.Reason
	Delivery int
	Space    shoal.SpaceRef
	Message  shoal.Message
	// EventPlace is a place among the session's events that was given no earlier than
	// this entry, 0 if none is known.
	EventPlace int64
}

// Unread counts what is unread in a space: all of it, and mentions alone.
type Unread struct{ Messages, Mentions int64 }

// EventTx keeps the events of a session in one gap-free order.
type EventTx interface {
	// AppendEvent gives the event its place and stores it.
	AppendEvent(e StoredEvent) (place int64, err error)
	// Events returns the first limit events behind a place that match.
	Events(session shoal.SessionID, filter EventFilter, after int64, limit int) ([]StoredEvent, error)
	// EventEnd is the last place that was given, 0 when none.
	EventEnd(session shoal.SessionID) (int64, error)
	// Descends reports whether the events of the session up to place are those that
	// the store of that epoch had: no older copy of the database was put in its
	// place meanwhile, or not one from before that event.
	Descends(session shoal.SessionID, epoch string, place int64) (bool, error)
	// EventFloor is the place up to which matching events may be missing,
	// because they were trimmed.
	EventFloor(session shoal.SessionID, filter EventFilter) (int64, error)
	// TrimEvents keeps only the newest events of a space; with an empty space, of
	// those without one. Those that tell of posted messages and the others are counted
	// by themselves.
	TrimEvents(session shoal.SessionID, space shoal.SpaceID, keep int) error
}

// StoredEvent is an event with its place. Entity is whom it is about, if it is
// about a membership: that entity follows it even when it is no member (any
// more).
//
// Run is the run whose stream tells the event, if any. An event without a space
// is told there alone. Private says that Data holds parts that are for one member
// (and admins and services): others get what redacting leaves of it.
type StoredEvent struct {
	Session shoal.SessionID
	Place   int64
	Space   shoal.SpaceID
	Entity  shoal.EntityID
	Run     shoal.RunID
	Private bool
	Type    shoal.EventType
	Data    []byte
	// Message is set for an event that shows a message as it is whenever the event is
	// read: it is appended with a Data that is only its head, and read with a
	// [shoal.MessageData].
	Message shoal.MessageID
}

// EventFilter chooses events: of one run; of one space; of all spaces that an
// entity is in (with those about the entity itself); or, with all empty, of all
// spaces of the session. Only the first of them sees events without a space.
type EventFilter struct {
	Run    shoal.RunID
	Space  shoal.SpaceID
	Entity shoal.EntityID
}

// KeyTx keeps keys. Hash is the SHA-256 of the secret, in hexadecimal.
type KeyTx interface {
	InsertKey(k shoal.Key, hash string) error
	// InsertSignIn stores the sign-in of a browser: of a key, or of none if it is empty.
	InsertSignIn(k shoal.Key, hash string, of shoal.KeyID) error
	// SignIns lists the sign-ins of a key, or those of none, in any order.
	SignIns(of shoal.KeyID) ([]shoal.KeyID, error)
	// SweepSignIns deletes the sign-ins that have ended at a time, or were not used since
	// another one. They count as revoked no more than what never was.
	SweepSignIns(ended, unused shoal.Time) error
	// KeyHash returns the hash of a key; NotFound for one that is revoked.
	KeyHash(id shoal.KeyID) (string, error)
	// KeyByHash is NotFound for a revoked key; an expired one is returned.
	KeyByHash(hash string) (shoal.Key, error)
	// Keys lists in the order of ids, those after the given one: the session's, or
	// all if session is empty.
	Keys(session shoal.SessionID, after shoal.KeyID, limit int) ([]shoal.Key, error)
	// DeleteKey is NotFound also for a key that is not the session's; an empty session
	// stands for all.
	DeleteKey(session shoal.SessionID, id shoal.KeyID) error
	// RevokedKey reports whether a key with this hash was deleted, alone or with its
	// entity; those of a deleted session are forgotten.
	RevokedKey(hash string) (bool, error)
	// DeleteEntityKeys revokes every key of an entity.
	DeleteEntityKeys(session shoal.SessionID, entity shoal.EntityID) error
	// EndedRights returns those of the given rights that have ended at a time: keys
	// that are revoked or have expired, entities and sessions that are removed, and
	// owners that are none of their session any more. It is one query, however many.
	EndedRights(held HeldRights, at shoal.Time) (HeldRights, error)
	// UsedKeys stores when keys were last used. Unknown ones are passed over.
	UsedKeys(used map[shoal.KeyID]shoal.Time) error
}

// AnswerTx keeps the first answers to idempotency keys.
type AnswerTx interface {
	// Answer is NotFound when there is none.
	Answer(key AnswerKey) (Answer, error)
	// InsertAnswer replaces an older answer under the same key.
	InsertAnswer(key AnswerKey, a Answer) error
	// DropAnswers erases those given before a time.
	DropAnswers(before time.Time) error
}

// AnswerKey names an answer: an idempotency key, the principal that used it and
// the operation.
type AnswerKey struct {
	Session           shoal.SessionID
	Scope, Route, Key string
}

// Answer is what the first call answered, and the hash of what it asked.
type Answer struct {
	Hash string
	Body []byte
	At   shoal.Time
}
