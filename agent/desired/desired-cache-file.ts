/** File format of the desired cache. */
import { createHash } from 'node:crypto';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';

const FORMAT = 2;

/** The last known state of the hub, for the link's hello. */
export interface DesiredPosition {
  clusterUID?: string;
  epoch?: string;
  /** Revision of the last applied change; 0: none. */
  revision: number;
}

export interface DesiredContent extends DesiredPosition {
  pods: AssignedPod[];
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the file's text. The first line contains format and checksum of the rest. */
export function encodeDesired(content: DesiredContent): string {
  const body = JSON.stringify(content);
  return `${JSON.stringify({ format: FORMAT, sha256: checksum(body) })}\n${body}`;
}

/** Returns the content; undefined for a damaged file. */
export function decodeDesired(text: string): DesiredContent | undefined {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  try {
    const { format, sha256 } = JSON.parse(text.slice(0, end)) as { format: number; sha256: string };
    if (format !== FORMAT || sha256 !== checksum(body)) return undefined;
    return JSON.parse(body) as DesiredContent;
  } catch {
    // Invalid JSON counts as a wrong checksum.
    return undefined;
  }
}
