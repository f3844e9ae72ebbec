// The server: version, health, and references.
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX, ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "@/api/client";
import { ShoalError } from "@shoal-dev/client";
import { Failed, Loading } from "@/ui/placeholder";
import { duration } from "@/ui/time";

interface Asked {
  readonly version: string;
  /** The response time in ms. */
  readonly took: number;
  /** Why it is not ready; undefined if it is. */
  readonly unready: string | undefined;
}

async function ask(): Promise<Asked> {
  const began = performance.now();
  const health = await api.GET("/healthz");
  const took = performance.now() - began;
  try {
    await api.GET("/readyz");
    return { version: health.version, took, unready: undefined };
  } catch (error) {
    return { version: health.version, took, unready: ShoalError.from(error).message };
  }
}

/** The state of the server, requested every ten seconds. */
export function Server() {
  const server = useQuery({ queryKey: ["server"], queryFn: ask, refetchInterval: 10_000 });
  if (server.isPending) return <Loading />;
  if (server.isError) return <Failed error={server.error} retry={() => void server.refetch()} />;
  const { version, took, unready } = server.data;
  return (
    <div className="flex max-w-xl flex-col gap-6">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        <Row name="Version">{version}</Row>
        <Row name="Address">
          <span className="font-mono break-all">{location.origin}</span>
        </Row>
        <Row name="Health">
          <Sign good>responds in {duration(took)}</Sign>
        </Row>
        <Row name="Readiness">{unready === undefined ? <Sign good>ready</Sign> : <Sign>{unready}</Sign>}</Row>
        <Row name="MCP">
          <span className="font-mono break-all">{location.origin}/mcp</span>
        </Row>
        <Row name="REST">
          <span className="font-mono break-all">{location.origin}/v1</span>
        </Row>
      </dl>
      <ul className="flex flex-col items-start gap-2">
        <Out to="/docs">REST API reference</Out>
        <Out to="/v1/openapi.json">OpenAPI document</Out>
        <Out to="/v1/agent-config.schema.json">JSON Schema of agent configurations</Out>
      </ul>
    </div>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 *:align-top">{children}</dd>
    </>
  );
}

function Sign({ good = false, children }: { good?: boolean; children: ReactNode }) {
  const Icon = good ? CircleCheck : CircleX;
  return (
    <span className={good ? "inline-flex items-center gap-1.5 text-ok" : "inline-flex items-center gap-1.5 text-bad"}>
      <Icon aria-hidden className="size-4 shrink-0" />
      {children}
    </span>
  );
}

function Out({ to, children }: { to: string; children: ReactNode }) {
  return (
    <li>
      <a href={to} target="_blank" rel="noreferrer" className="inline-flex items-center gap-1.5 text-accent underline">
        {children}
        <ExternalLink aria-hidden className="size-3.5" />
        <span className="sr-only">(a new tab)</span>
      </a>
    </li>
  );
}
