/** Builds the coordinator's parts, hands each its collaborators, starts them in order. Reads like a table of contents. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../shared/process/clock.js';
import { EXIT_CODES } from '../shared/process/exit-error.js';
import { type Part, type Running, startInOrder } from '../shared/process/lifecycle.js';
import { createFileLogger, type Logger } from '../shared/process/log.js';
import { VERSION } from '../shared/process/version.js';
import { AgentFiles } from './api/agent-files.js';
import { type ApiParts, DEFAULT_API_SETTINGS } from './api/api-request.js';
import { AuditFile } from './api/audit/audit-file.js';
import { ADMIN, tokenAuthenticator } from './api/authenticate.js';
import type { JoinFacts } from './api/join-facts.js';
import { keptAdminHash, loadAdminAccess } from './api/kubeconfig.js';
import type { MetricsPage } from './api/metrics-page.js';
import { type ApiServer, createApiServer, type ServingTls } from './api/server.js';
import { servingNames } from './api/serving-names.js';
import { certificateUsers, linkUsers } from './certificate-users.js';
import { reachableServer } from './cli/reachable-server.js';
import { ChangeCalendars } from './controllers/change-calendars.js';
import { ConditionHistory } from './controllers/condition-history.js';
import { DaemonSetExplainer } from './controllers/daemonset-explain.js';
import { HostBoard } from './controllers/host-board.js';
import { HostEffects } from './controllers/host-effects.js';
import { ManifestPlanner } from './controllers/plan/planner.js';
import { createCore } from './core.js';
import { pidPath, releaseDirectory, secretsKeyPath } from './data-dir.js';
import type { Hub } from './hub/hub.js';
import { loadSealKey } from './hub/seal.js';
import type { Informers } from './informers/informer.js';
import { secretKind } from './kinds/index.js';
import { Metrics } from './metrics/metrics.js';
import { openIdentities, openSignIn } from './open-identities.js';
import { forOperator } from './operator-error.js';
import { CertificateAuthority } from './pki/certificate-authority.js';
import { loadPki, type Pki } from './pki/load-pki.js';
import { readSupplied } from './pki/supplied.js';
import { loadTicketKeys, SESSION_SECONDS } from './pki/ticket-keys.js';
import { prefixOf } from './registry/keys.js';
import { type BackupWish, startSchedules } from './schedules.js';
import { type CoordinatorSettings, evictionRatesOf, gracesOf } from './settings.js';
import { BACKUPS_DIRECTORY } from './store/backup.js';
import { loadSealKeys } from './store/seal-keys.js';
import { openSqliteStore } from './store/sqlite-store.js';
import { roomToStart, StartReserve } from './store/start-room.js';
import type { Store } from './store/store.js';
import { ValueSeal } from './store/value-seal.js';

/** What the database never holds in plain. */
const ENCRYPTED_PREFIXES = [prefixOf(secretKind)];

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
  const metrics = new Metrics();
  await roomToStart({ dataDir: data, clock, log });
  const store = await openStore(settings, log, metrics);
  const sealKey = await loadSealKey(join(data, 'pki'));
  const authority = new CertificateAuthority(() => api.pki, clock);
  const core = createCore({
    queueMeter: metrics.queues,
    onEviction: metrics.onEviction,
    ...settings,
    ...gracesOf(settings),
    evictionRates: evictionRatesOf(settings),
    store,
    sealKey,
    authority,
    clock,
    log,
  });
  const { registry, informers, hub, restore, rollouts } = core;
  const shared = { registry, informers, clock, log };
  const conditions = new ConditionHistory({ informers, clock });
  const api = new ApiPart(settings, {
    registry,
    informers,
    hub,
    explain: new DaemonSetExplainer({ informers, clock, rollouts }),
    hosts: new HostBoard({ informers, clock }),
    readings: { of: (name) => ({ ...hub.readings.of(name), changes: conditions.of(name) }) },
    foresee: new ManifestPlanner({ registry, informers, clock }),
    effects: new HostEffects({ informers, clock }),
    calendars: new ChangeCalendars({ informers, clock }),
    metrics: metrics.page(
      { informers, connected: () => hub.connected, meters: hub.meters },
      new Set(registry.kinds.map(({ resource }) => resource)),
    ),
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
      new StartReserve({ dataDir: data, clock, log }),
      // Stopped first: the port closes only when the sockets that the hub holds are gone.
      { name: 'hub', stop: () => hub.stop() },
    ],
    log,
  );
  log.info({ server: api.server, version: VERSION }, 'coordinator serves');
  return { server: api.server, stop: () => running.stop() };
}

/** Opens the store; what is wrong with the data becomes a sentence and an exit code. */
function openStore(
  settings: CoordinatorSettings,
  log: Logger,
  { onCommit, onFull }: Pick<Metrics, 'onCommit' | 'onFull'>,
): Promise<Store> {
  const { data: dataDir } = settings;
  // Only a new start can tell what a failed disk really holds.
  const onFailed = () => process.exit(EXIT_CODES.unexpected);
  return forOperator(async () => {
    const keys = await loadSealKeys(secretsKeyPath(settings, process.env));
    const seal = new ValueSeal(ENCRYPTED_PREFIXES, keys);
    return openSqliteStore({ dataDir, clock: systemClock, log, onFailed, onCommit, onFull, seal });
  });
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

interface ApiPartParts
  extends Pick<
    ApiParts,
    | 'registry'
    | 'explain'
    | 'foresee'
    | 'effects'
    | 'calendars'
    | 'hosts'
    | 'readings'
    | 'restore'
    | 'clock'
    | 'log'
  > {
  hub: Hub;
  informers: Informers;
  metrics: MetricsPage;
}

/** The API: certificates first, then the port, then the kubeconfig that names it. */
class ApiPart implements Part {
  readonly name = 'api';
  readonly #settings: CoordinatorSettings;
  readonly #parts: ApiPartParts;
  #api: ApiServer | undefined;
  #pki: Pki | undefined;
  #audit: AuditFile | undefined;
  server = '';

  constructor(settings: CoordinatorSettings, parts: ApiPartParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  /** Certificates as they are now; there are some as soon as anybody can ask. */
  get pki(): Pki {
    if (!this.#pki) throw new Error('certificates are not loaded yet');
    return this.#pki;
  }

  async start(): Promise<void> {
    const { data, host, port, advertise } = this.#settings;
    const { clientRequestsPerSecond, clientBurst, requestLog, requestLogFile } = this.#settings;
    const { hub, informers, ...parts } = this.#parts;
    const pki = await this.#loadPki();
    // Known before the first request: an administrator who asks in that moment must not be refused.
    let adminHash: Buffer = (await keptAdminHash(data)) ?? Buffer.alloc(0);
    const identities = await openIdentities({
      ...parts,
      informers,
      settings: this.#settings,
      admin: (token) => tokenAuthenticator(adminHash, ADMIN)(token),
      hosts: linkUsers(hub),
    });
    const oidcSignIn = openSignIn({ settings: this.#settings, ...this.#parts });
    const agentFiles = new AgentFiles(releaseDirectory(data), VERSION);
    const audit = openAudit(this.#settings, this.#parts.log);
    this.#audit = audit;
    this.#api = createApiServer({
      ...parts,
      ...(audit ? { audit } : {}),
      streams: hub.streams,
      meters: hub.meters,
      agentLink: hub,
      agentFiles,
      joining: () => this.#joinFacts(agentFiles),
      ...(oidcSignIn ? { oidcSignIn } : {}),
      settings: {
        ...DEFAULT_API_SETTINGS,
        requestLog,
        clientLimits: { requestsPerSecond: clientRequestsPerSecond, burst: clientBurst },
      },
      ...(requestLogFile ? { requestLog: createFileLogger(requestLogFile) } : {}),
      tls: await this.#tls(pki),
      identities,
      authenticateSocket: certificateUsers(hub, parts.clock),
      version: VERSION,
    });
    const listening = await this.#api.listen({ host, port });
    this.server = `https://${serverHost(host, advertise)}:${listening}`;
    adminHash = await loadAdminAccess({ dataDir: data, server: this.server, caCertificate: pki.trust });
    writeFileSync(pidPath(data), `${process.pid}\n`);
  }

  /** Makes the serving certificate and ticket keys anew when that is due; the first also when this machine got another name or address. */
  async renewCertificate(): Promise<void> {
    const before = this.pki.trust;
    const pki = await this.#loadPki();
    this.#api?.renewCertificate(await this.#tls(pki));
    if (pki.trust === before) return;
    this.#parts.hub.tellTrust();
    const { data } = this.#settings;
    await loadAdminAccess({ dataDir: data, server: this.server, caCertificate: pki.trust });
  }

  /** Ticket keys are nothing that a backup should hold: they are not with the certificates. */
  async #tls({ serving, authorities }: Pki): Promise<ServingTls> {
    const keys = await loadTicketKeys(join(this.#settings.data, 'ticket-keys'), this.#parts.clock.now());
    return { ...serving, clientAuthorities: authorities, tickets: { keys, seconds: SESSION_SECONDS } };
  }

  async #joinFacts(files: AgentFiles): Promise<JoinFacts> {
    const { advertise, approveNodes } = this.#settings;
    const { trust, serving } = this.pki;
    return {
      server: await reachableServer(this.server, advertise),
      ...{ authority: trust, serving: serving.cert },
      ...{ hasRelease: files.hasRelease, approval: approveNodes },
    };
  }

  async #loadPki(): Promise<Pki> {
    const { data, advertise } = this.#settings;
    const names = servingNames(advertise ? [advertise] : []);
    const supplied = await readSupplied(this.#settings);
    this.#pki = await loadPki(join(data, 'pki'), names, this.#parts.clock.now(), supplied);
    return this.#pki;
  }

  async stop(): Promise<void> {
    await this.#api?.close();
    await this.#audit?.flush();
  }
}

function openAudit(settings: CoordinatorSettings, log: Logger): AuditFile | undefined {
  const { data, auditLogPath, auditLogMaxSize, auditLogMaxBackup } = settings;
  if (auditLogPath === 'off') return undefined;
  const path = auditLogPath || join(data, 'audit', 'audit.log');
  return new AuditFile({ path, maxBytes: auditLogMaxSize * 2 ** 20, maxFiles: auditLogMaxBackup }, log);
}

/** What the kubeconfig names: the host that was advertised, else the one listened on, else loopback. */
function serverHost(host: string, advertise: string | undefined): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = advertise ?? (everywhere ? '127.0.0.1' : host);
  return name.includes(':') ? `[${name}]` : name;
}
