// Pages about agents are for those who may read the settings of the session. Other readers see the reason.
import type { ReactNode } from "react";
import { Back } from "@/app/back";
import { useConsole } from "@/app/console";
import { Page } from "@/ui/page";
import { Empty } from "@/ui/placeholder";

/** The way back from the page of an agent. */
export const backToAgents = <Back to="/s/$session/agents" label="All agents" />;

/** Renders its children for those who may read the settings, and for others the reason why they may not. */
export function SettingsOnly({ title, why, back, children }: { title: string; why: string; back?: ReactNode; children: ReactNode }) {
  const { may } = useConsole();
  if (may("read_settings")) return children;
  return (
    <Page title={title} back={back}>
      <Empty title="Not open to your role">
        <p>{why} Ask an owner of the session, or sign in with an admin key.</p>
      </Empty>
    </Page>
  );
}
