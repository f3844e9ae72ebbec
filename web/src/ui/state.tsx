// The states of the API as an icon and a word.
import { Ban, Check, CircleDashed, Clock, Hand, LoaderCircle, type LucideIcon, PenLine, Plug, PlugZap, X } from "lucide-react";
import type { Entity, Message, Run, ToolPart } from "@shoal-dev/client";
import { Badge, type Tone } from "./badge";

interface Look {
  tone: Tone;
  icon: LucideIcon;
  word: string;
  turns?: boolean;
}

const runs: Record<Run["status"], Look> = {
  queued: { tone: "neutral", icon: CircleDashed, word: "queued" },
  running: { tone: "info", icon: LoaderCircle, word: "running", turns: true },
  waiting_tool: { tone: "warn", icon: Hand, word: "waiting for a person" },
  waiting_reply: { tone: "warn", icon: Clock, word: "waiting for a reply" },
  completed: { tone: "ok", icon: Check, word: "completed" },
  failed: { tone: "bad", icon: X, word: "failed" },
  canceled: { tone: "neutral", icon: Ban, word: "canceled" },
};

const tools: Record<string, Look> = {
  input_streaming: { tone: "info", icon: PenLine, word: "streaming" },
  running: { tone: "info", icon: LoaderCircle, word: "running", turns: true },
  requires_action: { tone: "warn", icon: Hand, word: "needs an answer" },
  done: { tone: "ok", icon: Check, word: "done" },
  error: { tone: "bad", icon: X, word: "failed" },
  denied: { tone: "bad", icon: Ban, word: "denied" },
  canceled: { tone: "neutral", icon: Ban, word: "canceled" },
  interrupted: { tone: "neutral", icon: Ban, word: "interrupted" },
};

const entities: Record<Entity["state"], Look> = {
  waiting: { tone: "warn", icon: Clock, word: "waiting for a mention" },
  running: { tone: "info", icon: LoaderCircle, word: "running", turns: true },
  connected: { tone: "ok", icon: PlugZap, word: "online" },
  offline: { tone: "neutral", icon: Plug, word: "offline" },
};

const messages: Record<Message["status"], Look> = {
  streaming: { tone: "info", icon: PenLine, word: "writing" },
  completed: { tone: "ok", icon: Check, word: "completed" },
  failed: { tone: "bad", icon: X, word: "failed" },
  canceled: { tone: "neutral", icon: Ban, word: "canceled" },
};

function Sign({ look }: { look: Look | undefined }) {
  if (look === undefined) return null;
  const Icon = look.icon;
  return (
    <Badge tone={look.tone} icon={<Icon aria-hidden className={look.turns === true ? "size-3 animate-spin" : "size-3"} />}>
      {look.word}
    </Badge>
  );
}

export const RunState = ({ status }: { status: Run["status"] }) => <Sign look={runs[status]} />;
export const ToolState = ({ status }: { status: ToolPart["status"] }) => <Sign look={tools[status]} />;
export const EntityState = ({ state }: { state: Entity["state"] }) => <Sign look={entities[state]} />;
export const MessageState = ({ status }: { status: Message["status"] }) => <Sign look={messages[status]} />;
/** The word for a state, for sentences. */
export const runWord = (status: Run["status"]): string => runs[status].word;
