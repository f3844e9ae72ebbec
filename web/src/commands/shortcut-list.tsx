// The list of all keyboard shortcuts that work on the page, by group.
import { Link } from "@tanstack/react-router";
import { useConsole } from "@/app/console";
import { useSettings } from "@/app/settings";
import { type Shortcut, shortcuts } from "@/app/shortcuts";

/** The groups of the list. Of shortcuts with the same keys the newest is listed. */
export function shortcutGroups(all: readonly Shortcut[]): { readonly name: string; readonly of: readonly Shortcut[] }[] {
  const byKeys = new Map(all.map((s) => [s.keys.toLowerCase(), s]));
  const groups = { "Go to": [] as Shortcut[], Anywhere: [] as Shortcut[], "On this page": [] as Shortcut[] };
  for (const s of byKeys.values()) {
    if (s.about.startsWith("Go to ")) groups["Go to"].push(s);
    else if (["ctrl+k", "?", "n", "shift+n"].includes(s.keys.toLowerCase())) groups.Anywhere.push(s);
    else groups["On this page"].push(s);
  }
  return Object.entries(groups)
    .map(([name, of]) => ({ name, of }))
    .filter((g) => g.of.length > 0);
}

/** The current list. */
export function ShortcutList({ onLeave }: { onLeave: () => void }) {
  const { session } = useConsole();
  const { letters } = useSettings();
  return (
    <div tabIndex={0} role="group" aria-label="Shortcuts" className="flex flex-col gap-5">
      {!letters && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          Single letters are switched off.{" "}
          <Link to="/s/$session/settings" params={{ session }} search={{ tab: "appearance" }} onClick={onLeave} className="underline">
            Change that
          </Link>
        </p>
      )}
      {shortcutGroups(shortcuts()).map((g) => (
        <section key={g.name} aria-label={g.name}>
          <h3 className="mb-1 font-semibold">{g.name}</h3>
          <dl>
            {g.of.map((s) => (
              <div key={s.keys} className="flex items-center justify-between gap-4 border-b border-line py-1.5 last:border-0">
                <dt className="min-w-0">{s.about.replace(/^Go to (.)/, (_, c: string) => c.toUpperCase())}</dt>
                <dd className="shrink-0">
                  <Keys keys={s.keys} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p className="text-sm text-soft">No single key approves anything.</p>
    </div>
  );
}

const apple = /Mac|iP(hone|ad)/.test(navigator.platform);

function Keys({ keys }: { keys: string }) {
  const steps = keys.includes(" ") ? keys.split(" ") : [keys];
  return (
    <span className="inline-flex items-center gap-1 text-sm text-soft">
      {steps.map((step, i) => (
        <span key={i} className="inline-flex items-center gap-1">
          {i > 0 && "then"}
          {step.split("+").map((key) => (
            <kbd key={key} className="min-w-6 rounded border border-edge bg-sunken px-1.5 py-0.5 text-center font-mono text-ink">
              {key === "Ctrl" && apple ? "⌘" : key.length === 1 ? key.toUpperCase() : key}
            </kbd>
          ))}
        </span>
      ))}
    </span>
  );
}
