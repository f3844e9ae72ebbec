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
// Guarantees:
//   - The package imports only the standard library and does no I/O.
//   - Values can be shared between goroutines: no function changes its arguments, and no
//     type contains a lock or starts a goroutine.
//   - In JSON every field of a type is present, and null or empty if unset. Times are
//     RFC 3339 in UTC with milliseconds. A changed field name is in the changelog.
package shoal
