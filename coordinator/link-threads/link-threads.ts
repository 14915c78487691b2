/**
 * Threads that terminate TLS and WebSockets of agents. The main thread decides: it admits links, closes them, and has
 * their sessions.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { LINK_PATH } from '../../shared/link/messages/link-messages.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { type ConnectionLimits, listenFailure, type ServingTls } from '../api/http/tls-options.js';
import type { ForwardingHeaders } from '../api/limits/pre-handshake-sockets.js';
import type { RefusedPeers } from '../api/limits/refused-peers.js';
import { DOOR_ID_BYTES, headerKey } from '../cluster/front-door/proxy-header.js';
import { SignedHeaders } from '../cluster/front-door/received-headers.js';
import type { LinkSetUp } from '../hub/sessions/link-socket.js';
import { type LinkUpgrader, refusalResponse } from '../hub/sessions/link-upgrade.js';
import { LinkCounters } from './link-counters.js';
import {
  CLOSE_ABNORMAL,
  FROM_THREAD,
  type LinkMessage,
  MessageBatch,
  messagesOf,
  TO_THREAD,
} from './message-batch.js';
import type { RefusalReport } from './refusal-reports.js';
import type { FromThread, ThreadSettings, ToThread, UpgradeNotice } from './thread-protocol.js';
import { ThreadSocket } from './thread-socket.js';

const PROGRAM = new URL('./link-thread.js', import.meta.url);
/** Pause before a thread that failed is started again. It doubles with each failure of a thread that ran a short time. */
const RESTART_MS = 1_000;
const MAX_RESTART_MS = 30_000;
/** Time limit for the connections of a thread to end. */
const CLOSE_MS = 2_000;

interface LinkThreadsOptions {
  readonly count: number;
  readonly upgrader: Pick<LinkUpgrader, 'judge' | 'opened'>;
  readonly peers: Pick<RefusedPeers, 'report'>;
  readonly tls: ServingTls;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where the threads listen, and the port of the main thread's API on loopback. */
interface Ports {
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
}

export class LinkThreads {
  readonly #options: LinkThreadsOptions;
  readonly #headerKey = headerKey(randomBytes(32));
  readonly #threads = new Map<number, LinkThread>();
  #tls: ServingTls;
  #isClosed = false;
  /** Reads the headers of connections that the threads pass on to the API. */
  readonly forwarding: ForwardingHeaders = new SignedHeaders(this.#headerKey);

  constructor(options: LinkThreadsOptions) {
    this.#options = options;
    this.#tls = options.tls;
  }

  /** Resolves with the port when all threads listen. Throws `ExitError` if one of them cannot. */
  async listen(ports: Ports): Promise<number> {
    const port = await freePort(ports);
    const { count } = this.#options;
    const start = (_: unknown, index: number) => this.#start(index, { ...ports, port }, RESTART_MS).listening;
    try {
      await Promise.all(Array.from({ length: count }, start));
    } catch (error) {
      await this.close();
      throw threadFailure(error, ports.host, port);
    }
    return port;
  }

  /** New connections get this certificate. */
  renewCertificate(tls: ServingTls): void {
    this.#tls = tls;
    for (const thread of this.#threads.values()) thread.renewCertificate(tls);
  }

  /** Closes the port. Call it when the hub and the API have closed their connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()));
  }

  #start(index: number, ports: Ports, pauseMs: number): LinkThread {
    const { clock, log, count } = this.#options;
    const startedAt = clock.monotonic();
    const thread = new LinkThread(this.#options, {
      ...ports,
      headerKey: this.#headerKey,
      doorId: randomBytes(DOOR_ID_BYTES).toString('hex'),
      tls: this.#tls,
      limits: this.#options.limits,
      threads: count,
    });
    this.#threads.set(index, thread);
    void thread.ended.then((error) => {
      this.#threads.delete(index);
      if (this.#isClosed) return;
      const restartMs = clock.monotonic() - startedAt > MAX_RESTART_MS ? RESTART_MS : pauseMs;
      log.error({ thread: index, restartMs, err: error }, 'link thread failed; its agents reconnect');
      clock.after(restartMs, () => {
        if (!this.#isClosed) this.#start(index, ports, Math.min(2 * restartMs, MAX_RESTART_MS));
      });
    });
    return thread;
  }
}

type StartSettings = Omit<ThreadSettings, 'counters'>;

/** One thread, from its start to its end. */
class LinkThread {
  readonly #options: LinkThreadsOptions;
  readonly #worker: Worker;
  readonly #counters = new LinkCounters();
  readonly #outbox: MessageBatch;
  readonly #sockets = new Map<number, ThreadSocket>();
  /** Upgrades that are not complete. The function makes the session, once the upgrade is admitted. */
  readonly #upgrades = new Map<number, (setUp: LinkSetUp) => void>();
  /** Resolves when the thread listens. Rejects if it ends before. */
  readonly listening: Promise<void>;
  /** Resolves with the reason when the thread has ended. */
  readonly ended: Promise<Error | undefined>;

  constructor(options: LinkThreadsOptions, settings: StartSettings) {
    this.#options = options;
    this.#outbox = new MessageBatch(options.clock, (batch) =>
      this.#worker.postMessage(batch, [batch.buffer as ArrayBuffer]),
    );
    const workerData: ThreadSettings = { ...settings, counters: this.#counters.memory };
    this.#worker = new Worker(PROGRAM, { workerData });
    let [onListening, onFailed]: [() => void, (error?: Error) => void] = [() => undefined, () => undefined];
    this.listening = new Promise((resolve, reject) => {
      [onListening, onFailed] = [resolve, reject];
    });
    // `ended` reports the failure of a thread that is started again.
    this.listening.catch(() => undefined);
    this.#worker.on('message', (message: FromThread) => {
      if (message instanceof Uint8Array) for (const each of messagesOf(message)) this.#received(each);
      else if (message.kind === 'listening') onListening();
      else this.#refused(message.report);
    });
    let failure: Error | undefined;
    this.#worker.on('error', (error: Error) => {
      failure = error;
    });
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        for (const socket of [...this.#sockets.values()]) socket.closed(CLOSE_ABNORMAL);
        onFailed(failure);
        resolve(failure);
      });
    });
  }

  renewCertificate(tls: ServingTls): void {
    this.#order({ kind: 'renew', tls });
  }

  async close(): Promise<void> {
    this.#order({ kind: 'close' });
    const timer = this.#options.clock.after(CLOSE_MS, () => void this.#worker.terminate());
    await this.ended;
    timer.cancel();
  }

  #order(order: ToThread): void {
    this.#worker.postMessage(order);
  }

  #received(message: LinkMessage): void {
    const { type, link, body } = message;
    switch (type) {
      case FROM_THREAD.upgrade:
        this.#upgrades.set(link, () => undefined);
        void this.#judge(link, JSON.parse(body.toString()) as UpgradeNotice);
        return;
      case FROM_THREAD.opened:
        this.#upgrades.get(link)?.(JSON.parse(body.toString()) as LinkSetUp);
        return;
      default:
        this.#sockets.get(link)?.received(message);
    }
    if (type !== FROM_THREAD.closed) return;
    this.#sockets.delete(link);
    this.#upgrades.delete(link);
    this.#outbox.add(TO_THREAD.release, link);
  }

  #refused({ refusals, others, acceptFailures }: RefusalReport): void {
    const { peers, log } = this.#options;
    for (const { refusal, times } of refusals) peers.report({ path: '', ...refusal }, times);
    if (others > 0)
      log.warn(
        { refusals: others },
        'refused connections not logged one by one: too many different networks',
      );
    if (acceptFailures) log.error(acceptFailures, 'a link thread could not accept connections');
  }

  async #judge(link: number, { slot, ...request }: UpgradeNotice): Promise<void> {
    const { upgrader, peers } = this.#options;
    const onRefused = (refusal: Parameters<Parameters<typeof upgrader.judge>[1]>[0]) =>
      peers.report({ path: LINK_PATH, ...refusal });
    const verdict = await upgrader.judge(request, onRefused);
    // The agent has closed the connection meanwhile.
    if (!this.#upgrades.has(link)) return;
    if ('refused' in verdict) {
      this.#outbox.add(TO_THREAD.refuse, link, Buffer.from(refusalResponse(verdict.refused)));
      return;
    }
    const { remoteAddress } = request;
    this.#upgrades.set(link, (setUp) => {
      this.#upgrades.delete(link);
      const deps = { link, slot, remoteAddress, setUp, counters: this.#counters, outbox: this.#outbox };
      const socket = new ThreadSocket(deps);
      this.#sockets.set(link, socket);
      upgrader.opened(verdict, socket, socket, onRefused);
    });
    this.#outbox.add(TO_THREAD.admit, link, Buffer.from(verdict.nonce ?? ''));
  }
}

function threadFailure(error: unknown, host: string, port: number): ExitError {
  const why = error instanceof Error ? error.message : 'the thread ended';
  return new ExitError(
    EXIT_CODES.environment,
    `A link thread cannot listen on port ${port} on ${host} (${why}): --link-threads 0 starts the coordinator without threads.`,
  );
}

/**
 * Returns the port, or a free one for 0. Throws `ExitError` if another program uses it: the threads would share the port
 * with another coordinator of the same user.
 */
async function freePort({ host, port }: Ports): Promise<number> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ host, port }, resolve);
    });
  } catch (error) {
    throw listenFailure(error, host, port);
  }
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address ? address.port : port;
}
