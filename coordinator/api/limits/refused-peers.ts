/**
 * Logs peers that were rejected before a request or a link was established, and records them in the audit log. Each
 * network and kind of refusal is reported at once, then once a minute with a count, so that a flood cannot push other
 * events out of the logs. A link thread reports up to a second later, and at most 256 kinds.
 */

import { networkOf } from '../../../shared/link/peer-network.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { refusalEvent } from '../audit/audit-event.js';
import type { AuditSink } from '../audit/audit-file.js';
import type { LinkRefusal } from '../ports.js';

const REPEAT_MS = 60_000;
/** Maximum number of remembered reports. Beyond it the oldest is forgotten, so its next refusal is reported at once. */
const MAX_KINDS = 1_000;

interface PeerRefusal extends LinkRefusal {
  /** The requested path without its query, as far as it was received. */
  path: string;
}

interface RecentReport {
  untilMs: number;
  /** Refusals since the last report. */
  repeated: number;
}

export class RefusedPeers {
  readonly #deps: { clock: Clock; log: Logger; audit?: AuditSink | undefined };
  readonly #recent = new Map<string, RecentReport>();

  constructor(deps: { clock: Clock; log: Logger; audit?: AuditSink | undefined }) {
    this.#deps = deps;
  }

  /** `times`: how many refusals of this kind there were. */
  report(refusal: PeerRefusal, times = 1): void {
    const { clock, log, audit } = this.#deps;
    const key = refusalKind(refusal);
    const now = clock.monotonic();
    const recent = this.#recent.get(key);
    if (recent && now < recent.untilMs) {
      recent.repeated += times;
      return;
    }
    this.#recent.delete(key);
    this.#recent.set(key, { untilMs: now + REPEAT_MS, repeated: times - 1 });
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined && this.#recent.size > MAX_KINDS) this.#recent.delete(oldest);
    log.warn({ ...refusal, ...(recent?.repeated ? { repeated: recent.repeated } : {}) }, 'peer refused');
    audit?.record(refusalEvent({ ...refusal, auditID: audit.newId(), at: clock.now() }));
  }
}

/** Returns a key that is equal for refusals that are reported together. */
export function refusalKind({ remoteAddress, node, code, reason }: LinkRefusal): string {
  return JSON.stringify([networkOf(remoteAddress), node, code, reason]);
}
