// How a tab of the agent page is laid out.
import type { ReactNode } from "react";

/** A tab's content at a width that can be read. */
export function Sheet({ children }: { children: ReactNode }) {
  return <div className="flex w-full max-w-read flex-col gap-6 p-5">{children}</div>;
}

/** Fields that belong together. */
export function Section({ title, about, actions, children }: { title: string; about?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-2">
        <div>
          <h2 className="text-lg font-semibold">{title}</h2>
          {about !== undefined && <p className="text-sm text-soft">{about}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Short fields side by side where there is room. */
export function Row({ children }: { children: ReactNode }) {
  return <div className="grid gap-4 sm:grid-cols-2">{children}</div>;
}

/** How a secret is referred to. */
export function EnvHint() {
  return (
    <p className="rounded-md bg-info-soft px-3 py-2 text-sm text-info">
      Never write a key here. <code>{"${env.NAME}"}</code> inserts it from the server's environment, in request tools and in headers of MCP servers. The operator allows each name:{" "}
      <code>shoal serve --allow-env NAME</code>.
    </p>
  );
}
