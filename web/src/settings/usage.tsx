// The usage and cost of this session's model calls.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "@/api/client";
import { useConsole } from "@/app/console";
import { useEntities } from "@/live/hooks";
import { money } from "@/runs/words";
import { classes } from "@/ui/classes";
import { SelectField } from "@/ui/field";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { UsageCharts } from "./usage-chart";
import { type Group, lastDays, type Sum, sums, totals } from "./usage-sums";

const groups: Record<Group, string> = { agent: "Agent", model: "Model", day: "Day" };
const spans = [7, 30, 90];

const isGroup = (v: string | undefined): v is Group => v !== undefined && v in groups;

/** The chart and the table, for admins. */
export function Usage() {
  const { session } = useConsole();
  const go = useNavigate();
  const asked = useSearch({ from: "/s/$session/settings" });
  const by: Group = isGroup(asked.by) ? asked.by : "agent";
  const span = spans.find((d) => d === asked.days) ?? 30;
  const days = lastDays(Date.now(), span);
  const from = days[0] ?? "";
  const used = useQuery({
    queryKey: [session, "usage", from],
    queryFn: () => api.GET("/v1/sessions/{session}/usage", { params: { path: { session }, query: { by: "day,agent,model", from } } }),
  });
  const set = (change: { by?: string; days?: number }) => void go({ to: "/s/$session/settings", params: { session }, search: (s) => ({ ...s, ...change }), replace: true });
  if (used.isPending) return <Loading />;
  if (used.isError) return <Failed error={used.error} retry={() => void used.refetch()} />;
  const rows = used.data.items;
  return (
    <>
      <div className="flex flex-wrap gap-4">
        <SelectField label="Group by" value={by} onChange={(e) => set({ by: e.target.value })}>
          {Object.entries(groups).map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <SelectField label="Over the last" value={span} onChange={(e) => set({ days: Number(e.target.value) })}>
          {spans.map((d) => (
            <option key={d} value={d}>
              {d} days
            </option>
          ))}
        </SelectField>
      </div>
      {rows.length === 0 ? (
        <Empty title={`No model calls in the last ${span} days`} command={`shoal usage --session ${session}`}>
          The tokens and the cost of hosted agents appear here.
        </Empty>
      ) : (
        <>
          <UsageCharts rows={rows} days={days} />
          <Table by={by} rows={sums(rows, by)} total={totals(rows)} />
          <p className="text-sm text-soft">Days are in UTC. A model whose price is unknown adds nothing to the cost.</p>
        </>
      )}
    </>
  );
}

function Table({ by, rows, total }: { by: Group; rows: readonly Sum[]; total: readonly Sum[] }) {
  const entities = useEntities();
  const nameOf = (id: string) => (by === "agent" ? (entities.find((e) => e.id === id)?.name ?? id) : id);
  const head = "px-2 py-2 text-right font-medium sm:px-3";
  const cell = "px-2 py-2 text-right tabular-nums sm:px-3";
  const line = (s: Sum, name: string, strong = false) => (
    <tr key={name + s.currency} className={strong ? "font-medium" : undefined}>
      <th scope="row" className="max-w-64 px-3 py-2 text-left font-normal break-words">
        {strong ? <strong>{name}</strong> : name === "" ? "unknown" : name}
      </th>
      <td className={cell}>{s.calls.toLocaleString()}</td>
      <td className={cell}>{s.input.toLocaleString()}</td>
      <td className={classes(cell, "max-sm:hidden")}>{s.cached.toLocaleString()}</td>
      <td className={cell}>{s.output.toLocaleString()}</td>
      <td className={`${cell} whitespace-nowrap`}>{money(s.cost, s.currency)}</td>
    </tr>
  );
  return (
    <div role="region" aria-label="Usage in numbers" tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full border-collapse max-sm:text-sm">
        <thead className="border-b border-line text-sm text-soft">
          <tr>
            <th scope="col" className="px-3 py-2 text-left font-medium">
              {groups[by]}
            </th>
            <th scope="col" className={head}>Calls</th>
            <th scope="col" className={head}>Tokens in</th>
            <th scope="col" className={classes(head, "max-sm:hidden")}>Cached</th>
            <th scope="col" className={head}>Tokens out</th>
            <th scope="col" className={head}>Cost</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">{rows.map((s) => line(s, nameOf(s.name)))}</tbody>
        <tfoot className="border-t border-edge">{total.map((s) => line(s, "All", true))}</tfoot>
      </table>
    </div>
  );
}
