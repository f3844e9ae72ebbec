// Asks for confirmation before an action, such as one that cannot be undone, and says what will happen.
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { TextField } from "./field";
import { Failed } from "./placeholder";

interface Props {
  onClose: () => void;
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The label of the button that does it. */
  action: string;
  /** How the button looks: as one that deletes something, or not. */
  tone?: "danger" | "primary";
  /** The text that has to be typed first, for actions that delete a lot. */
  word?: string;
  /** Performs the action. The dialog closes when it is done, and shows an error if it fails. */
  run: () => Promise<unknown>;
}

/** The dialog. It is open while it is rendered. */
export function Confirm({ onClose, title, children, action, tone = "danger", word, run }: Props) {
  const [typed, setTyped] = useState("");
  const doing = useMutation({ mutationFn: run, onSuccess: onClose });
  const form = useId();
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone={tone} type="submit" form={form} busy={doing.isPending} disabled={word !== undefined && typed !== word}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          doing.mutate();
        }}
        className="flex flex-col gap-3"
      >
        <div className="flex flex-col gap-2">{children}</div>
        {word !== undefined && (
          <TextField
            label={
              <>
                Type the id <code className="break-all">{word}</code> to continue
              </>
            }
            value={typed}
            onChange={(e) => setTyped(e.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {doing.isError && <Failed error={doing.error} />}
      </form>
    </Dialog>
  );
}
