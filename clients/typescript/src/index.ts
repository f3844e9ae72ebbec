// Package @shoal-dev/client: everything that programs may import.
export { type CallOptions, type Client, createClient } from "./client.js";
export { type Connection, Follower, type Listener } from "./follower.js";
export { listsAll, mergeMembers } from "./members.js";
export { completeMembers } from "./partial-json.js";
export * from "./errors.js";
export { allPages, request, type RequestOptions, requestText } from "./request.js";
export type { components, paths } from "./schema.js";
export { ended, reasoningKey, SessionState } from "./session-state.js";
export { Source, type SourceUpdate } from "./source.js";
export { EventParser, type SentEvent } from "./sse.js";
export type { Dump, Key as StateKey, LiveEvent, LiveSpace, LoadedEvent, OlderEvent, ReadEvent, RestartedEvent } from "./state-types.js";
export type { StreamingPart } from "./streaming.js";
export { type Topic, topicName } from "./topic.js";
export { entityHeader, type Transport, type TransportRequest } from "./transport.js";
export * from "./types.js";
export { byteLength, byteSlice } from "./utf8.js";
