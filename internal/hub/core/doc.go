// Package core is what all parts of the hub share: transactions and the notifications that
// follow from them ([Core.Change]), the rights of callers, the lookup of sessions, spaces,
// participants and runs, events, system messages, presence, and the calls that stay open.
// It imports no other part of the hub; hub.go in the parent directory assembles them.
package core
