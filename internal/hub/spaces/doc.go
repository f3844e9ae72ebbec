// Package spaces implements spaces, their members and their timelines: posting, editing,
// deleting and searching messages, reactions, files, renderers and the usage of models.
package spaces
