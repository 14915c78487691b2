/** Which errors of the API are worth another attempt. Pure. */

/** Returns true if the same request may succeed later. `code`: HTTP status. 0 without an answer of the coordinator. */
export function isTransientCode(code: number): boolean {
  return code === 0 || code === 429 || code >= 500;
}
