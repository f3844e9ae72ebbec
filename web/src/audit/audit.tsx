// The audit log: who did what, on what, when and from where, and whether the log is whole.
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { useConsole } from "@/app/console";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { SelectField, TextField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { type AuditRecord, verifies, verify } from "./verify";
import { actWords, dayBound, deletedTargets, detailWords, groups, whoWords } from "./words";

interface Filter {
  readonly log: "session" | "server";
  readonly by: string;
  readonly act: string;
  readonly decision: string;
  readonly from: string;
  readonly to: string;
}

const all: Filter = { log: "session", by: "", act: "", decision: "", from: "", to: "" };

function read(session: string, f: Filter, cursor: string | undefined, limit = 50) {
  const word = (text: string) => (text.trim() === "" ? undefined : text.trim());
  const query = { by: word(f.by), act: word(f.act), decision: word(f.decision), from: dayBound(f.from, false), to: dayBound(f.to, true), cursor, limit };
  return f.log === "server" ? api.GET("/v1/audit", { params: { query } }) : api.GET("/v1/sessions/{session}/audit", { params: { path: { session }, query } });
}

/** The log, for those who may read it. */
export function Audit() {
  const { session, admin } = useConsole();
  const [filter, setFilter] = useState(all);
  const set = (some: Partial<Filter>) => setFilter({ ...filter, ...some });
  const found = useInfiniteQuery({
    queryKey: [session, "audit", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => read(session, filter, pageParam),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: (before) => before, // while a person types
  });
  const records = found.data?.pages.flatMap((p) => p.items) ?? [];
  const gone = deletedTargets(records);
  return (
    <>
      <Verify key={filter.log} session={session} log={filter.log} />
      <div className="grid max-w-read grid-cols-2 gap-3 sm:grid-cols-3">
        {admin && (
          <SelectField label="Log" value={filter.log} onChange={(e) => set({ log: e.target.value === "server" ? "server" : "session" })}>
            <option value="session">This session</option>
            <option value="server">The server</option>
          </SelectField>
        )}
        <TextField label="Who" type="search" value={filter.by} placeholder="ada or key_…" onChange={(e) => set({ by: e.target.value })} />
        <SelectField label="What" value={filter.act} onChange={(e) => set({ act: e.target.value })}>
          <option value="">Everything</option>
          {groups.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <SelectField label="Decision" value={filter.decision} onChange={(e) => set({ decision: e.target.value })}>
          <option value="">Any</option>
          <option value="allowed">Allowed</option>
          <option value="refused">Refused</option>
        </SelectField>
        <TextField label="From" type="date" value={filter.from} onChange={(e) => set({ from: e.target.value })} />
        <TextField label="To" type="date" value={filter.to} onChange={(e) => set({ to: e.target.value })} />
      </div>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isSuccess && records.length === 0 && <p className="text-soft">No records.</p>}
      {records.length > 0 && (
        <ol aria-label="Records" className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {records.map((r) => (
            <Row key={`${r.sessionId ?? ""} ${r.seq}`} of={r} session={session} gone={gone(r)} />
          ))}
        </ol>
      )}
      {found.hasNextPage && (
        <div className="text-center">
          <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

function Row({ of: r, session, gone }: { of: AuditRecord; session: string; gone: boolean }) {
  const details = Object.entries(r.details).map(([name, value]) => detailWords(name, value));
  return (
    <li className="flex flex-col gap-0.5 px-4 py-2.5">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 break-words">
          <span className="font-semibold break-all">{whoWords(r)}</span> {actWords[r.act]}
        </span>
        <Target of={r} session={session} gone={gone} />
        {r.decision === "refused" && <Badge tone="warn">refused{r.count > 1 && ` ${r.count} times`}</Badge>}
      </p>
      <p className="flex flex-wrap gap-x-3 text-sm break-words text-soft">
        <span>#{r.seq}</span>
        <Moment at={r.at} />
        {r.address !== "" && <span className="break-all">from {r.address}</span>}
        {r.keyId !== "" && r.keyId !== r.target.id && <span className="break-all">with {r.keyId}</span>}
        {details.length > 0 && <span className="min-w-0 break-all">{details.join(" · ")}</span>}
      </p>
    </li>
  );
}

// What is there no more has no link.
function Target({ of: { act, target, sessionId }, session, gone }: { of: AuditRecord; session: string; gone: boolean }) {
  if (target.id === "" || (target.kind === "session" && act !== "session.create")) return null;
  const here = sessionId === session && !gone;
  const style = "break-all text-accent underline";
  if (here && target.kind === "space") {
    return (
      <Link to="/s/$session/spaces/$space" params={{ session, space: target.id }} className={style}>
        {target.id}
      </Link>
    );
  }
  if (here && target.kind === "agent") {
    return (
      <Link to="/s/$session/agents/$agent" params={{ session, agent: target.id }} className={style}>
        {target.id}
      </Link>
    );
  }
  if (here && target.kind === "entity") {
    return (
      <Link to="/s/$session/settings" params={{ session }} search={{ tab: "members" }} className={style}>
        {target.id}
      </Link>
    );
  }
  return <code className="font-mono text-sm break-all">{target.id}</code>;
}

function Verify({ session, log }: { session: string; log: Filter["log"] }) {
  const checked = useMutation({ mutationFn: () => verify((cursor) => read(session, { ...all, log }, cursor, 200)) });
  const verdict = checked.data;
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p role="status" className="min-w-0 flex-1 basis-80 text-soft">
        {verdict === undefined ? (
          "Each record has a hash over its content and over the record before. A check reads all of them and finds what was changed or removed."
        ) : verdict.problem === undefined ? (
          <span className="font-medium text-ok">The log is complete: {verdict.records === 1 ? "1 record" : `${verdict.records} records`}, nothing changed or removed.</span>
        ) : (
          <span className="font-medium text-bad">The log is broken. {verdict.problem}</span>
        )}
      </p>
      {verifies() ? (
        <Button icon={<ShieldCheck aria-hidden className="size-4" />} busy={checked.isPending} onClick={() => checked.mutate()}>
          Check the log
        </Button>
      ) : (
        <code className="font-mono text-sm">shoal audit verify</code>
      )}
      {checked.isError && <Failed error={checked.error} />}
    </div>
  );
}
