// The frame of a page beside the navigation: heading, actions, content.
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";

interface Props {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** A link with BackArrow in it to the list that the page belongs to. On a phone it is the way back. */
  back?: ReactNode;
  children: ReactNode;
}

/** The look of a link to the page before, which only phones show. */
export const backLink = "-ml-2 inline-flex size-11 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken md:hidden";

/** What such a link shows. */
export const BackArrow = () => <ArrowLeft aria-hidden className="size-5" />;

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
