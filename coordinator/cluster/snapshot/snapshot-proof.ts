/**
 * How a member proves to the leader that it belongs to the fleet when it asks for a snapshot: a MAC under the cluster
 * key over the request and the time. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SNAPSHOT_PATH } from '../../../shared/link/messages/link-limits.js';
import { isMemberId } from '../member-file.js';

const SCHEME = 'EverynodeMember';
/** Largest difference between the clocks of two members, with the time of the request. */
export const MAX_SKEW_MS = 5 * 60_000;

/** Returns the `Authorization` header. `now` in ms. */
export function snapshotProof(clusterKey: Buffer, clusterUID: string, memberId: string, now: number): string {
  return `${SCHEME} ${memberId} ${now} ${macOf(clusterKey, clusterUID, memberId, now)}`;
}

/** Returns the id of the member that made the header, or undefined for any other header. */
export function verifySnapshotProof(
  clusterKey: Buffer,
  clusterUID: string,
  header: string | undefined,
  now: number,
): string | undefined {
  const [scheme, memberId, timeText = '', mac = '', ...rest] = (header ?? '').split(' ');
  if (scheme !== SCHEME || !isMemberId(memberId) || !/^\d{1,16}$/.test(timeText) || rest.length > 0) {
    return undefined;
  }
  const time = Number(timeText);
  if (Math.abs(time - now) > MAX_SKEW_MS) return undefined;
  const expected = Buffer.from(macOf(clusterKey, clusterUID, memberId, time));
  const given = Buffer.from(mac);
  return expected.length === given.length && timingSafeEqual(expected, given) ? memberId : undefined;
}

function macOf(clusterKey: Buffer, clusterUID: string, memberId: string, time: number): string {
  const text = JSON.stringify(['GET', SNAPSHOT_PATH, clusterUID, memberId, time]);
  return createHmac('sha256', clusterKey).update(text).digest('hex');
}
