// Deletes a message, after a question: what it says cannot be brought back.
import { api } from "@/api/client";
import type { Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Confirm } from "@/ui/confirm";

/** The question. */
export function DeleteMessage({ message, onClose }: { message: Message; onClose: () => void }) {
  const { session } = useConsole();
  const run = () => api.DELETE("/v1/sessions/{session}/messages/{message}", { params: { path: { session, message: message.id } } });
  return (
    <Confirm title="Delete this message?" action="Delete it" onClose={onClose} run={run}>
      <p>Its text is erased for everyone: in this space, in search and in the agents' conversation history. A placeholder remains.</p>
    </Confirm>
  );
}
