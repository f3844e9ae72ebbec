// The dialog that creates a space, which loads when somebody opens it.
import { dialogOnDemand } from "@/ui/on-demand";

export const NewSpaceDialog = dialogOnDemand(() => import("./new-space").then((m) => m.NewSpace));
