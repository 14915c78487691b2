/** Clients that write continuously and record the acknowledged writes. */
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = 'application/merge-patch+json';
/** Each writer changes one ConfigMap, and creates and deletes others. */
const WRITERS = 8;
const TURNS_A_CREATION = 5;

interface Promised {
  /** The last turn with an acknowledged change. */
  turn: number;
  /** Names of ConfigMaps with an acknowledged creation and without a deletion request. */
  created: Set<string>;
  /** Names of ConfigMaps with an acknowledged deletion. */
  deleted: Set<string>;
}

export class AcknowledgedWrites {
  readonly #api: CoordinatorApi;
  readonly #prefix: string;
  readonly #promised = new Map<string, Promised>();
  #isStopping = false;
  #writing: Promise<unknown> = Promise.resolve();

  /** Names begin with `prefix`. */
  constructor(api: CoordinatorApi, prefix: string) {
    this.#api = api;
    this.#prefix = prefix;
  }

  /** Starts the writers. Each continues until `stop`, or until its server is down. */
  start(): void {
    const names = Array.from({ length: WRITERS }, (_, index) => `${this.#prefix}-${index}`);
    this.#writing = Promise.all(names.map((name) => this.#write(name)));
  }

  /** Resolves with the number of acknowledged writes when all writers have stopped. */
  async stop(): Promise<number> {
    this.#isStopping = true;
    await this.#writing;
    const each = [...this.#promised.values()];
    return each.reduce((sum, { turn, created, deleted }) => sum + turn + created.size + 2 * deleted.size, 0);
  }

  /** Acknowledged writes that the server does not show; one sentence each. */
  async broken(): Promise<string[]> {
    const { items } = await this.#api.items<ConfigMap>(MAPS);
    const present = new Map(items.map(({ metadata, data }) => [metadata.name, Number(data?.turn)]));
    return [...this.#promised].flatMap(([name, { turn, created, deleted }]) => {
      const found = present.get(name) ?? Number.NaN;
      // One more write may be stored without an acknowledgement.
      const isKept = turn === 0 || found === turn || found === turn + 1;
      return [
        ...(isKept ? [] : [`${name} is at turn ${found}, ${turn} was acknowledged`]),
        ...[...created].filter((each) => !present.has(each)).map((each) => `${each} is gone`),
        ...[...deleted].filter((each) => present.has(each)).map((each) => `${each} is back`),
      ];
    });
  }

  async #write(name: string): Promise<void> {
    const promised: Promised = { turn: 0, created: new Set(), deleted: new Set() };
    this.#promised.set(name, promised);
    try {
      await this.#create(name, 0);
      for (let turn = 1; !this.#isStopping; turn += 1) {
        await this.#api.request('PATCH', `${MAPS}/${name}`, { data: { turn: String(turn) } }, MERGE);
        promised.turn = turn;
        if (turn % TURNS_A_CREATION === 0) await this.#createAndDelete(name, turn, promised);
      }
    } catch {
      // The server is down. Unacknowledged writes may be lost.
    }
  }

  async #createAndDelete(name: string, turn: number, { created, deleted }: Promised): Promise<void> {
    const own = `${name}-${turn}`;
    await this.#create(own, turn);
    created.add(own);
    const [oldest] = created;
    if (!oldest || created.size < TURNS_A_CREATION) return;
    created.delete(oldest);
    await this.#api.request('DELETE', `${MAPS}/${oldest}`);
    deleted.add(oldest);
  }

  async #create(name: string, turn: number): Promise<void> {
    await this.#api.request('POST', MAPS, { metadata: { name }, data: { turn: String(turn) } });
  }
}
