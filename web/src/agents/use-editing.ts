// The draft of one agent's config against the version that is in use: saving, being
// refused, and what somebody else saves meanwhile.
import { useMutation, type UseMutationResult, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { notify } from "@/ui/notice";
import type { JsonObject } from "./config/json";
import { type DraftContextValue, useDraft } from "./draft";
import { agentQuery, type AgentVersion, agentsKey, putAgent } from "./queries";

/** What the editor of an agent works with. */
export interface Editing {
  readonly held: DraftContextValue;
  /** The version that the draft began with. */
  readonly base: AgentVersion;
  readonly isChanged: boolean;
  /** A version that somebody else has saved; taking it drops the draft. */
  readonly newer: AgentVersion | undefined;
  readonly take: (version: AgentVersion) => void;
  readonly saving: UseMutationResult<AgentVersion, Error, JsonObject>;
}

/** Edits the config of an agent; `onSaved` is called after a save, `onRefused` after fields were refused. */
export function useEditing(saved: AgentVersion, schema: JsonObject, onSaved: () => void, onRefused: () => void): Editing {
  const { session } = useConsole();
  const queries = useQueryClient();
  const [base, setBase] = useState(saved);
  const { isChanged, held } = useDraft(schema, base.config);
  const { draft, dispatch } = held;
  const take = (version: AgentVersion) => {
    setBase(version);
    dispatch({ type: "replace", config: version.config });
  };

  // What somebody else has saved is taken at once if nothing here would be lost.
  const isBehind = saved.version > base.version;
  useEffect(() => {
    if (!isBehind || isChanged) return;
    setBase(saved);
    dispatch({ type: "replace", config: saved.config });
  }, [isBehind, isChanged, saved, dispatch]);

  const saving = useMutation({
    mutationFn: (config: JsonObject) => putAgent(session, saved.id, config),
    onSuccess: (now) => {
      notify(now.version === base.version ? "Nothing has changed." : `Version ${now.version} is in use.`);
      take(now);
      queries.setQueryData(agentQuery(session, saved.id).queryKey, now);
      void queries.invalidateQueries({ queryKey: agentsKey(session) });
      onSaved();
    },
    onError: (error, config) => {
      const { fields } = ShoalError.from(error);
      if (fields.length === 0) return;
      if (config !== draft.config) dispatch({ type: "replace", config }); // an old version that is refused now
      dispatch({ type: "refused", fields });
      notify(fields.length === 1 ? "One field was refused." : `${fields.length} fields were refused.`, true);
      onRefused();
    },
  });
  return { held, base, isChanged, newer: isBehind && isChanged ? saved : undefined, take, saving };
}
