// The tab Timeline: the waterfall with its filters, and the details of what is selected.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { ended } from "@shoal-dev/client";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { CheckField } from "@/ui/field";
import { useNow } from "@/ui/time";
import type { RunRecord } from "../record";
import { axisOf } from "./axis";
import { MissingTools } from "./missing-tools";
import { SpanDetail } from "./span-detail";
import { type Span, spansOf } from "./spans";
import { Waterfall } from "./waterfall";

/** What the rows can be narrowed to. */
export type Kind = "model" | "tool" | "wait";

/**
 * The rows that the filters leave: of one step, of one kind, only what failed. Steps
 * stay as headings of what is in them.
 */
export function narrowed(spans: readonly Span[], by: { step?: number | undefined; kind?: Kind | undefined; failed?: boolean | undefined }): Span[] {
  const kept = spans.filter((s) => s.kind !== "step" && (by.step === undefined || s.step === by.step) && (by.kind === undefined || s.kind === by.kind) && (by.failed !== true || s.failed));
  const steps = new Set(kept.map((s) => s.step));
  return spans.filter((s) => kept.includes(s) || (s.kind === "step" && steps.has(s.step)));
}

export function TimelineTab({ record }: { record: RunRecord }) {
  const { run, steps, pending } = record;
  const search = useSearch({ from: "/s/$session/runs/$run" });
  const go = useNavigate({ from: "/s/$session/runs/$run" });
  const set = (some: Partial<typeof search>) => void go({ search: (s) => ({ ...s, ...some }), replace: true });
  const over = ended(run.status);
  const clock = useNow(over ? 60_000 : 500);
  const now = run.endedAt !== null ? Date.parse(run.endedAt) : clock;
  const spans = useMemo(() => spansOf(run, steps ?? [], pending), [run, steps, pending]);
  const zoomed = spans.find((s) => s.kind === "step" && s.step === search.step);
  const axis = useMemo(() => {
    const from = zoomed?.from ?? Date.parse(run.createdAt);
    return axisOf(spans, from, zoomed === undefined ? now : (zoomed.to ?? now));
  }, [spans, zoomed, run.createdAt, now]);
  const rows = narrowed(spans, { step: zoomed?.step ?? undefined, kind: search.kind, failed: search.failed });
  const selected = spans.find((s) => s.id === search.span);
  return (
    <div className="flex flex-col gap-3 p-5">
      {steps === null && (
        <p className="rounded-md bg-sunken px-3 py-2 text-sm text-soft">
          You see the run's status, and the messages and waits in your spaces. Only admins and services can see model requests and tool calls, because they may contain messages of other spaces.
        </p>
      )}
      <MissingTools steps={steps ?? []} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        {steps !== null && <Kinds value={search.kind} onChange={(kind) => set({ kind })} />}
        {steps !== null && <CheckField label="Failed only" checked={search.failed === true} onChange={(e) => set({ failed: e.target.checked ? true : undefined })} />}
        {zoomed !== undefined && (
          <Button small onClick={() => set({ step: undefined })}>
            Show all steps
          </Button>
        )}
        {axis.gaps.length > 0 && <p className="text-xs text-soft">Hatched: a long wait; its time is squeezed.</p>}
      </div>
      <div className={classes("grid gap-4", selected !== undefined && "items-start xl:grid-cols-[minmax(0,1fr)_20rem]")}>
        <div className="min-w-0 overflow-hidden rounded-lg border border-line bg-surface">
          {rows.length === 0 ? (
            <p className="p-4 text-soft">{search.failed === true ? "Nothing failed here." : "There is nothing of this kind."}</p>
          ) : (
            <Waterfall
              spans={rows}
              axis={axis}
              now={now}
              label="Timeline of the run"
              selected={search.span}
              onSelect={(id) => {
                const span = spans.find((s) => s.id === id);
                set({ span: id === search.span ? undefined : id, ...(span?.kind === "step" ? { step: span.step === search.step ? undefined : (span.step ?? undefined) } : {}) });
              }}
            />
          )}
        </div>
        {selected !== undefined && <SpanDetail span={selected} run={run.id} now={now} onClose={() => set({ span: undefined })} />}
      </div>
      {steps !== null && over && steps.length < run.steps && (
        <p className="text-sm text-soft">
          Step {steps.length + 1} is not here: its model call ended without an answer{run.error === null ? "." : <>: {run.error.message}</>}
        </p>
      )}
      {steps !== null && steps.length > 1 && zoomed === undefined && <p className="text-xs text-soft">Select a step to see it alone.</p>}
    </div>
  );
}

const kinds: readonly (readonly [Kind | undefined, string])[] = [
  [undefined, "All"],
  ["model", "Model"],
  ["tool", "Tools"],
  ["wait", "Waits"],
];

function Kinds({ value, onChange }: { value: Kind | undefined; onChange: (kind: Kind | undefined) => void }) {
  return (
    <div role="group" aria-label="Kinds of rows" className="flex overflow-hidden rounded-md border border-edge">
      {kinds.map(([kind, word]) => (
        <button
          key={word}
          type="button"
          aria-pressed={value === kind}
          onClick={() => onChange(kind)}
          className={classes("min-h-7 touch:min-h-11 px-2.5 text-sm -outline-offset-2", value === kind ? "bg-accent-soft font-medium text-accent" : "bg-surface text-soft hover:bg-sunken")}
        >
          {word}
        </button>
      ))}
    </div>
  );
}
