// @shoal-dev/client/live: one followed stream and its state for several pages or threads, and
// what a page needs to write to it.
export { type LiveOptions, LiveSession, type Sending } from "./live-session.js";
export { Outbox, type OutboxStorage, type Outgoing, type Post, type SentFile, unseen } from "./outbox.js";
export { posting } from "./posting.js";
export { Source, type SourceUpdate } from "./source.js";
export { Store, type StoreKey } from "./store.js";
export { type Topic, topicName } from "./topic.js";
