// Charts in the page's own SVG, with the same numbers as a table beside them.
import { useState } from "react";
import { Button } from "@/ui/button";
import { Words } from "../words/words";
import { Bars, colours, Lines, Pie } from "./chart-marks";
import { type ChartData, chartOf } from "./chart-data";
import { JsonTree } from "./json";
import { DataTable } from "./table";

/** A chart, or its value as a tree where it shows nothing. */
export function Chart({ value }: { value: unknown }) {
  const chart = chartOf(value);
  const [table, setTable] = useState(false);
  if (chart === undefined) return <JsonTree value={value} />;
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-center justify-between gap-2">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">
          <Words text={chart.title === "" ? chart.series.map((s) => s.name).join(", ") : chart.title} />
          {chart.unit !== "" && (
            <span className="text-soft">
              {" "}
              in <Words text={chart.unit} />
            </span>
          )}
        </span>
        <Button small tone="quiet" aria-pressed={table} onClick={() => setTable(!table)}>
          {table ? "View as chart" : "View as table"}
        </Button>
      </figcaption>
      {table ? <Twin chart={chart} /> : <Drawing chart={chart} />}
      {chart.left > 0 && <p className="text-sm text-soft">{chart.left.toLocaleString()} more points are not drawn.</p>}
    </figure>
  );
}

function Drawing({ chart }: { chart: ChartData }) {
  const said = `${chart.type} chart of ${chart.series.map((s) => s.name).join(", ")} by ${chart.x}, ${chart.labels.length} values. "View as table" lists the numbers.`;
  return (
    <>
      <svg viewBox="0 0 640 280" role="img" aria-label={said} className="h-auto w-full max-w-2xl text-[12px] max-sm:text-[17px]">
        {chart.type === "pie" ? <Pie chart={chart} /> : chart.type === "bar" ? <Bars chart={chart} /> : <Lines chart={chart} area={chart.type === "area"} />}
      </svg>
      <Legend names={chart.type === "pie" ? chart.labels.slice(0, colours.length) : chart.series.length > 1 ? chart.series.map((s) => s.name) : []} />
    </>
  );
}

function Legend({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      {names.map((name, i) => (
        <li key={i} className="inline-flex items-center gap-1.5">
          <span aria-hidden className="size-3 rounded-sm" style={{ background: colours[i % colours.length] }} />
          <Words text={name} />
        </li>
      ))}
    </ul>
  );
}

function Twin({ chart }: { chart: ChartData }) {
  const columns = [chart.x, ...chart.series.map((s, i) => (s.name === chart.x ? `${s.name} (${i + 1})` : s.name))];
  const rows = chart.labels.map((l, i) => Object.fromEntries([[chart.x, l], ...chart.series.map((s, j): [string, unknown] => [columns[j + 1] ?? s.name, s.values[i] ?? null])]));
  return <DataTable rows={rows} columns={columns} name="Chart data" />;
}
