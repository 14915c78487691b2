/** The service table on disk, so that DNS and rules work after a restart or a reboot without the coordinator. */
import type { ServiceView } from '../../shared/kube/services/service-view.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { PodReachability } from '../decisions/services/local-endpoints.js';
import { decodeChecked, encodeChecked } from '../desired/checked-text.js';
import type { DurableFile } from '../desired/durable-file.js';

const FORMAT = 1;
/** Delay of a write, so that changes at the same time cost one write. */
const SETTLE_MS = 1_000;
/**
 * Least time between two writes. A Service that is new to the host is written soon, because its name would be unknown
 * after a power cut. A flapping fleet or Pod must not wear out the disk.
 */
const INTERVAL_MS: Readonly<Record<TableChange, number>> = {
  newService: 5_000,
  services: 30_000,
  minor: 300_000,
};

export interface ServiceTableContent {
  /** The node's zone, from the last welcome. */
  zone: string;
  views: ServiceView[];
  /** Services, as `namespace/name`, and namespaces that the hub reported absent. */
  absent: string[];
  absentNamespaces: string[];
  /** The boot in which the statuses were observed. After a reboot the Pods have other addresses. */
  bootMark: string;
  pods: [uid: string, status: PodReachability][];
}

/**
 * `newService`: a Service that the table lacked. `services`: a known Service or the host's own Pods changed. `minor`:
 * endpoints of other hosts, or absences.
 */
export type TableChange = 'newService' | 'services' | 'minor';

interface ServiceTableFileDeps {
  file: DurableFile;
  clock: Clock;
  log: Logger;
}

/** The table's file and its content. */
export interface StoredServiceTable {
  file: ServiceTableFile;
  stored: ServiceTableContent;
}

export async function openServiceTable(deps: ServiceTableFileDeps): Promise<StoredServiceTable> {
  const file = new ServiceTableFile(deps);
  return { file, stored: await file.read() };
}

/** Writes the content some time after each change, and at `flush`. */
export class ServiceTableFile {
  readonly #deps: ServiceTableFileDeps;
  #content: () => ServiceTableContent = () => EMPTY_TABLE;
  #lastWriteAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #writing: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(deps: ServiceTableFileDeps) {
    this.#deps = deps;
  }

  /** Resolves with the stored content. A damaged file is renamed and ignored. */
  async read(): Promise<ServiceTableContent> {
    const { file, clock, log } = this.#deps;
    const text = await file.read();
    if (text === undefined) return EMPTY_TABLE;
    const content = decodeChecked(FORMAT, text);
    if (content) return content as ServiceTableContent;
    const aside = await file.quarantine(`damaged-${clock.now()}`).catch((error: Error) => error.message);
    log.error({ aside }, 'service table is damaged and was renamed; waiting for the coordinator');
    return EMPTY_TABLE;
  }

  /** Sets the function that returns the content of each write. */
  writeFrom(content: () => ServiceTableContent): void {
    this.#content = content;
  }

  markChanged(change: TableChange): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const dueAt = Math.max(now + SETTLE_MS, this.#lastWriteAt + INTERVAL_MS[change]);
    if (dueAt >= this.#dueAt) return;
    this.#timer?.cancel();
    this.#dueAt = dueAt;
    this.#timer = clock.after(dueAt - now, () => void this.flush());
  }

  /** Resolves when all changes so far are on disk, or cannot be written. */
  flush(): Promise<void> {
    if (this.#dueAt === Number.POSITIVE_INFINITY) return this.#writing;
    this.#timer?.cancel();
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#lastWriteAt = this.#deps.clock.monotonic();
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { file, log } = this.#deps;
    try {
      await file.write(encodeChecked(FORMAT, this.#content()));
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        log.warn({ err: error }, 'service table could not be written; it is kept in memory');
      this.#hasFailed = true;
      this.markChanged('services');
    }
  }
}

export const EMPTY_TABLE: ServiceTableContent = {
  zone: '',
  views: [],
  absent: [],
  absentNamespaces: [],
  bootMark: '',
  pods: [],
};
