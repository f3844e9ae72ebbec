// The form that creates or changes a plan.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useMemo, useRef, useState } from "react";
import { api } from "@/api/client";
import { type HostedAgent, type Plan, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntities } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { AreaField, SelectField, TextField } from "@/ui/field";
import { notify } from "@/ui/notice";
import { Failed } from "@/ui/placeholder";
import { timeOfDay } from "@/ui/time";
import { cronWords, readCron } from "./cron";
import { bodyOf, fieldsOf, newFields, type PlanFields, wrongField } from "./plan-form";
import { nextTimes, ownZone, zoneOf } from "./zone";

interface Props {
  /** The plan to change; without one, a new plan is created. */
  plan?: Plan;
  /** The agents to choose from. */
  agents: readonly Pick<HostedAgent, "id">[];
  onClose: () => void;
}

const examples: readonly (readonly [string, string])[] = [
  ["0 9 * * mon-fri", "Weekdays at 9"],
  ["@hourly", "Every hour"],
  ["@daily", "Every midnight"],
  ["0 8 * * mon", "Mondays at 8"],
  ["0 8 1 * *", "First of the month"],
];

export function PlanDialog({ plan, agents, onClose }: Props) {
  const { session } = useConsole();
  const entities = useEntities();
  const queries = useQueryClient();
  const form = useId();
  const shown = useRef<HTMLFormElement>(null);
  const [f, setFields] = useState<PlanFields>(() => (plan === undefined ? newFields(agents[0]?.id ?? "") : fieldsOf(plan)));
  const set = (some: Partial<PlanFields>) => {
    setFields({ ...f, ...some });
    saving.reset();
  };
  const saving = useMutation({
    mutationFn: async () => {
      const made = bodyOf(f);
      if ("wrong" in made) throw new ShoalError(422, "invalid_argument", "Some fields are invalid.", { fields: made.wrong });
      if (plan === undefined) return api.POST("/v1/sessions/{session}/agents/{agent}/plans", { params: { path: { session, agent: f.agent } }, body: made.body });
      return api.PATCH("/v1/sessions/{session}/plans/{plan}", { params: { path: { session, plan: plan.id } }, body: made.body });
    },
    onError: () => requestAnimationFrame(() => shown.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus()),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ["plans", session] });
      notify(saved.nextRunAt === null ? `Saved ${saved.name}. It does not run again.` : `Saved ${saved.name}. Next run: ${momentWords(saved.nextRunAt, ownZone())}.`);
      onClose();
    },
  });
  const errors = saving.isError ? ShoalError.from(saving.error).fields : [];
  const shownAtFields = ["name", "instruction", "description", "cron", "timeZone", "scheduledAt"].map((n) => `body.${n}`);
  const isAllShown = errors.length > 0 && errors.every((e) => shownAtFields.includes(e.location));
  return (
    <Dialog
      open
      onClose={onClose}
      title={plan === undefined ? "New plan" : "Edit plan"}
      about="At the scheduled time the agent runs with the instruction, as if it were a message."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={saving.isPending}>
            {plan === undefined ? "Create plan" : "Save"}
          </Button>
        </>
      }
    >
      <form
        id={form}
        ref={shown}
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        {saving.isError && !isAllShown && <Failed error={saving.error} />}
        {plan === undefined && agents.length > 1 && (
          <SelectField label="Agent" value={f.agent} onChange={(e) => set({ agent: e.target.value })}>
            {agents.map((a) => (
              <option key={a.id} value={a.id}>
                {entities.find((e) => e.id === a.id)?.name ?? a.id}
              </option>
            ))}
          </SelectField>
        )}
        <TextField label="Name (required)" value={f.name} placeholder="morning report" error={wrongField(errors, "name")} onChange={(e) => set({ name: e.target.value })} />
        <AreaField label="Instruction" hint="What the agent should do." rows={3} value={f.instruction} placeholder="Report yesterday's sales in the space Shop." error={wrongField(errors, "instruction")} onChange={(e) => set({ instruction: e.target.value })} />
        <fieldset className="flex flex-col gap-3">
          <legend className="mb-1 text-sm font-medium">When</legend>
          <div className="flex gap-4">
            {(["cron", "once"] as const).map((kind) => (
              <label key={kind} className="inline-flex min-h-6 touch:min-h-11 items-center gap-2">
                <input type="radio" name={`${form}-kind`} checked={f.kind === kind} onChange={() => set({ kind })} />
                {kind === "cron" ? "Repeatedly" : "Once"}
              </label>
            ))}
          </div>
          {f.kind === "cron" ? (
            <CronField cron={f.cron} error={wrongField(errors, "cron")} onChange={(cron) => set({ cron })} />
          ) : (
            <TextField type="datetime-local" label="Day and time" value={f.at} error={wrongField(errors, "scheduledAt")} onChange={(e) => set({ at: e.target.value })} />
          )}
          <ZoneField value={f.timeZone} error={wrongField(errors, "timeZone")} onChange={(timeZone) => set({ timeZone })} />
          <Reading f={f} />
        </fieldset>
      </form>
    </Dialog>
  );
}

function CronField({ cron, error, onChange }: { cron: string; error: string | undefined; onChange: (cron: string) => void }) {
  return (
    <>
      <TextField label="Cron expression" hint="Minute, hour, day of the month, month, day of the week." className="font-mono" spellCheck={false} value={cron} error={error} onChange={(e) => onChange(e.target.value)} />
      <div role="group" aria-label="Examples" className="flex flex-wrap gap-2">
        {examples.map(([expression, words]) => (
          <Button key={expression} small aria-pressed={cron === expression} className={cron === expression ? "border-accent! bg-accent-soft! text-accent!" : undefined} onClick={() => onChange(expression)}>
            {words}
          </Button>
        ))}
      </div>
    </>
  );
}

function ZoneField({ value, error, onChange }: { value: string; error: string | undefined; onChange: (zone: string) => void }) {
  const id = useId();
  const zones = useMemo(() => ["UTC", ...(typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [])], []);
  return (
    <>
      <TextField label="Time zone" list={id} value={value} error={error} spellCheck={false} onChange={(e) => onChange(e.target.value)} />
      <datalist id={id}>
        {zones.map((z) => (
          <option key={z} value={z} />
        ))}
      </datalist>
    </>
  );
}

// What an expression means, before it is sent to the server.
function Reading({ f }: { f: PlanFields }) {
  const zone = zoneOf(f.timeZone.trim() || "UTC");
  if (zone === undefined) return <p className="text-sm text-soft">Unknown time zone. Use a name such as Europe/Berlin, or UTC.</p>;
  if (f.kind === "once") return null;
  const cron = readCron(f.cron);
  if (cron === undefined) return <p className="text-sm text-soft">Invalid cron expression. Saving reports the details.</p>;
  const next = nextTimes(cron, zone, Date.now(), 3);
  return (
    <div aria-live="polite" className="rounded-md bg-sunken px-3 py-2 text-sm">
      <p className="font-medium">{capital(cronWords(cron))}.</p>
      {next.length === 0 ? <p>This day does not exist, so the plan never runs.</p> : <p className="text-soft">Next: {next.map((m) => momentWords(new Date(m).toISOString(), f.timeZone.trim() || "UTC")).join(" · ")}</p>}
    </div>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A moment in a time zone, for sentences. */
export function momentWords(at: string, zone: string): string {
  const timeZone = zone || "UTC";
  const moment = new Date(at);
  const year = moment.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  try {
    const day = new Intl.DateTimeFormat(undefined, { timeZone, weekday: "short", day: "numeric", month: "short", year }).format(moment);
    return `${day}, ${timeOfDay(moment, timeZone)}`;
  } catch {
    return at;
  }
}
