// What an agent thinks while its run goes on, where the space shows it: folded, and
// apart from what it says.
import { Brain, ChevronRight } from "lucide-react";
import { memo } from "react";
import { useLiveValue } from "@/live/hooks";
import { reasoningKey } from "@shoal-dev/client";

/** The reasoning of a run as a space shows it; renders nothing without reasoning. */
export const Reasoning = memo(function Reasoning({ run, space }: { run: string; space: string }) {
  const thought = useLiveValue(`run:${run}`, (s) => s.live.streaming.get(reasoningKey(run, space))?.input);
  if (thought === undefined || thought === "") return null;
  return (
    <details className="group w-full rounded-md border border-line bg-ground px-2 text-sm text-soft">
      <summary className="flex min-h-7 touch:min-h-11 list-none items-center gap-1.5">
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
        <Brain aria-hidden className="size-3.5" />
        Reasoning
      </summary>
      <p className="max-h-72 overflow-y-auto pb-2 wrap-anywhere whitespace-pre-wrap">{thought}</p>
    </details>
  );
});
