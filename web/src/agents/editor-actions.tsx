// What can be done with the draft of an agent's config.
import { Eye, FlaskConical, MoreVertical, Save, Trash2, Zap } from "lucide-react";
import { useConsole } from "@/app/console";
import { Button } from "@/ui/button";
import { Menu } from "@/ui/menu";

/** A trial that is hidden goes on. */
export type Trying = "no" | "shown" | "hidden";

interface Props {
  /** Why the draft cannot be saved as it stands. */
  why: string | undefined;
  isChanged: boolean;
  /** A program outside of the server runs the agent's model. */
  remote: boolean;
  trying: Trying;
  onTry: (trying: Trying) => void;
  onOpen: (opened: "save" | "preview" | "trigger" | "stop") => void;
}

/** Saving, and what shows the effect of a draft: a preview and a trial, where the server runs the model. */
export function EditorActions({ why, isChanged, remote, trying, onTry, onOpen }: Props) {
  const { may } = useConsole();
  if (!may("manage")) return <span className="text-sm text-soft">Read-only: your role does not change agents.</span>;
  return (
    <>
      {remote ? (
        <span className="text-sm text-soft">No preview and no trial: only its program knows what its model sees.</span>
      ) : (
        <>
          <Button icon={<Eye aria-hidden className="size-4" />} disabled={why !== undefined} title={why} onClick={() => onOpen("preview")}>
            <span className="max-sm:sr-only">What the model sees</span>
          </Button>
          <Button icon={<FlaskConical aria-hidden className="size-4" />} onClick={() => onTry(trying === "shown" ? "hidden" : "shown")}>
            {trying === "no" ? "Try it" : trying === "shown" ? "Hide the trial" : "Show the trial"}
          </Button>
        </>
      )}
      <Button tone="primary" icon={<Save aria-hidden className="size-4" />} disabled={!isChanged || why !== undefined} title={why ?? (isChanged ? undefined : "Nothing has changed.")} onClick={() => onOpen("save")}>
        Save
      </Button>
      <Menu
        label="More"
        icon={<MoreVertical aria-hidden className="size-4" />}
        items={[
          { label: "Trigger a run", icon: <Zap aria-hidden className="size-4" />, run: () => onOpen("trigger") },
          { label: "Stop hosting it", icon: <Trash2 aria-hidden className="size-4" />, danger: true, run: () => onOpen("stop") },
        ]}
      />
    </>
  );
}
