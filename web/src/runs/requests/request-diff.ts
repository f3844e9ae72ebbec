// What of a model's request is new since the step before. Pure.
import type { ModelContent, ModelMessage, ModelRequest } from "@shoal-dev/client";

export interface News {
  /** For each message of the request: whether the step before did not have it. */
  readonly fresh: readonly boolean[];
  /** How many messages of the step before are not sent any more: the history was made shorter. */
  readonly dropped: number;
  /** The system prompt is another one. */
  readonly system: boolean;
  /** Names of tools that are new or have changed. */
  readonly tools: ReadonlySet<string>;
}

/** Compares a request with that of the step before; without one everything is new, and nothing is marked. */
export function diffRequests(before: ModelRequest | undefined, now: ModelRequest): News {
  if (before === undefined) return { fresh: now.messages.map(() => false), dropped: 0, system: false, tools: new Set() };
  // Equal messages may come more than once; each one before stands for one now.
  const left = new Map<string, number>();
  for (const m of before.messages) {
    const key = JSON.stringify(m);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  let kept = 0;
  const fresh = now.messages.map((m) => {
    const key = JSON.stringify(m);
    const n = left.get(key) ?? 0;
    if (n === 0) return true;
    left.set(key, n - 1);
    kept++;
    return false;
  });
  const known = new Map(before.tools.map((t) => [t.name, JSON.stringify(t)]));
  const tools = new Set(now.tools.filter((t) => known.get(t.name) !== JSON.stringify(t)).map((t) => t.name));
  return { fresh, dropped: before.messages.length - kept, system: before.system !== now.system, tools };
}

/** What a piece of a message says, as text to read and to search in. */
export function contentText(c: ModelContent): string {
  switch (c.type) {
    case "text":
    case "reasoning":
      return c.text;
    case "file":
      return `${c.name}, ${c.mediaType}${c.size > 0 ? `, ${c.size} bytes` : ""}`;
    case "tool_call":
      return typeof c.args === "string" ? c.args : JSON.stringify(c.args, null, 2);
    case "tool_result":
      return [c.text, ...c.files.map((f) => `${f.name}, ${f.mediaType}`)].join("\n");
  }
}

/** What a piece of a message is, in a word or two. */
export function contentTitle(c: ModelContent): string {
  switch (c.type) {
    case "text":
      return "Text";
    case "reasoning":
      return "Reasoning";
    case "file":
      return "File";
    case "tool_call":
      return `Call of ${c.toolName}`;
    case "tool_result":
      return `Result of ${c.toolName}: ${c.status}`;
  }
}

/** Whether a message holds the words, in any case of letters. */
export function messageHas(m: ModelMessage, words: string): boolean {
  return m.content.some((c) => has(contentTitle(c), words) || has(contentText(c), words));
}

/** Whether a text holds the words, in any case of letters; every text holds no words. */
export function has(text: string, words: string): boolean {
  return text.toLowerCase().includes(words.toLowerCase());
}

/** A text cut at the places where the words stand: every second piece is such a place. */
export function pieces(text: string, words: string): string[] {
  if (words === "") return [text];
  const out: string[] = [];
  const low = text.toLowerCase();
  const wanted = words.toLowerCase();
  // Lower case may be of another length in a few scripts; then nothing is marked.
  if (low.length !== text.length) return [text];
  let at = 0;
  for (let i = low.indexOf(wanted); i >= 0; i = low.indexOf(wanted, at)) {
    out.push(text.slice(at, i), text.slice(i, i + wanted.length));
    at = i + wanted.length;
  }
  out.push(text.slice(at));
  return out;
}
