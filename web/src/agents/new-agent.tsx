// Makes a hosted agent: of a template, or of a config that somebody has.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState } from "react";
import { api } from "@/api/client";
import { entityHeader, type HostedAgent, ShoalError, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntities } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { SelectField, TextField } from "@/ui/field";
import { notify } from "@/ui/notice";
import { Failed } from "@/ui/placeholder";
import { getIn, type JsonObject, parseLocation, pathText, setIn } from "./config/json";
import { lineOf, readConfig } from "./config/text";
import { CodeArea } from "./forms/code-area";
import { agentsKey, allSpacesQuery, putAgent } from "./queries";
import { isOfTrial } from "@/app/trials";
import { answering, idOf, keyHint, type Template, templates } from "./templates";

interface Filled {
  readonly from: "template" | "text";
  readonly name: string;
  /** Empty: the one that the name or the text suggests. */
  readonly id: string;
  readonly template: Template;
  readonly model: string;
  readonly text: string;
  readonly space: string;
}

const first = templates[0] as Template;

/** What is made of the form, or why it cannot be. */
function made(f: Filled, id: string): { readonly config: JsonObject } | { readonly problem: string; readonly line?: number } {
  if (f.from === "template") return { config: answering(f.template, id, f.name.trim(), f.model.trim(), f.space || "welcome") };
  const read = readConfig(f.text);
  if ("problem" in read) return { problem: read.problem.message, line: read.problem.line };
  return { config: setIn(read.value, ["agent", "id"], id) as JsonObject };
}

function suggestedId(f: Filled): string {
  if (f.from === "template") return idOf(f.name);
  const read = readConfig(f.text);
  const id = "value" in read ? getIn(read.value, ["agent", "id"]) : undefined;
  return typeof id === "string" ? id : "";
}

export function NewAgentDialog({ agents, onClose }: { agents: readonly HostedAgent[]; onClose: () => void }) {
  const { session } = useConsole();
  const form = useId();
  const go = useNavigate();
  const queries = useQueryClient();
  const entities = useEntities();
  const spaces = (useQuery(allSpacesQuery(session)).data ?? []).filter((s) => s.status === "open" && !isOfTrial(s));
  const [f, setFilled] = useState<Filled>({ from: "template", name: "", id: "", template: first, model: first.model, text: "", space: "" });
  const set = (some: Partial<Filled>) => {
    setFilled({ ...f, ...some });
    making.reset();
  };
  const id = f.id.trim() || suggestedId(f);
  const making = useMutation({
    mutationFn: async () => {
      const result = made(f, id);
      if ("problem" in result) throw new ShoalError(0, "invalid_json", `${result.line === undefined ? "" : `Line ${result.line}: `}${result.problem}`);
      if (agents.some((a) => a.id === id)) throw new ShoalError(409, "already_exists", `A hosted agent with id ${id} already exists. Choose another id or edit that agent.`);
      await putAgent(session, id, result.config);
      await join(session, id, spaces.find((s) => s.id === f.space));
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: agentsKey(session) });
      onClose();
      await go({ to: "/s/$session/agents/$agent", params: { session, agent: id } });
    },
  });
  const problem = making.isError ? ShoalError.from(making.error) : undefined;
  const marks = new Map<number, string>();
  for (const e of problem?.fields ?? []) {
    const path = parseLocation(e.location);
    const line = f.from === "text" ? lineOf(f.text, path) : undefined;
    if (line !== undefined) marks.set(line, `${pathText(path)} ${e.message}`);
  }
  const known = entities.find((e) => e.id === id);
  return (
    <Dialog
      open
      wide={f.from === "text"}
      onClose={onClose}
      title="New agent"
      about="The server runs the agent's model loop."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={making.isPending} disabled={id === ""}>
            Create agent
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
          making.mutate();
        }}
      >
        <div role="radiogroup" aria-label="Where its config comes from" className="flex flex-wrap gap-4">
          {(["template", "text"] as const).map((from) => (
            <label key={from} className="inline-flex min-h-6 touch:min-h-11 items-center gap-2">
              <input type="radio" name={`${form}-from`} checked={f.from === from} onChange={() => set({ from })} />
              {from === "template" ? "From a template" : "From a config"}
            </label>
          ))}
        </div>
        {f.from === "template" ? <TemplateFields f={f} set={set} /> : <CodeArea label="Config, in YAML or JSON" rows={12} value={f.text} marks={marks} placeholder={'version: "1.0"\nagent:\n  system: …\nmodel: {provider: openai, name: gpt-4o-mini}'} onChange={(text) => set({ text })} />}
        <TextField
          label="Id"
          hint={known !== undefined && !known.hosted ? `${known.name} is a connected agent. It becomes a hosted agent.` : "The agent's @handle. It cannot be changed or reused."}
          value={f.id}
          placeholder={suggestedId(f)}
          spellCheck={false}
          onChange={(e) => set({ id: e.target.value })}
        />
        <SelectField label="Add to space" hint={f.from === "template" && f.template.provider === "script" ? "The script posts there." : undefined} value={f.space} onChange={(e) => set({ space: e.target.value })}>
          <option value="">Not now</option>
          {spaces.map((s) => (
            <option key={s.id} value={s.id}>
              {s.name}
            </option>
          ))}
        </SelectField>
        {problem !== undefined && <Refused problem={problem} />}
      </form>
    </Dialog>
  );
}

// Shown where it is seen, however far the form was scrolled.
function Refused({ problem }: { problem: ShoalError }) {
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void shown.current?.scrollIntoView({ block: "nearest" });
  }, [problem.message]);
  return (
    <div ref={shown}>
      <Failed error={problem} />
    </div>
  );
}

function TemplateFields({ f, set }: { f: Filled; set: (some: Partial<Filled>) => void }) {
  const choose = (provider: string) => {
    const template = templates.find((t) => t.provider === provider) ?? first;
    set({ template, model: template.model });
  };
  return (
    <>
      <TextField label="Name" value={f.name} placeholder="Front Desk" onChange={(e) => set({ name: e.target.value })} />
      <SelectField label="Provider" hint={keyHint(f.template.provider)} value={f.template.provider} onChange={(e) => choose(e.target.value)}>
        {templates.map((t) => (
          <option key={t.provider} value={t.provider}>
            {t.name}
          </option>
        ))}
      </SelectField>
      {f.template.provider !== "script" && <TextField label="Model" value={f.model} spellCheck={false} onChange={(e) => set({ model: e.target.value })} />}
    </>
  );
}

// The agent exists by now, so a failure to add it to a space is a notice, not an error.
async function join(session: string, agent: string, space: Space | undefined): Promise<void> {
  if (space === undefined) return;
  try {
    await api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { session, space: space.id, entity: agent } }, headers: { [entityHeader]: "" } });
  } catch (error) {
    const problem = ShoalError.from(error);
    const why = problem.code === "admin_required" ? "it has a hosted agent already and needs an admin agent first" : problem.message;
    notify(`The agent was created, but not added to ${space.name}: ${why}.`, true);
  }
}
