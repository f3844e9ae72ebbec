// Tokens and cost per day, as bars. The table has the same numbers.
import type { UsageRow } from "@shoal-dev/client";
import { money, tokens } from "@/runs/words";
import { costs, perDay, roundUp } from "./usage-sums";

const tall = 100;
const wide = 10;

const shortDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const named = (day: string): string => shortDay.format(new Date(`${day}T00:00:00Z`));

/** One part of the bar of each day, from the bottom up. */
interface Series {
  /** Its name in the legend; a chart of one series has none. */
  readonly name: string;
  readonly fill: string;
  readonly swatch: string;
}

interface Day {
  readonly name: string;
  /** A number for each series. */
  readonly values: readonly number[];
  /** What a pointer at the day shows. */
  readonly title: string;
}

const input: Series = { name: "in", fill: "fill-accent", swatch: "bg-accent" };
const output: Series = { name: "out", fill: "fill-warn", swatch: "bg-warn" };
const cost: Series = { name: "cost", fill: "fill-accent", swatch: "bg-accent" };

/** The tokens per day, and the cost per day in each currency that has one. */
export function UsageCharts({ rows, days }: { rows: readonly UsageRow[]; days: readonly string[] }) {
  const perTokens = perDay(rows, days).map((d) => ({ name: d.name, values: [d.input, d.output], title: `${d.input.toLocaleString()} in, ${d.output.toLocaleString()} out` }));
  return (
    <div className="grid gap-4 xl:auto-cols-fr xl:grid-flow-col">
      <Bars caption="Tokens per day" series={[input, output]} days={perTokens} tick={tokens} />
      {costs(rows, days).map(({ currency, days }) => (
        <Bars key={currency} caption={`Cost per day in ${currency}`} series={[cost]} days={days.map((d) => ({ name: d.name, values: [d.cost], title: d.cost === 0 ? "no cost" : money(d.cost, currency) }))} tick={(n) => (n === 0 ? "0" : money(n, currency))} />
      ))}
    </div>
  );
}

function Bars({ caption, series, days, tick }: { caption: string; series: readonly Series[]; days: readonly Day[]; tick: (n: number) => string }) {
  const top = roundUp(Math.max(0, ...days.map((d) => sum(d.values))));
  return (
    <figure className="min-w-0 rounded-lg border border-line bg-surface p-4">
      <figcaption className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-soft">
        <span>{caption}</span>
        {series.length > 1 &&
          series.map((s) => (
            <span key={s.name} className="inline-flex items-center gap-1.5">
              <span aria-hidden className={`size-3 rounded-sm ${s.swatch}`} /> {s.name}
            </span>
          ))}
      </figcaption>
      <div className="grid grid-cols-[auto_1fr] gap-x-2">
        {/* Half a line higher and lower than the bars: each number is beside its line. */}
        <p aria-hidden className="-my-1.5 flex h-43 flex-col justify-between text-right text-xs leading-none text-soft tabular-nums">
          {[top, top / 2, 0].map((n) => (
            <span key={n}>{tick(n)}</span>
          ))}
        </p>
        <svg role="img" aria-label={`${caption}, for ${days.length} days. The table by day has the numbers.`} viewBox={`0 0 ${days.length * wide} ${tall}`} preserveAspectRatio="none" className="h-40 w-full border-b border-edge">
          {[0, tall / 2].map((y) => (
            <line key={y} x1={0} x2={days.length * wide} y1={y} y2={y} vectorEffect="non-scaling-stroke" className="stroke-line" />
          ))}
          {days.map((d, i) => (
            <g key={d.name}>
              <title>{`${named(d.name)}: ${d.title}`}</title>
              <rect x={i * wide} width={wide} y={0} height={tall} className="fill-transparent" />
              {series.map((s, j) => (
                <rect key={s.name} x={i * wide + 1.5} width={wide - 3} y={tall - (sum(d.values.slice(0, j + 1)) / top) * tall} height={((d.values[j] ?? 0) / top) * tall} className={s.fill} />
              ))}
            </g>
          ))}
        </svg>
        <p aria-hidden className="col-start-2 mt-1 flex justify-between text-xs text-soft">
          {[days[0], days[Math.floor((days.length - 1) / 2)], days.at(-1)].map((d, i) => (
            <span key={i}>{d !== undefined && named(d.name)}</span>
          ))}
        </p>
      </div>
    </figure>
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
