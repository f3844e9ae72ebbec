// One line of the inbox: the request, the agent, the space, and how long it waits.
import { Link } from "@tanstack/react-router";
import { CircleHelp, Hand, type LucideIcon, ShieldQuestion, TimerReset } from "lucide-react";
import type { PendingAction } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName, useSpace } from "@/live/hooks";
import { tallyOf } from "@/parts/answer/votes";
import { Words } from "@/parts/words/words";
import { classes } from "@/ui/classes";
import { duration, Moment, useNow } from "@/ui/time";
import { gist } from "./inbox";
import { subject } from "./subject";
import { settledWords, useNames } from "./settled";

const icons: Record<PendingAction["kind"], { icon: LucideIcon; word: string }> = {
  client_tool: { icon: Hand, word: "To do" },
  permission: { icon: ShieldQuestion, word: "Permission" },
  question: { icon: CircleHelp, word: "Question" },
};

interface Props {
  pending: PendingAction;
  /** It is shown beside the list: the person chose it, or it is the first one, which a phone does not show. */
  selected: "chosen" | "first" | undefined;
  show: "anyone" | "done" | "remembered" | undefined;
}

export function Row({ pending: p, selected, show }: Props) {
  const { session } = useConsole();
  const agent = useName(p.agentId);
  const space = useSpace(p.spaceId ?? "")?.space;
  const { icon: Icon, word } = icons[p.kind];
  return (
    <Link
      to="/s/$session/approvals"
      params={{ session }}
      search={{ show, pending: p.id }}
      aria-current={selected === undefined ? undefined : "true"}
      className={classes("flex min-w-0 flex-1 gap-3 px-4 py-3 -outline-offset-2 hover:bg-sunken", selected === "chosen" && "bg-accent-soft!", selected === "first" && "md:bg-accent-soft!")}
    >
      <Icon aria-hidden className={classes("mt-0.5 size-4 shrink-0", p.status === "open" ? "text-warn" : "text-soft")} />
      <span className="min-w-0 flex-1">
        <span className="sr-only">{word}: </span>
        <span className="line-clamp-2 font-medium break-words">
          <Words text={subject(p)} />
        </span>
        <span className="block truncate text-sm text-soft">
          <Words text={gist(p)} />
        </span>
        {/* The dot before the first of a line is outside of what is shown. */}
        <span className="mt-0.5 block overflow-hidden text-xs text-soft">
          <span className="-ml-3 flex flex-wrap [&>*]:before:inline-block [&>*]:before:w-3 [&>*]:before:text-center [&>*]:before:content-['·']">
            {p.toolName !== "" && p.toolName !== subject(p) && <code className="break-words">{p.toolName}</code>}
            <span>{agent}</span>
            <span>{p.spaceId === null ? "in no space" : `in ${space?.name ?? p.spaceId}`}</span>
            {p.status === "open" && p.quorum > 1 && (
              <span className="font-medium text-ink tabular-nums">
                {tallyOf(p).agreed.length} of {p.quorum} {p.kind === "permission" ? "approvals" : "answers"}
              </span>
            )}
            {p.status === "open" ? <Age pending={p} /> : <Settled pending={p} />}
          </span>
        </span>
      </span>
    </Link>
  );
}

// In minutes: ticking seconds would distract.
function age(ms: number): string {
  return ms < 60_000 ? "just now" : `for ${duration(Math.floor(ms / 60_000) * 60_000)}`;
}

// How long it has been waiting, and how long it may still wait.
function Age({ pending: p }: { pending: PendingAction }) {
  const now = useNow(5000);
  return (
    <>
      <span className="tabular-nums">{age(now - Date.parse(p.createdAt))}</span>
      {p.expiresAt !== null && <Deadline at={p.expiresAt} now={now} />}
    </>
  );
}

function Deadline({ at, now }: { at: string; now: number }) {
  const left = Date.parse(at) - now;
  return (
    <span className={classes("inline-flex items-center gap-1 tabular-nums", left < 600_000 ? "font-semibold text-bad" : "text-warn")}>
      <TimerReset aria-hidden className="size-3" />
      {left <= 0 ? "expired" : `${duration(Math.ceil(left / 1000) * 1000)} left`}
    </span>
  );
}

/** The outcome and its time: "Ada approved, 14:07". */
export function Settled({ pending: p }: { pending: PendingAction }) {
  const name = useNames();
  return (
    <span>
      {settledWords(p, name)}
      {p.answeredAt !== null && (
        <>
          , <Moment at={p.answeredAt} />
        </>
      )}
    </span>
  );
}
