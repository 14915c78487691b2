/** Builds the coordinator's parts, hands each its collaborators, starts them in order. Reads like a table of contents. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../shared/process/clock.js';
import { EXIT_CODES } from '../shared/process/exit-error.js';
import { type Part, type Running, startInOrder } from '../shared/process/lifecycle.js';
import { createFileLogger, type Logger } from '../shared/process/log.js';
import { VERSION } from '../shared/process/version.js';
import { type ApiParts, DEFAULT_API_SETTINGS } from './api/api-request.js';
import { ADMIN, tokenAuthenticator } from './api/authenticate.js';
import { loadPki, type Pki } from './api/certificates.js';
import { loadAdminAccess } from './api/kubeconfig.js';
import { type ApiServer, createApiServer } from './api/server.js';
import { servingNames } from './api/serving-names.js';
import { DaemonSetExplainer } from './controllers/daemonset-explain.js';
import { createCore } from './core.js';
import { pidPath } from './data-dir.js';
import type { Hub } from './hub/hub.js';
import { loadSealKey } from './hub/seal.js';
import { forOperator } from './operator-error.js';
import { type BackupWish, startSchedules } from './schedules.js';
import type { CoordinatorSettings } from './settings.js';
import { BACKUPS_DIRECTORY } from './store/backup.js';
import { openSqliteStore } from './store/sqlite-store.js';
import type { Store } from './store/store.js';

/** A coordinator that serves. */
export interface RunningCoordinator extends Running {
  /** What kubectl is told, `https://HOST:PORT`. */
  readonly server: string;
}

/**
 * Starts everything and resolves when the API answers. Throws `ExitError` for what an operator can mend:
 * the port in use, the directory not writable, the database damaged, newer, or in use.
 */
export async function startCoordinator(
  settings: CoordinatorSettings,
  log: Logger,
): Promise<RunningCoordinator> {
  const clock = systemClock;
  const { data } = settings;
  const store = await openStore(data, log);
  const sealKey = await loadSealKey(join(data, 'pki'));
  const core = createCore({ ...settings, store, sealKey, clock, log });
  const { registry, informers, hub, restore, rollouts } = core;
  const shared = { registry, informers, clock, log };
  const api = new ApiPart(settings, {
    registry,
    hub,
    explain: new DaemonSetExplainer({ informers, clock, rollouts }),
    restore,
    clock,
    log,
  });
  const running = await startInOrder(
    [
      { name: 'store', stop: () => store.close() },
      ...core.parts,
      stoppable('schedules', () =>
        startSchedules({
          ...shared,
          store,
          restore,
          backups: backupWish(settings),
          renewCertificate: () => api.renewCertificate(),
        }),
      ),
      api,
      // Stopped first: the port closes only when the sockets that the hub holds are gone.
      { name: 'hub', stop: () => hub.stop() },
    ],
    log,
  );
  log.info({ server: api.server, version: VERSION }, 'coordinator serves');
  return { server: api.server, stop: () => running.stop() };
}

/** Opens the store; what is wrong with the data becomes a sentence and an exit code. */
function openStore(dataDir: string, log: Logger): Promise<Store> {
  // Only a new start can tell what a failed disk really holds.
  const onFailed = () => process.exit(EXIT_CODES.unexpected);
  return forOperator(() => openSqliteStore({ dataDir, clock: systemClock, log, onFailed }));
}

function backupWish({ data, backupSchedule, backupsKept, backupDir }: CoordinatorSettings): BackupWish {
  return {
    schedule: backupSchedule,
    dataDir: data,
    directory: backupDir ?? join(data, BACKUPS_DIRECTORY),
    kept: backupsKept,
  };
}

/** A part whose start answers what can be stopped. */
function stoppable(name: string, start: () => Promise<Running> | Running): Part {
  let running: Running | undefined;
  return {
    name,
    start: async () => {
      running = await start();
    },
    stop: () => running?.stop(),
  };
}

interface ApiPartParts extends Pick<ApiParts, 'registry' | 'explain' | 'restore' | 'clock' | 'log'> {
  hub: Hub;
}

/** The API: certificates first, then the port, then the kubeconfig that names it. */
class ApiPart implements Part {
  readonly name = 'api';
  readonly #settings: CoordinatorSettings;
  readonly #parts: ApiPartParts;
  #api: ApiServer | undefined;
  server = '';

  constructor(settings: CoordinatorSettings, parts: ApiPartParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { data, host, port, advertise } = this.#settings;
    const { clientRequestsPerSecond, clientBurst, requestLog, requestLogFile } = this.#settings;
    const { hub, ...parts } = this.#parts;
    const pki = await this.#loadPki();
    let adminHash: Buffer = Buffer.alloc(0);
    this.#api = createApiServer({
      ...parts,
      streams: hub.streams,
      agentLink: hub,
      settings: {
        ...DEFAULT_API_SETTINGS,
        requestLog,
        clientLimits: { requestsPerSecond: clientRequestsPerSecond, burst: clientBurst },
      },
      ...(requestLogFile ? { requestLog: createFileLogger(requestLogFile) } : {}),
      tls: pki.serving,
      authenticate: (token) => tokenAuthenticator(adminHash, ADMIN)(token),
      version: VERSION,
    });
    const listening = await this.#api.listen({ host, port });
    this.server = `https://${serverHost(host, advertise)}:${listening}`;
    adminHash = await loadAdminAccess({ dataDir: data, server: this.server, caCertificate: pki.ca.cert });
    writeFileSync(pidPath(data), `${process.pid}\n`);
  }

  /** Makes the serving certificate anew when that is due; also when this machine got another name or address. */
  async renewCertificate(): Promise<void> {
    const pki = await this.#loadPki();
    this.#api?.renewCertificate(pki.serving);
  }

  #loadPki(): Promise<Pki> {
    const { data, advertise } = this.#settings;
    const names = servingNames(advertise ? [advertise] : []);
    return loadPki(join(data, 'pki'), names, this.#parts.clock.now());
  }

  async stop(): Promise<void> {
    await this.#api?.close();
  }
}

/** What the kubeconfig names: the host that was advertised, else the one listened on, else loopback. */
function serverHost(host: string, advertise: string | undefined): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = advertise ?? (everywhere ? '127.0.0.1' : host);
  return name.includes(':') ? `[${name}]` : name;
}
