// Checkboxes for what a key may do and where, in the forms that create keys.
import type { Space } from "@shoal-dev/client";
import { CheckField } from "@/ui/field";
import { words } from "./scopes";

interface Chosen {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

const toggled = (set: ReadonlySet<string>, one: string): ReadonlySet<string> => {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
};

/** A checkbox for each space. */
export function SpaceChoices({ spaces, chosen, onChange }: Chosen & { readonly spaces: readonly Pick<Space, "id" | "name">[] }) {
  return (
    <div className="grid max-h-40 gap-x-4 overflow-y-auto rounded-md border border-line px-2 py-1 touch:max-h-none sm:grid-cols-2">
      {spaces.map((s) => (
        <CheckField key={s.id} label={<span className="break-words">{s.name}</span>} checked={chosen.has(s.id)} onChange={() => onChange(toggled(chosen, s.id))} />
      ))}
    </div>
  );
}

/** A checkbox for each scope that is a word: for all of them, or the ones that are offered. */
export function ScopeChoices({ offered, chosen, onChange }: Chosen & { readonly offered?: readonly string[] }) {
  return Object.entries(words)
    .filter(([word]) => offered === undefined || offered.includes(word))
    .map(([word, about]) => <CheckField key={word} label={about} checked={chosen.has(word)} onChange={() => onChange(toggled(chosen, word))} />);
}
