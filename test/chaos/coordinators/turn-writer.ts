/**
 * A client that changes one ConfigMap again and again at addresses that it draws, and creates and deletes others. Each
 * change names the version that it replaces, so a change that arrives late is refused and not repeated.
 */
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import type { ApiAnswer } from '../../harness/api/coordinator-api.js';
import { pause } from '../../harness/basics/wait-until.js';
import type { AddressChoice } from './address-choice.js';

export const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = 'application/merge-patch+json';
const TURNS_A_CREATION = 5;
const KEPT_CREATIONS = 10;
const BETWEEN_WRITES_MS = 20;
const RETRY_MS = 50;

/** What the coordinators have acknowledged to one writer. */
export interface Acknowledged {
  readonly name: string;
  /** The last turn that was acknowledged; -1 = the ConfigMap was not created yet. */
  turn: number;
  /** Names with an acknowledged creation and without an attempt of a deletion. */
  readonly created: Set<string>;
  /** Names with an acknowledged deletion. */
  readonly deleted: Set<string>;
}

interface TurnWriterDeps {
  readonly name: string;
  readonly addresses: AddressChoice;
  /** Called after each acknowledged write. */
  onAcknowledged(): void;
  /** Called for an answer that no fault explains. */
  onViolation(violation: string): void;
  /** Called for each refusal, with its code and reason. */
  onRefused(refusal: string): void;
}

export class TurnWriter {
  readonly acknowledged: Acknowledged;
  readonly #deps: TurnWriterDeps;
  #version = '';
  #isRunning = false;
  #isClosed = false;
  #work: Promise<void> = Promise.resolve();

  constructor(deps: TurnWriterDeps) {
    this.#deps = deps;
    this.acknowledged = { name: deps.name, turn: -1, created: new Set(), deleted: new Set() };
  }

  start(): void {
    this.#isRunning = true;
    this.#work = this.#write();
  }

  /** Resolves when the write in progress is acknowledged. */
  stop(): Promise<void> {
    this.#isRunning = false;
    return this.#work;
  }

  /** Ends the writer, also in the middle of a write. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.stop();
  }

  async #write(): Promise<void> {
    const { acknowledged } = this;
    while (this.#isRunning && !this.#isClosed) {
      const next = acknowledged.turn + 1;
      if (await this.#until(() => this.#change(next))) acknowledged.turn = next;
      if (next > 0 && next % TURNS_A_CREATION === 0)
        await this.#createAndDelete(`${acknowledged.name}-${next}`);
      await pause(BETWEEN_WRITES_MS);
    }
  }

  /** Returns true when the turn is stored. */
  async #change(turn: number): Promise<boolean> {
    const { name } = this.acknowledged;
    const data = { turn: String(turn) };
    const answer =
      turn === 0
        ? await this.#send('POST', MAPS, { metadata: { name }, data })
        : await this.#send(
            'PATCH',
            `${MAPS}/${name}`,
            { metadata: { resourceVersion: this.#version }, data },
            MERGE,
          );
    if (answer && answer.code < 300) return this.#store(answer, turn);
    // The outcome is unknown, or an earlier attempt was stored: 409.
    if (answer && answer.code !== 409 && answer.code !== 504) return false;
    const stored = await this.#send('GET', `${MAPS}/${name}`);
    return stored?.code === 200 && this.#store(stored, turn);
  }

  /** An old leader may serve an older turn. It is not an answer then. */
  #store({ body }: ApiAnswer, turn: number): boolean {
    const { metadata, data } = body as ConfigMap;
    const stored = Number(data?.turn);
    if (stored > turn)
      this.#deps.onViolation(`${metadata.name} has turn ${stored}, which was never requested`);
    if (stored < turn) return false;
    this.#version = metadata.resourceVersion ?? '';
    return true;
  }

  async #createAndDelete(name: string): Promise<void> {
    const { created, deleted } = this.acknowledged;
    const isCreated = await this.#until(async () => {
      const answer = await this.#send('POST', MAPS, { metadata: { name }, data: { turn: '0' } });
      // 409: an earlier attempt was stored. The name is used once.
      return answer !== undefined && (answer.code === 201 || answer.code === 409);
    });
    if (isCreated) created.add(name);
    const [oldest] = created;
    if (!oldest || created.size <= KEPT_CREATIONS) return;
    created.delete(oldest);
    let isUnknown = false;
    const isDeleted = await this.#until(async () => {
      const answer = await this.#send('DELETE', `${MAPS}/${oldest}`);
      if (answer?.code === 200) return true;
      // Without an earlier attempt it is the answer of an old leader, which has not seen the creation.
      if (answer?.code === 404) return isUnknown;
      isUnknown ||= answer === undefined || answer.code === 504;
      return false;
    });
    if (isDeleted) deleted.add(oldest);
  }

  /** Repeats the attempt until it is acknowledged. Returns false if the writer was closed. */
  async #until(attempt: () => Promise<boolean>): Promise<boolean> {
    while (!this.#isClosed) {
      if (await attempt()) {
        this.#deps.onAcknowledged();
        return true;
      }
      await pause(RETRY_MS);
    }
    return false;
  }

  /** Resolves with undefined without an answer. */
  async #send(method: string, path: string, body?: unknown, type?: string): Promise<ApiAnswer | undefined> {
    const { addresses } = this.#deps;
    try {
      const answer = await addresses.next().send(method, path, body, type);
      this.#judge(`${method} ${path}`, answer);
      return answer;
    } catch {
      addresses.leave();
      return undefined;
    }
  }

  #judge(request: string, { code, body }: ApiAnswer): void {
    if (code < 300 || code === 404 || code === 409) return;
    const { reason = 'no reason', message = '' } = (body ?? {}) as { reason?: string; message?: string };
    if (REFUSALS.has(code) && message) this.#deps.onRefused(`${code} ${reason}`);
    else this.#deps.onViolation(`${request} was answered with ${code} ${reason}: ${message}`);
  }
}

/** Too many requests; no leader, or no proof of it; the outcome is unknown; a full disk. */
const REFUSALS: ReadonlySet<number> = new Set([429, 503, 504, 507]);
