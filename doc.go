// Package shoal defines the nouns of the product, such as sessions, entities, spaces,
// messages, events and keys, with their limits and the errors for values that exceed
// them. Every other package uses these types; the JSON of a type here is the JSON that
// clients see.
//
//	m := shoal.Draft{
//		Parts:    []shoal.Part{shoal.Text("What were the final Q4 sales figures?")},
//		Mentions: []shoal.EntityID{"data-analyzer"},
//	}
//	if err := m.Validate(); err != nil {
//		return err // an *Error of kind InvalidArgument that names every wrong field
//	}
//
// The package promises:
//   - it imports the standard library only and does no I/O;
//   - a value is safe to share once built: nothing here changes a value that it
//     is given, and no type holds a lock or a goroutine;
//   - in JSON every field of a shape is present, null or empty when unset; times
//     are RFC 3339 UTC with milliseconds; field names never change silently.
package shoal
