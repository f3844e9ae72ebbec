// Names for the types of the API. schema.ts is generated from the OpenAPI document.
import type { components } from "./schema.js";

type Schemas = components["schemas"];

export type Caller = Schemas["Caller"];
export type Entity = Schemas["Entity"];
export type EntityPage = Schemas["EntityPage"];
export type FieldError = Schemas["FieldError"];
export type HostedAgent = Schemas["HostedAgent"];
export type Invite = Schemas["Invite"];
export type Key = Schemas["Key"];
export type Member = Schemas["Member"];
export type MessageTrigger = Schemas["ShownMessageTrigger"];
export type Message = Schemas["Message"];
export type Part = Schemas["Part"];
export type TextPart = Schemas["TextPart"];
export type FilePart = Schemas["FilePart"];
export type DataPart = Schemas["DataPart"];
/** A tool call that the caller may read. */
export type ToolPart = Schemas["ShownToolPart"];
/** A part that is private to another member: only its id and type are known. */
export type PrivatePart = Schemas["PrivatePart"];
export type PendingAction = Schemas["PendingAction"];
export type RememberedDecision = Schemas["RememberedDecision"];
export type PendingAnswer = Schemas["PendingAnswer"];
export type ModelContent = Schemas["ModelContent"];
export type ModelMessage = Schemas["ModelMessage"];
export type ModelRequest = Schemas["ModelRequest"];
export type ModelTool = Schemas["ModelTool"];
export type Order = Schemas["Order"];
export type Plan = Schemas["Plan"];
export type ProblemBody = Schemas["Problem"];
export type Receipt = Schemas["Receipt"];
export type RemoteCall = Schemas["RemoteCall"];
export type RemoteRun = Schemas["RemoteRun"];
export type Run = Schemas["Run"];
export type Session = Schemas["Session"];
export type Space = Schemas["Space"];
export type Step = Schemas["Step"];
export type StepCall = Schemas["StepCall"];
export type Usage = Schemas["Usage"];
export type UsageRow = Schemas["UsageRow"];
export type WorkReceipt = Schemas["WorkReceipt"];
export type Hit = Schemas["Hit"];

/** Reports whether the caller may read a part. */
export function isShown(part: Part): part is TextPart | FilePart | DataPart | ToolPart {
  return !("private" in part && part.private);
}

type EventData =
  | Schemas["SnapshotData"]
  | Schemas["SnapshotEndData"]
  | Schemas["RunSnapshotData"]
  | Schemas["MessageData"]
  | Schemas["TextData"]
  | Schemas["DeltaData"]
  | Schemas["ToolInputData"]
  | Schemas["ToolOutputData"]
  | Schemas["PartResetData"]
  | Schemas["RunData"]
  | Schemas["StepData"]
  | Schemas["PendingData"]
  | Schemas["MemberData"]
  | Schemas["SpaceData"]
  | Schemas["SpaceDeletedData"]
  | Schemas["DeliveryData"]
  | Schemas["EntityData"];

// One schema serves several types of events. This makes a union member of each, so that
// `type` discriminates.
type ByType<T> = T extends { readonly type: infer U } ? (U extends string ? Omit<T, "type"> & { readonly type: U } : never) : never;

/** An event of a stream, discriminated by `type`. */
export type ServerEvent = ByType<EventData>;
