// Package access manages sessions, participants, keys and browser sign-ins, and ends open calls
// when the rights that they depend on are withdrawn.
package access
