/** Builds the API with its certificates, authentication, audit log and files, and starts it. */

import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { createFileLogger, type Logger } from '../shared/process/output/logger.js';
import { VERSION } from '../shared/process/release-version.js';
import type { Component } from '../shared/process/service/program-lifecycle.js';
import { AuditFile } from './api/audit/audit-file.js';
import { loadAdminAccess, storedAdminHash } from './api/auth/admin-kubeconfig.js';
import { ADMIN, tokenAuthenticator } from './api/auth/token-authenticator.js';
import { type ApiDeps, DEFAULT_API_SETTINGS } from './api/http/api-context.js';
import { type ApiServer, createApiServer } from './api/http/api-server.js';
import { DEFAULT_LIMITS, type ServingTls } from './api/http/tls-options.js';
import { AgentFiles } from './api/join/agent-downloads.js';
import { RefusedPeers } from './api/limits/refused-peers.js';
import type { JoinFacts, LeadershipProof, MetricsPage } from './api/ports.js';
import type { LeaderDoor } from './cluster/front-door/front-door.js';
import { pidPath, releasePaths } from './coordinator-data-dir.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import { linkThreadCount } from './decisions/nodes/link-thread-count.js';
import type { Hub } from './hub/hub.js';
import type { Informers } from './informers/informer.js';
import { LinkThreads } from './link-threads/link-threads.js';
import { certificateUsers, linkUsers, openIdentities, openSignIn } from './open-identities.js';
import { reachableServer } from './server-addresses.js';
import type { ServingCertificates } from './serving-certificates.js';

const LOOPBACK = '127.0.0.1';

interface ApiComponentDeps
  extends Pick<
    ApiDeps,
    | 'registry'
    | 'explainer'
    | 'serviceExplainer'
    | 'jobHosts'
    | 'effectiveValues'
    | 'planner'
    | 'hostEffects'
    | 'calendars'
    | 'hosts'
    | 'readings'
    | 'availability'
    | 'restore'
    | 'backups'
    | 'releases'
    | 'cluster'
    | 'coordinators'
    | 'clock'
    | 'log'
  > {
  certificates: ServingCertificates;
  hub: Hub;
  informers: Informers;
  metrics: MetricsPage;
  /** The open port of a cluster's leader. Absent for a single coordinator, which listens on its own. */
  frontDoor?: LeaderDoor;
  /** Absent if this is the only coordinator. */
  leadership?: LeadershipProof;
}

/** Start order: certificates, port, kubeconfig with the address. */
export class ApiComponent implements Component {
  readonly name = 'api';
  readonly #settings: CoordinatorSettings;
  readonly #deps: ApiComponentDeps;
  #api: ApiServer | undefined;
  #audit: AuditFile | undefined;
  #linkThreads: LinkThreads | undefined;
  server = '';

  constructor(settings: CoordinatorSettings, deps: ApiComponentDeps) {
    this.#settings = settings;
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { data, host, port, advertise } = this.#settings;
    const { clientRequestsPerSecond, clientBurst, requestLog, requestLogFile } = this.#settings;
    const { hub, informers, certificates, frontDoor, ...deps } = this.#deps;
    const tls = await certificates.load((renewed, isTrustChanged) =>
      this.#onRenewed(renewed, isTrustChanged),
    );
    // Read before the first request; otherwise an administrator's early request would be refused.
    let adminHash: Buffer = (await storedAdminHash(data)) ?? Buffer.alloc(0);
    const identities = await openIdentities({
      ...deps,
      informers,
      settings: this.#settings,
      admin: (token) => tokenAuthenticator(adminHash, ADMIN)(token),
      hosts: linkUsers(hub),
    });
    const oidcSignIn = openSignIn({ settings: this.#settings, ...this.#deps });
    const agentFiles = new AgentFiles(releasePaths(data), VERSION, deps.log);
    const audit = openAudit(this.#settings, this.#deps.log);
    this.#audit = audit;
    const linkThreads = await this.#openThreads(tls, audit);
    this.#linkThreads = linkThreads;
    const forwarding = frontDoor?.forwarding ?? linkThreads?.forwarding;
    this.#api = createApiServer({
      ...deps,
      ...(audit ? { audit } : {}),
      streams: hub.streams,
      meters: hub.meters,
      agentLink: hub,
      agentFiles,
      joinFacts: () => this.#joinFacts(agentFiles),
      ...(oidcSignIn ? { oidcSignIn } : {}),
      settings: {
        ...DEFAULT_API_SETTINGS,
        requestLog,
        clientLimits: { requestsPerSecond: clientRequestsPerSecond, burst: clientBurst },
      },
      ...(requestLogFile ? { requestLog: openRequestLog(requestLogFile) } : {}),
      ...(forwarding ? { forwarding } : {}),
      tls,
      identities,
      authenticateSocket: certificateUsers(hub, deps.clock),
      version: VERSION,
    });
    const listening = await listenOn(this.#api, { host, port }, { door: frontDoor, threads: linkThreads });
    this.server = `https://${serverHost(host, advertise)}:${listening}`;
    adminHash = await this.#writeKubeconfig();
    writeFileSync(pidPath(data), `${process.pid}\n`);
  }

  async #openThreads(tls: ServingTls, audit: AuditFile | undefined): Promise<LinkThreads | undefined> {
    const { hub, informers, frontDoor, clock, log } = this.#deps;
    const { linkThreads: setting } = this.#settings;
    await informers.nodes.synced();
    const nodeVersion = process.versions.node;
    const machine = { cores: availableParallelism(), nodeVersion, platform: process.platform };
    const count = linkThreadCount(setting, { ...machine, hosts: informers.nodes.size });
    if (count === 0) return undefined;
    if (frontDoor) {
      // A leader's port is open before it leads, so threads would get only a part of the connections.
      if (setting !== 'auto') log.warn({ setting }, '--link-threads has no effect with several coordinators');
      return undefined;
    }
    if (count < Number(setting))
      log.warn(
        { setting, nodeVersion },
        'one link thread: several need Linux and Node.js 22.12, 23.1 or later',
      );
    log.info({ threads: count }, 'threads terminate the links of agents');
    const { upgrader } = hub;
    const peers = new RefusedPeers({ clock, log, audit });
    return new LinkThreads({ count, upgrader, peers, tls, limits: DEFAULT_LIMITS, clock, log });
  }

  async #onRenewed(tls: ServingTls, isTrustChanged: boolean): Promise<void> {
    this.#api?.renewCertificate(tls);
    this.#linkThreads?.renewCertificate(tls);
    if (!isTrustChanged) return;
    this.#deps.hub.sendTrustBundle();
    await this.#writeKubeconfig();
  }

  /** Returns the hash of the administrator's token. */
  #writeKubeconfig(): Promise<Buffer> {
    const { trustBundle } = this.#deps.certificates.pki;
    return loadAdminAccess({ dataDir: this.#settings.data, server: this.server, caCertificate: trustBundle });
  }

  async #joinFacts(files: AgentFiles): Promise<JoinFacts> {
    const { advertise, approveNodes } = this.#settings;
    const { trustBundle: trust, serving } = this.#deps.certificates.pki;
    return {
      server: await reachableServer(this.server, advertise),
      ...{ authority: trust, serving: serving.cert },
      ...{ hasRelease: await files.hasRelease(), approval: approveNodes },
    };
  }

  async stop(): Promise<void> {
    await this.#api?.close();
    await this.#linkThreads?.close();
    await this.#audit?.flush();
  }
}

/** Returns the port. */
async function listenOn(
  api: ApiServer,
  address: { host: string; port: number },
  { door, threads }: { door: LeaderDoor | undefined; threads: LinkThreads | undefined },
): Promise<number> {
  if (threads) return threads.listen({ ...address, apiPort: await api.listen({ host: LOOPBACK, port: 0 }) });
  if (!door) return api.listen(address);
  await api.listenOn(door);
  return door.port;
}

/** Throws `ExitError` that names the option. */
function openRequestLog(path: string): Logger {
  try {
    return createFileLogger(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.environment, `--request-log-file: ${path} cannot be written: ${why}.`);
  }
}

function openAudit(settings: CoordinatorSettings, log: Logger): AuditFile | undefined {
  const { data, auditLogPath, auditLogMaxSize, auditLogMaxBackup } = settings;
  if (auditLogPath === 'off') return undefined;
  const path = auditLogPath || join(data, 'audit', 'audit.log');
  return new AuditFile({ path, maxBytes: auditLogMaxSize * 2 ** 20, maxFiles: auditLogMaxBackup }, log);
}

/** Returns the host for the kubeconfig: the advertised one, else the listen address, else loopback. */
function serverHost(host: string, advertise: string | undefined): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = advertise ?? (everywhere ? '127.0.0.1' : host);
  return name.includes(':') ? `[${name}]` : name;
}
