// Tokens per day, as bars. The table has the same numbers.
import { tokens } from "@/runs/words";
import { roundUp, type Sum } from "./usage-sums";

const tall = 100;
const wide = 10;

const shortDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const named = (day: string): string => shortDay.format(new Date(`${day}T00:00:00Z`));

/** One bar for each day: input tokens below, output tokens above. */
export function UsageChart({ days }: { days: readonly Sum[] }) {
  const most = Math.max(1, ...days.map((d) => d.input + d.output));
  const top = roundUp(most);
  const height = (n: number) => (n / top) * tall;
  return (
    <figure className="rounded-lg border border-line bg-surface p-4">
      <figcaption className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-soft">
        <span>Tokens per day</span>
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden className="size-3 rounded-sm bg-accent" /> in
        </span>
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden className="size-3 rounded-sm bg-warn" /> out
        </span>
      </figcaption>
      <div className="grid grid-cols-[auto_1fr] gap-x-2">
        <p aria-hidden className="flex h-40 flex-col justify-between text-right text-xs leading-none text-soft tabular-nums">
          {[top, top / 2, 0].map((n) => (
            <span key={n}>{tokens(n)}</span>
          ))}
        </p>
        <svg role="img" aria-label={`Tokens on each of ${days.length} days. The table by day has the numbers.`} viewBox={`0 0 ${days.length * wide} ${tall}`} preserveAspectRatio="none" className="h-40 w-full border-b border-edge">
          {[0, tall / 2].map((y) => (
            <line key={y} x1={0} x2={days.length * wide} y1={y} y2={y} vectorEffect="non-scaling-stroke" className="stroke-line" />
          ))}
          {days.map((d, i) => (
            <g key={d.name}>
              <title>{`${named(d.name)}: ${d.input.toLocaleString()} in, ${d.output.toLocaleString()} out`}</title>
              <rect x={i * wide} width={wide} y={0} height={tall} className="fill-transparent" />
              <rect x={i * wide + 1.5} width={wide - 3} y={tall - height(d.input)} height={height(d.input)} className="fill-accent" />
              <rect x={i * wide + 1.5} width={wide - 3} y={tall - height(d.input + d.output)} height={height(d.output)} className="fill-warn" />
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
