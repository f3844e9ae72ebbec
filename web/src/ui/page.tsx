// The frame of a page beside the navigation: heading, actions, content.
import type { ReactNode } from "react";

interface Props {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** Back, on the page of one thing. */
  back?: ReactNode;
  children: ReactNode;
}

export function Page({ title, about, actions, back, children }: Props) {
  return (
    <main id="main" tabIndex={-1} className="flex h-full min-w-0 flex-1 flex-col overflow-hidden focus-visible:-outline-offset-2">
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line bg-surface px-5 py-3">
        <div className="flex min-w-0 items-center gap-1">
          {back}
          <div className="min-w-0">
            <h1 className="truncate text-xl font-semibold">{title}</h1>
            {about !== undefined && <p className="text-sm text-soft">{about}</p>}
          </div>
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
    </main>
  );
}
