// Asks the server that served the page. The static page has another file of this name, which asks
// the toolkit in the browser; both export the same.

/** Whether texts, tokens and other engines can be asked about. */
export const hasEngine = true;

let token = sessionStorage.getItem("token") || "";

/** Take the token of an address that the server printed, or a bare token; tell whether it had one. */
export function takeToken(address, isBare = false) {
  const given = new URLSearchParams(address.slice(address.indexOf("#") + 1)).get("token");
  const found = given || (isBare && address.trim());
  if (found) {
    token = found;
    sessionStorage.setItem("token", token);
  }
  return Boolean(given);
}

async function post(path, body, headers) {
  let reply;
  try {
    reply = await fetch(path, {
      method: "POST",
      headers: { ...headers, "X-Kbnf-Token": token },
      body,
    });
  } catch {
    throw new Error("The server does not answer. Is `kbnf play --web` still running?");
  }
  if (reply.ok) return reply.json();
  const said = (await reply.text()).trim();
  throw Object.assign(new Error(`The server refused: ${said}.`), { needsToken: reply.status === 401 });
}

const postJson = (path, value) => post(path, JSON.stringify(value), { "Content-Type": "application/json" });

/** Return what the page begins with. */
export const begin = () => postJson("begin", {});

/** Return the answer to a question; raise an error with `needsToken` where that is missing. */
export const ask = (question) => postJson("ask", question);

/** Add the vocabulary in a file to those that questions may name; return all their names. */
export const openVocabulary = (file) => post("vocabulary", file, { "X-Kbnf-Name": encodeURIComponent(file.name) });

/** Tell that a newer question waits; the server asks one after the other. */
export function hurry() {}
