// The link from a message to the page of its run.
import { Link } from "@tanstack/react-router";
import { useConsole } from "@/app/console";

/** Links to the page of a run of the current session. */
export function RunLink({ run }: { run: string }) {
  const { session } = useConsole();
  return (
    <Link to="/s/$session/runs/$run" params={{ session, run }} className="inline-flex min-h-6 items-center text-sm touch:-my-2.5 touch:min-h-11 touch:min-w-6 text-soft underline decoration-line underline-offset-2 hover:text-accent">
      Open run
    </Link>
  );
}
