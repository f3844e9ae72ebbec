// What the pages of agents read and change by calls. Agents' configs are for
// admins, who see all of the session here, not only what the acting entity sees.
import { queryOptions } from "@tanstack/react-query";
import { api } from "@/api/client";
import { allPages, type components, type Entity, entityHeader, type HostedAgent, type Plan, ShoalError, type Run, type Space, type UsageRow } from "@shoal-dev/client";
import { isObject, type JsonObject, readJson, writeJson } from "./config/json";

/** Says that a call is the admin's own and not the acting entity's. */
const asAdmin = { [entityHeader]: "" };

/** A version of a hosted agent with its config as it is kept: no digit of a number is lost. */
export interface AgentVersion {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly config: JsonObject;
}

function versionOf(text: string): AgentVersion {
  const read = readJson(text) as unknown as AgentVersion;
  return { id: read.id, version: read.version, createdAt: read.createdAt, config: isObject(read.config) ? read.config : {} };
}

/** The query key of all that is about the agents of a session. */
export const agentsKey = (session: string) => ["agents", session] as const;

export const agentsQuery = (session: string) =>
  queryOptions({
    queryKey: [...agentsKey(session), "list"],
    queryFn: () => allPages<HostedAgent>((cursor) => api.GET("/v1/sessions/{session}/agents", { params: { path: { session }, query: { limit: 200, cursor } } })),
  });

export const agentQuery = (session: string, agent: string) =>
  queryOptions({
    queryKey: [...agentsKey(session), "agent", agent],
    queryFn: async () => versionOf(await api.GET.text("/v1/sessions/{session}/agents/{agent}", { params: { path: { session, agent } } })),
    staleTime: 0,
  });

export const versionsQuery = (session: string, agent: string) =>
  queryOptions({
    queryKey: [...agentsKey(session), "versions", agent],
    queryFn: () =>
      allPages<AgentVersion>(async (cursor) => {
        const text = await api.GET.text("/v1/sessions/{session}/agents/{agent}/versions", { params: { path: { session, agent }, query: { limit: 50, cursor } } });
        const page = readJson(text) as unknown as { items: AgentVersion[]; nextCursor: string | null };
        return page;
      }, 500),
    staleTime: 0,
  });

/** The server's JSON Schema of agent configs. */
export const schemaQuery = queryOptions({
  queryKey: ["agent-config-schema"],
  queryFn: async () => readJson(await api.GET.text("/v1/agent-config.schema.json")) as JsonObject,
  staleTime: Infinity,
});

/** All spaces of the session, those of the acting entity and all others. */
export const allSpacesQuery = (session: string) =>
  queryOptions({
    queryKey: [...agentsKey(session), "spaces"],
    queryFn: () => allPages<Space>((cursor) => api.GET("/v1/sessions/{session}/spaces", { params: { path: { session }, query: { limit: 200, cursor } }, headers: asAdmin })),
    refetchInterval: 10_000,
  });

/** All entities of the session. They are fetched, because no event reports that one was deleted. */
export const entitiesQuery = (session: string) =>
  queryOptions({
    queryKey: [...agentsKey(session), "entities"],
    queryFn: () => allPages<Entity>((cursor) => api.GET("/v1/sessions/{session}/entities", { params: { path: { session }, query: { limit: 200, cursor } }, headers: asAdmin })),
    refetchInterval: 10_000,
  });

/** The runs under way in the whole session. */
export const runsUnderWayQuery = (session: string) =>
  queryOptions({
    queryKey: [...agentsKey(session), "runs"],
    queryFn: () =>
      allPages<Run>((cursor) => api.GET("/v1/sessions/{session}/runs", { params: { path: { session }, query: { status: "queued,running,waiting_tool,waiting_reply", limit: 200, cursor } }, headers: asAdmin })),
    refetchInterval: 5000,
  });

/** What each agent has used since midnight, UTC. */
export const usageTodayQuery = (session: string) =>
  queryOptions({
    queryKey: [...agentsKey(session), "usage"],
    queryFn: async (): Promise<readonly UsageRow[]> => {
      const from = `${new Date().toISOString().slice(0, 10)}T00:00:00Z`;
      return (await api.GET("/v1/sessions/{session}/usage", { params: { path: { session }, query: { by: "agent", from } } })).items;
    },
    refetchInterval: 30_000,
  });

/** A list of something's things; empty where that is not there any more. */
export async function noneIfGone<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list;
  } catch (error) {
    if (ShoalError.from(error).status === 404) return [];
    throw error;
  }
}

/** The plans of one agent; none of one that is gone since its name was listed. */
export const plansQuery = (session: string, agent: string) =>
  queryOptions({
    queryKey: ["plans", session, agent],
    queryFn: () => noneIfGone(allPages<Plan>((cursor) => api.GET("/v1/sessions/{session}/agents/{agent}/plans", { params: { path: { session, agent }, query: { limit: 200, cursor } } }))),
    refetchInterval: ({ state }) => untilPlan(state.data ?? [], Date.now()),
  });

const planPatience = 15_000;

/** How long to wait (ms) before plans are read again: until shortly after the next one's time, at most 15 s. */
export function untilPlan(plans: readonly Plan[], now: number): number {
  const due = plans.filter((p) => p.status === "pending" && p.nextRunAt !== null).map((p) => Date.parse(p.nextRunAt ?? "") - now);
  // One that is due is given a moment; clocks that differ by more are left alone.
  return Math.min(planPatience, ...due.filter((ms) => ms > -planPatience).map((ms) => Math.max(ms, 0) + 1000));
}

/** Hosts an agent with a config, or changes how; the answer is the version that holds now. */
export async function putAgent(session: string, agent: string, config: JsonObject): Promise<AgentVersion> {
  return versionOf(await api.PUT.text("/v1/sessions/{session}/agents/{agent}", { params: { path: { session, agent } }, jsonText: writeJson(config), headers: asAdmin }));
}

/** Ends the hosting of an agent: its runs are canceled. */
export async function stopHosting(session: string, agent: string): Promise<void> {
  await api.DELETE("/v1/sessions/{session}/agents/{agent}", { params: { path: { session, agent } } });
}

/** What a model would be sent at the beginning of a run. */
export type Preview = components["schemas"]["AgentPreview"];

/** Shows what the model would see with a config; nothing is stored and no model is asked. */
export function preview(session: string, agent: string, config: JsonObject, space: string | undefined): Promise<Preview> {
  return api.POST("/v1/sessions/{session}/agents/{agent}/preview", { params: { path: { session, agent }, query: { space } }, jsonText: writeJson(config) });
}
