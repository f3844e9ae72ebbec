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
      action="Stop hosting"
      onClose={onClose}
      run={async () => {
        await stopHosting(session, agent);
        notify(`${name} is not hosted any more.`);
        await go({ to: "/s/$session/agents", params: { session }, ignoreBlocker: true });
        await queries.invalidateQueries({ queryKey: agentsKey(session) });
      }}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        <li>{count === 0 ? "A run that starts in the meantime is canceled." : count === 1 ? "One active run is canceled, with its open questions and approvals." : `${count} active runs are canceled, with their open questions and approvals.`}</li>
        <li>Its plans (schedules) no longer fire, and messages no longer start runs.</li>
        <li>Its messages stay. It remains a member of its spaces and can connect with its own model.</li>
      </ul>
    </Confirm>
  );
}
