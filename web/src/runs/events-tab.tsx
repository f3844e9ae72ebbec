// The tab Events: the raw log of the run. Only the lines in sight are in the page.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { Badge } from "@/ui/badge";
import { CheckField, SelectField, TextField } from "@/ui/field";
import { Value } from "./json";
import { type Entry, isDelta } from "./journal";
import { exactTime } from "./words";

export function EventsTab({ log, over }: { log: readonly Entry[]; over: boolean }) {
  const [type, setType] = useState("");
  const [text, setText] = useState("");
  const [deltas, setDeltas] = useState(false);
  const [follow, setFollow] = useState(true);
  const types = useMemo(() => [...new Set(log.map((e) => e.type))].sort(), [log]);
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return log.filter((e) => (type === "" ? deltas || !isDelta(e.type) : e.type === type) && (wanted === "" || `${e.type} ${e.about}`.toLowerCase().includes(wanted)));
  }, [log, type, text, deltas]);
  return (
    <div className="flex h-[75dvh] min-h-80 flex-col gap-3 p-5">
      <div className="flex flex-wrap items-end gap-3">
        <div className="w-52">
          <SelectField label="Type" value={type} onChange={(e) => setType(e.target.value)}>
            <option value="">all types</option>
            {types.map((t) => (
              <option key={t}>{t}</option>
            ))}
          </SelectField>
        </div>
        <div className="w-52">
          <TextField label="Search text" value={text} onChange={(e) => setText(e.target.value)} />
        </div>
        <CheckField label="Show deltas of text" checked={deltas} onChange={(e) => setDeltas(e.target.checked)} />
        {!over && <CheckField label="Follow" checked={follow} onChange={(e) => setFollow(e.target.checked)} />}
        <p className="text-sm text-soft">
          {shown.length} of {log.length}
        </p>
      </div>
      <p className="text-xs text-soft">Lines marked “stored” happened before you opened this page and come from stored records. The others are live events.</p>
      <Lines entries={shown} follow={follow && !over} />
    </div>
  );
}

function Lines({ entries, follow }: { entries: readonly Entry[]; follow: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useVirtualizer({ count: entries.length, getScrollElement: () => box.current, estimateSize: () => 34, overscan: 12, getItemKey: (i) => entries[i]?.key ?? i });
  useEffect(() => {
    if (follow && entries.length > 0) rows.scrollToIndex(entries.length - 1, { align: "end" });
  }, [follow, entries.length, rows]);
  const toggle = (key: string) =>
    setOpen((was) => {
      const now = new Set(was);
      if (!now.delete(key)) now.add(key);
      return now;
    });
  if (entries.length === 0) return <p className="p-4 text-soft">No event fits these filters.</p>;
  return (
    <div ref={box} role="region" aria-label="Log of the run" tabIndex={0} className="min-h-64 flex-1 overflow-auto rounded-lg border border-line bg-surface">
      <ol className="relative text-sm" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((item) => {
          const e = entries[item.index];
          if (e === undefined) return null;
          const opened = open.has(e.key);
          return (
            <li key={item.key} ref={rows.measureElement} data-index={item.index} aria-posinset={item.index + 1} aria-setsize={entries.length} className="absolute inset-x-0 top-0 border-b border-line/60" style={{ transform: `translateY(${item.start}px)` }}>
              <button type="button" aria-expanded={opened} onClick={() => toggle(e.key)} className="flex min-h-8 touch:min-h-11 w-full items-center gap-3 px-3 text-left -outline-offset-2 hover:bg-sunken">
                <time dateTime={new Date(e.at).toISOString()} className="shrink-0 font-mono text-xs text-soft tabular-nums">
                  {exactTime(e.at)}
                </time>
                <span className="shrink-0 font-mono text-xs font-medium">{e.type}</span>
                <span className="min-w-0 flex-1 truncate text-soft">{e.about}</span>
                {!e.live && <Badge>stored</Badge>}
              </button>
              {opened && (
                <div className="px-3 pb-2">
                  <Value title={e.type} value={e.value} />
                </div>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
