/**
 * A leader that cannot reach etcd asks at the addresses of the other coordinators who leads. Hosts and clients that still
 * reach it would otherwise stay with a leader whose term has ended.
 */
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LEADER_PATH } from '../../shared/link/messages/link-limits.js';
import { readIfPresent } from '../../shared/process/files/private-file.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

const INTERVAL_MS = 2_000;
const TIMEOUT_MS = 2_000;

/** Returns the term of the leader that serves an address. Rejects without an answer. */
type TermReader = (server: string) => Promise<number>;

interface RivalWatchDeps {
  term: number;
  /** This coordinator's address. */
  own: string;
  addresses: { list(): readonly string[] };
  termAt: TermReader;
  clock: Clock;
}

export class RivalWatch {
  readonly #deps: RivalWatchDeps;
  #timer: Timer | undefined;
  #onRival: (() => void) | undefined;

  constructor(deps: RivalWatchDeps) {
    this.#deps = deps;
  }

  /** Calls `onRival` once if a coordinator leads in a later term. */
  start(onRival: () => void): void {
    if (this.#onRival) return;
    this.#onRival = onRival;
    void this.#look(onRival);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#onRival = undefined;
  }

  /** Ends when `onRival` is not the present listener any more: a start after a stop has a loop of its own. */
  async #look(onRival: () => void): Promise<void> {
    const { addresses, own, termAt, term, clock } = this.#deps;
    const others = addresses.list().filter((server) => server !== own);
    const terms = await Promise.all(others.map((server) => termAt(server).catch(() => 0)));
    if (this.#onRival !== onRival) return;
    if (terms.some((other) => other > term)) onRival();
    else this.#timer = clock.after(INTERVAL_MS, () => void this.#look(onRival));
  }
}

/** Asks over HTTPS. Trusts the authority in the data directory alone. */
export function httpsTermReader(dataDir: string): TermReader {
  return async (server) => termAt(server, (await readIfPresent(join(dataDir, 'pki', 'ca.crt'))) ?? '');
}

async function termAt(server: string, ca: string): Promise<number> {
  const url = new URL(LEADER_PATH, server);
  // A leader that has just begun may not have all addresses in its certificate yet. The authority is what counts.
  const options = { ca, timeout: TIMEOUT_MS, agent: false as const, checkServerIdentity: () => undefined };
  const body = await new Promise<string>((resolve, reject) => {
    const sent = request(url, options, (response) => text(response).then(resolve, reject));
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end();
  });
  const { term } = JSON.parse(body) as { term?: unknown };
  return typeof term === 'number' ? term : 0;
}
