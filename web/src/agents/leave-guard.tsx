// Asks before a draft that is not saved is left.
import { useBlocker } from "@tanstack/react-router";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";

/** Keeps the page while `isChanged`, until its reader has said that the draft may go. */
export function LeaveGuard({ isChanged }: { isChanged: boolean }) {
  const blocked = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  if (blocked.status !== "blocked") return null;
  return (
    <Dialog
      open
      title="Leave without saving?"
      onClose={blocked.reset}
      actions={
        <>
          <Button onClick={blocked.reset}>Keep editing</Button>
          <Button tone="danger" onClick={blocked.proceed}>
            Discard draft
          </Button>
        </>
      }
    >
      <p>You have unsaved changes.</p>
    </Dialog>
  );
}
