// Tools that the agent's configuration names and that the model was not offered.
import { TriangleAlert } from "lucide-react";
import type { Step } from "@shoal-dev/client";
import { Words } from "@/parts/words/words";

type Missing = Step["missingTools"][number];

/** What is missing, each thing once, with the steps (from 1) that it was missing in. */
export function missingOf(steps: readonly Pick<Step, "index" | "missingTools">[]): { readonly missing: Missing; readonly steps: readonly number[] }[] {
  const found = new Map<string, { missing: Missing; steps: number[] }>();
  for (const step of steps) {
    for (const missing of step.missingTools) {
      const key = JSON.stringify([missing.server, missing.tools, missing.message]);
      const known = found.get(key) ?? { missing, steps: [] };
      known.steps.push(step.index + 1);
      found.set(key, known);
    }
  }
  return [...found.values()];
}

/** The steps in words: "step 1", "steps 1–3", "steps 1, 3". */
export function stepWords(steps: readonly number[]): string {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return "";
  if (steps.length === 1) return `step ${first}`;
  return `steps ${last - first === steps.length - 1 ? `${first}–${last}` : steps.join(", ")}`;
}

/** A warning for each; nothing where all tools were there. */
export function MissingTools({ steps }: { steps: readonly Step[] }) {
  const all = missingOf(steps);
  if (all.length === 0) return null;
  return (
    <section aria-label="Missing tools" className="flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      <p className="flex items-center gap-1.5 font-medium">
        <TriangleAlert aria-hidden className="size-4" />
        Missing tools
      </p>
      <ul className="flex flex-col gap-1">
        {all.map(({ missing, steps: where }) => (
          <li key={`${missing.server} ${missing.message} ${where.join()}`} className="break-words">
            <Words text={`${missing.server}${missing.tools.length === 0 ? ", all tools" : `: ${missing.tools.join(", ")}`} (${stepWords(where)}). ${missing.message}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}
