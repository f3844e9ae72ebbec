// @shoal-dev/client/live: one followed stream and its state for several pages or threads.
export { Source, type SourceUpdate } from "./source.js";
export { Store, type StoreKey } from "./store.js";
export { type Topic, topicName } from "./topic.js";
