// All plans of all agents.
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { SettingsOnly } from "@/agents/settings-only";
import { agentsQuery, plansQuery } from "@/agents/queries";
import type { HostedAgent } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { Button } from "@/ui/button";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { PlanDialog } from "./plan-dialog";
import { PlanList } from "./plan-list";

export function PlansPage() {
  useFreshActs();
  return (
    <SettingsOnly title="Plans" why="Plans are schedules: they make agents run at set times, which costs what their models cost.">
      <Plans />
    </SettingsOnly>
  );
}

function Plans() {
  const { session, may } = useConsole();
  const agents = useQuery(agentsQuery(session));
  const [isMaking, setMaking] = useState(false);
  const hosted = agents.data ?? [];
  return (
    <Page
      title="Plans"
      about="Schedules that make agents run."
      actions={
        hosted.length > 0 && may("manage") && (
          <Button tone="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>
            New plan
          </Button>
        )
      }
    >
      {agents.isPending ? <Loading /> : agents.isError ? <Failed error={agents.error} retry={() => void agents.refetch()} /> : <PlansOf agents={hosted} onNew={may("manage") ? () => setMaking(true) : undefined} />}
      {isMaking && <PlanDialog agents={hosted} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function PlansOf({ agents, onNew }: { agents: readonly HostedAgent[]; onNew: (() => void) | undefined }) {
  const { session } = useConsole();
  const found = useQueries({ queries: agents.map((a) => plansQuery(session, a.id)) });
  const failed = found.find((q) => q.isError);
  const plans = found.flatMap((q) => q.data ?? []);
  if (agents.length === 0) {
    return (
      <Empty
        title="No hosted agents"
        action={
          <Link to="/s/$session/agents" params={{ session }} className="text-accent underline">
            Create agent
          </Link>
        }
      >
        A plan is a schedule for a hosted agent: create the agent first.
      </Empty>
    );
  }
  if (failed !== undefined) return <Failed error={failed.error} retry={() => void failed.refetch()} />;
  if (found.some((q) => q.isPending)) return <Loading />;
  if (plans.length === 0) {
    return (
      <Empty title="No plans" action={onNew && <Button onClick={onNew}>New plan</Button>}>
        A plan makes an agent run repeatedly or once. Agents can create plans, too.
      </Empty>
    );
  }
  return (
    <div className="max-w-page p-5">
      <h2 className="sr-only">All plans</h2>
      <PlanList plans={plans} named />
    </div>
  );
}
