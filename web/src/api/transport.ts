// Reaches the server that serves the console, as the person that is signed in.
import type { Transport } from "@shoal-dev/client";
import { signInHeaders } from "./sign-in";

/** Sends a request with the cookie and the other half of the sign-in. Workers use it as well. */
export const transport: Transport = async (path, { headers, ...request }) => fetch(path, { ...request, headers: { ...(await signInHeaders()), ...headers }, credentials: "same-origin" });
