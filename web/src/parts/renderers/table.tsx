// Rows of single values: sorted by a column, 200 at a time, copied as CSV.
import { ArrowDown, ArrowUp, ArrowUpDown } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { CopyButton } from "@/ui/copy";
import { Words } from "../words/words";
import { csv } from "./csv";
import { Scalar } from "./scalar";
import { columnsOf, type Fields } from "./shape";
import { label, moneyOf } from "./words";

/** How many rows are shown at once. */
export const pageSize = 200;

interface Order {
  readonly column: string;
  readonly down: boolean;
}

/** A table; numbers stand to the right. */
export function DataTable({ rows, columns: given, name = "Table" }: { rows: readonly Fields[]; columns?: readonly string[]; name?: string }) {
  const columns = useMemo(() => given ?? columnsOf(rows), [given, rows]);
  const numeric = useMemo(() => new Set(columns.filter((c) => isNumeric(rows, c))), [columns, rows]);
  const [order, setOrder] = useState<Order>();
  const [page, setPage] = useState(0);
  const sorted = useMemo(() => (order === undefined ? rows : [...rows].sort(by(order))), [rows, order]);
  const pages = Math.ceil(sorted.length / pageSize);
  const at = Math.min(page, Math.max(0, pages - 1));
  const turn = (column: string) => setOrder(order?.column !== column ? { column, down: false } : order.down ? undefined : { column, down: true });
  return (
    <div className="flex flex-col gap-1">
      <div className="max-h-96 overflow-auto rounded-md border border-line" tabIndex={0} role="group" aria-label={name}>
        <table className="w-full border-collapse text-sm">
          <thead className="sticky top-0 bg-sunken">
            <tr>
              {columns.map((c) => (
                <Head key={c} column={c} right={numeric.has(c)} order={order?.column === c ? order : undefined} onTurn={() => turn(c)} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(at * pageSize, (at + 1) * pageSize).map((row, i) => (
              <tr key={i} className="border-t border-line">
                {columns.map((c) => (
                  <td key={c} className={classes("max-w-96 px-2 py-1 align-top", numeric.has(c) ? "text-right tabular-nums" : "min-w-32")}>
                    {Object.hasOwn(row, c) && row[c] !== null ? (moneyOf(row, c) ?? <Scalar value={row[c]} />) : ""}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="flex flex-wrap items-center gap-2 text-sm text-soft">
        <span>{rows.length === 1 ? "1 row" : `${rows.length.toLocaleString()} rows`}</span>
        {pages > 1 && (
          <>
            <Button small tone="quiet" disabled={at === 0} onClick={() => setPage(at - 1)}>
              Before
            </Button>
            <span>
              {at * pageSize + 1}–{Math.min(rows.length, (at + 1) * pageSize)}
            </span>
            <Button small tone="quiet" disabled={at >= pages - 1} onClick={() => setPage(at + 1)}>
              Next
            </Button>
          </>
        )}
        <CopyCsv columns={columns} rows={sorted} />
      </div>
    </div>
  );
}

function CopyCsv({ columns, rows }: { columns: readonly string[]; rows: readonly Fields[] }) {
  const text = useMemo(() => csv(columns, rows), [columns, rows]);
  return <CopyButton text={text} label="Copy CSV" />;
}

function Head({ column, right, order, onTurn }: { column: string; right: boolean; order: Order | undefined; onTurn: () => void }) {
  const Icon = order === undefined ? ArrowUpDown : order.down ? ArrowDown : ArrowUp;
  return (
    <th scope="col" aria-sort={order === undefined ? "none" : order.down ? "descending" : "ascending"} className={classes("px-1 py-0.5 font-semibold", right ? "text-right" : "text-left")}>
      <button type="button" onClick={onTurn} className="inline-flex min-h-6 items-center gap-1 rounded px-1 touch:min-h-11 hover:bg-surface">
        <Words text={label(column).slice(0, 100)} />
        <Icon aria-hidden className="size-3 text-soft" />
      </button>
    </th>
  );
}

function isNumeric(rows: readonly Fields[], column: string): boolean {
  let some = false;
  for (const row of rows) {
    const v = Object.hasOwn(row, column) ? row[column] : null;
    if (v === null) continue;
    if (typeof v !== "number") return false;
    some = true;
  }
  return some;
}

const words = new Intl.Collator(undefined, { numeric: true });

// What is missing comes last, whichever way.
function by({ column, down }: Order): (a: Fields, b: Fields) => number {
  const of = (row: Fields) => (Object.hasOwn(row, column) ? row[column] : null);
  return (ra, rb) => {
    const a = of(ra);
    const b = of(rb);
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const way = typeof a === "number" && typeof b === "number" ? a - b : words.compare(String(a), String(b));
    return down ? -way : way;
  };
}
