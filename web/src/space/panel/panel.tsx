// Beside a space: who is in it, what runs, which files were shown.
import { useState } from "react";
import type { LiveSpace } from "@shoal-dev/client";
import { onDemand } from "@/ui/on-demand";
import { Loading } from "@/ui/placeholder";
import { Tabs } from "@/ui/tabs";
import type { RunsHere } from "../runs-here";
import type { SpaceDialog } from "../space-dialogs";
import { MembersTab } from "./members";

// What nobody has asked for does not come before the first message.
const RunsTab = onDemand(() => import("./runs").then((m) => m.RunsTab), { loading: <Loading /> });
const FilesTab = onDemand(() => import("./files").then((m) => m.FilesTab), { loading: <Loading /> });

type Chosen = "members" | "runs" | "files";

/** `tall`: it is beside the head of the space, not in a dialog. */
export function SpacePanel({ live, runs, ask, tall = false }: { live: LiveSpace; runs: RunsHere; ask: (dialog: SpaceDialog) => void; tall?: boolean }) {
  const [chosen, choose] = useState<Chosen>("members");
  const tabs = [
    { id: "members", name: "Members", count: live.space.memberCount },
    { id: "runs", name: "Runs", count: runs.underWay.length, counted: "under way" },
    { id: "files", name: "Files" },
  ] as const;
  return (
    <div className="flex h-full flex-col">
      <Tabs label="About this space" tabs={tabs} value={chosen} onChange={choose} tall={tall}>
        {chosen === "members" && <MembersTab space={live.space} runs={runs} ask={ask} />}
        {chosen === "runs" && <RunsTab runs={runs} />}
        {chosen === "files" && <FilesTab live={live} />}
      </Tabs>
    </div>
  );
}
