// The way back from one thing to the list of all.
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useConsole } from "./console";

/** The arrow at the head of a page, which only phones show. */
export function Back({ to, label }: { to: "/s/$session/agents" | "/s/$session/runs" | "/s/$session/sessions" | "/s/$session/spaces"; label: string }) {
  const { session } = useConsole();
  return (
    <Link to={to} params={{ session }} aria-label={label} className="-ml-2 inline-flex size-11 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken md:hidden">
      <ArrowLeft aria-hidden className="size-5" />
    </Link>
  );
}
