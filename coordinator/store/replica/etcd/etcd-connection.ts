/** Calls to an etcd cluster with several members: one member is used until it does not answer, then the next. */
import type { Clock } from '../../../../shared/process/time/clock.js';
import { LogClosed, LogFull, LogUnavailable } from '../replicated-log.js';
import { type CallOutcome, EtcdCallError, type EtcdCalls, type EtcdTransport } from './etcd-transport.js';

/** Timeout of one attempt. A member that hangs costs this much, once. */
const ATTEMPT_MS = 1_500;
/** Timeout of a call with all its attempts. An election in etcd takes 1 to 2 s. */
const CALL_MS = 5_000;
/** Pause after all members have failed, and after an answer that asks for patience. */
const PAUSE_MS = 200;

/** Called when a member did not answer, with the reason. */
export type EndpointFailure = (endpoint: string, reason: string) => void;

type Request<Method extends keyof EtcdCalls> = EtcdCalls[Method][0];
type Reply<Method extends keyof EtcdCalls> = EtcdCalls[Method][1];

export class EtcdConnection {
  readonly #transport: EtcdTransport;
  readonly #clock: Clock;
  readonly #onFailure: EndpointFailure;
  readonly #onRotation = new Set<() => void>();
  readonly #pauses = new Set<() => void>();
  #endpoint = 0;
  #isClosed = false;

  constructor(transport: EtcdTransport, clock: Clock, onFailure: EndpointFailure) {
    this.#transport = transport;
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /** Index of the member in use. */
  get endpoint(): number {
    return this.#endpoint;
  }

  get transport(): EtcdTransport {
    return this.#transport;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls `listener` after each change of the member in use. */
  onRotation(listener: () => void): void {
    this.#onRotation.add(listener);
  }

  /** Makes one attempt. Rejects with EtcdCallError or LogClosed. The next attempt uses another member if this one failed. */
  async attempt<Method extends keyof EtcdCalls>(
    method: Method,
    request: Request<Method>,
    timeoutMs = ATTEMPT_MS,
  ): Promise<Reply<Method>> {
    this.checkOpen();
    const endpoint = this.#endpoint;
    try {
      return await this.#transport.call(endpoint, method, request, timeoutMs);
    } catch (error) {
      this.checkOpen();
      if (error instanceof EtcdCallError && (error.outcome === 'notSent' || error.outcome === 'unknown'))
        this.rotate(endpoint, error.message);
      throw error;
    }
  }

  /**
   * Repeats a call until it is answered. Rejects with LogUnavailable after 5 s, with LogFull, LogClosed, or with the
   * EtcdCallError of a rejection. `onUnknown` is called before a repetition of an attempt that may have taken effect.
   */
  async call<Method extends keyof EtcdCalls>(
    method: Method,
    request: Request<Method>,
    onUnknown: () => void = () => undefined,
  ): Promise<Reply<Method>> {
    const deadline = this.#clock.monotonic() + CALL_MS;
    for (let failures = 1; ; failures += 1) {
      const leftMs = deadline - this.#clock.monotonic();
      try {
        return await this.attempt(method, request, Math.min(ATTEMPT_MS, Math.max(leftMs, 1)));
      } catch (error) {
        if (!(error instanceof EtcdCallError) || error.outcome === 'rejected') throw error;
        if (error.outcome === 'full') throw new LogFull(`etcd: ${error.message}`);
        if (error.outcome === 'unknown') onUnknown();
        await this.pauseAfter(failures, error.outcome);
        if (this.#clock.monotonic() >= deadline) throw new LogUnavailable(`etcd: ${error.message}`);
      }
    }
  }

  /** Pauses if each member has failed since the last pause, or if etcd is busy. `failures` counts from 1. */
  async pauseAfter(failures: number, last: CallOutcome): Promise<void> {
    const isNextUntried = failures % this.#transport.endpoints.length !== 0;
    if (isNextUntried && (last === 'notSent' || last === 'unknown')) return;
    await this.pause(PAUSE_MS);
  }

  /** Resolves after `ms`. Rejects with LogClosed as soon as the connection is closed. */
  async pause(ms: number): Promise<void> {
    this.checkOpen();
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(ms, done);
      const pauses = this.#pauses;
      function done(): void {
        pauses.delete(done);
        timer.cancel();
        resolve();
      }
      pauses.add(done);
    });
    this.checkOpen();
  }

  /** Uses the next member instead of `endpoint`, unless another call has done so. */
  rotate(endpoint: number, reason: string): void {
    if (endpoint !== this.#endpoint || this.#isClosed) return;
    this.#endpoint = (endpoint + 1) % this.#transport.endpoints.length;
    this.#onFailure(this.#transport.endpoints[endpoint] ?? '', reason);
    for (const listener of this.#onRotation) listener();
  }

  close(): void {
    this.#isClosed = true;
    this.#transport.close();
    for (const done of [...this.#pauses]) done();
  }

  checkOpen(): void {
    if (this.#isClosed) throw new LogClosed('the connection to etcd is closed');
  }
}
