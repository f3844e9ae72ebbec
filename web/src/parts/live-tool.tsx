// A tool's part with what the session knows of it: what waits there, who answered,
// the renderer that somebody has uploaded for it.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState, useSyncExternalStore } from "react";
import { api } from "@/api/client";
import { allPages, type PendingAction, type ToolPart } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useConnection, useLive, useLiveValue } from "@/live/hooks";
import { Answer } from "./answer/answer";
import { useRefused } from "./answer/answerable";
import { RendererFrame } from "./frame/frame";
import { ToolCard } from "./tool/card";
import { stateOf, displayOptions } from "./tool/reading";

interface Props {
  readonly part: ToolPart;
  /** Its message is written no more. */
  readonly over: boolean;
  readonly messageId: string | null;
  /** What waits there, where it is known already. */
  readonly pending?: PendingAction;
  /** It stands alone: it cannot be folded. */
  readonly whole?: boolean;
}

/** A tool's part as it is now. */
export function LiveTool({ part, over, messageId, pending: given, whole = false }: Props) {
  const live = useLiveValue("pending", (s) => (given === undefined ? find(s.live.pending.values(), messageId, part) : s.live.pending.get(given.id)));
  const pending = live ?? given;
  const nameOf = useNames();
  const submit = useSubmit(pending?.id);
  const blocked = useBlocked();
  const [proposal, propose] = useState<{ of: string; value: unknown }>();
  const url = useRenderer(displayOptions(part).renderer);
  const theme = useTheme();
  const open = pending?.status === "open";
  const { actor, may } = useConsole();
  const others = useRefused(open ? pending.id : undefined);
  const refused = pending?.kind === "permission" && !may("approve") ? "Your role in this session does not decide on permissions. Somebody else has to." : others ? "It waits for somebody who may answer it." : undefined;
  const equal = useLiveValue("pending", (s) => (pending === undefined ? 0 : equals(s.live.pending.values(), pending)));
  const custom =
    url === undefined ? undefined : (
      <RendererFrame
        url={url}
        tool={part.toolName}
        args={part.args}
        argsStatus={part.status === "input_streaming" ? "streaming" : "complete"}
        result={part.result}
        state={stateOf(part.status, over)}
        canAnswer={open && blocked === undefined && refused === undefined}
        theme={theme}
        onPropose={(value) => pending !== undefined && open && propose({ of: pending.id, value })}
      />
    );
  const answer =
    pending === undefined ? undefined : (
      <Answer
        key={pending.id}
        pending={pending}
        blocked={blocked}
        refused={refused}
        submit={submit}
        nameOf={nameOf}
        me={actor}
        equal={equal}
        proposal={proposal?.of === pending.id ? { value: proposal.value, drop: () => propose(undefined) } : undefined}
      />
    );
  return <ToolCard part={part} over={over} pending={pending} answer={answer} custom={custom} nameOf={nameOf} whole={whole} />;
}

// One tool call may wait more than once: for a permission, then for its result.
function find(all: Iterable<PendingAction>, messageId: string | null, part: ToolPart): PendingAction | undefined {
  let last: PendingAction | undefined;
  for (const p of all) {
    if (p.partId !== part.id || p.messageId !== messageId) continue;
    if (last === undefined || (last.status !== "open" && (p.status === "open" || p.createdAt > last.createdAt))) last = p;
  }
  return last;
}

// How many other calls one answer can settle with this one, as the server judges it.
function equals(all: Iterable<PendingAction>, p: PendingAction): number {
  let n = 0;
  for (const o of all) {
    if (o.id !== p.id && o.status === "open" && o.agentId === p.agentId && o.kind === p.kind && o.toolName === p.toolName && o.spaceId === p.spaceId && o.argsHash === p.argsHash && p.argsHash !== "") n++;
  }
  return n;
}

function useNames(): (entity: string) => string {
  const store = useLive();
  const { actor } = useConsole();
  return useCallback((id: string) => (id === actor ? "You" : id === "system" ? "Shoal" : (store.live.entities.get(id)?.name ?? id)), [store, actor]);
}

function useSubmit(pending: string | undefined): (body: string) => Promise<PendingAction> {
  const { session } = useConsole();
  return useCallback(
    // The body is text already: as an object its numbers would lose digits.
    (body: string) => api.POST("/v1/sessions/{session}/pending-actions/{pending}/answer", { params: { path: { session, pending: pending ?? "" } }, jsonText: body }),
    [session, pending],
  );
}

/** Why nothing can be answered now: consent is never given to a server that does not hear it. */
function useBlocked(): string | undefined {
  switch (useConnection().state) {
    case "live":
      return undefined;
    case "connecting":
      return "Connecting to the server. Answers are disabled until it's connected.";
    case "offline":
      return "Server unreachable. Answers are disabled until it's back.";
    default:
      return "Disconnected from this session. You cannot answer.";
  }
}

const served = /^\/console\/renderers\/[\w.-]+\/[^/?#]+\/[\w.-]+$/;

function useRenderer(name: string): string | undefined {
  const { session } = useConsole();
  const renderers = useQuery({
    queryKey: [session, "renderers"],
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/renderers", { params: { path: { session }, query: { cursor, limit: 200 } } })),
    staleTime: 60_000,
    retry: false,
  });
  const url = renderers.data?.find((r) => r.name === name)?.url;
  return url !== undefined && served.test(url) ? url : undefined;
}

function watchTheme(fn: () => void): () => void {
  const seen = new MutationObserver(fn);
  seen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => seen.disconnect();
}

function useTheme(): "light" | "dark" {
  return useSyncExternalStore(watchTheme, () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light"));
}
