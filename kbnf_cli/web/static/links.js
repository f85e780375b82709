// What a link has: a state as compressed JSON. Anybody may have written a link, so nothing in it is
// taken for what it should be.

const LONGEST = 1_000_000; // characters of a state, however few it is compressed to
const MOST_TEXTS = 100; // as many as the server answers

const PIECE = 512; // bytes that are decompressed at once: to half a million at most

/** Return a stream of bytes through another, a piece at a time: what is not read is not made. */
function through(bytes, stream) {
  let at = 0;
  const pull = (pieces) => {
    if (at < bytes.length) pieces.enqueue(bytes.subarray(at, (at += PIECE)));
    else pieces.close();
  };
  return new ReadableStream({ pull }).pipeThrough(stream);
}

/** Return a value as the letters of an address. */
export async function packed(value) {
  const stream = through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Return the value in the letters of an address; raise an error for any others. */
export async function unpacked(value) {
  const letters = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const reader = through(bytes, new DecompressionStream("deflate-raw"))
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let result = "";
  for (;;) {
    const { done, value: more } = await reader.read();
    if (done) return JSON.parse(result);
    result += more;
    if (result.length > LONGEST) {
      await reader.cancel();
      throw new Error("too long");
    }
  }
}

/** Return those members of a value that have the types of a state's, and its texts. */
export function checked(value, state, names) {
  if (typeof value !== "object" || value === null) throw new Error("no state");
  const found = {};
  for (const name of names) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof given === typeof state[name] && (typeof given !== "number" || (Number.isInteger(given) && given >= 0))) {
      found[name] = given;
    }
  }
  const texts = Array.isArray(value.texts) ? value.texts : [];
  const known = texts.filter((each) => Array.isArray(each) && typeof each[0] === "string");
  return { ...found, texts: known.slice(0, MOST_TEXTS) };
}
