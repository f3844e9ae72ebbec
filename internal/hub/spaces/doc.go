// Package spaces keeps spaces, their members and their timelines: posting, editing, erasing
// and searching messages, reactions, files and renderers.
package spaces
