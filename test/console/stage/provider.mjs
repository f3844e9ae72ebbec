// A real OpenID provider, with its own pages for signing in, consent and signing out.
import { Provider } from "oidc-provider";
import { freePort } from "./server.mjs";

/** What the server is registered as. */
export const client = { id: "shoal", secret: "a secret of the test" };

/** A provider on a port of its own. It serves once `open` is called. */
export class OpenID {
  static async at() {
    const o = new OpenID();
    o.port = await freePort();
    o.issuer = `http://127.0.0.1:${o.port}`;
    return o;
  }

  /** Serves; people come back to a console at `url`. An account is what somebody types as the login. */
  async open(url) {
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: [`${url}/console/oidc/callback`],
          post_logout_redirect_uris: [`${url}/`],
          grant_types: ["authorization_code"],
          response_types: ["code"],
        },
      ],
      claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, name: `${id[0].toUpperCase()}${id.slice(1)} Lee`, email: `${id}@example.com`, email_verified: id !== "mallory" }),
      }),
      features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
      pkce: { required: () => true },
      cookies: { keys: ["of the test"] },
    });
    this.listening = await new Promise((resolve, reject) => {
      const server = provider.listen(this.port, "127.0.0.1", () => resolve(server));
      server.on("error", reject);
    });
  }

  /** Ends it. */
  close() {
    this.listening?.closeAllConnections();
    this.listening?.close();
  }

  /** Plays a person at the pages of the provider. */
  async signIn(page, login) {
    await page.locator("input[name=login]").fill(login);
    await page.locator("input[name=password]").fill("any");
    await page.locator("button[type=submit]").click();
    await page.getByRole("button", { name: /continue/i }).click();
  }
}
