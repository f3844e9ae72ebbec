// Package archive exports a session as lines of JSON and imports it again; docs/export.md
// describes the format.
package archive
