import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus, Zap } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { entityHeader, ShoalError, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { PlanDialog } from "@/plans/plan-dialog";
import { PlanList } from "@/plans/plan-list";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { notify } from "@/ui/notice";
import { SelectField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";
import { ConfigField } from "../forms/config-field";
import { Row, Section, Sheet } from "../forms/layout";
import { allSpacesQuery, plansQuery } from "../queries";
import { isOfTrial } from "@/app/trials";

/** What starts it: messages in its spaces, plans, services. */
export function TriggersTab({ agent, onTrigger }: { agent: string; onTrigger: () => void }) {
  return (
    <Sheet>
      <Spaces agent={agent} />
      <Section title="Messages during a run">
        <Row>
          <ConfigField path={["loop", "onNewMessage"]} label="On a new message" hint={behaviours} />
          <ConfigField path={["loop", "settleMs"]} label="Settle time (ms)" />
        </Row>
      </Section>
      <Section title="Reply" about="The text that the model writes outside tool calls.">
        <ConfigField path={["reply"]} label="Plain text" />
      </Section>
      <Plans agent={agent} />
      <Section
        title="Services"
        about="A service with a key starts a run with a name and a payload. Each service has its own conversation."
        actions={
          <Button icon={<Zap aria-hidden className="size-4" />} onClick={onTrigger}>
            Trigger now
          </Button>
        }
      >
        <code className="rounded-md bg-sunken px-2 py-1 text-sm break-all">{`shoal agents trigger ${agent} billing '{"invoice": 4711}'`}</code>
      </Section>
    </Sheet>
  );
}

const behaviours = "“parallel” starts another run, “enqueue” starts one after the current run, “interrupt” cancels the current run first, “reject” starts no run and says so.";

function Spaces({ agent }: { agent: string }) {
  const { session } = useConsole();
  const spaces = useQuery(allSpacesQuery(session));
  if (spaces.isPending) return <Loading lines={2} />;
  if (spaces.isError) return <Failed error={spaces.error} retry={() => void spaces.refetch()} />;
  const open = spaces.data.filter((s) => s.status === "open" && !isOfTrial(s));
  const inside = open.filter((s) => s.members.some((m) => m.entityId === agent));
  return (
    <Section title="Spaces" about="A person's message starts the agent if the message mentions it, or if it is the space's admin agent or only hosted agent.">
      {inside.length === 0 ? (
        <p className="text-soft">It is in no space: nobody can write to it.</p>
      ) : (
        <ul className="flex flex-col gap-2">
          {inside.map((s) => (
            <SpaceRow key={s.id} space={s} agent={agent} />
          ))}
        </ul>
      )}
      <AddToSpace agent={agent} spaces={open.filter((s) => !inside.includes(s))} />
    </Section>
  );
}

function SpaceRow({ space, agent }: { space: Space; agent: string }) {
  const { session } = useConsole();
  const isAdmin = space.adminAgentId === agent;
  const leave = useSpaceChange(() => api.DELETE("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { session, space: space.id, entity: agent } }, headers: own }));
  const lead = useSpaceChange(() => api.PATCH("/v1/sessions/{session}/spaces/{space}", { params: { path: { session, space: space.id } }, body: { adminAgentId: agent }, headers: own }));
  return (
    <li className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2">
      <div className="min-w-0 flex-1 basis-56">
        <Link to="/s/$session/spaces/$space" params={{ session, space: space.id }} className="font-medium text-accent underline">
          {space.name}
        </Link>{" "}
        {isAdmin ? (
          <Badge tone="accent">admin agent</Badge>
        ) : (
          <span className="text-sm text-soft">{space.adminAgentId === null ? "answers here while it is the only hosted agent" : `when mentioned; ${space.adminAgentId} answers else`}</span>
        )}
      </div>
      {!isAdmin && (
        <Button small busy={lead.isPending} onClick={() => lead.mutate()}>
          Make admin agent
        </Button>
      )}
      <Button small tone="quiet" busy={leave.isPending} onClick={() => leave.mutate()}>
        Remove<span className="sr-only"> from {space.name}</span>
      </Button>
    </li>
  );
}

function AddToSpace({ agent, spaces }: { agent: string; spaces: readonly Space[] }) {
  const { session } = useConsole();
  const [chosen, choose] = useState("");
  const space = spaces.find((s) => s.id === chosen) ?? spaces[0];
  const add = useSpaceChange(() => api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { session, space: space?.id ?? "", entity: agent } }, headers: own }));
  if (space === undefined) return null;
  return (
    <div className="flex flex-wrap items-end gap-2">
      <div className="min-w-0 flex-1 sm:max-w-xs">
        <SelectField label="Add to space" value={space.id} onChange={(e) => choose(e.target.value)}>
          {spaces.map((s) => (
            <option key={s.id} value={s.id}>
              {s.name}
            </option>
          ))}
        </SelectField>
      </div>
      <Button busy={add.isPending} onClick={() => add.mutate()}>
        Add
      </Button>
    </div>
  );
}

// Spaces that the acting entity is not in are changed by the admin as such.
const own = { [entityHeader]: "" };

function useSpaceChange(change: () => Promise<unknown>) {
  const { session } = useConsole();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queries.invalidateQueries({ queryKey: allSpacesQuery(session).queryKey }),
    onError: (error) => {
      const problem = ShoalError.from(error);
      notify(problem.code === "admin_required" ? "That space already has a hosted agent. Choose its admin agent in the space's menu first." : problem.message, true);
    },
  });
}

function Plans({ agent }: { agent: string }) {
  const { session } = useConsole();
  const plans = useQuery(plansQuery(session, agent));
  const [isMaking, setMaking] = useState(false);
  return (
    <Section
      title="Plans"
      about="A plan starts a run on a schedule. The agent can create plans itself."
      actions={
        <Button icon={<Plus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>
          New plan
        </Button>
      }
    >
      {plans.isPending ? (
        <Loading lines={2} />
      ) : plans.isError ? (
        <Failed error={plans.error} retry={() => void plans.refetch()} />
      ) : plans.data.length === 0 ? (
        <p className="text-soft">It has no plans.</p>
      ) : (
        <PlanList plans={plans.data} />
      )}
      {isMaking && <PlanDialog agents={[{ id: agent }]} onClose={() => setMaking(false)} />}
    </Section>
  );
}
