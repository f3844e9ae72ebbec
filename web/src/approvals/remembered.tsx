// Remembered decisions: what each covers, until when, and how to revoke it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { allPages, type RememberedDecision } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useSpace } from "@/live/hooks";
import { listed } from "@/parts/answer/votes";
import { Value } from "@/parts/renderers/value";
import { Words } from "@/parts/words/words";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { notify } from "@/ui/notice";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { useNames } from "./settled";

/** The decisions that the caller can see, of one agent if it is named. */
export function Remembered({ agent }: { agent?: string }) {
  const { session, actor } = useConsole();
  const queries = useQueryClient();
  const [revoking, revoke] = useState<RememberedDecision>();
  const found = useQuery({
    queryKey: ["remembered", session, actor],
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/remembered-decisions", { params: { path: { session }, query: { cursor, limit: 200 } } })),
    refetchInterval: 60_000,
  });
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const decisions = found.data.filter((d) => agent === undefined || d.agentId === agent).sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  if (decisions.length === 0) return <Empty title="No remembered decisions">When you approve or deny a call, you can remember the choice for later calls. It is listed here until it expires or is revoked.</Empty>;
  return (
    <>
      <ul className="divide-y divide-line border-b border-line">
        {decisions.map((d) => (
          <Row key={d.id} decision={d} revoke={() => revoke(d)} />
        ))}
      </ul>
      {revoking !== undefined && (
        <Confirm
          title="Revoke this decision?"
          action="Revoke"
          onClose={() => revoke(undefined)}
          run={async () => {
            await api.DELETE("/v1/sessions/{session}/remembered-decisions/{decision}", { params: { path: { session, decision: revoking.id } } });
            await queries.invalidateQueries({ queryKey: ["remembered", session] });
            notify("Decision revoked. The next call asks again.");
          }}
        >
          <p>
            The next call of <code>{revoking.toolName}</code> asks for permission again. Calls that were already decided do not change.
          </p>
        </Confirm>
      )}
    </>
  );
}

function Row({ decision: d, revoke }: { decision: RememberedDecision; revoke: () => void }) {
  const name = useNames();
  const space = useSpace(d.spaceId ?? "")?.space;
  const allowed = d.decision === "allow";
  return (
    <li className="flex flex-wrap items-start gap-3 px-4 py-3 md:px-6" aria-label={`${d.toolName} of ${name(d.agentId)}`}>
      <div className="flex min-w-0 flex-1 basis-60 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone={allowed ? "ok" : "bad"} icon={allowed ? <CircleCheck aria-hidden className="size-3" /> : <CircleX aria-hidden className="size-3" />}>
            {allowed ? "approved" : "denied"}
          </Badge>
          <code className="font-medium break-words">{d.toolName}</code>
          <span className="text-sm text-soft">
            {d.scope === "tool" ? "with any arguments" : "with these arguments:"}
          </span>
        </p>
        {d.scope !== "tool" && (
          <div className="min-w-0">
            <Value value={d.args} />
          </div>
        )}
        <p className="text-sm break-words text-soft">
          <Words text={`${name(d.agentId)} ${d.spaceId === null ? "in no space" : `in ${space?.name ?? d.spaceId}`}${d.requesters.length === 0 ? "" : `, requested by ${listed(d.requesters.map(name))}`}. `} />
          Decided by <Words text={d.entityId === null ? "an admin or a service" : name(d.entityId)} />, <Moment at={d.createdAt} />; expires <Moment at={d.expiresAt} />.
        </p>
      </div>
      <Button small onClick={revoke}>
        Revoke
      </Button>
    </li>
  );
}
