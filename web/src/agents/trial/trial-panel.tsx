// The panel for a trial of a draft. Leaving the panel or the page cleans up the trial.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Play, RefreshCw, Trash2, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Button, IconButton } from "@/ui/button";
import { notify, notifyError } from "@/ui/notice";
import { Failed } from "@/ui/placeholder";
import { getIn, sameJson } from "../config/json";
import { unreadableSentence, useDraftContext } from "../draft";
import { agentsKey } from "../queries";
import { TrialChat } from "./chat";
import { abandonTrial, beginTrial, endTrial, renewTrial, type Trial } from "./trial";

export function TrialPanel({ agent, onClose }: { agent: string; onClose: () => void }) {
  const { session, actor } = useConsole();
  const { draft, dispatch } = useDraftContext();
  const { trial, keep } = useTrial(session);
  const why = actor === null ? "Choose a participant to act as in Settings first." : unreadableSentence(draft);
  // Errors of the server are shown at the draft's fields.
  const refused = (error: unknown) => {
    const problem = ShoalError.from(error);
    if (problem.status === 422) dispatch({ type: "refused", fields: problem.fields });
  };
  const beginning = useMutation({ mutationFn: () => beginTrial(session, agent, draft.config), onSuccess: keep, onError: refused });
  const renewing = useMutation({ mutationFn: (now: Trial) => renewTrial(session, now, draft.config), onSuccess: keep, onError: refused });
  const ending = useMutation({ mutationFn: (now: Trial) => endTrial(session, now), onSuccess: () => keep(undefined), onError: notifyError });
  const failed = beginning.error ?? renewing.error;
  return (
    <section aria-labelledby="trial-title" className="flex min-h-0 flex-1 flex-col bg-surface">
      <header className="flex items-center gap-2 border-b border-line px-4 py-2">
        <h2 id="trial-title" className="flex-1 text-lg font-semibold">
          Try it
        </h2>
        {trial !== undefined && (
          <Button small icon={<Trash2 aria-hidden className="size-3.5" />} busy={ending.isPending} onClick={() => ending.mutate(trial)}>
            Clean up
          </Button>
        )}
        <IconButton label={trial === undefined ? "Close" : "End the trial"} onClick={onClose}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </header>
      {failed !== null && <Failed error={failed} />}
      {trial === undefined ? (
        <div className="flex flex-col items-start gap-3 p-4">
          <p>
            The draft runs as a temporary agent in its own space, even if it is unsaved. <strong>Its tools take real effect and its model calls are billed.</strong>
          </p>
          {getIn(draft.config, ["model", "provider"]) === "script" && <p className="text-sm text-soft">The script's spaces are replaced by the trial's space.</p>}
          <p className="text-sm text-soft">When you leave, the agent and the space are deleted with the conversation.</p>
          {why !== undefined && <p className="text-sm text-warn">{why}</p>}
          <Button tone="primary" icon={<Play aria-hidden className="size-4" />} busy={beginning.isPending} disabled={why !== undefined} onClick={() => beginning.mutate()}>
            Start the trial
          </Button>
        </div>
      ) : (
        <>
          <Standing trial={trial} isChanged={!sameJson(trial.config, draft.config)} why={why} isBusy={renewing.isPending} onRenew={() => renewing.mutate(trial)} />
          <TrialChat trial={trial} />
        </>
      )}
    </section>
  );
}

function Standing({ trial, isChanged, why, isBusy, onRenew }: { trial: Trial; isChanged: boolean; why: string | undefined; isBusy: boolean; onRenew: () => void }) {
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 border-b border-line bg-sunken px-4 py-2 text-sm">
      <span className="min-w-0 flex-1">
        {isChanged ? "The draft has changed since the trial started." : "The trial runs the current draft."} <code className="text-xs text-soft">{trial.agent}</code>
      </span>
      {isChanged && (
        <Button small icon={<RefreshCw aria-hidden className="size-3.5" />} busy={isBusy} disabled={why !== undefined} title={why} onClick={onRenew}>
          Update trial
        </Button>
      )}
    </div>
  );
}

// Keeps the trial that goes on, and ends it when nobody is left to see it.
function useTrial(session: string): { trial: Trial | undefined; keep: (trial: Trial | undefined) => void } {
  const queries = useQueryClient();
  const [trial, setTrial] = useState<Trial>();
  const current = useRef<Trial | undefined>(undefined);
  const isGone = useRef(false);
  const keep = (next: Trial | undefined) => {
    current.current = next;
    setTrial(next);
    void queries.invalidateQueries({ queryKey: agentsKey(session) });
    if (isGone.current && next !== undefined) void endTrial(session, next); // it began as the page was left
  };
  useEffect(() => {
    isGone.current = false;
    const onHide = (event: PageTransitionEvent) => {
      if (!event.persisted && current.current !== undefined) abandonTrial(session, current.current);
    };
    window.addEventListener("pagehide", onHide);
    return () => {
      window.removeEventListener("pagehide", onHide);
      isGone.current = true;
      const last = current.current;
      current.current = undefined;
      if (last === undefined) return;
      endTrial(session, last).then(
        () => {
          notify("Trial cleaned up.");
          void queries.invalidateQueries({ queryKey: agentsKey(session) });
        },
        (error: unknown) => notify(`The trial could not be cleaned up: ${ShoalError.from(error).message} Try again from the Agents page.`, true),
      );
    };
  }, [session, queries]);
  return { trial, keep };
}
