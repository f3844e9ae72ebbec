// The page on which a person decides whether a program acts as themselves, and the one that shows a code to
// type into it. All that a program says of itself is set as text.
const at = (id) => document.getElementById(id);

function show(title, about) {
  at("title").textContent = title;
  at("about").textContent = about;
  at("title").focus();
}

function fail(text) {
  at("problem").textContent = text;
  at("problem").hidden = false;
}

// The half of the sign-in that the console keeps in this browser, beside the cookie.
function half() {
  return new Promise((resolve) => {
    const asked = indexedDB.open("shoal", 1);
    asked.onupgradeneeded = () => asked.transaction.abort(); // the console has never been here, and makes it its own way
    asked.onerror = () => resolve(null);
    asked.onsuccess = () => {
      const found = asked.result.transaction("sign-in").objectStore("sign-in").get("half");
      found.onerror = () => resolve(null);
      found.onsuccess = () => {
        asked.result.close();
        resolve(typeof found.result === "string" ? found.result : null);
      };
    };
  });
}

async function call(path, body) {
  const headers = { "Content-Type": "application/json", "X-Shoal-Sign-In": (await half()) ?? "" };
  const answer = await fetch(path, { method: "POST", headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.detail ?? `The server answers with ${answer.status}.`), { status: answer.status });
  return said;
}

async function decide(query, session, approve) {
  at("allow").disabled = at("deny").disabled = true;
  try {
    const { url } = await call("/oauth/decision", { query, login: true, approve, session, agent: "", name: "", spaces: [], scopes: [] });
    location.replace(url);
  } catch (error) {
    at("allow").disabled = at("deny").disabled = false;
    fail(error.message);
  }
}

async function ask(query) {
  const asked = await call("/oauth/request", { query, login: true });
  if (asked.url !== "") {
    location.replace(asked.url);
    return;
  }
  const me = await fetch("/v1/me", { headers: { "X-Shoal-Sign-In": (await half()) ?? "" } }).then((r) => r.json());
  const session = me.sessionId ?? "default";
  if (asked.person === "") {
    show("Sign in as a person first", "You are signed in as an admin, who is nobody in particular. Sign out in the console, sign in with your account, an invitation or a key of your own, and start again in the program.");
    return;
  }
  const where = asked.local ? `a program on this machine (${asked.host})` : "this page, which shows a code to type into the program";
  show(
    `Let “${asked.client}” act as ${asked.person}?`,
    `It may do all that you may do in the session ${session}, until you sign it out. The program has given itself this name; nobody has verified it. Your answer goes to ${where}. Continue only if you have just started it yourself, with shoal login.`,
  );
  at("later").textContent = "To end it later: shoal logout there, shoal sign-ins end, or Settings, This browser, in the console.";
  at("choice").hidden = at("later").hidden = false;
  at("allow").onclick = () => void decide(query, session, true);
  at("deny").onclick = () => void decide(query, session, false);
}

function showCode(answer) {
  history.replaceState(null, "", location.pathname);
  const code = answer.get("code");
  if (code === null) {
    show("The program is not signed in", answer.get("error_description") ?? "The program has asked for something that this server does not give. Start again in the program.");
    return;
  }
  show("Type this code into the program", "Paste it into the terminal in which you have started shoal login, within two minutes. Give it to nobody, and paste it nowhere else.");
  at("code").textContent = `${code}.${answer.get("state") ?? ""}`;
  at("code").hidden = at("copying").hidden = false;
  at("copy").onclick = async () => {
    await navigator.clipboard.writeText(at("code").textContent);
    at("copy").textContent = "Copied";
  };
}

async function start() {
  const query = new URLSearchParams(location.search).get("request");
  if (location.pathname === "/oauth/code") {
    showCode(new URLSearchParams(location.search));
  } else if (query === null) {
    show("This link is not complete", "Start again in the program.");
  } else {
    await ask(query);
  }
}

start().catch((error) => {
  show("This program cannot be signed in", "");
  fail(error.message);
});
