// One agent: of a hosted one its config in forms and as text, its versions, a trial of the
// draft; of a connected one how it is reached.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntity } from "@/live/hooks";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { SettingsOnly, backToAgents } from "./settings-only";
import { AgentEditor } from "./agent-editor";
import { ConnectedAgent } from "./connected-agent";
import { agentQuery, schemaQuery } from "./queries";

export function AgentPage() {
  const { agent } = useParams({ from: "/s/$session/agents/$agent" });
  return (
    <SettingsOnly title={agent} back={backToAgents} why="A config defines an agent's model and what its tools can do.">
      <Hosted key={agent} agent={agent} />
    </SettingsOnly>
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
  if (found.isError && ShoalError.from(found.error).status === 404) return <NotHosted agent={agent} />;
  if (found.isError) {
    return (
      <Page title={agent} back={backToAgents}>
        <Failed error={found.error} retry={() => void found.refetch()} />
      </Page>
    );
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
  if (entity?.kind === "agent") return <ConnectedAgent entity={entity} />;
  return (
    <Page title={agent} back={backToAgents}>
      <Empty
        title="Agent not found"
        action={
          <Link to="/s/$session/agents" params={{ session }} className="text-accent underline">
            All agents
          </Link>
        }
      >
        {entity === undefined ? "The address is wrong or the agent was deleted." : `${entity.name} is a person.`}
      </Empty>
    </Page>
  );
}
