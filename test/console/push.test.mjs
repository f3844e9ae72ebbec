// Notifications while no page is open: from the switch in the settings through a real push service
// of this test, which decrypts with code of others, to what the service worker shows. What Chromium
// asks of the push service of its vendor is replaced, because there is no network here, and so is
// what its headless shell always refuses: the permission, and drawing the notification.
import assert from "node:assert/strict";
import { createECDH, createPublicKey, randomBytes, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { after, before, test } from "node:test";
import ece from "http_ece";
import { axe, Person } from "./stage/browser.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

Person.serviceWorkers = "allow";
const { SHOAL_TLS_CERT: cert, SHOAL_TLS_KEY: key } = process.env;
const s = stage({ env: { SSL_CERT_FILE: cert }, args: ["--allow-private", "127.0.0.0/8"] });

// The push service.
const got = [];
let status = 201;
const service = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, answer) => {
  const pieces = [];
  request.on("data", (d) => pieces.push(d));
  request.on("end", () => {
    got.push({ path: request.url, headers: request.headers, body: Buffer.concat(pieces) });
    answer.writeHead(status).end();
  });
});
before(() => new Promise((resolve) => service.listen(0, "127.0.0.1", resolve)));
after(() => service.close());

// The browser's half of the keys.
const own = createECDH("prime256v1");
own.generateKeys();
const secret = randomBytes(16);
const url64 = (bytes) => Buffer.from(bytes).toString("base64url");

/** What Chromium would do with its push service. */
async function replacePushService(context) {
  const subscription = { endpoint: `https://127.0.0.1:${service.address().port}/one`, p256dh: [...own.getPublicKey()], auth: [...secret] };
  await context.addInitScript(({ endpoint, p256dh, auth }) => {
    // It outlives the page, as that of a browser does.
    const held = () => localStorage.getItem("test.push");
    const bytes = (list) => new Uint8Array(list).buffer;
    const of = (name) => ({
      endpoint,
      options: { applicationServerKey: Uint8Array.from(atob(name.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)).buffer },
      getKey: (name) => bytes(name === "auth" ? auth : p256dh),
      unsubscribe: async () => (localStorage.removeItem("test.push"), true),
    });
    Object.defineProperty(Notification, "permission", { get: () => "granted" });
    Notification.requestPermission = async () => "granted";
    PushManager.prototype.getSubscription = async () => (held() === null ? null : of(held()));
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => (localStorage.setItem("test.push", applicationServerKey), of(applicationServerKey));
  }, subscription);
}

/** Decrypts what arrived, and checks who sent it. */
function open({ headers, body }) {
  assert.equal(headers["content-encoding"], "aes128gcm");
  assert.ok(Number(headers.ttl) > 0);
  const [, token, k] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization);
  const [head, claims, signature] = token.split(".");
  const point = Buffer.from(k, "base64url");
  const jwk = { kty: "EC", crv: "P-256", x: url64(point.subarray(1, 33)), y: url64(point.subarray(33)) };
  assert.ok(verify("sha256", Buffer.from(`${head}.${claims}`), { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url")));
  assert.equal(JSON.parse(Buffer.from(claims, "base64url")).aud, `https://127.0.0.1:${service.address().port}`);
  const text = ece.decrypt(body, { version: "aes128gcm", privateKey: own, authSecret: url64(secret) });
  return { notice: JSON.parse(text), k };
}

const subscriptions = () => s.server.at("GET", "/push-subscriptions", undefined, { as: "operator" });

test("a person who is mentioned is notified though no page is open, until the device is removed", async () => {
  const { person, page } = await operator(s);
  await replacePushService(person.context);
  await go(s, page, "/settings?tab=appearance");
  const mine = page.getByRole("checkbox", { name: "Notify me on this device" });
  await mine.check();
  await page.getByRole("list", { name: "Devices that notify you" }).getByText("this browser").waitFor();
  assert.deepEqual(await axe(page), []);
  await picture(page, "push-settings");
  const { items, publicKey } = await subscriptions();
  assert.equal(items.length, 1);

  // Nothing is sent while the message can still be read where the reader is, nor what was read.
  await s.server.at("POST", "/entities", { id: "ada", name: "Ada", kind: "human" });
  await s.server.at("PUT", "/spaces/welcome/members/ada");
  const read = await s.server.says("ada", "welcome", "You have read this", { mentions: ["operator"], triggerAgents: false });
  await s.server.at("POST", "/spaces/welcome/read", { seq: read.seq }, { as: "operator" });
  const said = await s.server.says("ada", "welcome", "A secret text", { mentions: ["operator"], triggerAgents: false });
  await eventually("the push service has it", () => got.length > 0);
  assert.equal(got.length, 1);
  const { notice, k } = open(got[0]);
  assert.equal(k, publicKey);
  assert.deepEqual(notice, { kind: "mention", by: "Ada", sessionId: "default", spaceId: "welcome", space: "Welcome", seq: said.seq, tag: `message:${said.id}` });
  assert.ok(!got[0].body.includes("Ada"));

  // While a page is visible the worker shows nothing, and then what it got.
  const worker = person.context.serviceWorkers()[0] ?? (await person.context.waitForEvent("serviceworker"));
  const deliver = await delivery(page, s.server.url);
  await worker.evaluate(() => {
    self.shown = [];
    self.registration.showNotification = async (title, { body, tag, data }) => void self.shown.push({ title, body, tag, data });
  });
  const shown = () => worker.evaluate(() => self.shown);
  await deliver(notice);
  assert.deepEqual(await shown(), []);
  await page.goto("about:blank");
  await deliver(notice);
  await eventually("it is shown", async () => (await shown()).length === 1);
  assert.deepEqual(await shown(), [{ title: "Ada mentioned you", body: "Welcome", tag: `message:${said.id}`, data: `/s/default/spaces/welcome?seq=${said.seq}` }]);
  await deliver.end();

  // It opens the space.
  await page.goto(`${s.server.url}${(await shown())[0].data}`);
  await page.getByText("A secret text").waitFor();

  // A subscription that the push service does not know any more is removed.
  await go(s, page, "/settings?tab=appearance");
  await mine.waitFor();
  status = 410;
  await s.server.says("ada", "welcome", "Once more", { mentions: ["operator"], triggerAgents: false });
  await eventually("the subscription is gone", async () => (await subscriptions()).items.length === 0);
  status = 201;

  // And one that its owner removes.
  await mine.uncheck();
  await mine.check();
  await page.getByRole("button", { name: /^Remove/ }).click();
  await page.getByText("Devices that notify you").waitFor({ state: "detached" });
  assert.equal(await mine.isChecked(), false);
  assert.equal((await subscriptions()).items.length, 0);
  await person.clean();
  await person.close();
});

/** Delivers messages to the service worker of an origin, as the browser does with what its push service has sent. */
async function delivery(page, origin) {
  const session = await page.context().newCDPSession(page);
  const registrations = [];
  session.on("ServiceWorker.workerRegistrationUpdated", (e) => registrations.push(...e.registrations));
  await session.send("ServiceWorker.enable");
  const { registrationId } = await eventually("the worker is known", () => registrations.find((r) => r.scopeURL.startsWith(origin)));
  const deliver = (data) => session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(data) });
  deliver.end = () => session.detach();
  return deliver;
}
