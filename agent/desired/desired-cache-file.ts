/** File format of the desired cache. */
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import { decodeChecked, encodeChecked } from './checked-text.js';

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

/** Returns the file's text. */
export function encodeDesired(content: DesiredContent): string {
  return encodeChecked(FORMAT, content);
}

/** Returns the content; undefined for a damaged file. */
export function decodeDesired(text: string): DesiredContent | undefined {
  return decodeChecked(FORMAT, text) as DesiredContent | undefined;
}
