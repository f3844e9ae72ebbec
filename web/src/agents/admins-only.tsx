// Pages about agents are for admins. Other readers see the reason.
import type { ReactNode } from "react";
import { useConsole } from "@/app/console";
import { Page } from "@/ui/page";
import { Empty } from "@/ui/placeholder";

/** Renders its children for admins, and for others the reason why they need an admin key. */
export function AdminsOnly({ title, why, children }: { title: string; why: string; children: ReactNode }) {
  const { admin } = useConsole();
  if (admin) return children;
  return (
    <Page title={title}>
      <Empty title="Admins only">
        <p>{why} Sign in with an admin key, or ask the server's operator.</p>
      </Empty>
    </Page>
  );
}
