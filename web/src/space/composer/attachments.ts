// Files that go with the next message. They are uploaded when they are chosen, so
// that sending is quick.
import { useCallback, useRef, useState } from "react";
import { actor } from "@/api/client";
import { entityHeader, ShoalError } from "@shoal-dev/client";
import { signInHeaders } from "@/api/sign-in";
import { newKey } from "../idempotency";
import type { SentFile } from "@shoal-dev/client/live";

/** The server's limit, in bytes. */
export const maxFile = 10 * 2 ** 20;

/** A chosen file on its way to the server. */
export interface Attachment {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  /** How much of it is there, 0…1. */
  readonly progress: number;
  /** What the server made of it, once it is there. */
  readonly sent: SentFile | null;
  readonly problem: string | null;
}

export interface Attachments {
  readonly list: readonly Attachment[];
  add(files: Iterable<File>): void;
  remove(key: string): void;
  retry(key: string): void;
  /** Takes the uploaded ones out. */
  take(): readonly SentFile[];
}

/** The attachments of one composer. */
export function useAttachments(session: string): Attachments {
  const [list, setList] = useState<readonly Attachment[]>([]);
  const under = useRef(new Map<string, { file: File; cut: () => void }>());
  const change = useCallback((key: string, some: Partial<Attachment>) => setList((all) => all.map((a) => (a.key === key ? { ...a, ...some } : a))), []);

  const start = useCallback(
    (key: string, file: File) => {
      const upload = send(session, key, file, (progress) => change(key, { progress }));
      under.current.set(key, { file, cut: upload.cut });
      upload.done.then(
        (sent) => change(key, { sent, progress: 1 }),
        (error: unknown) => change(key, { problem: ShoalError.from(error).message }),
      );
    },
    [session, change],
  );
  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of files) {
        const key = newKey();
        const problem = file.size > maxFile ? "It has more than 10 MiB, the most that a file may have." : null;
        setList((all) => [...all, { key, name: file.name || "file", size: file.size, progress: 0, sent: null, problem }]);
        if (problem === null) start(key, file);
      }
    },
    [start],
  );
  const remove = useCallback((key: string) => {
    under.current.get(key)?.cut();
    under.current.delete(key);
    setList((all) => all.filter((a) => a.key !== key));
  }, []);
  const retry = useCallback(
    (key: string) => {
      const held = under.current.get(key);
      if (held === undefined) return;
      change(key, { problem: null, progress: 0 });
      start(key, held.file);
    },
    [change, start],
  );
  const take = useCallback(() => {
    setList([]);
    under.current.clear();
    return list.flatMap((a) => a.sent ?? []);
  }, [list]);
  return { list, add, remove, retry, take };
}

// fetch does not report the progress of an upload; XMLHttpRequest does.
function send(session: string, key: string, file: File, progress: (part: number) => void): { done: Promise<SentFile>; cut: () => void } {
  const request = new XMLHttpRequest();
  let cut = false;
  const sending = (own: Record<string, string>) => new Promise<SentFile>((resolve, reject) => {
    if (cut) return;
    request.open("POST", `/v1/sessions/${encodeURIComponent(session)}/files?name=${encodeURIComponent(file.name || "file")}`);
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.setRequestHeader("Idempotency-Key", key);
    for (const [name, value] of Object.entries(own)) request.setRequestHeader(name, value);
    const as = actor();
    if (as !== null) request.setRequestHeader(entityHeader, as);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    };
    request.onerror = () => reject(ShoalError.unreachable());
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status !== 201 && request.status !== 200) return reject(ShoalError.of(request.status, body));
      const { name, mediaType, size, url } = body as SentFile;
      resolve({ name, mediaType, size, url });
    };
    request.send(file);
  });
  const abort = () => {
    cut = true;
    request.abort();
  };
  return { done: signInHeaders().then(sending), cut: abort };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
