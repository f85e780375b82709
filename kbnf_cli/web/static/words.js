// What the page says of an answer, in words.

const STATUS = {
  complete: "complete",
  finished: "complete",
  incomplete: "incomplete",
  rejected: "does not fit",
  stuck: "no token of the vocabulary fits",
};

/** Return the words for the status of a text; none where it is not known. */
export const statusOf = (status) => STATUS[status] || "";

/** Return the class of the badge of a status. */
export const badgeOf = (status) => `badge ${status || ""}`;

/** Return [words, class] for a grammar: what the worst of its findings is. */
export function verdictOf(answer) {
  const findings = answer.findings || [];
  const counts = ["error", "warning", "info"]
    .map((severity) => [findings.filter((each) => each.severity === severity).length, severity])
    .filter(([count]) => count);
  if (!counts.length) return answer.is_checked ? ["no findings", "complete"] : ["", ""];
  const words = counts.map(([count, severity]) => counted(count, severity));
  return [words.join(", "), counts[0][1]];
}

/** Return what is said below the list of findings. */
export function findingsNote(answer) {
  if (!answer.is_checked) return "Not everything was checked.";
  if (answer.more) return `${answer.more} more`;
  return (answer.findings || []).length ? "" : "No findings.";
}

const number = (value) => value.toLocaleString("en");

/** Return a number and its noun, in the plural where it must be. */
export const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** Return what is said above the tokens of a mask. */
export function sideOf(mask) {
  const shown = mask.tokens.length < mask.count ? `; ${number(mask.tokens.length)} are shown` : "";
  if (mask.side === "found") return `${counted(mask.count, "token")} with this text${shown}.`;
  if (mask.side === "allowed") return mask.count ? `Allowed tokens${shown}:` : "No token is allowed.";
  return mask.count
    ? `All tokens but ${number(mask.count)} are allowed. Refused${shown}:`
    : "Every token is allowed.";
}

/** Return how many tokens a mask allows. */
export const countOf = (mask) => `${number(mask.allowed)} of ${number(mask.total)} tokens allowed`;
