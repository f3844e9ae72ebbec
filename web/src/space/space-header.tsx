// The head of a space: its name, who is in it and who answers, and what can be
// done with it.
import { Bell, BellOff, Brain, DoorOpen, EllipsisVertical, Lock, PanelRight, Pencil, Pin, PinOff, Trash2, UserPlus, UserRoundCheck } from "lucide-react";
import { api } from "@/api/client";
import type { Space } from "@shoal-dev/client";
import { Back } from "@/app/back";
import { useConsole } from "@/app/console";
import { useLive, useName } from "@/live/hooks";
import { Button, IconButton } from "@/ui/button";
import { Menu, type MenuItem } from "@/ui/menu";
import { notify, notifyError } from "@/ui/notice";
import { answering } from "./composer/who-acts";
import { isPinned, togglePinned, useListMemory } from "./list-memory";
import { toggleMuted } from "./mute-space";
import { useSpaceRights } from "./moderates";
import { isMember } from "./order";
import { pathOf } from "./path-of";
import type { SpaceDialog } from "./space-dialogs";
import { useEntityById } from "./use-entity-by-id";

interface Props {
  readonly space: Space;
  readonly panel: boolean;
  readonly togglePanel: () => void;
  readonly ask: (dialog: SpaceDialog) => void;
}

/** The way back from the page of a space. */
export const back = <Back to="/s/$session/spaces" label="All spaces" />;

export function SpaceHeader({ space, panel, togglePanel, ask }: Props) {
  const { changes } = useSpaceRights(space);
  return (
    <header className="flex items-center gap-2 h-16 shrink-0 border-b border-line bg-surface pr-2 pl-4 md:pl-5">
      {back}
      <div className="min-w-0 flex-1">
        <h1 className="truncate text-lg font-semibold" title={space.name}>
          {space.name}
        </h1>
        <p className="truncate text-sm text-soft">
          <Subtitle space={space} />
        </p>
      </div>
      {space.status === "open" && changes && (
        <Button small className="max-md:hidden" icon={<UserPlus aria-hidden className="size-4" />} onClick={() => ask("add")}>
          Add members
        </Button>
      )}
      <IconButton label={panel ? "Hide panel" : "Show panel: members, runs, files"} aria-pressed={panel} onClick={togglePanel}>
        <PanelRight aria-hidden className="size-4" />
      </IconButton>
      <SpaceMenu space={space} ask={ask} />
    </header>
  );
}

function Subtitle({ space }: { space: Space }) {
  const agent = answering(space, useEntityById());
  const members = `${space.memberCount} ${space.memberCount === 1 ? "member" : "members"}`;
  if (space.status === "closed") return `${members} · closed`;
  return agent === undefined ? members : <Answers members={members} agent={agent} />;
}

function Answers({ members, agent }: { members: string; agent: string }) {
  return `${members} · ${useName(agent)} answers`;
}

function SpaceMenu({ space, ask }: Pick<Props, "space" | "ask">) {
  const { actor, may } = useConsole();
  const { changes } = useSpaceRights(space);
  const store = useLive();
  const icon = "size-4";
  const pinned = isPinned(useListMemory(), space.sessionId, space.id);
  const toggleReasoning = () =>
    void api
      .PATCH("/v1/sessions/{session}/spaces/{space}", { params: pathOf(space), body: { showAgentReasoning: !space.showAgentReasoning } })
      .then(() => notify(space.showAgentReasoning ? "Agent reasoning is hidden." : "Agent reasoning is shown."))
      .catch(notifyError);
  const member = isMember(space, actor);
  const items: MenuItem[] = [
    ...(space.status === "open" && changes
      ? [
          { label: "Add members", icon: <UserPlus className={icon} />, run: () => ask("add") },
          { label: "Rename", icon: <Pencil className={icon} />, run: () => ask("rename") },
          { label: "Admin agent", icon: <UserRoundCheck className={icon} />, run: () => ask("admin") },
          { label: "Show agents' reasoning", icon: <Brain className={icon} />, run: toggleReasoning, checked: space.showAgentReasoning },
        ]
      : []),
    ...(member ? [{ label: space.muted ? "Unmute" : "Mute", icon: space.muted ? <Bell className={icon} /> : <BellOff className={icon} />, run: () => void toggleMuted(store, space) }] : []),
    { label: pinned ? "Unpin" : "Pin", icon: pinned ? <PinOff className={icon} /> : <Pin className={icon} />, run: () => togglePinned(space.sessionId, space.id) },
    ...(member && space.status === "open" && may("leave_space") ? [{ label: "Leave", icon: <DoorOpen className={icon} />, run: () => ask("leave") }] : []),
    ...(space.status === "open" && changes ? [{ label: "Close with a summary", icon: <Lock className={icon} />, run: () => ask("close"), danger: true }] : []),
    ...(may("manage") ? [{ label: "Delete", icon: <Trash2 className={icon} />, run: () => ask("delete"), danger: true }] : []),
  ];
  return <Menu label="More about this space" icon={<EllipsisVertical aria-hidden className={icon} />} items={items} />;
}
