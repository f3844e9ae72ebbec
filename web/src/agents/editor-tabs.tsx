// The tabs of the agent page: forms and text over one draft.
import { useConsole } from "@/app/console";
import { Button } from "@/ui/button";
import { type Tab, Tabs } from "@/ui/tabs";
import { countByTab, type TabId } from "./config/tabs";
import { unreadable, useDraftContext } from "./draft";
import type { AgentVersion } from "./queries";
import { InstructionsTab } from "./tabs/instructions";
import { LimitsTab } from "./tabs/limits";
import { MemoryTab } from "./tabs/memory";
import { ModelTab } from "./tabs/model";
import { TextTab } from "./tabs/text";
import { ToolsTab } from "./tabs/tools";
import { TriggersTab } from "./tabs/triggers";
import { VersionsTab } from "./tabs/versions";

const names: readonly (readonly [TabId, string])[] = [
  ["instructions", "Instructions"],
  ["model", "Model"],
  ["tools", "Tools"],
  ["triggers", "Triggers"],
  ["limits", "Limits"],
  ["memory", "Memory"],
  ["text", "YAML / JSON"],
  ["versions", "Versions"],
];

/** The tab that an address names; the first one where it names none. */
export function tabNamed(name: string | undefined): TabId {
  return names.find(([id]) => id === name)?.[0] ?? "instructions";
}

interface Props {
  agent: string;
  tab: TabId;
  onShow: (tab: TabId) => void;
  onTrigger: () => void;
  onRestore: (version: AgentVersion) => void;
}

export function EditorTabs({ agent, tab, onShow, onTrigger, onRestore }: Props) {
  const { draft } = useDraftContext();
  const readOnly = !useConsole().may("manage");
  const half = unreadable(draft);
  const counts = countByTab(half === undefined ? draft.wrongs : [...draft.wrongs, half]);
  const tabs = names.map(([id, name]): Tab<TabId> => ({ id, name, count: counts[id], counted: "errors", tone: "bad" }));
  return (
    <Tabs label="Config" tabs={tabs} value={tab} onChange={onShow}>
      {draft.problem !== undefined && tab !== "text" && tab !== "versions" && tab !== "memory" && (
        <p role="status" className="flex flex-wrap items-center gap-3 border-b border-warn bg-warn-soft px-4 py-2 text-sm text-warn">
          <span className="flex-1 basis-56">The text on the tab YAML / JSON cannot be read, so the forms wait. They show the last text that could be read.</span>
          <Button small onClick={() => onShow("text")}>
            Show text
          </Button>
        </p>
      )}
      <fieldset disabled={readOnly} className="contents">
        {tab === "instructions" && <InstructionsTab />}
        {tab === "model" && <ModelTab />}
        {tab === "tools" && <ToolsTab />}
        {tab === "triggers" && <TriggersTab agent={agent} onTrigger={onTrigger} />}
        {tab === "limits" && <LimitsTab />}
        {tab === "memory" && <MemoryTab agent={agent} />}
        {tab === "text" && <TextTab />}
      </fieldset>
      {tab === "versions" && <VersionsTab agent={agent} onRestore={onRestore} />}
    </Tabs>
  );
}
