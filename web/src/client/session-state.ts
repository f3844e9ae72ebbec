// What a browser knows of one session: spaces with their newest messages, members,
// runs and what waits for people, kept by the events of one stream. Pure: no
// network, no DOM. The same class lives in the SharedWorker, which reads the
// stream, and in every tab, which is given a copy and then the same events.
//
// Guarantees: values are never changed in place, so an identity tells whether
// something is new. Applying an event twice, or one that a snapshot holds already,
// changes nothing. The deltas of a part are taken by their byte offsets: what
// overlaps is dropped, what would leave a hole asks for a fresh start (`gap`).
import type { Entity, Member, Message, PendingAction, Run, ServerEvent, Space } from "./types";
import { dropOldest, most } from "./limits";
import { byteLength, byteSlice } from "./utf8";
import type { Dump, Key, LiveEvent, LiveSpace } from "./state-types";
import { applyPart, type Growing, growingOf } from "./streaming";

export type { Dump, Key, LiveEvent, LiveSpace } from "./state-types";

/** See the head of this file. */
export class Live {
  readonly spaces = new Map<string, LiveSpace>();
  readonly messages = new Map<string, Message>();
  /** What is known of parts in progress beside their value, by part id. */
  readonly growing = new Map<string, Growing>();
  readonly entities = new Map<string, Entity>();
  readonly runs = new Map<string, Run>();
  readonly pending = new Map<string, PendingAction>();
  /** A delta left a hole: the stream must be begun anew without a cursor. */
  gap = false;

  private seen = new Set<string>();
  private changed = new Set<Key>();

  constructor(
    /** As whom this is seen: whose mentions count. */
    readonly me: string | null,
    /** Only the spaces that `me` is in are followed; an admin follows all. */
    private readonly own = false,
  ) {}

  /** Applies an event and returns what changed by it. */
  apply(event: LiveEvent): Set<Key> {
    this.changed = new Set();
    this.take(event);
    return this.changed;
  }

  dump(): Dump {
    return {
      spaces: [...this.spaces.values()],
      messages: [...this.messages.values()],
      growing: [...this.growing],
      entities: [...this.entities.values()],
      runs: [...this.runs.values()],
      pending: [...this.pending.values()],
      seen: [...this.seen],
    };
  }

  static from(dump: Dump, me: string | null, own = false): Live {
    const live = new Live(me, own);
    for (const s of dump.spaces) live.spaces.set(s.space.id, s);
    for (const m of dump.messages) live.messages.set(m.id, m);
    for (const [id, g] of dump.growing) live.growing.set(id, g);
    for (const e of dump.entities) live.entities.set(e.id, e);
    for (const r of dump.runs) live.runs.set(r.id, r);
    for (const p of dump.pending) live.pending.set(p.id, p);
    live.seen = new Set(dump.seen);
    return live;
  }

  private take(event: LiveEvent): void {
    switch (event.type) {
      case "console.begun":
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
        return this.member(event.spaceId, event.member, event.type === "member.joined");
      case "space.updated":
      case "space.closed":
        return this.updateSpace(this.withMembers(event.space));
      case "space.deleted":
        return this.dropSpace(event.spaceId ?? "");
      case "entity.updated":
        return this.setEntity(event.entity);
      case "step.started":
      case "step.completed":
        return;
      case "console.loaded":
        for (const e of event.entities) this.setEntity(e);
        this.loadedRuns(event.runs);
        return this.loadedPending(event.pending);
      case "console.older":
        for (const m of event.messages) this.insert(event.spaceId, m);
        return;
      case "console.read":
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
    // Older pages stay where they join the newest without a hole.
    const older = (known?.order ?? []).filter((id) => {
      const m = this.messages.get(id);
      return m !== undefined && first !== undefined && m.seq < first.seq;
    });
    const last = older.length > 0 ? this.messages.get(older[older.length - 1] ?? "") : undefined;
    const kept = last !== undefined && first !== undefined && last.seq === first.seq - 1 ? older : [];
    const now = new Set([...kept, ...messages.map((m) => m.id)]);
    for (const id of known?.order ?? []) if (!now.has(id)) this.forget(id);
    for (const m of messages) this.setMessage(m);
    this.spaces.set(space.id, { space, order: [...kept, ...messages.map((m) => m.id)] });
    this.changed.add("spaces").add(`space:${space.id}`);
  }

  private dropSpace(id: string): void {
    for (const m of this.spaces.get(id)?.order ?? []) this.forget(m);
    this.spaces.delete(id);
    this.seen.delete(id);
    this.changed.add("spaces").add(`space:${id}`);
  }

  private forget(id: string): void {
    for (const p of this.messages.get(id)?.parts ?? []) this.growing.delete(p.id);
    this.messages.delete(id);
  }

  private message(m: Message, type: string): void {
    const before = this.messages.get(m.id);
    if (before === undefined) this.makeRoom(m.spaceId);
    this.insert(m.spaceId, before === undefined ? m : this.notBehind(before, m));
    const whole = m.status !== "streaming" && (before === undefined || before.status === "streaming");
    if (whole && type !== "message.updated") this.count(m);
  }

  // A stored message may be a moment behind the deltas of the parts that it has in
  // progress: what is here of those stays.
  private notBehind(before: Message, m: Message): Message {
    if (m.status !== "streaming") return m;
    const parts = m.parts.map((p) => {
      const mine = before.parts.find((b) => b.id === p.id);
      if (mine === undefined || !("status" in p) || !("status" in mine) || p.status !== mine.status) return p;
      if (p.type === "text" && mine.type === "text" && p.status === "streaming" && mine.text.length > p.text.length) return mine;
      return p.status === "input_streaming" ? mine : p;
    });
    return { ...m, parts };
  }

  // What others wrote is unread once it is whole; the server counts the same way.
  private count(m: Message): void {
    const live = this.spaces.get(m.spaceId);
    if (live === undefined || this.me === null || m.entityId === this.me) return;
    if (!live.space.members.some((member) => member.entityId === this.me)) return;
    const named = m.mentions.includes(this.me);
    const system = m.entityId === "system";
    if (!named && (live.space.muted || (system && m.mentions.length > 0))) return;
    const mentioned = named && !system ? 1 : 0;
    this.updateSpace({ ...live.space, unreadCount: live.space.unreadCount + 1, mentionCount: live.space.mentionCount + mentioned }, true);
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

  // A page that stays open for weeks does not hold all that was said meanwhile.
  private makeRoom(spaceId: string): void {
    const live = this.spaces.get(spaceId);
    if (live === undefined || live.order.length < most.messages) return;
    const dropped = live.order.length - most.messages / 2;
    for (const id of live.order.slice(0, dropped)) this.forget(id);
    this.spaces.set(spaceId, { ...live, order: live.order.slice(dropped) });
  }

  private setMessage(m: Message): void {
    this.messages.set(m.id, m);
    for (const p of m.parts) {
      const g = growingOf(p);
      if (g === undefined) this.growing.delete(p.id);
      else this.growing.set(p.id, g);
    }
    this.changed.add(`message:${m.id}`);
  }

  private part(event: Parameters<typeof applyPart>[1]): void {
    const m = this.messages.get(event.messageId);
    if (m === undefined) return; // of a message that is not here any more
    const next = applyPart(m, event, this.growing);
    if (next === "gap") this.gap = true;
    else if (next !== m) {
      this.messages.set(m.id, next);
      this.changed.add(`message:${m.id}`);
    }
  }

  // Reasoning is no part of a message, and mostly comes before there is one: it is
  // kept by its run, for each space that shows it. A new piece begins a new paragraph.
  private reasoning(event: Extract<ServerEvent, { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }>): void {
    const key = reasoningKey(event.runId ?? "", event.spaceId ?? "");
    const before = this.growing.get(key) ?? { bytes: 0, input: "" };
    if (event.type === "reasoning-start") this.growing.set(key, { bytes: 0, input: before.input === "" ? "" : `${before.input}\n\n` });
    if ("delta" in event) {
      const delta = event.offset < before.bytes ? byteSlice(event.delta, before.bytes - event.offset) : event.delta;
      this.growing.set(key, { bytes: Math.max(before.bytes, event.offset + byteLength(event.delta)), input: before.input + delta });
    }
    this.changed.add(`run:${event.runId ?? ""}`);
  }

  private setRun(run: Run): void {
    const before = this.runs.get(run.id);
    if (before !== undefined && ended(before.status) && !ended(run.status)) return;
    this.runs.set(run.id, run);
    if (before === undefined) dropOldest(this.runs, most.runs, (r) => ended(r.status)).forEach((id) => this.forgetThoughts(id));
    this.changed.add("runs").add(`run:${run.id}`);
  }

  // What was under way here and is not in the list has ended unseen.
  private loadedRuns(underWay: readonly Run[]): void {
    const still = new Set(underWay.map((r) => r.id));
    for (const r of [...this.runs.values()]) {
      if (ended(r.status) || still.has(r.id)) continue;
      this.runs.delete(r.id);
      this.forgetThoughts(r.id);
      this.changed.add("runs").add(`run:${r.id}`);
    }
    for (const r of underWay) this.setRun(r);
  }

  private forgetThoughts(run: string): void {
    for (const key of this.growing.keys()) if (key.startsWith(reasoningKey(run, ""))) this.growing.delete(key);
  }

  private setPending(p: PendingAction): void {
    const before = this.pending.get(p.id);
    if (before !== undefined && before.status !== "open" && p.status === "open") return;
    this.pending.set(p.id, p);
    if (before === undefined) dropOldest(this.pending, most.pending, (old) => old.status !== "open");
    this.changed.add("pending");
    if (p.messageId !== null) this.changed.add(`message:${p.messageId}`);
  }

  // What was open here and is not in the list any more has been settled unseen.
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

  private member(spaceId: string | null, member: Member, joined: boolean): void {
    const live = this.spaces.get(spaceId ?? "");
    if (live === undefined) {
      // A space that its reader has just joined: what was said before is in a snapshot.
      if (joined && member.entityId === this.me) this.gap = true;
      return;
    }
    if (this.own && !joined && member.entityId === this.me) return this.dropSpace(live.space.id);
    const others = live.space.members.filter((m) => m.entityId !== member.entityId);
    this.updateSpace({ ...live.space, members: joined ? [...others, member] : others });
  }

  // A space that is told as it is made has no members yet; nobody closes one without any.
  private withMembers(space: Space): Space {
    const known = this.spaces.get(space.id)?.space.members ?? [];
    return space.members.length === 0 && known.length > 0 ? { ...space, members: known } : space;
  }

  // Only a counted space says how much its reader has not read, and whether it is muted.
  private updateSpace(space: Space, counted = false): void {
    const live = this.spaces.get(space.id);
    if (live === undefined) return this.addSpace(space);
    const next = counted ? space : { ...space, unreadCount: live.space.unreadCount, mentionCount: live.space.mentionCount, muted: live.space.muted };
    this.spaces.set(space.id, { ...live, space: next });
    this.changed.add("spaces").add(`space:${space.id}`);
  }

  // A space that was made after the stream began has no snapshot, and its members
  // join it by events of their own; one with a past needs a snapshot.
  private addSpace(space: Space): void {
    if (this.me !== null && space.members.length > 0 && !space.members.some((m) => m.entityId === this.me)) return;
    if (space.lastSeq > 0) {
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

/** Where `growing` has what a run thinks, as a space shows it. */
export const reasoningKey = (run: string, space: string): string => `reasoning:${run}:${space}`;

/** Whether a run of this status never changes again. */
export function ended(status: Run["status"]): boolean {
  return status === "completed" || status === "failed" || status === "canceled";
}
