// How the console looks and behaves in this browser.
import type { ReactNode } from "react";
import { sendKeyWords } from "@/app/send-key";
import { change, type Settings, useSettings } from "@/app/settings";
import { CheckField } from "@/ui/field";
import { onDemand } from "@/ui/on-demand";

// The shell names what a page loads with itself, and has no room.
const Notifications = onDemand(() => import("./notifications").then((m) => m.Notifications));

/** The settings of this browser. Each takes effect at once. */
export function Appearance() {
  const settings = useSettings();
  return (
    <div className="flex max-w-xl flex-col gap-6">
      <Choice
        legend="Theme"
        name="theme"
        value={settings.theme}
        options={[
          ["system", "System"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
      />
      <Choice
        legend="Density"
        name="density"
        value={settings.density}
        options={[
          ["comfortable", "Comfortable"],
          ["compact", "Compact"],
        ]}
      />
      <Choice
        legend="Sending a message"
        name="sendKey"
        value={settings.sendKey}
        options={[
          ["enter", sendKeyWords.enter],
          ["ctrl-enter", sendKeyWords["ctrl-enter"]],
        ]}
      />
      <Group legend="Keyboard">
        <CheckField label="Single-letter shortcuts" hint="For example / for search and ? for a list of all shortcuts. Turn them off if you use speech input." checked={settings.letters} onChange={(e) => change({ letters: e.target.checked })} />
      </Group>
      <Group legend="Notifications">
        <Notifications />
      </Group>
    </div>
  );
}

function Group({ legend, children }: { legend: string; children: ReactNode }) {
  return (
    <fieldset className="flex flex-col items-start gap-1">
      <legend className="mb-1 font-semibold">{legend}</legend>
      {children}
    </fieldset>
  );
}

type Named = "theme" | "density" | "sendKey";

function Choice<N extends Named>({ legend, name, value, options }: { legend: string; name: N; value: Settings[N]; options: readonly (readonly [Settings[N], string])[] }) {
  return (
    <Group legend={legend}>
      {options.map(([option, words]) => (
        <label key={option} className="inline-flex min-h-7 touch:min-h-11 items-center gap-2">
          <input type="radio" name={name} checked={option === value} onChange={() => change({ [name]: option })} />
          {words}
        </label>
      ))}
    </Group>
  );
}
