// Package access keeps sessions, participants, keys and browser sign-ins, and ends the open
// calls of those whose rights are withdrawn.
package access
