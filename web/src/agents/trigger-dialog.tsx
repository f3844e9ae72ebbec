// Starts a run as a service would.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api } from "@/api/client";
import { entityHeader, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { TextField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { type Json, writeJson } from "./config/json";
import { readValue } from "./config/text";
import { CodeArea } from "./forms/code-area";

export function TriggerDialog({ agent, onClose }: { agent: string; onClose: () => void }) {
  const name = useName(agent);
  const { session } = useConsole();
  const form = useId();
  const [service, setService] = useState("console");
  const [payload, setPayload] = useState("{}");
  const [problem, setProblem] = useState<string>();
  const starting = useMutation({
    mutationFn: (value: Json) =>
      api.POST("/v1/sessions/{session}/agents/{agent}/trigger", {
        params: { path: { session, agent } },
        jsonText: writeJson({ serviceName: service.trim(), payload: value }),
        headers: { [entityHeader]: "", "Idempotency-Key": crypto.randomUUID() },
      }),
  });
  const start = () => {
    const read = payload.trim() === "" ? { value: null } : readValue(payload);
    setProblem("problem" in read ? `Cannot parse this text: ${read.problem.message}` : undefined);
    if ("value" in read) starting.mutate(read.value);
  };
  const fields = starting.isError ? ShoalError.from(starting.error).fields : [];
  const wrongService = fields.find((f) => f.location === "body.serviceName");
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Trigger ${name}`}
      about="Starts a run as a service would. The agent receives the payload in its conversation with this service. The run uses the saved version, not a draft."
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button tone="primary" type="submit" form={form} busy={starting.isPending}>
            Start a run
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <TextField label="Service name (required)" hint="The service that starts the run." value={service} error={wrongService && `The name ${wrongService.message}.`} onChange={(e) => setService(e.target.value)} />
        <CodeArea label="Payload" hint="Any JSON value, or YAML." value={payload} error={problem} onChange={setPayload} />
        {starting.isError && wrongService === undefined && <Failed error={starting.error} />}
        {starting.isSuccess && (
          <p role="status" className="rounded-md bg-ok-soft px-3 py-2 text-ok">
            The run is {starting.data.status}.{" "}
            <Link to="/s/$session/runs/$run" params={{ session, run: starting.data.runId }} className="font-medium underline">
              Open run
            </Link>
          </p>
        )}
      </form>
    </Dialog>
  );
}
