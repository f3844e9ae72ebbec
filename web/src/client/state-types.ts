// The shapes of what a browser knows of a session, and of the events that it learns
// from: those of the server, and the console's own.
import type { Entity, Message, PendingAction, Run, ServerEvent, Space } from "./types";
import type { Growing } from "./streaming";

/** A space with the part of its timeline that is here. */
export interface LiveSpace {
  readonly space: Space;
  /** Ids of the messages that are here, by `seq`. */
  readonly order: readonly string[];
}

/** What the console loads beside the stream, as an event of its own. */
export interface LoadedEvent {
  readonly type: "console.loaded";
  readonly entities: readonly Entity[];
  readonly pending: readonly PendingAction[];
  readonly runs: readonly Run[];
}

/** Older messages that somebody scrolled to. */
export interface OlderEvent {
  readonly type: "console.older";
  readonly spaceId: string;
  readonly messages: readonly Message[];
}

/** The reader has read a space up to a place. */
export interface ReadEvent {
  readonly type: "console.read";
  readonly space: Space;
}

/** A new stream begins: the next full set of snapshots says which spaces there are. */
export interface BegunEvent {
  readonly type: "console.begun";
}

export type LiveEvent = ServerEvent | LoadedEvent | OlderEvent | ReadEvent | BegunEvent;

/** What has changed, as keys of subscriptions: `space:ID`, `message:ID`, `spaces` … */
export type Key = `space:${string}` | `message:${string}` | `entity:${string}` | `run:${string}` | "spaces" | "entities" | "pending" | "runs";

/** A copy that can be posted to another thread. */
export interface Dump {
  readonly spaces: readonly LiveSpace[];
  readonly messages: readonly Message[];
  readonly growing: readonly (readonly [string, Growing])[];
  readonly entities: readonly Entity[];
  readonly runs: readonly Run[];
  readonly pending: readonly PendingAction[];
  /** The spaces of which the stream has sent a snapshot since it began. */
  readonly seen: readonly string[];
}
