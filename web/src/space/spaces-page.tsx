// The page of all spaces. On a phone it is the list itself; elsewhere the list is
// in the navigation, so the page goes on to the space that was open last.
import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { useConsole } from "@/app/console";
import { Button } from "@/ui/button";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { firstSpace, lastSpace } from "./first-space";
import { NewSpaceDialog } from "./new-space-dialog";
import { SpaceGroups } from "./space-list";
import { useGroups } from "./use-rows";
import { useWide } from "./wide";


export function SpacesPage() {
  const { session, actor, may } = useConsole();
  const groups = useGroups();
  const wide = useWide();
  const [making, setMaking] = useState(false);
  const wanted = firstSpace(groups, lastSpace(session, actor));
  if (wide && wanted !== undefined) return <Navigate to="/s/$session/spaces/$space" params={{ session, space: wanted.space.id }} replace />;
  const make = may("create_space") && (
    <Button tone="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>
      New space
    </Button>
  );
  return (
    <Page title="Spaces" actions={make}>
      {wanted === undefined ? (
        <NoSpaces key={actor} onNew={may("create_space") ? () => setMaking(true) : undefined} />
      ) : (
        <div className="p-2">
          <SpaceGroups groups={groups} large />
        </div>
      )}
      {making && <NewSpaceDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}

// The stream has delivered no space: ask the server once whether that is correct.
function NoSpaces({ onNew }: { onNew: (() => void) | undefined }) {
  const { session, actor } = useConsole();
  const asked = useQuery({
    queryKey: [session, actor, "spaces", "any"],
    queryFn: () => api.GET("/v1/sessions/{session}/spaces", { params: { path: { session }, query: { limit: 1 } } }),
  });
  if (asked.isError) return <Failed error={asked.error} retry={() => void asked.refetch()} />;
  if (asked.isPending || asked.data.items.length > 0) return <Loading />;
  return (
    <Empty title="No spaces yet" action={onNew && <Button onClick={onNew}>New space</Button>} command={onNew && `shoal spaces create Planning --session ${session}`}>
      People and agents talk in spaces. You have no access to a space in this session yet.
    </Empty>
  );
}
