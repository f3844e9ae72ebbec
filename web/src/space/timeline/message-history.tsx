// The earlier versions of an edited message, newest first.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import type { Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Dialog } from "@/ui/dialog";
import { Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";

/** A dialog with every version of a message that is stored. */
export function MessageHistory({ message, onClose }: { message: Message; onClose: () => void }) {
  const { session } = useConsole();
  const versions = useQuery({
    queryKey: [session, "versions", message.id, message.editedAt],
    queryFn: () => api.GET("/v1/sessions/{session}/messages/{message}/versions", { params: { path: { session, message: message.id } } }),
  });
  return (
    <Dialog open onClose={onClose} title="Earlier versions">
      {versions.isPending && <Loading />}
      {versions.isError && <Failed error={versions.error} retry={() => void versions.refetch()} />}
      <ol className="flex flex-col gap-3">
        {versions.data?.items.map((v) => (
          <li key={v.version} className="border-l-2 border-line pl-3">
            <p className="text-sm text-soft">
              <Moment at={v.at} />
            </p>
            <p className="wrap-anywhere whitespace-pre-wrap">{v.parts.map((p) => (p.type === "text" ? p.text : "")).join("\n\n")}</p>
          </li>
        ))}
      </ol>
    </Dialog>
  );
}
