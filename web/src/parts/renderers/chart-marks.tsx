// Bars, lines and slices. All of them draw into 640 × 280.
import { type ChartData, ticks } from "./chart-data";

/** The colours of the series, in order. Each has a contrast of at least 3:1 on the light and the dark background. */
export const colours = ["#2f7fb5", "#c2591a", "#3d8b4f", "#9a5fb8", "#b8434f", "#7d7a1f", "#2b8a8a", "#6a6fd0", "#a8632f", "#5d7f2a", "#b0508f", "#707b85"];

const frame = { left: 56, right: 628, top: 12, bottom: 240 };

interface Scale {
  readonly y: (v: number) => number;
  readonly marks: readonly number[];
}

function scaleOf(chart: ChartData): Scale {
  let low = 0;
  let high = 0;
  for (const s of chart.series) {
    for (const v of s.values) {
      if (v === null) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  const marks = ticks(low, high);
  const from = marks[0] ?? 0;
  const to = marks[marks.length - 1] ?? 1;
  return { marks, y: (v) => frame.bottom - ((v - from) / (to - from || 1)) * (frame.bottom - frame.top) };
}

const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 2 });
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function Axes({ chart, scale, x }: { chart: ChartData; scale: Scale; x: (i: number) => number }) {
  const every = Math.max(1, Math.ceil(chart.labels.length / 8));
  return (
    <>
      {scale.marks.map((m) => (
        <g key={m}>
          <line x1={frame.left} x2={frame.right} y1={scale.y(m)} y2={scale.y(m)} stroke="var(--line)" />
          <text x={frame.left - 6} y={scale.y(m) + 4} textAnchor="end" fill="var(--soft)">
            {short.format(m)}
          </text>
        </g>
      ))}
      {chart.labels.map((l, i) =>
        i % every !== 0 ? null : (
          <text key={i} x={x(i)} y={frame.bottom + 18} textAnchor="middle" fill="var(--soft)">
            {cut(l, Math.max(6, Math.floor(60 / Math.min(chart.labels.length, 8))))}
          </text>
        ),
      )}
      <line x1={frame.left} x2={frame.right} y1={scale.y(0)} y2={scale.y(0)} stroke="var(--edge)" />
    </>
  );
}

const colour = (i: number) => colours[i % colours.length];
const valueLabel = (chart: ChartData, label: string, name: string, v: number) => `${label}, ${name}: ${v}${chart.unit === "" ? "" : ` ${chart.unit}`}`;

export function Bars({ chart }: { chart: ChartData }) {
  const scale = scaleOf(chart);
  const slot = (frame.right - frame.left) / Math.max(1, chart.labels.length);
  const width = Math.max(0.5, Math.min(56, (slot * 0.8) / chart.series.length));
  const middle = (i: number) => frame.left + slot * (i + 0.5);
  return (
    <>
      <Axes chart={chart} scale={scale} x={middle} />
      {chart.series.map((s, j) =>
        s.values.map((v, i) =>
          v === null ? null : (
            <rect key={`${j}.${i}`} fill={colour(j)} width={width} x={middle(i) + (j - chart.series.length / 2) * width} y={Math.min(scale.y(v), scale.y(0))} height={Math.abs(scale.y(v) - scale.y(0))}>
              <title>{valueLabel(chart, chart.labels[i] ?? "", s.name, v)}</title>
            </rect>
          ),
        ),
      )}
    </>
  );
}

export function Lines({ chart, area }: { chart: ChartData; area: boolean }) {
  const scale = scaleOf(chart);
  const step = (frame.right - frame.left - 24) / Math.max(1, chart.labels.length - 1);
  const x = (i: number) => frame.left + 12 + step * i;
  return (
    <>
      <Axes chart={chart} scale={scale} x={x} />
      {chart.series.map((s, j) => {
        const runs = unbroken(s.values);
        return (
          <g key={j}>
            {runs.map((run, k) => {
              const line = run.map((i) => `${x(i)},${scale.y(s.values[i] ?? 0)}`).join(" ");
              const first = x(run[0] ?? 0);
              const last = x(run[run.length - 1] ?? 0);
              return (
                <g key={k}>
                  {area && <polygon points={`${first},${scale.y(0)} ${line} ${last},${scale.y(0)}`} fill={colour(j)} opacity={0.25} />}
                  <polyline points={line} fill="none" stroke={colour(j)} strokeWidth={2} />
                </g>
              );
            })}
            {chart.labels.length <= 60 &&
              s.values.map((v, i) =>
                v === null ? null : (
                  <circle key={i} cx={x(i)} cy={scale.y(v)} r={3} fill={colour(j)}>
                    <title>{valueLabel(chart, chart.labels[i] ?? "", s.name, v)}</title>
                  </circle>
                ),
              )}
          </g>
        );
      })}
    </>
  );
}

// The places that follow each other without a gap.
function unbroken(values: readonly (number | null)[]): number[][] {
  const runs: number[][] = [];
  values.forEach((v, i) => {
    if (v === null) return;
    const last = runs[runs.length - 1];
    if (last !== undefined && last[last.length - 1] === i - 1) last.push(i);
    else runs.push([i]);
  });
  return runs;
}

export function Pie({ chart }: { chart: ChartData }) {
  const values = (chart.series[0]?.values ?? []).map((v) => Math.max(0, v ?? 0));
  // What has no colour of its own is one slice together.
  const slices = values.length <= colours.length ? values : [...values.slice(0, colours.length - 1), values.slice(colours.length - 1).reduce((a, b) => a + b, 0)];
  const sum = slices.reduce((a, b) => a + b, 0);
  let from = 0;
  return (
    <>
      {slices.map((v, i) => {
        const begin = from;
        from += sum === 0 ? 0 : v / sum;
        const label = i === colours.length - 1 && values.length > colours.length ? "others" : (chart.labels[i] ?? "");
        return (
          <g key={i}>
            <path d={slice(begin, from)} fill={colour(i)} stroke="var(--surface)">
              <title>{`${valueLabel(chart, label, chart.series[0]?.name ?? "", v)} (${Math.round((from - begin) * 100)} %)`}</title>
            </path>
          </g>
        );
      })}
    </>
  );
}

function slice(from: number, to: number): string {
  if (to - from >= 0.9999) return "M 320 20 A 120 120 0 1 1 319.99 20 Z";
  const at = (part: number) => `${(320 + 120 * Math.sin(part * 2 * Math.PI)).toFixed(2)} ${(140 - 120 * Math.cos(part * 2 * Math.PI)).toFixed(2)}`;
  return `M 320 140 L ${at(from)} A 120 120 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)} Z`;
}
