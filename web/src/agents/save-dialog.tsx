// What a save will change, before it does.
import { Button } from "@/ui/button";
import { Diff } from "@/ui/diff";
import { Dialog } from "@/ui/dialog";
import { Failed } from "@/ui/placeholder";
import { type JsonObject, sameJson } from "./config/json";
import { withDefaults } from "./config/schema";
import { configText } from "./tabs/versions";

interface Props {
  title: string;
  /** What else is to be known before. */
  note?: string | undefined;
  schema: JsonObject;
  version: number;
  before: JsonObject;
  after: JsonObject;
  isSaving: boolean;
  error: unknown;
  onSave: () => void;
  onClose: () => void;
}

/** Shows the difference of the old and the new config, and saves it. */
export function SaveDialog({ title, note, schema, version, before, after, isSaving, error, onSave, onClose }: Props) {
  const isSame = sameJson(withDefaults(schema, before), withDefaults(schema, after));
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={title}
      about={isSame ? "No changes: this config equals the version in use." : `Creates version ${version + 1}. Runs in progress keep their version.`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" busy={isSaving} disabled={isSame} onClick={onSave}>
            Save version {version + 1}
          </Button>
        </>
      }
    >
      {error !== null && error !== undefined && <Failed error={error} />}
      {note !== undefined && <p className="mb-3 text-sm text-warn">{note}</p>}
      <Diff label="Changes" before={configText(schema, before)} after={configText(schema, after)} />
    </Dialog>
  );
}
