// Any JSON value as a tree: branches are opened by their reader, and only what is
// open is drawn, so neither depth nor size matters.
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { classes } from "@/ui/classes";
import { LongWords, Words } from "../words/words";
import { isFields } from "./shape";

const pageOf = 100;

/** A tree; its first `open` levels are open, if they are small. */
export function JsonTree({ value, open = 2 }: { value: unknown; open?: number }) {
  return (
    <div className="max-w-full overflow-x-auto font-mono text-sm" dir="ltr">
      <Node value={value} open={open} />
    </div>
  );
}

function Node({ name, value, open }: { name?: string; value: unknown; open: number }) {
  const list = Array.isArray(value);
  if (!list && !isFields(value)) {
    return (
      <div className="flex min-h-6 items-baseline gap-1 pl-5">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  }
  return <Branch name={name} value={value as object} list={list} open={open} />;
}

function Branch({ name, value, list, open }: { name?: string; value: object; list: boolean; open: number }) {
  const keys = Object.keys(value);
  const [shown, setShown] = useState(open > 0 && keys.length <= 20);
  const [most, setMost] = useState(pageOf);
  if (keys.length === 0) {
    return (
      <div className="flex min-h-6 gap-1 pl-5">
        <Name name={name} />
        <span className="text-soft">{list ? "[]" : "{}"}</span>
      </div>
    );
  }
  return (
    <div>
      <button type="button" aria-expanded={shown} onClick={() => setShown(!shown)} className="flex min-h-6 items-center gap-1 rounded text-left hover:bg-sunken">
        <ChevronRight aria-hidden className={classes("size-4 shrink-0 text-soft", shown && "rotate-90")} />
        <Name name={name} />
        <span className="text-soft">
          {list ? "[" : "{"}
          {keys.length} {list ? (keys.length === 1 ? "item" : "items") : keys.length === 1 ? "member" : "members"}
          {list ? "]" : "}"}
        </span>
      </button>
      {shown && (
        <div className="ml-2 border-l border-line pl-2">
          {keys.slice(0, most).map((key) => (
            <Node key={key} name={key} value={(value as Record<string, unknown>)[key]} open={open - 1} />
          ))}
          {keys.length > most && (
            <button type="button" className="ml-5 min-h-6 text-accent underline" onClick={() => setMost(most + pageOf * 5)}>
              Show {Math.min(keys.length - most, pageOf * 5)} more of {keys.length}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { name?: string }) {
  if (name === undefined) return null;
  return (
    <span className="shrink-0 text-accent">
      <Words text={name.length > 200 ? `${name.slice(0, 200)}…` : name} />:
    </span>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") {
    return (
      <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">
        "<LongWords text={value} limit={500} />"
      </span>
    );
  }
  return <span className="text-info">{value === undefined ? "" : String(value)}</span>;
}
