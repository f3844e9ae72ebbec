// Mutes a space for the acting participant, or unmutes it.
import { api } from "@/api/client";
import type { Space } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";
import { notify, notifyError } from "@/ui/notice";
import { pathOf } from "./path-of";

/** Changes the setting and says what it means. */
export async function toggleMuted(store: Store, space: Space): Promise<void> {
  const path = "/v1/sessions/{session}/spaces/{space}/mute";
  const params = pathOf(space);
  try {
    const now = await (space.muted ? api.DELETE(path, { params }) : api.PUT(path, { params }));
    store.share([{ type: "local.read", space: now }]);
    notify(now.muted ? "Space muted. Only messages that mention you count as unread." : "Space unmuted. All new messages count as unread.");
  } catch (error) {
    notifyError(error);
  }
}
