// What the console stores in the browser for messages that it has not sent yet.

/** Reports whether the browser's database holds a message with this text. */
export const isStored = (page, text) =>
  page.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        const open = indexedDB.open("shoal-outbox");
        open.onsuccess = () => {
          const all = open.result.transaction("outbox").objectStore("outbox").getAll();
          all.onsuccess = () => {
            open.result.close();
            resolve(all.result.some((each) => each.outgoing.text === wanted));
          };
        };
      }),
    text,
  );
