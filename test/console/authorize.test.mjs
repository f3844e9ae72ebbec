// Programs that know only the address of the server sign in with OAuth, and nobody copies a key: the
// official TypeScript SDK, in both of its generations, and Codex. A person consents in the console.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "../mcp-ts/node_modules/@modelcontextprotocol/client/dist/index.mjs";
import { Client as Client1 } from "../mcp-ts/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "../mcp-ts/node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js";
import { axe, launch, Person } from "./stage/browser.mjs";
import { Server } from "./stage/server.mjs";
import { eventually, patience, picture } from "./stage/stage.mjs";

const s = {};

before(async () => {
  [s.server, s.browser] = await Promise.all([Server.start(), launch()]);
  s.ann = (await s.server.call("POST", "/keys", { role: "entity", entityId: "ann", door: "invite" })).key;
  await s.server.at("PUT", "/spaces/welcome/members/ann");
});
after(async () => {
  await s.browser?.close();
  await s.server?.stop();
});

/** A program on this machine: it receives the browser at a port of its own, and keeps what the SDK gives it. */
class Program {
  static async at(t, name) {
    const p = new Program();
    t.after(() => {
      p.listener.close();
      p.listener.closeAllConnections();
    });
    p.clientMetadata = { client_name: name, redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] };
    p.came = new Promise((resolve) => {
      p.listener = createServer((request, response) => {
        response.end("You can close this window.");
        const url = new URL(request.url, p.redirectUrl);
        if (url.pathname === "/callback") resolve(url.searchParams);
      });
    });
    await new Promise((resolve) => p.listener.listen(0, "127.0.0.1", resolve));
    p.redirectUrl = `http://127.0.0.1:${p.listener.address().port}/callback`;
    p.clientMetadata.redirect_uris = [p.redirectUrl];
    return p;
  }
  state = () => "state-1";
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  redirectToAuthorization = (url) => void (this.url = url.href);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  invalidateCredentials = () => void (this.kept = undefined);
}

/** Opens the address that a program wants to have opened; the person signs in first if nobody is. */
async function opens(url, { signIn, look } = {}) {
  const person = signIn?.person ?? (await Person.at(s.browser, look));
  person.expected.push(/a request to http:\/\/127\.0\.0\.1:\d+\/callback/, /a request to http:\/\/localhost:\d+\/callback/);
  const page = await person.open(url);
  page.setDefaultTimeout(patience);
  if (signIn === undefined) {
    await page.getByLabel("Your key").fill(s.ann);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }
  await page.getByRole("heading", { name: /act in Shoal\?/ }).waitFor();
  return { person, page };
}

const threads = async (client) => (await client.callTool({ name: "list_threads", arguments: {} })).structuredContent.items.map((t) => t.id);

const keysNamed = async (name) => (await s.server.call("GET", "/keys?limit=200")).items.filter((k) => k.name === name);

for (const [name, Client, Transport] of [
  ["SDK one", Client1, Transport1],
  ["SDK two", Client2, Transport2],
]) {
  test(`${name} joins, goes on after its token has ended, and ends with its key`, async (t) => {
    const program = await Program.at(t, name);
    const connect = async () => {
      const client = new Client({ name, version: "1.0.0" });
      const transport = new Transport(new URL(`${s.server.url}/mcp`), { authProvider: program });
      return { client, transport, failed: await client.connect(transport).then(() => undefined, (error) => error) };
    };
    const first = await connect();
    assert.match(String(first.failed), /Unauthorized/i);
    const { person, page } = await opens(program.url, { look: { theme: name === "SDK one" ? "light" : "dark", width: name === "SDK one" ? "wide" : "phone" } });
    await page.getByText("a program on this machine").waitFor();
    assert.deepEqual(await axe(page), []);
    await picture(page, `authorize-${name.replace(" ", "-")}`);
    await page.getByRole("checkbox", { name: /Do everything/ }).uncheck();
    await page.getByRole("checkbox", { name: "It works in these spaces only" }).check();
    await page.getByRole("button", { name: "Allow" }).click();
    const came = await program.came;
    assert.deepEqual([came.get("state"), came.get("iss")], ["state-1", s.server.url]);
    await person.clean();
    await first.transport.finishAuth(name === "SDK one" ? came.get("code") : came);
    const second = await connect();
    assert.equal(second.failed, undefined);
    assert.deepEqual(await threads(second.client), ["welcome"]);
    const [key] = await keysNamed(name);
    assert.deepEqual([key.entityId, key.scopes], [name.toLowerCase().replace(" ", "-"), ["read", "post", "spaces:welcome"]]);
    assert.ok(!JSON.stringify(await s.server.at("GET", "/audit?limit=200")).includes(program.kept.access_token));

    const before = program.kept;
    program.kept = { ...before, access_token: `${before.access_token.slice(0, -3)}xyz` };
    const third = await connect();
    assert.equal(third.failed, undefined);
    assert.notEqual(program.kept.refresh_token, before.refresh_token);
    assert.deepEqual(await threads(third.client), ["welcome"]);
    assert.deepEqual((await keysNamed(name)).map((k) => k.id), [key.id]);

    await s.server.call("DELETE", `/keys/${key.id}`);
    program.url = undefined;
    await assert.rejects(threads(third.client), /Unauthorized/i);
    assert.ok(program.url.startsWith(`${s.server.url}/oauth/authorize?`), "it asks for consent again");
    await Promise.all([second, third].map((c) => c.client.close()));
    await person.close();
  });
}

test("a person who denies sends the program away, and a request that is wrong is shown", async (t) => {
  const program = await Program.at(t, "Nobody");
  const client = new Client1({ name: "nobody", version: "1.0.0" });
  await assert.rejects(client.connect(new Transport1(new URL(`${s.server.url}/mcp`), { authProvider: program })), /Unauthorized/i);
  const { person, page } = await opens(program.url);
  await page.getByRole("textbox", { name: "Id" }).fill("a b");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("alert").getByText("Only letters, digits").waitFor();
  await page.getByRole("button", { name: "Deny" }).click();
  assert.equal((await program.came).get("error"), "access_denied");
  assert.deepEqual(await keysNamed("Nobody"), []);
  const wrong = new URL(program.url);
  wrong.searchParams.set("redirect_uri", "https://evil.example/");
  const shown = await person.open(`${s.server.url}/join?request=${encodeURIComponent(wrong.search.slice(1))}`);
  await shown.getByRole("heading", { name: "This program cannot be connected" }).waitFor();
  assert.deepEqual(await axe(shown), []);
  await picture(shown, "authorize-refused");
  await person.close();
});

test("codex mcp login joins as an agent", async () => {
  const home = mkdtempSync(join(tmpdir(), "shoal-codex-"));
  mkdirSync(join(home, ".codex"));
  writeFileSync(join(home, ".codex", "config.toml"), `mcp_oauth_credentials_store = "file"\n\n[mcp_servers.shoal]\nurl = "${s.server.url}/mcp"\n`);
  const codex = (...args) => {
    const p = spawn(process.execPath, [new URL("../clients/node_modules/@openai/codex/bin/codex.js", import.meta.url).pathname, ...args], { env: { HOME: home, PATH: "/nowhere" }, stdio: ["ignore", "pipe", "pipe"] });
    p.said = "";
    for (const out of [p.stdout, p.stderr]) out.on("data", (d) => (p.said += d));
    p.over = new Promise((resolve) => p.once("exit", resolve));
    return p;
  };
  const login = codex("mcp", "login", "shoal");
  try {
    await eventually("codex says what to open", () => /http\S+\/oauth\/authorize\?\S+/.test(login.said) || login.exitCode !== null);
    const [url] = login.said.match(/http\S+\/oauth\/authorize\?\S+/) ?? [];
    assert.ok(url !== undefined, login.said);
    const { person, page } = await opens(url);
    await picture(page, "authorize-codex");
    await page.getByRole("button", { name: "Allow" }).click();
    assert.equal(await login.over, 0, login.said);
    const list = codex("mcp", "list");
    await list.over;
    assert.match(list.said, /shoal.*OAuth/s);
    const kept = readdirSync(join(home, ".codex")).find((name) => name.includes("credentials"));
    const [token] = readFileSync(join(home, ".codex", kept), "utf8").match(/shoal-mcp_[\w-]{43}/);
    const client = new Client1({ name: "codex", version: "1.0.0" });
    await client.connect(new Transport1(new URL(`${s.server.url}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
    assert.deepEqual(await threads(client), ["welcome"]);
    await client.close();
    await person.close();
  } finally {
    login.kill("SIGKILL");
    await login.over;
    rmSync(home, { recursive: true, force: true });
  }
});

test("shoal login signs the command line in as a person, with a code", async () => {
  const home = mkdtempSync(join(tmpdir(), "shoal-login-"));
  const shoal = (...args) => {
    const p = spawn(process.env.SHOAL_BIN, args, { env: { HOME: home, PATH: "/nowhere" } });
    p.said = "";
    for (const out of [p.stdout, p.stderr]) out.on("data", (d) => (p.said += d));
    p.over = new Promise((resolve) => p.once("exit", resolve));
    return p;
  };
  const login = shoal("login", s.server.url);
  try {
    await eventually("it prints a link", () => /oauth\/authorize\?\S+\n/.test(login.said) || login.exitCode !== null);
    const [url] = login.said.match(/http\S+\/oauth\/authorize\?\S+/) ?? [];
    assert.ok(url !== undefined, login.said);
    const person = await Person.at(s.browser);
    const page = await person.open(url);
    page.setDefaultTimeout(patience);
    await page.getByLabel("Your key").fill(s.ann);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: /^Let “Command line.*” act as ann\?$/ }).waitFor();
    await page.getByText("Your answer goes to this page, which shows a code").waitFor();
    assert.deepEqual(await axe(page), []);
    await picture(page, "login");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("heading", { name: "Type this code into the program" }).waitFor();
    assert.deepEqual(await axe(page), []);
    assert.equal(new URL(page.url()).search, "");
    await picture(page, "login-code");
    login.stdin.write(`${await page.locator("#code").textContent()}\n`);
    assert.equal(await login.over, 0, login.said);
    const who = shoal("whoami");
    await who.over;
    assert.match(who.said, /\tann\tdefault\tshoal login\n/);
    await person.close();
  } finally {
    login.kill("SIGKILL");
    await login.over;
    rmSync(home, { recursive: true, force: true });
  }
});
