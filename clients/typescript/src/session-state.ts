// The state of one session as a client knows it: spaces with their newest messages,
// members, runs and pending actions, updated by the events of one stream. It uses no
// network. A worker that reads the stream and the pages that show it can each have a copy
// and apply the same events.
//
// Values are never modified in place, so that comparing identities detects changes.
// Applying an event twice, or one that a snapshot already contains, has no effect. Deltas
// are applied by their byte offsets: an overlap is dropped, and a gap sets `gap`.
import { listsAll, mergeMembers } from "./members.js";
import type { Entity, Member, Message, PendingAction, Run, ServerEvent, Space } from "./types.js";
import { dropOldest, limits } from "./limits.js";
import { byteLength, byteSlice } from "./utf8.js";
import type { Dump, Key, LiveEvent, LiveSpace } from "./state-types.js";
import { applyPart, type StreamingPart, streamingPartOf } from "./streaming.js";

export type { Dump, Key, LiveEvent, LiveSpace } from "./state-types.js";

/** The state of a session. The comment at the top of this file states its guarantees. */
export class SessionState {
  readonly spaces = new Map<string, LiveSpace>();
  readonly messages = new Map<string, Message>();
  /** The progress of streaming parts, by part id, and of reasoning, by `reasoningKey`. */
  readonly streaming = new Map<string, StreamingPart>();
  readonly entities = new Map<string, Entity>();
  readonly runs = new Map<string, Run>();
  readonly pending = new Map<string, PendingAction>();
  /** Events are missing: the owner must restart the stream without a cursor. */
  gap = false;

  private seen = new Set<string>();
  private changed = new Set<Key>();

  constructor(
    /** The entity whose unread messages and mentions are counted; null for none. */
    readonly me: string | null,
    /** Whether the stream has only the spaces that `me` is a member of. An admin's stream has all. */
    private readonly own = false,
  ) {}

  /** The loaded messages of a space, the oldest first; none if the space is unknown. */
  messagesIn(space: string): Message[] {
    return (this.spaces.get(space)?.order ?? []).flatMap((id) => this.messages.get(id) ?? []);
  }

  /** Applies an event and returns the keys of the changed values. */
  apply(event: LiveEvent): Set<Key> {
    this.changed = new Set();
    this.dispatch(event);
    return this.changed;
  }

  /** Returns a copy for `from`. */
  dump(): Dump {
    return {
      spaces: [...this.spaces.values()],
      messages: [...this.messages.values()],
      streaming: [...this.streaming],
      entities: [...this.entities.values()],
      runs: [...this.runs.values()],
      pending: [...this.pending.values()],
      seen: [...this.seen],
    };
  }

  /** Restores a copy. */
  static from(dump: Dump, me: string | null, own = false): SessionState {
    const live = new SessionState(me, own);
    for (const s of dump.spaces) live.spaces.set(s.space.id, s);
    for (const m of dump.messages) live.messages.set(m.id, m);
    for (const [id, g] of dump.streaming) live.streaming.set(id, g);
    for (const e of dump.entities) live.entities.set(e.id, e);
    for (const r of dump.runs) live.runs.set(r.id, r);
    for (const p of dump.pending) live.pending.set(p.id, p);
    live.seen = new Set(dump.seen);
    return live;
  }

  private dispatch(event: LiveEvent): void {
    switch (event.type) {
      case "local.restarted":
        this.seen = new Set();
        this.gap = false;
        return;
      case "snapshot":
        if ("space" in event) this.snapshot(event.space, event.messages);
        else for (const m of event.messages) this.setMessage(m);
        if ("run" in event) this.setRun(event.run);
        return;
      case "snapshot.end":
        for (const id of this.spaces.keys()) if (!this.seen.has(id)) this.dropSpace(id);
        return;
      case "message.created":
      case "message.completed":
      case "message.updated":
        return this.message(event.message, event.type);
      case "run.created":
      case "run.started":
      case "run.waiting_tool":
      case "run.waiting_reply":
      case "run.resumed":
      case "run.stalled":
      case "run.completed":
      case "run.failed":
      case "run.canceled":
        return this.setRun(event.run);
      case "pending.opened":
      case "pending.voted":
      case "pending.settled":
        return this.setPending(event.pendingAction);
      case "member.joined":
      case "member.left":
        return this.member(event.spaceId, event.member, event.memberCount, event.type === "member.joined");
      case "space.updated":
      case "space.closed":
        return this.updateSpace(this.withMembers(event.space));
      case "space.deleted":
        return this.dropSpace(event.spaceId ?? "");
      case "entity.updated":
        return this.setEntity(event.entity);
      case "step.started":
      case "step.completed":
      case "delivery.updated":
        return;
      case "local.loaded":
        for (const e of event.entities) this.setEntity(e);
        this.loadedRuns(event.runs);
        return this.loadedPending(event.pending);
      case "local.older":
        for (const m of event.messages) this.insert(event.spaceId, m);
        return;
      case "local.read":
        return this.updateSpace(event.space, true);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.reasoning(event);
      default:
        return this.part(event);
    }
  }

  private snapshot(space: Space, messages: readonly Message[]): void {
    this.seen.add(space.id);
    const known = this.spaces.get(space.id);
    const first = messages[0];
    // Older pages remain if no message is missing between them and the snapshot.
    const older = (known?.order ?? []).filter((id) => {
      const m = this.messages.get(id);
      return m !== undefined && first !== undefined && m.seq < first.seq;
    });
    const last = older.length > 0 ? this.messages.get(older[older.length - 1] ?? "") : undefined;
    const connected = last !== undefined && first !== undefined && last.seq === first.seq - 1 ? older : [];
    const now = new Set([...connected, ...messages.map((m) => m.id)]);
    for (const id of known?.order ?? []) if (!now.has(id)) this.forget(id);
    for (const m of messages) this.setMessage(m);
    this.spaces.set(space.id, { space, order: [...connected, ...messages.map((m) => m.id)] });
    this.changed.add("spaces").add(`space:${space.id}`);
  }

  private dropSpace(id: string): void {
    for (const m of this.spaces.get(id)?.order ?? []) this.forget(m);
    this.spaces.delete(id);
    this.seen.delete(id);
    this.changed.add("spaces").add(`space:${id}`);
  }

  private forget(id: string): void {
    for (const p of this.messages.get(id)?.parts ?? []) this.streaming.delete(p.id);
    this.messages.delete(id);
  }

  private message(m: Message, type: string): void {
    const before = this.messages.get(m.id);
    if (before === undefined) this.makeRoom(m.spaceId);
    this.insert(m.spaceId, before === undefined ? m : this.keepStreamedText(before, m));
    const isComplete = m.status !== "streaming" && (before === undefined || before.status === "streaming");
    if (isComplete && type !== "message.updated") this.count(m);
  }

  // A stored message may be older than the deltas of its streaming parts: those parts keep
  // what has arrived.
  private keepStreamedText(before: Message, m: Message): Message {
    if (m.status !== "streaming") return m;
    const parts = m.parts.map((p) => {
      const mine = before.parts.find((b) => b.id === p.id);
      if (mine === undefined || !("status" in p) || !("status" in mine) || p.status !== mine.status) return p;
      if (p.type === "text" && mine.type === "text" && p.status === "streaming" && mine.text.length > p.text.length) return mine;
      return p.status === "input_streaming" ? mine : p;
    });
    return { ...m, parts };
  }

  // Messages of others are unread once they are complete. The server counts the same way.
  private count(m: Message): void {
    const live = this.spaces.get(m.spaceId);
    if (live === undefined || this.me === null || m.entityId === this.me) return;
    if (!live.space.members.some((member) => member.entityId === this.me)) return;
    const named = m.mentions.includes(this.me);
    const system = m.entityId === "system";
    if (!named && (live.space.muted || (system && m.mentions.length > 0))) return;
    const mentioned = named && !system ? 1 : 0;
    const { unreadCount, mentionCount, firstUnreadSeq } = live.space;
    // A message that was streaming for long becomes unread after later ones.
    const first = unreadCount === 0 || firstUnreadSeq === 0 ? m.seq : Math.min(firstUnreadSeq, m.seq);
    this.updateSpace({ ...live.space, unreadCount: unreadCount + 1, mentionCount: mentionCount + mentioned, firstUnreadSeq: first }, true);
  }

  private insert(spaceId: string, m: Message): void {
    const known = this.messages.has(m.id);
    this.setMessage(m);
    const live = this.spaces.get(spaceId);
    if (live === undefined || known) return;
    const order = [...live.order];
    let at = order.length;
    while (at > 0 && (this.messages.get(order[at - 1] ?? "")?.seq ?? 0) > m.seq) at--;
    order.splice(at, 0, m.id);
    const space = live.space.lastSeq < m.seq ? { ...live.space, lastSeq: m.seq } : live.space;
    this.spaces.set(spaceId, { space, order });
    this.changed.add("spaces").add(`space:${spaceId}`);
  }

  // A page may stay open for weeks: the oldest messages are dropped.
  private makeRoom(spaceId: string): void {
    const live = this.spaces.get(spaceId);
    if (live === undefined || live.order.length < limits.messages) return;
    const dropped = live.order.length - limits.messages / 2;
    for (const id of live.order.slice(0, dropped)) this.forget(id);
    this.spaces.set(spaceId, { ...live, order: live.order.slice(dropped) });
  }

  private setMessage(m: Message): void {
    this.messages.set(m.id, m);
    for (const p of m.parts) {
      const g = streamingPartOf(p);
      if (g === undefined) this.streaming.delete(p.id);
      else this.streaming.set(p.id, g);
    }
    this.changed.add(`message:${m.id}`);
  }

  private part(event: Parameters<typeof applyPart>[1]): void {
    const m = this.messages.get(event.messageId);
    if (m === undefined) return; // the message was dropped
    const next = applyPart(m, event, this.streaming);
    if (next === "gap") this.gap = true;
    else if (next !== m) {
      this.messages.set(m.id, next);
      this.changed.add(`message:${m.id}`);
    }
  }

  // Reasoning is not a part of a message, and usually precedes it: it is stored by run and
  // space. Each piece is a paragraph.
  private reasoning(event: Extract<ServerEvent, { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }>): void {
    const key = reasoningKey(event.runId ?? "", event.spaceId ?? "");
    const before = this.streaming.get(key) ?? { bytes: 0, input: "" };
    if (event.type === "reasoning-start") this.streaming.set(key, { bytes: 0, input: before.input === "" ? "" : `${before.input}\n\n` });
    if ("delta" in event) {
      const delta = event.offset < before.bytes ? byteSlice(event.delta, before.bytes - event.offset) : event.delta;
      this.streaming.set(key, { bytes: Math.max(before.bytes, event.offset + byteLength(event.delta)), input: before.input + delta });
    }
    this.changed.add(`run:${event.runId ?? ""}`);
  }

  private setRun(run: Run): void {
    const before = this.runs.get(run.id);
    if (before !== undefined && ended(before.status) && !ended(run.status)) return;
    this.runs.set(run.id, run);
    if (before === undefined) dropOldest(this.runs, limits.runs, (r) => ended(r.status)).forEach((id) => this.forgetReasoning(id));
    this.changed.add("runs").add(`run:${run.id}`);
  }

  // A run that is active here and missing in the list ended while the stream was away.
  private loadedRuns(active: readonly Run[]): void {
    const still = new Set(active.map((r) => r.id));
    for (const r of [...this.runs.values()]) {
      if (ended(r.status) || still.has(r.id)) continue;
      this.runs.delete(r.id);
      this.forgetReasoning(r.id);
      this.changed.add("runs").add(`run:${r.id}`);
    }
    for (const r of active) this.setRun(r);
  }

  private forgetReasoning(run: string): void {
    for (const key of this.streaming.keys()) if (key.startsWith(reasoningKey(run, ""))) this.streaming.delete(key);
  }

  private setPending(p: PendingAction): void {
    const before = this.pending.get(p.id);
    if (before !== undefined && before.status !== "open" && p.status === "open") return;
    this.pending.set(p.id, p);
    if (before === undefined) dropOldest(this.pending, limits.pending, (old) => old.status !== "open");
    this.changed.add("pending");
    if (p.messageId !== null) this.changed.add(`message:${p.messageId}`);
  }

  // An action that is open here and missing in the list was settled while the stream was away.
  private loadedPending(open: readonly PendingAction[]): void {
    const still = new Set(open.map((p) => p.id));
    for (const p of [...this.pending.values()]) {
      if (p.status === "open" && !still.has(p.id)) {
        this.pending.delete(p.id);
        this.changed.add("pending");
        if (p.messageId !== null) this.changed.add(`message:${p.messageId}`);
      }
    }
    for (const p of open) this.setPending(p);
  }

  private member(spaceId: string | null, member: Member, count: number, joined: boolean): void {
    const live = this.spaces.get(spaceId ?? "");
    if (live === undefined) {
      // The entity joined a space that is not loaded: only a snapshot has its messages.
      if (joined && member.entityId === this.me) this.gap = true;
      return;
    }
    if (this.own && !joined && member.entityId === this.me) return this.dropSpace(live.space.id);
    const others = live.space.members.filter((m) => m.entityId !== member.entityId);
    const all = listsAll(live.space);
    const members = joined && (all || member.entityId === this.me) ? [...others, member] : others;
    this.updateSpace({ ...live.space, members, memberCount: all ? members.length : count });
  }

  // The event of a space that is being created has no members yet. That of a large space lists
  // others than this entity knows.
  private withMembers(space: Space): Space {
    const known = this.spaces.get(space.id)?.space.members ?? [];
    if (known.length === 0) return space;
    if (space.members.length === 0) return { ...space, members: known };
    return listsAll(space) ? space : { ...space, members: mergeMembers(known, space.members) };
  }

  // The space of an event lacks the counts and the mute setting of this entity. If `counted`, it has them.
  private updateSpace(space: Space, counted = false): void {
    const live = this.spaces.get(space.id);
    if (live === undefined) return this.addSpace(space);
    const next = counted ? space : { ...space, unreadCount: live.space.unreadCount, mentionCount: live.space.mentionCount, firstUnreadSeq: live.space.firstUnreadSeq, muted: live.space.muted };
    this.spaces.set(space.id, { ...live, space: next });
    this.changed.add("spaces").add(`space:${space.id}`);
  }

  // A space that was created after the stream started has no snapshot, and its members
  // follow as events. A space with messages needs a snapshot.
  private addSpace(space: Space): void {
    const listed = this.me === null || space.members.some((m) => m.entityId === this.me);
    if (!listed && space.members.length > 0 && listsAll(space)) return;
    if (space.lastSeq > 0 || (!listed && !listsAll(space))) {
      this.gap = true;
      return;
    }
    this.spaces.set(space.id, { space, order: [] });
    this.changed.add("spaces").add(`space:${space.id}`);
  }

  private setEntity(e: Entity): void {
    this.entities.set(e.id, e);
    this.changed.add("entities").add(`entity:${e.id}`);
  }
}

/** The key in `streaming` of the reasoning of a run in a space. */
export const reasoningKey = (run: string, space: string): string => `reasoning:${run}:${space}`;

/** Reports whether a run with this status has ended and does not change any more. */
export function ended(status: Run["status"]): boolean {
  return status === "completed" || status === "failed" || status === "canceled";
}
