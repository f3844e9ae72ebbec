// Pages about agents are for admins. Other readers see the reason.
import type { ReactNode } from "react";
import { Back } from "@/app/back";
import { useConsole } from "@/app/console";
import { Page } from "@/ui/page";
import { Empty } from "@/ui/placeholder";

/** The way back from the page of an agent. */
export const backToAgents = <Back to="/s/$session/agents" label="All agents" />;

/** Renders its children for admins, and for others the reason why they need an admin key. */
export function AdminsOnly({ title, why, back, children }: { title: string; why: string; back?: ReactNode; children: ReactNode }) {
  const { admin } = useConsole();
  if (admin) return children;
  return (
    <Page title={title} back={back}>
      <Empty title="Admins only">
        <p>{why} Sign in with an admin key, or ask the server's operator.</p>
      </Empty>
    </Page>
  );
}
