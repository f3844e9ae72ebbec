// The tab "What the model saw": the request of one step, exactly as it was sent, and
// what in it is new since the step before.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "@/api/client";
import { ShoalError, type Step } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { CopyButton } from "@/ui/copy";
import { CheckField, SelectField, TextField } from "@/ui/field";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { laidOut } from "../json";
import { runKeys } from "../record";
import { allTokens } from "../words";
import { Request } from "./request";
import { diffRequests } from "./request-diff";

function useSent(run: string, step: number | undefined) {
  const { session } = useConsole();
  return useQuery({
    // Not under the run's own key: what was sent does not change with the run.
    queryKey: ["sent", ...runKeys(session, run).all, step],
    queryFn: () => api.GET("/v1/sessions/{session}/runs/{run}/steps/{step}/request", { params: { path: { session, run, step: step ?? 0 } } }),
    enabled: step !== undefined && step >= 0,
    staleTime: Infinity,
  });
}

export function RequestsTab({ run, steps }: { run: string; steps: readonly Step[] }) {
  const { step: asked } = useSearch({ from: "/s/$session/runs/$run" });
  const go = useNavigate({ from: "/s/$session/runs/$run" });
  const [words, setWords] = useState("");
  const [onlyNew, setOnlyNew] = useState(false);
  const step = steps.find((s) => s.index === asked) ?? steps[steps.length - 1];
  const place = step === undefined ? -1 : steps.indexOf(step);
  const now = useSent(run, step?.index);
  const before = useSent(run, steps[place - 1]?.index);
  if (step === undefined) return <Empty title="No model call yet">Requests to the model appear here from the first step.</Empty>;
  return (
    <div className="flex flex-col gap-4 p-5">
      <div className="flex flex-wrap items-end gap-3">
        <div className="w-40">
          <SelectField label="Step" value={step.index} onChange={(e) => void go({ search: (s) => ({ ...s, step: Number(e.target.value) }), replace: true })}>
            {steps.map((s) => (
              <option key={s.index} value={s.index}>
                Step {s.index + 1} of {steps.length}
              </option>
            ))}
          </SelectField>
        </div>
        <div className="w-56">
          <TextField type="search" label="Search the request" value={words} onChange={(e) => setWords(e.target.value)} />
        </div>
        {before.data !== undefined && <CheckField label={`Only changes since step ${step.index}`} checked={onlyNew} onChange={(e) => setOnlyNew(e.target.checked)} />}
        {now.data !== undefined && <CopyButton label="Copy all" text={laidOut(now.data)} />}
      </div>
      {now.isPending ? (
        <Loading />
      ) : now.isError ? (
        <Missing error={now.error} retry={() => void now.refetch()} />
      ) : (
        <>
          <p className="text-sm text-soft">
            Sent to <span className="text-ink">{now.data.model}</span>: {now.data.messages.length} messages, {now.data.tools.length} tools, {allTokens(step.usage.inputTokens)} tokens in. The bytes of files are left out.
          </p>
          <Request request={now.data} news={diffRequests(before.data, now.data)} before={before.data?.system} words={words.trim()} onlyNew={onlyNew && before.data !== undefined} since={step.index} />
        </>
      )}
    </div>
  );
}

function Missing({ error, retry }: { error: unknown; retry: () => void }) {
  if (ShoalError.from(error).status === 404) return <Empty title="Request not stored">This step ran before the server stored requests, or its model has not been called yet.</Empty>;
  return <Failed error={error} retry={retry} />;
}
