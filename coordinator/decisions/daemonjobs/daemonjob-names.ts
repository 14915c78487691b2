/** Names of a DaemonJob's Pods and results. A job's name has no dots, so names of two jobs or hosts never collide. */

const LONGEST = 253;
/** Room for `.`, the number of an attempt, and the hash of a cut name. */
const RESERVED = 20;

/** Returns `JOB.NODE`. A very long node name is cut and gets its hash, so that it stays unique. */
export function resultName(job: string, nodeName: string): string {
  const name = `${job}.${nodeName}`;
  if (name.length <= LONGEST - RESERVED) return name;
  const cut = name.slice(0, LONGEST - RESERVED - 9).replace(/[-.]+$/, '');
  return `${cut}-${fnv1a(nodeName).toString(16).padStart(8, '0')}`;
}

/** Returns `JOB.NODE.ATTEMPT`. A second Pod of the same attempt cannot be stored. */
export function attemptName(job: string, nodeName: string, attempt: number): string {
  return `${resultName(job, nodeName)}.${attempt}`;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
