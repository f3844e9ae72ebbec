// The invitations of a session that were not accepted yet, with a way to withdraw them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Mail, X } from "lucide-react";
import { api } from "@/api/client";
import { allPages } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useSpaces } from "@/live/hooks";
import { IconButton } from "@/ui/button";
import { notify, notifyError } from "@/ui/notice";
import { Failed } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { invitesKey } from "./queries";

/** Nothing if there are none. */
export function InviteList() {
  const { session, may } = useConsole();
  const queries = useQueryClient();
  const spaces = useSpaces();
  const nameOf = (id: string) => spaces.find((s) => s.id === id)?.name ?? id;
  const found = useQuery({
    queryKey: invitesKey(session),
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/invites", { params: { path: { session }, query: { limit: 200, cursor } } })),
  });
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.data === undefined || found.data.length === 0) return null;
  const withdraw = async (invite: string) => {
    try {
      await api.DELETE("/v1/sessions/{session}/invites/{invite}", { params: { path: { session, invite } } });
      notify("The invitation is withdrawn.");
    } catch (error) {
      notifyError(error);
    }
    await queries.invalidateQueries({ queryKey: invitesKey(session) });
  };
  return (
    <section aria-labelledby="invitations" className="flex flex-col gap-2">
      <h2 id="invitations" className="font-semibold">
        Invitations that nobody has accepted yet
      </h2>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {found.data.map((i) => (
          <li key={i.id} className="flex items-center gap-4 px-4 py-3">
            <Mail aria-hidden className="size-5 shrink-0 text-soft" />
            <div className="min-w-0 flex-1">
              <p className="truncate font-medium">{i.name === "" ? "Without a name" : i.name}</p>
              <p className="text-sm break-words text-soft">
                {i.sessionRole}
                {i.spaces.length > 0 && `, joins ${i.spaces.map(nameOf).join(", ")}`}, expires <Moment at={i.expiresAt} />
              </p>
            </div>
            {may("invite") && (
              <IconButton label={`Withdraw the invitation ${i.name === "" ? "of " + i.id : "for " + i.name}`} onClick={() => void withdraw(i.id)}>
                <X aria-hidden className="size-4" />
              </IconButton>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
