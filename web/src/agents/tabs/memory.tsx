// What a hosted agent has noted for itself: its memories and goals, and the way to
// delete them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, Target, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api } from "@/api/client";
import { allPages } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Words } from "@/parts/words/words";
import { Badge } from "@/ui/badge";
import { Button, IconButton } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { Section, Sheet } from "../forms/layout";

/** One memory or goal, as both lists show it. */
interface Note {
  readonly id: string;
  readonly text: string;
  readonly head: ReactNode;
  readonly updatedAt: string;
}

interface Kind {
  readonly title: string;
  readonly about: string;
  readonly none: string;
  readonly one: string;
  readonly load: () => Promise<Note[]>;
  readonly remove: (id: string) => Promise<unknown>;
  readonly clear: () => Promise<unknown>;
}

/** Memories and goals of the agent. */
export function MemoryTab({ agent }: { agent: string }) {
  const { session } = useConsole();
  const path = { session, agent };
  return (
    <Sheet>
      <Notes
        agent={agent}
        kind={{
          title: "Memories", about: "What the agent stored for later conversations.", none: "No memories", one: "memory",
          load: async () => (await allPages((cursor) => api.GET("/v1/sessions/{session}/agents/{agent}/memories", { params: { path, query: { cursor, limit: 200 } } }))).map((m) => ({ id: m.id, text: m.content, head: <Words text={m.topic} />, updatedAt: m.updatedAt })),
          remove: (memory) => api.DELETE("/v1/sessions/{session}/agents/{agent}/memories/{memory}", { params: { path: { ...path, memory } } }),
          clear: () => api.DELETE("/v1/sessions/{session}/agents/{agent}/memories", { params: { path } }),
        }}
      />
      <Notes
        agent={agent}
        kind={{
          title: "Goals", about: "The agent's goals, including completed goals.", none: "No goals", one: "goal",
          load: async () => (await allPages((cursor) => api.GET("/v1/sessions/{session}/agents/{agent}/goals", { params: { path, query: { cursor, limit: 200 } } }))).map((g) => ({ id: g.id, text: g.description, head: <GoalHead {...g} />, updatedAt: g.updatedAt })),
          remove: (goal) => api.DELETE("/v1/sessions/{session}/agents/{agent}/goals/{goal}", { params: { path: { ...path, goal } } }),
          clear: () => api.DELETE("/v1/sessions/{session}/agents/{agent}/goals", { params: { path } }),
        }}
      />
    </Sheet>
  );
}

function GoalHead({ isCompleted, isLongTerm, priority }: { isCompleted: boolean; isLongTerm: boolean; priority: number }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Badge tone={isCompleted ? "ok" : "neutral"} icon={isCompleted ? <CircleCheck aria-hidden className="size-3" /> : <Target aria-hidden className="size-3" />}>
        {isCompleted ? "completed" : "open"}
      </Badge>
      <span className="text-sm text-soft">
        {isLongTerm ? "long-term, " : ""}priority {priority}
      </span>
    </span>
  );
}

function Notes({ agent, kind }: { agent: string; kind: Kind }) {
  const { session, may } = useConsole();
  const queries = useQueryClient();
  const [deleting, setDeleting] = useState<Note | "all">();
  const key = ["notes", session, agent, kind.title];
  const found = useQuery({ queryKey: key, queryFn: kind.load });
  const notes = found.data ?? [];
  return (
    <Section
      title={kind.title}
      about={kind.about}
      actions={
        notes.length > 0 && may("manage") && (
          <Button tone="danger" onClick={() => setDeleting("all")}>
            Delete all {kind.title.toLowerCase()}
          </Button>
        )
      }
    >
      {found.isPending && <Loading lines={2} />}
      {found.isError && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isSuccess && notes.length === 0 && <p className="text-sm text-soft">{kind.none}.</p>}
      {notes.length > 0 && (
        <ul aria-label={kind.title} className="divide-y divide-line rounded-lg border border-line">
          {notes.map((n) => (
            <li key={n.id} className="flex items-start gap-2 px-3 py-2">
              <div className="flex min-w-0 flex-1 flex-col gap-0.5">
                <p className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm font-medium break-words">
                  {n.head} <Moment at={n.updatedAt} />
                </p>
                <p className="whitespace-pre-wrap [overflow-wrap:anywhere]" dir="auto">
                  <Words text={n.text} />
                </p>
              </div>
              {may("manage") && (
                <IconButton label={`Delete this ${kind.one}`} onClick={() => setDeleting(n)}>
                  <Trash2 aria-hidden className="size-4" />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {deleting !== undefined && (
        <Confirm
          title={deleting === "all" ? `Delete all ${kind.title.toLowerCase()}?` : `Delete this ${kind.one}?`}
          action="Delete"
          onClose={() => setDeleting(undefined)}
          run={async () => {
            await (deleting === "all" ? kind.clear() : kind.remove(deleting.id));
            await queries.invalidateQueries({ queryKey: key });
          }}
        >
          <p>{deleting === "all" ? `All ${notes.length} are deleted.` : `“${deleting.text.slice(0, 300)}”`} This cannot be undone. Runs in progress may still use what they have read.</p>
        </Confirm>
      )}
    </Section>
  );
}
