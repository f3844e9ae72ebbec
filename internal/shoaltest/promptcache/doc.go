// Package promptcache is a model provider on a local port that has a prompt cache. It speaks the
// wires of OpenAI (chat completions), Anthropic and Google, answers what a test says, and counts
// which part of each request it had received before, as the vendors document it:
//
//   - OpenAI: the tools, then the messages. A beginning of at least 1,024 tokens is found again
//     in steps of 128 tokens.
//   - Anthropic: the tools, the system text, then the blocks of the messages. Only what ends at a
//     cache_control mark is stored, at least 1,024 tokens, and it is found again from a mark of a
//     later request that is at most 20 blocks further.
//   - Google: the tools, the system instruction, then the parts. A beginning of whole parts with
//     at least 2,048 tokens is found again.
//
// Four bytes of JSON are one token. What was received stays cached for good: a test measures what
// requests have in common, and not how long a vendor remembers it.
package promptcache
