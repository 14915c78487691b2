/** The API as a part of the coordinator: its certificates, its users, its port and the files that name it. */
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { createFileLogger, type Logger } from '../shared/process/output/logger.js';
import { VERSION } from '../shared/process/program-version.js';
import type { Component } from '../shared/process/service/program-lifecycle.js';
import { AuditFile } from './api/audit/audit-file.js';
import { loadAdminAccess, storedAdminHash } from './api/auth/admin-kubeconfig.js';
import { ADMIN, tokenAuthenticator } from './api/auth/token-authenticator.js';
import { type ApiDeps, DEFAULT_API_SETTINGS } from './api/http/api-context.js';
import { type ApiServer, createApiServer, type ServingTls } from './api/http/api-server.js';
import { AgentFiles } from './api/join/agent-downloads.js';
import { servingNames } from './api/join/serving-names.js';
import type { JoinFacts, MetricsPage } from './api/ports.js';
import { certificateUsers, linkUsers } from './certificate-users.js';
import { reachableServer } from './cli/client/reachable-server.js';
import { coalesceReruns } from './coalesce-reruns.js';
import { kubeconfigPath, pidPath, releasePaths } from './coordinator-data-dir.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import type { Hub } from './hub/hub.js';
import type { Informers } from './informers/informer.js';
import { openIdentities, openSignIn } from './open-identities.js';
import { loadPki, type Pki } from './pki/load-pki.js';
import { isInTime } from './pki/peer-certificate.js';
import { readSupplied } from './pki/supplied-certificates.js';
import { loadTicketKeys, SESSION_SECONDS } from './pki/tls-ticket-keys.js';

/** What the API is built of; the rest it opens itself. */
interface ApiPartParts
  extends Pick<
    ApiDeps,
    | 'registry'
    | 'explainer'
    | 'planner'
    | 'hostEffects'
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
export class ApiComponent implements Component {
  readonly name = 'api';
  readonly #settings: CoordinatorSettings;
  readonly #parts: ApiPartParts;
  #api: ApiServer | undefined;
  #pki: Pki | undefined;
  #audit: AuditFile | undefined;
  /**
   * Makes the serving certificate and ticket keys anew when that is due; the first also when this machine got another name or address.
   * By a clock that is read after it was asked for: one that was under way when the clock was set goes by the time before.
   */
  readonly renewCertificate = coalesceReruns(() => this.#renew());
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
    let adminHash: Buffer = (await storedAdminHash(data)) ?? Buffer.alloc(0);
    const identities = await openIdentities({
      ...parts,
      informers,
      settings: this.#settings,
      admin: (token) => tokenAuthenticator(adminHash, ADMIN)(token),
      hosts: linkUsers(hub),
    });
    const oidcSignIn = openSignIn({ settings: this.#settings, ...this.#parts });
    const agentFiles = new AgentFiles(releasePaths(data), VERSION, parts.log);
    const audit = openAudit(this.#settings, this.#parts.log);
    this.#audit = audit;
    this.#api = createApiServer({
      ...parts,
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
      tls: await this.#tls(pki),
      identities,
      authenticateSocket: certificateUsers(hub, parts.clock),
      version: VERSION,
    });
    const listening = await this.#api.listen({ host, port });
    this.server = `https://${serverHost(host, advertise)}:${listening}`;
    adminHash = await loadAdminAccess({ dataDir: data, server: this.server, caCertificate: pki.trustBundle });
    writeFileSync(pidPath(data), `${process.pid}\n`);
  }

  async #renew(): Promise<void> {
    const before = this.pki.trustBundle;
    const pki = await this.#loadPki();
    this.#api?.renewCertificate(await this.#tls(pki));
    if (pki.trustBundle === before) return;
    this.#parts.hub.sendTrustBundle();
    const { data } = this.#settings;
    await loadAdminAccess({ dataDir: data, server: this.server, caCertificate: pki.trustBundle });
  }

  /** Ticket keys are nothing that a backup should hold: they are not with the certificates. */
  async #tls({ serving, authorities }: Pki): Promise<ServingTls> {
    const keys = await loadTicketKeys(join(this.#settings.data, 'ticket-keys'), this.#parts.clock.now());
    return { ...serving, clientAuthorities: authorities, tickets: { keys, seconds: SESSION_SECONDS } };
  }

  async #joinFacts(files: AgentFiles): Promise<JoinFacts> {
    const { advertise, approveNodes } = this.#settings;
    const { trustBundle: trust, serving } = this.pki;
    return {
      server: await reachableServer(this.server, advertise),
      ...{ authority: trust, serving: serving.cert },
      ...{ hasRelease: await files.hasRelease(), approval: approveNodes },
    };
  }

  async #loadPki(): Promise<Pki> {
    const { data, advertise } = this.#settings;
    const names = servingNames(advertise ? [advertise] : []);
    const supplied = await readSupplied(this.#settings);
    const now = this.#parts.clock.now();
    this.#pki = await loadPki(join(data, 'pki'), names, now, supplied);
    this.#tellTimes(this.#pki, now);
    return this.#pki;
  }

  /** What a wrong clock, this one or that of before, has done to certificates that others hold. */
  #tellTimes({ isCaReissued, serving }: Pki, now: number): void {
    const { log } = this.#parts;
    if (isCaReissued) {
      const path = kubeconfigPath(this.#settings.data);
      log.warn(
        { kubeconfig: path },
        "the authority's certificate was not valid at this machine's time: it was made anew for the same key. Hosts and join tokens need nothing; copies of the kubeconfig, and those of users, need the new one",
      );
    }
    const certificate = new X509Certificate(serving.cert);
    if (isInTime(certificate, now)) return;
    const { validFrom, validTo } = certificate;
    log.warn(
      { validFrom, validTo },
      "the certificate of --tls-cert-file is not valid at this machine's time: clients refuse it until it is replaced or the clock is right",
    );
  }

  async stop(): Promise<void> {
    await this.#api?.close();
    await this.#audit?.flush();
  }
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

/** What the kubeconfig names: the host that was advertised, else the one listened on, else loopback. */
function serverHost(host: string, advertise: string | undefined): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = advertise ?? (everywhere ? '127.0.0.1' : host);
  return name.includes(':') ? `[${name}]` : name;
}
