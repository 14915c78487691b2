/** The Pods of the page of logs, as its URL names them. Pure. */

/** A browser opens six connections to one server. Each log uses one, and the other pages need the rest. */
export const MOST_LOGS = 3;
const POD = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/** Returns the Pods as `namespace/name`, without invalid names and duplicates. */
export function podsInQuery(text: string): string[] {
  const valid = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => POD.test(each));
  return [...new Set(valid)].slice(0, MOST_LOGS);
}

export function podsQuery(pods: readonly string[]): string {
  return pods.join(',');
}
