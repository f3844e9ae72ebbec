// Package archive exports a session as lines of JSON and imports such an export. The format is
// described in docs/export.md.
package archive
