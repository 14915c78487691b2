/** Whether the leader may step down. Pure. */
import type { MemberView } from './cluster-member.js';

/** A follower that lacks more records needs longer than a planned handover may take. */
const LAG_RECORDS = 1_000;

/**
 * Returns why no other member can lead now, or undefined if one can. Otherwise a step-down would leave the fleet without
 * a leader. `self`: the id of the leader.
 */
export function stepDownObstacle(members: readonly MemberView[], self: string): string | undefined {
  const others = members.filter(({ member }) => member.id !== self);
  if (others.length === 0) return 'there is no other coordinator';
  const isReady = others.some(
    ({ status, lagRecords = 0 }) => status?.state.role === 'follower' && lagRecords <= LAG_RECORDS,
  );
  return isReady ? undefined : 'no other coordinator is a follower whose database is up to date';
}
