// How the console looks and behaves in this browser.
import { useState, type ReactNode } from "react";
import { change, type Settings, useSettings } from "@/app/settings";
import { Button } from "@/ui/button";
import { CheckField } from "@/ui/field";

/** The settings that this browser keeps; each takes effect at once. */
export function Appearance() {
  const settings = useSettings();
  return (
    <div className="flex max-w-xl flex-col gap-6">
      <Choice
        legend="Theme"
        name="theme"
        value={settings.theme}
        options={[
          ["system", "As the system"],
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
          ["compact", "Compact: more on a page"],
        ]}
      />
      <Choice
        legend="Sending a message"
        name="sendKey"
        value={settings.sendKey}
        options={[
          ["ctrl-enter", "Ctrl+Enter sends, Enter begins a new line"],
          ["enter", "Enter sends, Shift+Enter begins a new line"],
        ]}
      />
      <Group legend="Keyboard">
        <CheckField label="Single letters are shortcuts" hint="Such as / for search and ? for the list of all. Switch it off if you dictate, or press keys by accident." checked={settings.letters} onChange={(e) => change({ letters: e.target.checked })} />
      </Group>
      <Group legend="Notifications">
        <Notifications wanted={settings.notifications} />
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
        <label key={option} className="inline-flex min-h-7 items-center gap-2">
          <input type="radio" name={name} className="size-4 accent-accent" checked={option === value} onChange={() => change({ [name]: option })} />
          {words}
        </label>
      ))}
    </Group>
  );
}

// The browser asks its user once; after a no only its own settings help.
function Notifications({ wanted }: { wanted: boolean }) {
  const there = typeof Notification !== "undefined";
  const [permission, setPermission] = useState(there ? Notification.permission : "denied");
  if (!there) return <p className="text-sm text-soft">This browser shows no notifications of pages.</p>;
  const wish = async (on: boolean) => {
    if (on && permission === "default") {
      const answered = await Notification.requestPermission();
      setPermission(answered);
      if (answered !== "granted") return;
    }
    change({ notifications: on });
  };
  return (
    <>
      <CheckField
        label="Tell me when something needs me while I look elsewhere"
        hint="Mentions and requests for your answer: who and in which space, never what was said."
        checked={wanted && permission === "granted"}
        disabled={permission === "denied"}
        onChange={(e) => void wish(e.target.checked)}
      />
      {permission === "denied" && <p className="text-sm text-warn">Your browser refuses notifications of this page. Allow them in its settings for this address, then load the page again.</p>}
      {wanted && permission === "default" && (
        <Button small onClick={() => void wish(true)}>
          Allow them in this browser
        </Button>
      )}
    </>
  );
}
