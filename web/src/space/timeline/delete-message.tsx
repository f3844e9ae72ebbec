// Deletes a message, after a question: what it says cannot be brought back.
import { Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { api } from "@/api/client";
import type { Message } from "@/client/types";
import { useConsole } from "@/app/console";
import { useEntity } from "@/live/hooks";
import { IconButton } from "@/ui/button";

const Confirm = lazy(() => import("@/ui/confirm").then((m) => ({ default: m.Confirm })));

/**
 * The button, for those who may: the sender, the owner of the agent that sent it, admins.
 */
export function DeleteMessage({ message }: { message: Message }) {
  const { session, actor, admin } = useConsole();
  const sender = useEntity(message.entityId);
  const [asking, setAsking] = useState(false);
  const mine = actor !== null && (message.entityId === actor || sender?.ownerId === actor);
  if (message.deletedAt !== null || message.status === "streaming" || !(mine || admin)) return null;
  return (
    <>
      <IconButton label="Delete message" onClick={() => setAsking(true)}>
        <Trash2 aria-hidden className="size-4" />
      </IconButton>
      {asking && (
        <Suspense>
          <Confirm title="Delete this message?" action="Delete it" onClose={() => setAsking(false)} run={() => api.DELETE("/v1/sessions/{session}/messages/{message}", { params: { path: { session, message: message.id } } })}>
            <p>Its text is erased for everyone: in this space, in search and in the agents' conversation history. A placeholder remains.</p>
          </Confirm>
        </Suspense>
      )}
    </>
  );
}
