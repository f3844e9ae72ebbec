// Package @shoal-dev/react: everything that programs may import.
export { type Composer, useComposer } from "./composer.js";
export { type Timeline, useMessageIds, useMessages } from "./messages.js";
export { browserStorage } from "./outbox-storage.js";
export { type PendingActions, useAnswer, usePendingActionOf, usePendingActions } from "./pending.js";
export { ShoalProvider, type ShoalProviderProps, useSession } from "./provider.js";
export { createRenderers, type Renderers, ToolCall, type ToolCallProps, type ToolProps, useRenderer } from "./renderers.js";
export { type RunView, useActiveRuns, useRun } from "./runs.js";
export { type SpaceView, usePresence, useSpace, useSpaces } from "./spaces.js";
export { useTool } from "./tools.js";
export { StoreContext, useConnection, useEntity, useMessage, useStore, useStoreValue } from "./store.js";
