// All sessions of the server, and the details of one.
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { allPages, type Session } from "@shoal-dev/client";
import { Back } from "@/app/back";
import { useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { NewSession, sessionsKey } from "./forms";
import { SessionDetail, SessionState } from "./session-detail";

/** The page. The address names the session. */
export function SessionsPage() {
  useFreshActs();
  const { admin } = useConsole();
  const { id } = useSearch({ from: "/s/$session/sessions" });
  const [making, setMaking] = useState(false);
  if (!admin) {
    return (
      <Page title="Sessions">
        <Empty title="Only admins see sessions">Your key belongs to one session, the one you are in.</Empty>
      </Page>
    );
  }
  return (
    <Page
      title="Sessions"
      back={id !== undefined && <Back to="/s/$session/sessions" label="All sessions" />}
      about={<span className="max-sm:hidden">Isolated workspaces: nothing crosses from one to another.</span>}
      actions={
        <Button tone="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>
          New session
        </Button>
      }
    >
      <Sessions />
      {making && <NewSession onClose={() => setMaking(false)} />}
    </Page>
  );
}

// Side by side if there is room, else one below the other.
function Sessions() {
  const { session: here } = useConsole();
  const { id } = useSearch({ from: "/s/$session/sessions" });
  const sessions = useQuery({ queryKey: sessionsKey, queryFn: () => allPages((cursor) => api.GET("/v1/sessions", { params: { query: { limit: 200, cursor } } })) });
  if (sessions.isPending) return <Loading />;
  if (sessions.isError) return <Failed error={sessions.error} retry={() => void sessions.refetch()} />;
  const chosen = id ?? here;
  const shown = sessions.data.find((s) => s.id === chosen);
  const ordered = [...sessions.data].sort((a, b) => Number(a.status === "closed") - Number(b.status === "closed") || a.name.localeCompare(b.name));
  return (
    <div className="lg:grid lg:h-full lg:grid-cols-[20rem_1fr]">
      <ul aria-label="Sessions" className={classes("divide-y divide-line border-line lg:block lg:overflow-y-auto lg:border-r", id !== undefined && "hidden")}>
        {ordered.map((s) => (
          <SessionRow key={s.id} session={s} chosen={s.id === chosen} />
        ))}
      </ul>
      <div className={classes("min-w-0 px-5 py-5 lg:block lg:overflow-y-auto", id === undefined && "hidden")}>
        {shown === undefined ? <Empty title={`Session “${chosen}” not found`}>It may have been deleted.</Empty> : <SessionDetail key={shown.id} session={shown} />}
      </div>
    </div>
  );
}

function SessionRow({ session, chosen }: { session: Session; chosen: boolean }) {
  const { session: here } = useConsole();
  return (
    <li>
      <Link
        to="/s/$session/sessions"
        params={{ session: here }}
        search={{ id: session.id }}
        aria-current={chosen ? "true" : undefined}
        className={classes("flex flex-col gap-0.5 px-5 py-3 hover:bg-sunken", chosen && "lg:bg-accent-soft")}
      >
        <span className="flex items-center gap-2">
          <span className="min-w-0 flex-1 truncate font-semibold">{session.name}</span>
          {session.id === here && <Badge tone="accent">current</Badge>}
          <SessionState session={session} />
        </span>
        <span className="text-sm text-soft">
          <Counts session={session.id} /> · since <Moment at={session.createdAt} />
        </span>
      </Link>
    </li>
  );
}

const page = 200;

function count(items: readonly unknown[], more: boolean, one: string, many: string): string {
  return `${items.length}${more ? "+" : ""} ${items.length === 1 && !more ? one : many}`;
}

function Counts({ session }: { session: string }) {
  const headers = { "X-Shoal-Entity": "" };
  const found = useQuery({
    queryKey: [session, "counts"],
    queryFn: async () => {
      const params = { path: { session }, query: { limit: page } };
      const [entities, spaces] = await Promise.all([
        api.GET("/v1/sessions/{session}/entities", { headers, params }),
        api.GET("/v1/sessions/{session}/spaces", { headers, params }),
      ]);
      return `${count(entities.items, entities.nextCursor !== null, "participant", "participants")}, ${count(spaces.items, spaces.nextCursor !== null, "space", "spaces")}`;
    },
  });
  return <>{found.data ?? "…"}</>;
}
