// Under a message whose run waits for an answer in another space: the way to the request.
import { Link } from "@tanstack/react-router";
import { ArrowRight, Hand } from "lucide-react";
import type { Message, PendingAction } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { subject } from "@/approvals/subject";
import { usePending, useSpace } from "@/live/hooks";
import { Words } from "@/parts/words/words";

const words: Record<PendingAction["kind"], string> = { permission: "Waiting for approval", question: "Waiting for an answer", client_tool: "Waiting for a person" };

/** The open requests of a message's run that other spaces show. */
export function WaitsElsewhere({ message }: { message: Message }) {
  const open = usePending().filter((p) => p.status === "open" && p.runId === message.runId && p.spaceId !== null && p.spaceId !== message.spaceId);
  return open.map((p) => <Request key={p.id} pending={p} />);
}

function Request({ pending: p }: { pending: PendingAction }) {
  const { session } = useConsole();
  const space = useSpace(p.spaceId ?? "")?.space;
  return (
    <p className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-warn bg-warn-soft px-3 py-2">
      <span className="inline-flex min-w-0 flex-1 basis-60 items-center gap-2 text-warn">
        <Hand aria-hidden className="size-4 shrink-0" />
        <span className="min-w-0 wrap-anywhere">
          {words[p.kind]} in {space?.name ?? p.spaceId}: <Words text={subject(p)} />
        </span>
      </span>
      <Link to="/s/$session/approvals" params={{ session }} search={{ pending: p.id }} className="inline-flex min-h-9 touch:min-h-11 items-center gap-1.5 rounded-md bg-accent px-3.5 font-medium text-accent-ink hover:brightness-110">
        Review request
        <ArrowRight aria-hidden className="size-4" />
      </Link>
    </p>
  );
}
