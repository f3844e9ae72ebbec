// The forms that few answers need, which load when the first of them is drawn.
import { onDemand } from "@/ui/on-demand";

const loading = <p className="text-sm text-soft">Loading the form…</p>;

export const FormAnswer = onDemand(() => import("./form-answer").then((m) => m.FormAnswer), { loading });
export const EditArgs = onDemand(() => import("./edit-args").then((m) => m.EditArgs), { loading });
export const AskBack = onDemand(() => import("./ask-back").then((m) => m.AskBack), { loading });
