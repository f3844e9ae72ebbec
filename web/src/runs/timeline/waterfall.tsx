// The waterfall of a run: what took how long, on one common axis. It is a table, so
// that the same is there to read without seeing the bars.
import { Bot, CircleDashed, Hand, ListOrdered, type LucideIcon, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { settledWords, useNames } from "@/approvals/settled";
import { classes } from "@/ui/classes";
import { duration } from "@/ui/time";
import { callFailed, shortMoney, tokens } from "../words";
import type { Axis } from "./axis";
import type { Span, SpanKind } from "./spans";

const signs: Record<SpanKind, { icon: LucideIcon; word: string }> = {
  queue: { icon: CircleDashed, word: "Queue" },
  step: { icon: ListOrdered, word: "Step" },
  model: { icon: Bot, word: "Model call" },
  tool: { icon: Wrench, word: "Tool" },
  wait: { icon: Hand, word: "Wait" },
};

interface Props {
  spans: readonly Span[];
  axis: Axis;
  /** Until when what goes on is drawn, in ms. */
  now: number;
  selected?: string | undefined;
  /** Left out, rows cannot be selected. */
  onSelect?: ((id: string) => void) | undefined;
  /** What the table is called. */
  label: string;
}

const columns = "@2xl:grid-cols-[minmax(8rem,12rem)_minmax(0,19rem)_5.5rem_minmax(10rem,1fr)] @2xl:gap-x-3";

export function Waterfall({ spans, axis, now, selected, onSelect, label }: Props) {
  return (
    <div className="@container">
      <div role="table" aria-label={label} aria-rowcount={spans.length + 1} className="text-sm">
        <div role="row" className={classes("hidden border-b border-line px-2 py-1 text-xs text-soft @2xl:grid", columns)}>
          <span role="columnheader">What</span>
          <span role="columnheader">Result</span>
          <span role="columnheader" className="text-right">
            Took
          </span>
          <span role="columnheader" className="relative h-4">
            <span className="sr-only">When</span>
            <Marks axis={axis} />
          </span>
        </div>
        {spans.map((s) => (
          <Row key={s.id} span={s} axis={axis} now={now} selected={s.id === selected} onSelect={onSelect} />
        ))}
      </div>
    </div>
  );
}

function Row({ span, axis, now, selected, onSelect }: { span: Span; axis: Axis; now: number; selected: boolean; onSelect: Props["onSelect"] }) {
  const { icon: Icon, word } = signs[span.kind];
  const inside = span.step !== null && span.kind !== "step";
  const name = (
    <>
      <Icon aria-hidden className={classes("size-3.5 shrink-0", span.failed ? "text-bad" : "text-soft")} />
      <span className="sr-only">{word}: </span>
      <span className={classes("truncate", span.kind === "step" && "font-semibold")}>{span.name}</span>
    </>
  );
  return (
    <div
      role="row"
      onClick={onSelect && (() => onSelect(span.id))}
      className={classes(
        "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-2 border-b border-line/60 px-2 py-1",
        columns,
        onSelect !== undefined && "cursor-pointer hover:bg-sunken",
        selected && "bg-accent-soft!",
        span.kind === "step" && "bg-sunken/60",
      )}
    >
      <span role="rowheader" className={classes("min-w-0", inside && "pl-4")}>
        {onSelect === undefined ? (
          <span className="flex min-h-6 items-center gap-1.5">{name}</span>
        ) : (
          <button
            type="button"
            aria-pressed={selected}
            onClick={(event) => {
              event.stopPropagation();
              onSelect(span.id);
            }}
            className="flex min-h-6 max-w-full items-center gap-1.5 text-left"
          >
            {name}
          </button>
        )}
      </span>
      <span role="cell" className={classes("order-3 col-span-2 min-w-0 truncate text-xs @2xl:order-none @2xl:col-span-1", inside && "pl-4 @2xl:pl-0", span.failed ? "text-bad" : "text-soft")}>
        <Facts span={span} />
      </span>
      <span role="cell" className="text-right text-xs whitespace-nowrap tabular-nums">
        {took(span, now)}
      </span>
      <span role="cell" className="order-4 col-span-2 @2xl:order-none @2xl:col-span-1">
        <Bar span={span} axis={axis} now={now} />
      </span>
    </div>
  );
}

/** How long a span took, or takes until now; a dash where nobody knows. */
export function took(span: Span, now: number): string {
  if (span.from === null) return "–";
  const text = duration((span.to ?? now) - span.from);
  return span.about ? `about ${text}` : text;
}

function Facts({ span }: { span: Span }) {
  const name = useNames();
  if (span.kind === "model" && span.model !== undefined) {
    const u = span.model.usage;
    const facts = [
      `${tokens(u.inputTokens)} in${u.cachedInputTokens > 0 ? ` (${tokens(u.cachedInputTokens)} cached)` : ""}`,
      `${tokens(u.outputTokens)} out`,
      span.model.firstTokenMs === null ? "" : `first token ${duration(span.model.firstTokenMs)}`,
      u.cost === 0 ? "" : shortMoney(u.cost, u.currency),
      span.note,
    ];
    return <>{facts.filter((f) => f !== "").join(" · ")}</>;
  }
  if (span.pending !== undefined) return <>{settledWords(span.pending, name)}</>;
  if (span.kind === "step" && span.model !== undefined) {
    const n = span.model.toolCalls.length;
    const bad = span.model.toolCalls.filter((c) => callFailed(c.status)).length;
    return (
      <>
        {n === 0 ? "no tool calls" : n === 1 ? "1 tool call" : `${n} tool calls`}
        {bad > 0 && `, ${bad} failed`}
      </>
    );
  }
  return <>{span.note}</>;
}

const colours: Record<SpanKind, string> = {
  queue: "bg-edge/60",
  step: "h-1! bg-edge/50",
  model: "bg-info",
  tool: "bg-accent",
  wait: "border border-warn bg-warn-soft",
};

const percent = (n: number): string => `${(n * 100).toFixed(3)}%`;

function Bar({ span, axis, now }: { span: Span; axis: Axis; now: number }) {
  const track = "relative block h-3.5 @2xl:h-4";
  if (span.from === null) return <span aria-hidden className={track} />;
  const left = axis.place(span.from);
  const right = axis.place(span.to ?? now);
  const first = span.kind === "model" && span.model?.firstTokenMs != null && span.to !== null ? axis.place(span.from + span.model.firstTokenMs) : left;
  return (
    <span aria-hidden className={track}>
      <Gaps axis={axis} />
      <span
        className={classes("absolute top-1/2 h-2.5 min-w-0.5 -translate-y-1/2 rounded-sm", span.failed && span.kind !== "step" ? "bg-bad" : colours[span.kind], span.about && "opacity-70", span.to === null && "rounded-r-none border-r-2 border-r-ink")}
        style={{ left: percent(Math.min(left, 0.995)), width: percent(Math.max(0, right - left)) }}
      />
      {first > left && !span.failed && <span className="absolute top-1/2 h-2.5 -translate-y-1/2 rounded-l-sm bg-info-soft opacity-75" style={{ left: percent(left), width: percent(Math.min(first, right) - left) }} />}
    </span>
  );
}

function Gaps({ axis }: { axis: Axis }) {
  return axis.gaps.map((g) => (
    <span
      key={g.from}
      className="absolute inset-y-0 border-x border-dashed border-edge/60 bg-[repeating-linear-gradient(135deg,var(--line)_0_2px,transparent_2px_6px)]"
      style={{ left: percent(g.left), width: percent(g.right - g.left) }}
    />
  ));
}

// The ticks, and how long the squeezed times are.
function Marks({ axis }: { axis: Axis }): ReactNode {
  return (
    <span aria-hidden className="absolute inset-0">
      {axis.ticks.map((t) => (
        <span key={t.at} className="absolute top-0 border-l border-edge/50 pl-0.5 whitespace-nowrap tabular-nums" style={{ left: percent(t.at) }}>
          {t.label}
        </span>
      ))}
      {axis.gaps.map((g) => (
        <span key={g.from} className="absolute top-0 truncate rounded bg-warn-soft px-0.5 text-center whitespace-nowrap text-warn" style={{ left: percent(g.left), width: percent(g.right - g.left) }}>
          {duration(g.to - g.from)}
        </span>
      ))}
    </span>
  );
}
