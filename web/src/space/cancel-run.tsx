// Stops a run that goes on.
import { Square } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Button } from "@/ui/button";
import { notify } from "@/ui/notice";

/** The button that cancels a run; `what` names it to screen readers. If `brief`, it is only an icon on a phone. */
export function StopRun({ run, what, brief = false }: { run: string; what: string; brief?: boolean }) {
  const { session, may } = useConsole();
  const [busy, setBusy] = useState(false);
  const stop = async () => {
    setBusy(true);
    try {
      await api.POST("/v1/sessions/{session}/runs/{run}/cancel", { params: { path: { session, run } } });
    } catch (error) {
      notify(`Could not stop the run: ${ShoalError.from(error).message}`, true);
    } finally {
      setBusy(false);
    }
  };
  if (!may("control_run")) return null;
  return (
    <Button small tone="plain" busy={busy} onClick={() => void stop()} aria-label={`Stop ${what}`} icon={<Square aria-hidden className="size-3 fill-current" />}>
      <span className={brief ? "max-sm:sr-only" : undefined}>Stop</span>
    </Button>
  );
}
