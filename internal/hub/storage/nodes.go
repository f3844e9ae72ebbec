package storage

import (
	"time"

	"github.com/shoal-dev/shoal"
)

// NodeTx reads and changes the servers that run on this database.
type NodeTx interface {
	// SaveNode records that a server is alive now, by the clock of the database, which sets
	// SeenAt. It removes the servers that were not seen within ten times the age.
	SaveNode(n shoal.Node, age time.Duration) error
	// DeleteNode removes a server. It does nothing if there is none.
	DeleteNode(id shoal.NodeID) error
	// Nodes returns the servers that were seen within the age, in the order of their start,
	// at most 1,000.
	Nodes(age time.Duration) ([]shoal.Node, error)
	// ClusterKey returns the secret that the servers of this database share, and stores
	// candidate if there is none yet.
	ClusterKey(candidate string) (string, error)
	// TakeDuty reports whether the caller is to do now what one of the servers does for all. For the
	// lease nobody else is, by the clock of the database; it is not renewed.
	TakeDuty(name string, lease time.Duration) (bool, error)
}
