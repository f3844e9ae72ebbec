// Shown in place of the composer to readers who cannot write here, and the way
// to change that.
import { Eye, Lock } from "lucide-react";
import { api } from "@/api/client";
import { listsAll, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName } from "@/live/hooks";
import { Button } from "@/ui/button";
import { useAction } from "./use-action";

/** A closed space. The last message contains the summary. */
export function Closed() {
  return (
    <Strip icon={<Lock aria-hidden className="size-4 shrink-0" />}>
      <Sentence>This space is closed: it can be read, nothing can be added.</Sentence>
    </Strip>
  );
}

/** The notice for readers who are not members, or whose role only reads. */
export function OnlyLooking({ space }: { space: Space }) {
  const { session, actor, admin, may } = useConsole();
  return (
    <Strip icon={<Eye aria-hidden className="size-4 shrink-0" />}>
      {!may("post") ? <Sentence>Read-only: your role in this session does not allow to write.</Sentence> : actor !== null ? <Join session={session} actor={actor} space={space} /> : admin ? <ActAs space={space} /> : <Sentence>Read-only: a service key cannot write to spaces.</Sentence>}
    </Strip>
  );
}

function Join({ session, actor, space }: { session: string; actor: string; space: Space }) {
  const name = useName(actor);
  const joining = useAction();
  const join = () => joining.run(() => api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { session, space: space.id, entity: actor } } }));
  return (
    <>
      <Sentence>Read-only: {name} is not a member of this space.</Sentence>
      <Button small busy={joining.busy} onClick={() => void join()}>
        Join to write
      </Button>
      {joining.problem !== undefined && <span className="text-bad">{joining.problem.message}</span>}
    </>
  );
}

// An admin acts as nobody: one of the people here, or the operator, can write.
function ActAs({ space }: { space: Space }) {
  const { setActor } = useConsole();
  const people = space.members.filter((m) => m.kind === "human");
  return (
    <>
      <Sentence>Read-only: choose a participant to write as.</Sentence>
      {people.slice(0, 3).map((m) => (
        <Button key={m.entityId} small onClick={() => setActor(m.entityId)}>
          Write as {m.name}
        </Button>
      ))}
      {people.length === 0 && listsAll(space) && <span>This space has no people. Add someone, or choose a participant to act as in Settings.</span>}
    </>
  );
}

// The text wraps beside the icon, not below it.
function Sentence({ children }: { children: React.ReactNode }) {
  return <span className="min-w-0 flex-1 basis-40 wrap-anywhere">{children}</span>;
}

function Strip({ icon, children }: { icon: React.ReactNode; children: React.ReactNode }) {
  return (
    <div className="border-t border-line bg-surface px-5 py-3">
      <div role="note" className="flex max-w-read flex-wrap items-center gap-2 text-sm text-soft">
        {icon}
        {children}
      </div>
    </div>
  );
}

