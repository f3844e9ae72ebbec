package core

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Tx has the reads that the functions of this package need from a transaction. Each part of
// the hub declares its own; [storage.Tx] has all of them. Changes of the state go through
// [Change].
type Tx interface {
	CountCreated(session shoal.SessionID, by shoal.EntityID, upTo int) (int, error)
	CountRemote(session shoal.SessionID, agent shoal.EntityID, at shoal.Time) (int64, error)
	Counts(session shoal.SessionID, entity shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID]storage.Unread, error)
	Descends(session shoal.SessionID, epoch string, place int64) (bool, error)
	Entity(session shoal.SessionID, id shoal.EntityID) (shoal.Entity, error)
	FileHead(session shoal.SessionID, id shoal.FileID) (f shoal.File, by shoal.EntityID, err error)
	FileShownTo(session shoal.SessionID, id shoal.FileID, entity shoal.EntityID) ([]shoal.SpaceID, error)
	HostedAgent(session shoal.SessionID, id shoal.EntityID) (storage.Agent, error)
	HostedAgents(session shoal.SessionID, after shoal.EntityID, limit int) ([]storage.Agent, error)
	HumanNames(session shoal.SessionID) (map[shoal.EntityID]string, error)
	IsMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) (bool, error)
	ListedMembers(session shoal.SessionID, reader shoal.EntityID, spaces []shoal.SpaceID) (map[shoal.SpaceID][]shoal.Member, error)
	LockSpace(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	MembersAmong(session shoal.SessionID, space shoal.SpaceID, ids []shoal.EntityID) ([]storage.MemberKind, error)
	Message(session shoal.SessionID, space shoal.SpaceID, id shoal.MessageID) (shoal.Message, error)
	Run(session shoal.SessionID, id shoal.RunID) (storage.Run, error)
	RunSpaces(session shoal.SessionID, run shoal.RunID) ([]shoal.SpaceID, error)
	Runs(session shoal.SessionID, filter storage.RunFilter) ([]storage.Run, error)
	Session(id shoal.SessionID) (shoal.Session, error)
	ShareSpace(session shoal.SessionID, a, b shoal.EntityID) (bool, error)
	Space(session shoal.SessionID, id shoal.SpaceID) (shoal.Space, error)
	StoredBytes(session shoal.SessionID, by shoal.EntityID) (int64, error)
	Now() (shoal.Time, error)
}
