// The types of the state of a session, and of the events that change it: those of the
// server, and those that a client adds.
import type { Entity, Message, PendingAction, Run, ServerEvent, Space } from "./types.js";
import type { StreamingPart } from "./streaming.js";

/** A space with the loaded part of its timeline. */
export interface LiveSpace {
  readonly space: Space;
  /** The ids of the loaded messages, in the order of `seq`. */
  readonly order: readonly string[];
}

/** The client loaded the lists that the stream does not start with. */
export interface LoadedEvent {
  readonly type: "local.loaded";
  readonly entities: readonly Entity[];
  readonly pending: readonly PendingAction[];
  readonly runs: readonly Run[];
}

/** The client loaded older messages, for example because a person scrolled up. */
export interface OlderEvent {
  readonly type: "local.older";
  readonly spaceId: string;
  readonly messages: readonly Message[];
}

/** The entity read a space up to a message. `space` has the new counts. */
export interface ReadEvent {
  readonly type: "local.read";
  readonly space: Space;
}

/** The stream restarts: the snapshots that follow name all spaces. */
export interface RestartedEvent {
  readonly type: "local.restarted";
}

export type LiveEvent = ServerEvent | LoadedEvent | OlderEvent | ReadEvent | RestartedEvent;

/** The name of a value that can change, such as `space:ID`, `message:ID` or `spaces`. Subscriptions use it. */
export type Key = `space:${string}` | `message:${string}` | `entity:${string}` | `run:${string}` | "spaces" | "entities" | "pending" | "runs";

/** A copy of the state that can be posted to another thread. */
export interface Dump {
  readonly spaces: readonly LiveSpace[];
  readonly messages: readonly Message[];
  readonly streaming: readonly (readonly [string, StreamingPart])[];
  readonly entities: readonly Entity[];
  readonly runs: readonly Run[];
  readonly pending: readonly PendingAction[];
  /** The spaces whose snapshots the stream has sent since it restarted. */
  readonly seen: readonly string[];
}
