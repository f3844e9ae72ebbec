// How the console looks and behaves in this browser.
import { useState, type ReactNode } from "react";
import { sendKeyWords } from "@/app/send-key";
import { change, type Settings, useSettings } from "@/app/settings";
import { Button } from "@/ui/button";
import { CheckField } from "@/ui/field";

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
        <label key={option} className="inline-flex min-h-7 touch:min-h-11 items-center gap-2">
          <input type="radio" name={name} checked={option === value} onChange={() => change({ [name]: option })} />
          {words}
        </label>
      ))}
    </Group>
  );
}

// The browser asks once. After a refusal only its own settings help.
function Notifications({ wanted }: { wanted: boolean }) {
  const there = typeof Notification !== "undefined";
  const [permission, setPermission] = useState(there ? Notification.permission : "denied");
  if (!there) return <p className="text-sm text-soft">This browser does not support notifications.</p>;
  const toggleNotifications = async (on: boolean) => {
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
        label="Notify me while this page is hidden"
        hint="About mentions and requests: who and in which space, never the text."
        checked={wanted && permission === "granted"}
        disabled={permission === "denied"}
        onChange={(e) => void toggleNotifications(e.target.checked)}
      />
      {permission === "denied" && <p className="text-sm text-warn">This browser blocks notifications from this page. Allow them in the browser's settings for this address, then reload.</p>}
      {wanted && permission === "default" && (
        <Button small onClick={() => void toggleNotifications(true)}>
          Allow notifications
        </Button>
      )}
    </>
  );
}
