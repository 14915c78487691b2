/**
 * Who was sent away before a request or a link of theirs came to anything, in the log and in the audit log. Each network and
 * kind is told at once and then once a minute with a count: whoever knocks a thousand times a second pushes nothing out.
 */

import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { refusalEvent } from '../audit/audit-event.js';
import type { AuditSink } from '../audit/audit-file.js';
import type { LinkRefusal } from '../ports.js';
import { networkOf } from './peer-network.js';

const REPEAT_MS = 60_000;
/** Beyond so many the oldest are forgotten, and told anew. */
const MAX_KINDS = 1_000;

interface PeerRefusal extends LinkRefusal {
  /** What they asked for, as far as it was heard; no query. */
  path: string;
}

interface Told {
  untilMs: number;
  /** Refusals since it was told. */
  more: number;
}

export class RefusedPeers {
  readonly #parts: { clock: Clock; log: Logger; audit?: AuditSink | undefined };
  readonly #told = new Map<string, Told>();

  constructor(parts: { clock: Clock; log: Logger; audit?: AuditSink | undefined }) {
    this.#parts = parts;
  }

  report(refusal: PeerRefusal): void {
    const { clock, log, audit } = this.#parts;
    const { remoteAddress, node, code, reason } = refusal;
    const key = JSON.stringify([networkOf(remoteAddress), node, code, reason]);
    const now = clock.monotonic();
    const told = this.#told.get(key);
    if (told && now < told.untilMs) {
      told.more += 1;
      return;
    }
    this.#told.delete(key);
    this.#told.set(key, { untilMs: now + REPEAT_MS, more: 0 });
    const [oldest] = this.#told.keys();
    if (oldest !== undefined && this.#told.size > MAX_KINDS) this.#told.delete(oldest);
    log.warn({ ...refusal, ...(told?.more ? { repeated: told.more } : {}) }, 'peer refused');
    audit?.record(refusalEvent({ ...refusal, auditID: audit.newId(), at: clock.now() }));
  }
}
