// What wakes an agent or hinders it, and what came of the last test of that.
import type { Entity } from "@shoal-dev/client";
import { useEntity } from "@/live/hooks";
import { duration, Moment } from "@/ui/time";

type Wake = NonNullable<Entity["wake"]>;

/** WakeNote of an agent of this session. */
export function WakeNoteOf({ agent }: { agent: string }) {
  return <WakeNote wake={useEntity(agent)?.wake ?? null} />;
}

/** What a program does to wake an agent, or what hinders it, and the last test. The rest is in the agent's state. */
export function WakeNote({ wake }: { wake: Entity["wake"] }) {
  if (wake === null) return null;
  const text = noteOf(wake);
  return (
    <>
      {text !== "" && <span className="text-sm break-words">{text}</span>}
      {wake.proof !== null && <Proof proof={wake.proof} />}
    </>
  );
}

function noteOf(wake: Wake): string {
  const byProgram = wake.since !== null || (wake.via === "program" && wake.state !== "wakeable");
  return byProgram ? wake.text : wake.reason;
}

function Proof({ proof }: { proof: NonNullable<Wake["proof"]> }) {
  return (
    <span className="text-sm break-words" title={proof.steps.map((s) => `${s.step} after ${duration(s.ms)}`).join(", ")}>
      {proof.answered ? <>answered a wake test after {duration(proof.ms)}, </> : <span className="text-warn">did not answer a wake test, </span>}
      <Moment at={proof.at} />
    </span>
  );
}
