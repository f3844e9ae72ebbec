// One hosted agent: its config in forms and as text, its versions, a trial of the draft.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntity } from "@/live/hooks";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { EntityState } from "@/ui/state";
import { AdminsOnly, backToAgents } from "./admins-only";
import { AgentEditor } from "./agent-editor";
import { agentQuery, schemaQuery } from "./queries";
import { WakeNote } from "./wake-note";

export function AgentPage() {
  const { agent } = useParams({ from: "/s/$session/agents/$agent" });
  return (
    <AdminsOnly title={agent} back={backToAgents} why="A config defines an agent's model and what its tools can do.">
      <Hosted key={agent} agent={agent} />
    </AdminsOnly>
  );
}

function Hosted({ agent }: { agent: string }) {
  const { session } = useConsole();
  const found = useQuery(agentQuery(session, agent));
  const schema = useQuery(schemaQuery);
  if (found.isPending || schema.isPending) {
    return (
      <Page title={agent} back={backToAgents}>
        <Loading lines={8} />
      </Page>
    );
  }
  if (found.isError) {
    return <Page title={agent} back={backToAgents}>{ShoalError.from(found.error).status === 404 ? <NotHosted agent={agent} /> : <Failed error={found.error} retry={() => void found.refetch()} />}</Page>;
  }
  if (schema.isError) {
    return (
      <Page title={agent} back={backToAgents}>
        <Failed error={schema.error} retry={() => void schema.refetch()} />
      </Page>
    );
  }
  return <AgentEditor saved={found.data} schema={schema.data} />;
}

function NotHosted({ agent }: { agent: string }) {
  const { session } = useConsole();
  const entity = useEntity(agent);
  return (
    <Empty
      title={entity === undefined ? "Agent not found" : `${entity.name} is not hosted here`}
      action={
        <Link to="/s/$session/agents" params={{ session }} className="text-accent underline">
          All agents
        </Link>
      }
    >
      {entity === undefined ? (
        "The address is wrong or the agent was deleted."
      ) : (
        <>
          <p>This agent connects to the server with its own model, so it has no settings here.</p>
          <p className="mt-2 flex flex-wrap items-center justify-center gap-x-3">
            <EntityState state={entity.state} />
            <WakeNote wake={entity.wake} />
          </p>
        </>
      )}
    </Empty>
  );
}
