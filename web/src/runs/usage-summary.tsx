// What the agents of the session used today and in the last seven days.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import type { UsageRow } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { money, tokens } from "./words";

/** Sums of some days. */
export interface Sum {
  readonly calls: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost: number;
  readonly currency: string;
}

/** The sum of rows. */
export function sumOf(rows: readonly UsageRow[]): Sum {
  const zero: Sum = { calls: 0, input: 0, cached: 0, output: 0, cost: 0, currency: "USD" };
  return rows.reduce((s, r) => ({ calls: s.calls + r.calls, input: s.input + r.inputTokens, cached: s.cached + r.cachedInputTokens, output: s.output + r.outputTokens, cost: s.cost + r.cost, currency: r.currency === "" ? s.currency : r.currency }), zero);
}

/** The date of a moment in UTC, by which the server counts days. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const day = 86_400_000;

/** For admins; nothing for anybody else. */
export function UsageSummary() {
  const { session, may } = useConsole();
  const reads = may("read_settings");
  const today = dayOf(Date.now());
  const from = dayOf(Date.now() - 6 * day);
  const usage = useQuery({
    queryKey: ["usage", session, "days", from],
    queryFn: async () => (await api.GET("/v1/sessions/{session}/usage", { params: { path: { session }, query: { by: "day", from } } })).items,
    enabled: reads,
    refetchInterval: 60_000,
  });
  // The runs are what the page is about: without their sums it is still whole.
  if (!reads || usage.data === undefined) return null;
  const days = Array.from({ length: 7 }, (_, i) => dayOf(Date.now() - (6 - i) * day));
  const perDay = days.map((d) => sumOf(usage.data.filter((r) => r.day === d)));
  return (
    <section aria-label="Usage" className="grid gap-px overflow-hidden border-b border-line bg-line grid-cols-2 sm:grid-cols-[1fr_1fr_auto]">
      <Figures title="Today" hint="Days are counted in UTC" sum={sumOf(usage.data.filter((r) => r.day === today))} />
      <Figures title="Last 7 days" hint={`From ${from}`} sum={sumOf(usage.data)} />
      <Bars days={days} sums={perDay} />
    </section>
  );
}

function Figures({ title, hint, sum }: { title: string; hint: string; sum: Sum }) {
  return (
    <div className="bg-surface px-5 py-2 max-sm:pr-2">
      <h2 className="text-xs font-semibold text-soft" title={hint}>
        {title}
      </h2>
      <p className="text-sm tabular-nums">
        {sum.calls === 0 ? (
          "no model calls"
        ) : (
          <>
            {sum.calls === 1 ? "1 model call" : `${sum.calls} model calls`}, {tokens(sum.input)} tokens in{sum.cached > 0 && ` (${tokens(sum.cached)} cached)`}, {tokens(sum.output)} out, {money(sum.cost, sum.currency)}
          </>
        )}
      </p>
    </div>
  );
}

// One bar per day, and a table of the same numbers for screen readers.
function Bars({ days, sums }: { days: readonly string[]; sums: readonly Sum[] }) {
  const most = Math.max(1, ...sums.map((s) => s.input + s.output));
  const label = days.map((d, i) => `${d}: ${tokens((sums[i]?.input ?? 0) + (sums[i]?.output ?? 0))} tokens`).join(", ");
  return (
    <div role="img" aria-label={`Tokens of each day. ${label}`} className="hidden h-full w-44 items-end gap-1 bg-surface px-4 py-2 sm:flex">
      {sums.map((s, i) => (
        <span key={days[i]} title={`${days[i]}: ${tokens(s.input + s.output)} tokens`} className="min-h-0.5 flex-1 rounded-t-sm bg-info" style={{ height: `${(100 * (s.input + s.output)) / most}%` }} />
      ))}
    </div>
  );
}
