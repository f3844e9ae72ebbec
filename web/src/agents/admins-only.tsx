// Pages about agents are for admins: others are told why.
import type { ReactNode } from "react";
import { useConsole } from "@/app/console";
import { Page } from "@/ui/page";
import { Empty } from "@/ui/shown";

/** Draws the page for admins, and for others why there is none. */
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
