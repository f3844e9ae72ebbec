// Asks before the hosting of an agent ends, and says what happens to what it does.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useConsole } from "@/app/console";
import { Confirm } from "@/ui/confirm";
import { notify } from "@/ui/notice";
import { agentsKey, runsUnderWayQuery, stopHosting } from "./queries";

export function StopDialog({ agent, name, onClose }: { agent: string; name: string; onClose: () => void }) {
  const { session } = useConsole();
  const queries = useQueryClient();
  const go = useNavigate();
  const runs = useQuery(runsUnderWayQuery(session));
  const count = (runs.data ?? []).filter((r) => r.agentId === agent).length;
  return (
    <Confirm
      title={`Stop hosting ${name}?`}
      action="Stop hosting it"
      onClose={onClose}
      run={async () => {
        await stopHosting(session, agent);
        notify(`${name} is not hosted any more.`);
        await go({ to: "/s/$session/agents", params: { session }, ignoreBlocker: true });
        await queries.invalidateQueries({ queryKey: agentsKey(session) });
      }}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        <li>{count === 0 ? "No run of it is under way now; one that begins meanwhile is canceled." : count === 1 ? "One run of it is under way: it is canceled, and what it waits for is withdrawn." : `${count} runs of it are under way: they are canceled, and what they wait for is withdrawn.`}</li>
        <li>Its plans do not fire any more, and no message starts it.</li>
        <li>Its messages stay. The entity stays a member of its spaces, as an agent that may connect with a model of its own.</li>
      </ul>
    </Confirm>
  );
}
