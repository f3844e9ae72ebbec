// The table of all pages. Each page is a chunk of its own, loaded on demand.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link, Navigate, Outlet, redirect } from "@tanstack/react-router";
import type { Caller } from "@shoal-dev/client";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { Identity } from "./identity";
import { inBrowser } from "./storage";
import { SessionFrame } from "./session";

// A word in the address that looks like a number arrives as one.
const text = (v: unknown): string | undefined => (typeof v === "string" && v !== "" ? v : typeof v === "number" ? String(v) : undefined);

const oneOf = <T,>(v: unknown, ...allowed: T[]): T | undefined => allowed.find((a) => a === v);

function NoSuchPage() {
  return (
    <Page title="Shoal">
      <Empty
        title="Page not found"
        action={
          <Link to="/" className="text-accent underline">
            Go to the spaces
          </Link>
        }
      />
    </Page>
  );
}

const root = createRootRoute({
  component: () => <Outlet />,
  notFoundComponent: NoSuchPage,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/s/$session", params: { session: inBrowser.getItem("shoal.session") ?? "default" } });
  },
});

const session = createRoute({
  getParentRoute: () => root,
  path: "/s/$session",
  component: () => <Identity>{(me) => <Opened me={me} />}</Identity>,
});

// A key of one session opens that session, whatever the address names.
function Opened({ me }: { me: Caller }) {
  const { session: asked } = session.useParams();
  if (me.sessionId === null || me.sessionId === asked) return <SessionFrame me={me} />;
  return <Navigate to="/s/$session" params={{ session: me.sessionId }} replace />;
}

const at = <P extends string>(path: P) => ({ getParentRoute: () => session, path }) as const;

const routes = [
  createRoute({ ...at("/"), component: lazyRouteComponent(() => import("@/space/landing"), "Landing") }),
  createRoute({ ...at("/spaces"), component: lazyRouteComponent(() => import("@/space/spaces-page"), "SpacesPage") }),
  createRoute({
    ...at("/spaces/$space"),
    component: lazyRouteComponent(() => import("@/space/space-page"), "SpacePage"),
    validateSearch: (s: Record<string, unknown>): { seq?: number } => ({ seq: typeof s.seq === "number" ? s.seq : undefined }),
  }),
  createRoute({
    ...at("/approvals"),
    component: lazyRouteComponent(() => import("@/approvals/approvals-page"), "ApprovalsPage"),
    validateSearch: (s: Record<string, unknown>): { show?: "anyone" | "done" | "remembered"; pending?: string } => ({
      show: oneOf(s.show, "anyone", "done", "remembered"),
      pending: text(s.pending),
    }),
  }),
  createRoute({
    ...at("/runs"),
    component: lazyRouteComponent(() => import("@/runs/runs-page"), "RunsPage"),
    validateSearch: (s: Record<string, unknown>): { agent?: string; status?: string; space?: string; trigger?: string; within?: "hour" | "day" | "week"; failed?: boolean } => ({
      agent: text(s.agent),
      status: text(s.status),
      space: text(s.space),
      trigger: text(s.trigger),
      within: oneOf(s.within, "hour", "day", "week"),
      failed: oneOf(s.failed, true),
    }),
  }),
  createRoute({
    ...at("/runs/$run"),
    component: lazyRouteComponent(() => import("@/runs/run-page"), "RunPage"),
    validateSearch: (s: Record<string, unknown>): { tab?: string; step?: number; kind?: "model" | "tool" | "wait"; failed?: boolean; span?: string } => ({
      tab: text(s.tab),
      step: typeof s.step === "number" ? s.step : undefined,
      kind: oneOf(s.kind, "model", "tool", "wait"),
      failed: oneOf(s.failed, true),
      span: text(s.span),
    }),
  }),
  createRoute({ ...at("/agents"), component: lazyRouteComponent(() => import("@/agents/agents-page"), "AgentsPage") }),
  createRoute({
    ...at("/agents/$agent"),
    component: lazyRouteComponent(() => import("@/agents/agent-page"), "AgentPage"),
    validateSearch: (s: Record<string, unknown>): { tab?: string } => ({ tab: text(s.tab) }),
  }),
  createRoute({ ...at("/runners"), component: lazyRouteComponent(() => import("@/runners/runners-page"), "RunnersPage") }),
  createRoute({ ...at("/plans"), component: lazyRouteComponent(() => import("@/plans/plans-page"), "PlansPage") }),
  createRoute({
    ...at("/sessions"),
    component: lazyRouteComponent(() => import("@/sessions/sessions-page"), "SessionsPage"),
    validateSearch: (s: Record<string, unknown>): { id?: string } => ({ id: text(s.id) }),
  }),
  createRoute({
    ...at("/connect"),
    component: lazyRouteComponent(() => import("@/connect/connect-page"), "ConnectPage"),
    validateSearch: (s: Record<string, unknown>): { client?: string; entity?: string } => ({ client: text(s.client), entity: text(s.entity) }),
  }),
  createRoute({
    ...at("/search"),
    component: lazyRouteComponent(() => import("@/search/search-page"), "SearchPage"),
    validateSearch: (s: Record<string, unknown>): { q?: string; sort?: "relevance" } => ({ q: text(s.q), sort: oneOf(s.sort, "relevance") }),
  }),
  createRoute({
    ...at("/settings"),
    component: lazyRouteComponent(() => import("@/settings/settings-page"), "SettingsPage"),
    validateSearch: (s: Record<string, unknown>): { tab?: string; by?: string; days?: number } => ({
      tab: text(s.tab),
      by: text(s.by),
      days: typeof s.days === "number" ? s.days : undefined,
    }),
  }),
] as const;

/** The page of an invitation, for people who are not signed in. */
const join = createRoute({ getParentRoute: () => root, path: "/join", component: lazyRouteComponent(() => import("@/invite/join-page"), "JoinPage") });

/** Every state of every renderer on one page. It needs no server. */
const gallery = createRoute({ getParentRoute: () => root, path: "/gallery", component: lazyRouteComponent(() => import("@/parts/gallery"), "Gallery") });

export const router = createRouter({
  routeTree: root.addChildren([home, join, gallery, session.addChildren(routes)]),
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  defaultPendingMs: 150,
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
