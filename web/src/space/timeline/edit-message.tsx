// Changes what a message says, in its place.
import { useState } from "react";
import { api } from "@/api/client";
import type { Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Button } from "@/ui/button";
import { useAction } from "../use-action";

export function EditMessage({ message, onClose }: { message: Message; onClose: () => void }) {
  const { session } = useConsole();
  const first = message.parts[0];
  const [text, setText] = useState(first?.type === "text" ? first.text : "");
  const action = useAction();
  const save = async () => {
    const body = { text: text.trim(), updatedAt: message.updatedAt };
    if (await action.run(() => api.PATCH("/v1/sessions/{session}/messages/{message}", { params: { path: { session, message: message.id } }, body }))) onClose();
  };
  return (
    <form
      aria-label="Edit message"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          onClose();
        }
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
      }}
      className="flex flex-col gap-2"
    >
      <textarea autoFocus rows={3} aria-label="What it says" value={text} onChange={(event) => setText(event.target.value)} className="w-full rounded-md border border-edge bg-surface px-3 py-2" />
      <div className="flex items-center gap-2">
        <Button type="submit" tone="primary" small busy={action.busy} disabled={text.trim() === ""}>
          Save
        </Button>
        <Button small onClick={onClose}>
          Cancel
        </Button>
        <span className="text-sm text-soft">Nobody is notified. Earlier texts stay readable.</span>
      </div>
      {action.problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {action.problem.message}
        </p>
      )}
    </form>
  );
}
