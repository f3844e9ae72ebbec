// A trial runs a draft with the real runtime: a hosted agent of its own in a space
// of its own, both marked, so that leftovers can be found and cleaned up.
import { api } from "@/api/client";
import { type Entity, entityHeader, ShoalError, type Space } from "@shoal-dev/client";
import { isOfTrial, trialMark } from "@/app/trials";
import { headersOf, lastHalf } from "@/api/sign-in";
import { getIn, type JsonObject, setIn } from "../config/json";
import { putAgent } from "../queries";

/** A trial that is going on. */
export interface Trial {
  readonly agent: string;
  readonly space: string;
  /** The draft that it runs. */
  readonly config: JsonObject;
}

const asAdmin = { [entityHeader]: "" };

/**
 * The draft as the trial runs it: under its own id, and, as a script names its
 * spaces itself, with the trial's space in their place.
 */
export function trialConfig(draft: JsonObject, agent: string, space: string): JsonObject {
  const named = setIn(draft, ["agent", "id"], agent) as JsonObject;
  const path = ["model", "providerOptions", "script"] as const;
  const script = getIn(named, path);
  if (getIn(named, ["model", "provider"]) !== "script" || typeof script !== "string") return named;
  return setIn(named, path, script.replace(/("(?:spaceId|targetSpaceId)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, `$1${JSON.stringify(space)}`)) as JsonObject;
}

function freshId(): string {
  return `try-${[...crypto.getRandomValues(new Uint8Array(4))].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}

/** Starts a trial of a draft; the acting participant is a member of its space. Cleans up after a failure. */
export async function beginTrial(session: string, of: string, draft: JsonObject): Promise<Trial> {
  const id = freshId(); // ids of entities and of spaces are names of different things
  await putAgent(session, id, trialConfig(draft, id, id));
  try {
    const metadata = { [trialMark]: true, [`${trialMark}.of`]: of };
    await api.PATCH("/v1/sessions/{session}/entities/{entity}", { params: { path: { session, entity: id } }, body: { metadata }, headers: asAdmin });
    await api.POST("/v1/sessions/{session}/spaces", { params: { path: { session } }, body: { id, name: `Try ${of}`, members: [id], adminAgentId: id, metadata } });
  } catch (error) {
    await removeEntity(session, id);
    throw error;
  }
  return { agent: id, space: id, config: draft };
}

/** Runs that begin from now on use the newer draft. */
export async function renewTrial(session: string, trial: Trial, draft: JsonObject): Promise<Trial> {
  await putAgent(session, trial.agent, trialConfig(draft, trial.agent, trial.space));
  return { ...trial, config: draft };
}

/** Ends a trial: cancels its runs, and deletes its agent and its space. Anything already gone is ignored. */
export async function endTrial(session: string, trial: Pick<Trial, "agent" | "space">): Promise<void> {
  await removeEntity(session, trial.agent);
  await removeSpace(session, trial.space);
}

/** As endTrial, for a page that is being closed: the calls outlive it, and nobody hears of them. */
export function abandonTrial(session: string, trial: Trial): void {
  const path = `/v1/sessions/${encodeURIComponent(session)}`;
  const common = { keepalive: true, credentials: "same-origin", headers: headersOf(lastHalf()) } as const;
  void fetch(`${path}/entities/${encodeURIComponent(trial.agent)}`, { ...common, method: "DELETE" });
  void fetch(`${path}/spaces/${encodeURIComponent(trial.space)}`, { ...common, method: "DELETE" });
}

async function removeEntity(session: string, entity: string): Promise<void> {
  await unlessGone(api.DELETE("/v1/sessions/{session}/entities/{entity}", { params: { path: { session, entity } }, headers: asAdmin }));
}

async function removeSpace(session: string, space: string): Promise<void> {
  await unlessGone(api.DELETE("/v1/sessions/{session}/spaces/{space}", { params: { path: { session, space } }, headers: asAdmin }));
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (ShoalError.from(error).code !== "not_found") throw error;
  }
}

/** The agents and spaces of trials that were not cleaned up. */
export interface Leftovers {
  readonly agents: readonly string[];
  readonly spaces: readonly string[];
}

/** The entities and spaces of trials, but for one that goes on here. */
export function leftovers(entities: readonly Entity[], spaces: readonly Space[], except?: string): Leftovers {
  return {
    agents: entities.filter((e) => isOfTrial(e) && e.id !== except).map((e) => e.id),
    spaces: spaces.filter((s) => isOfTrial(s) && s.id !== except).map((s) => s.id),
  };
}

/** Cleans up the agents and spaces of earlier trials. */
export async function sweep(session: string, left: Leftovers): Promise<void> {
  for (const agent of left.agents) await removeEntity(session, agent);
  for (const space of left.spaces) await removeSpace(session, space);
}
