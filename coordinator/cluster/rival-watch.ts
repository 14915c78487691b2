/**
 * A leader that cannot reach etcd asks at the addresses of the other coordinators who leads. Hosts and clients that still
 * reach it would otherwise stay with a leader whose term has ended.
 */
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { TermReader } from './leader-request.js';

const INTERVAL_MS = 2_000;

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
