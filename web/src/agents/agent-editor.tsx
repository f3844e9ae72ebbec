// The editor of one agent's config: one draft, shown by all tabs, saved as a version.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";
import { useEntity } from "@/live/hooks";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { Page } from "@/ui/page";
import { Activity } from "./activity";
import { backToAgents } from "./settings-only";
import { getIn, type JsonObject } from "./config/json";
import { type TabId, tabOf } from "./config/tabs";
import { DraftContext, unreadableSentence } from "./draft";
import { EditorActions, type Trying } from "./editor-actions";
import { EditorTabs, tabNamed } from "./editor-tabs";
import { LeaveGuard } from "./leave-guard";
import { PreviewDialog } from "./preview-dialog";
import type { AgentVersion } from "./queries";
import { SaveDialog } from "./save-dialog";
import { StopDialog } from "./stop-dialog";
import { TrialPanel } from "./trial/trial-panel";
import { TriggerDialog } from "./trigger-dialog";
import { type Editing, useEditing } from "./use-editing";
import { RunnerNote } from "@/runners/runner-note";
import { WakeNoteOf } from "./wake-note";

/** The dialog that is open; a version is the one to restore. */
type Opened = "save" | "preview" | "trigger" | "stop" | AgentVersion | undefined;

export function AgentEditor({ saved, schema }: { saved: AgentVersion; schema: JsonObject }) {
  const { session } = useConsole();
  const agent = saved.id;
  const go = useNavigate();
  const tab = tabNamed(useSearch({ from: "/s/$session/agents/$agent" }).tab);
  const show = (to: TabId) => void go({ to: "/s/$session/agents/$agent", params: { session, agent }, search: { tab: to }, replace: true });
  const [opened, open] = useState<Opened>();
  const [trying, setTrying] = useState<Trying>("no");
  const [refusals, setRefusals] = useState(0);
  const close = () => {
    open(undefined);
    editing.saving.reset();
  };
  const editing = useEditing(saved, schema, close, () => {
    open(undefined);
    setRefusals((n) => n + 1);
  });
  const { held, isChanged } = editing;
  // A refused save shows where it was refused.
  useEffect(() => {
    const first = held.draft.wrongs[0];
    if (first !== undefined && tab !== "text") show(tabOf(first.path));
    // Only once for each refusal.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [refusals]);
  const why = unreadableSentence(held.draft);
  const remote = getIn(editing.base.config, ["remote"]) !== undefined;
  useShortcut("Ctrl+S", "Save the agent's config", () => {
    if (isChanged && why === undefined) open("save");
  });
  return (
    <DraftContext value={held}>
      <Page title={useEntity(agent)?.name ?? agent} back={backToAgents} about={<About agent={agent} version={editing.base.version} isChanged={isChanged} remote={remote} />} actions={<EditorActions why={why} isChanged={isChanged} remote={remote} trying={trying} onTry={setTrying} onOpen={open} />}>
        <div className="flex h-full min-h-0">
          <div className={classes("min-h-0 min-w-0 flex-1 flex-col", trying === "shown" ? "hidden lg:flex" : "flex")}>
            <Newer editing={editing} />
            <EditorTabs agent={agent} tab={tab} onShow={show} onTrigger={() => open("trigger")} onRestore={open} />
          </div>
          {trying !== "no" && (
            <div className={classes("min-h-0 w-full flex-col border-line lg:w-[26rem] lg:border-l lg:shrink-0", trying === "shown" ? "flex" : "hidden")}>
              <TrialPanel agent={agent} onClose={() => setTrying("no")} />
            </div>
          )}
        </div>
      </Page>
      <Dialogs opened={opened} editing={editing} onClose={close} />
      <LeaveGuard isChanged={isChanged && opened !== "stop"} />
    </DraftContext>
  );
}

function About({ agent, version, isChanged, remote }: { agent: string; version: number; isChanged: boolean; remote: boolean }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <code>{agent}</code> <Activity agent={agent} /> <span>version {version}</span> <WakeNoteOf agent={agent} /> {remote && <RunnerNote agent={agent} />}
      {isChanged && <span className="font-medium text-warn">not saved</span>}
    </span>
  );
}

function Newer({ editing: { newer, take } }: { editing: Editing }) {
  if (newer === undefined) return null;
  return (
    <p role="status" className="flex flex-wrap items-center gap-3 border-b border-warn bg-warn-soft px-4 py-2 text-sm text-warn">
      <span className="flex-1 basis-56">Version {newer.version} was saved meanwhile. Saving this draft takes back what it changed.</span>
      <Button small onClick={() => take(newer)}>
        Discard draft and load version {newer.version}
      </Button>
    </p>
  );
}

function Dialogs({ opened, editing, onClose }: { opened: Opened; editing: Editing; onClose: () => void }) {
  const { held, base, saving, isChanged } = editing;
  const agent = base.id;
  // A save replaces the newest version, even if someone else saved that one.
  const current = editing.newer ?? base;
  const common = { schema: held.schema, version: current.version, before: current.config, isSaving: saving.isPending, error: saving.error, onClose };
  if (opened === undefined) return null;
  if (opened === "save") return <SaveDialog {...common} title="Save this config?" after={held.draft.config} onSave={() => saving.mutate(held.draft.config)} />;
  if (opened === "preview") return <PreviewDialog agent={agent} config={held.draft.config} onClose={onClose} />;
  if (opened === "trigger") return <TriggerDialog agent={agent} onClose={onClose} />;
  if (opened === "stop") return <StopDialog agent={agent} name={String(getIn(base.config, ["agent", "name"]) || agent)} onClose={onClose} />;
  return (
    <SaveDialog
      {...common}
      title={`Restore version ${opened.version}?`}
      note={isChanged ? "Unsaved changes are discarded." : undefined}
      after={opened.config}
      onSave={() => saving.mutate(opened.config)}
    />
  );
}
