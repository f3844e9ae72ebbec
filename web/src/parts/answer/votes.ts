// How far an action is that several have to answer. Pure.
import type { PendingAction } from "@shoal-dev/client";

type Vote = PendingAction["votes"][number];

/** How the votes on an open action count up. */
export interface Tally {
  /** Those who gave the answer that most of them gave. */
  readonly agreed: readonly Vote[];
  /** Those who answered differently. */
  readonly others: readonly Vote[];
  readonly missing: number;
  /** Too few may still vote: it cannot be settled by votes any more. */
  readonly stuck: boolean;
}

/** Counts equal answers. */
export function tallyOf({ votes, quorum, eligible }: Pick<PendingAction, "votes" | "quorum" | "eligible">): Tally {
  const groups = new Map<string, Vote[]>();
  for (const v of votes) {
    const said = saidBy(v);
    groups.set(said, [...(groups.get(said) ?? []), v]);
  }
  const agreed = [...groups.values()].reduce<Vote[]>((most, g) => (g.length > most.length ? g : most), []);
  const missing = Math.max(0, quorum - agreed.length);
  return { agreed, others: votes.filter((v) => !agreed.includes(v)), missing, stuck: eligible + votes.length < quorum };
}

/** What a vote says, as text: votes that say the same are equal. */
export const saidBy = (v: Vote): string => canonical([v.approved, v.result, v.error, v.editedArgs]);

/** JSON with the members of objects in order: equal values are equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, v: unknown) => (typeof v === "object" && v !== null && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v));
}

/** What a vote says. */
export function voteWords(v: Vote): string {
  if (v.approved !== null) return !v.approved ? "denied" : v.editedArgs === null ? "approved" : "approved with other arguments";
  return v.error === null ? "answered" : "reported a problem";
}

/** What was decided about a permission. */
export type Verdict = "approved" | "denied" | "sent back";

/** What was decided about a permission, in a word; undefined if it was not decided. */
export function verdict(decision: PendingAction["decision"]): Verdict | undefined {
  if (decision === null) return undefined;
  return decision.approved ? "approved" : decision.ask === null ? "denied" : "sent back";
}

/** The same as what the one who decided did, after their name: "sent it back with a question". */
export function decided(decision: PendingAction["decision"]): string | undefined {
  const said = verdict(decision);
  return said === "sent back" ? "sent it back with a question" : said;
}

/** A name inside of a sentence. */
export const inside = (name: string): string => (name === "You" ? "you" : name);

/** Names as a person lists them: "Ada, Ben and Eve". */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
