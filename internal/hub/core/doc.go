// Package core is what all parts of the hub share: transactions and the notifications that
// follow from them ([Core.Change]), the rights of callers, the lookup of sessions, spaces,
// participants and runs, events, system messages, presence, and the calls that stay open.
// Of the parts of the hub it imports only storage. hub.go in the parent directory assembles
// the parts.
package core
