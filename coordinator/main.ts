/** Builds the coordinator's components and starts them in order. */
import { join } from 'node:path';
import { EXIT_CODES } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import { VERSION } from '../shared/process/release-version.js';
import {
  type Component,
  type RunningComponents,
  startComponents,
} from '../shared/process/service/program-lifecycle.js';
import { type Clock, systemClock } from '../shared/process/time/clock.js';
import { loadSigningKeys } from './access/token-signing-keys.js';
import type { ClusterPort } from './api/join/cluster-port.js';
import type { CoordinatorSource, HostReadingSource, LeadershipProof } from './api/ports.js';
import { ReleaseUploads } from './api/releases/release-uploads.js';
import { ApiComponent } from './api-component.js';
import { availabilityStorage } from './availability-storage.js';
import { BackupDownloads } from './backup-downloads.js';
import type { LeaderDoor } from './cluster/front-door/front-door.js';
import { AvailabilityRecorder } from './controllers/nodes/availability-recorder.js';
import { readNotificationFile } from './controllers/notifications/notification-file.js';
import { Notifier } from './controllers/notifications/notifier.js';
import { webhookReceivers } from './controllers/notifications/webhook-receivers.js';
import { ManifestPlanner } from './controllers/plan/manifest-planner.js';
import type { QueueMeter } from './controllers/queue/reconcile-worker.js';
import { ConditionHistory } from './controllers/views/condition-history.js';
import { DaemonJobHostView } from './controllers/views/daemonjob-hosts.js';
import { DaemonSetExplainer } from './controllers/views/daemonset-explainer.js';
import { EffectiveValueView } from './controllers/views/effective-values.js';
import { HostChangePreview } from './controllers/views/host-change-preview.js';
import { HostIndex } from './controllers/views/host-index.js';
import { PolicyCalendars } from './controllers/views/policy-calendars.js';
import { ServiceExplainer } from './controllers/views/service-explainer.js';
import { type CoordinatorCore, createCoordinatorCore } from './coordinator-core.js';
import { releasePaths, secretsKeyPath } from './coordinator-data-dir.js';
import { type CoordinatorSettings, evictionRatesOf, nodeGracePeriodsOf } from './coordinator-settings.js';
import { withExitErrors } from './exit-errors.js';
import { loadObjectMacKey } from './hub/restore/object-signer.js';
import type { CoordinatorList } from './hub/sessions/coordinator-list-sender.js';
import type { Informers } from './informers/informer.js';
import { secretKind } from './kinds/index.js';
import type { AppendObserver } from './metrics/cluster-metrics.js';
import { Metrics } from './metrics/prometheus-metrics.js';
import { CertificateAuthority } from './pki/certificate-authority.js';
import { openEventStore } from './registry/events/event-store.js';
import { prefixOf } from './registry/storage-keys.js';
import { type BackupSettings, type ScheduledJobsOptions, startScheduledJobs } from './scheduled-jobs.js';
import { ServingCertificates } from './serving-certificates.js';
import { BACKUPS_DIRECTORY } from './store/backup/take-backup.js';
import { loadEncryptionKeys } from './store/encryption/encryption-keys.js';
import { ValueEncryption } from './store/encryption/value-encryption.js';
import type { CommitReplication, OpenReplication } from './store/replica/commit-replication.js';
import { openSqliteStore } from './store/sqlite/sqlite-store.js';
import { StartReserve, waitForStartSpace } from './store/start-reserve.js';
import type { Store } from './store/store.js';

/** Key prefixes of the kinds that are stored encrypted. */
const ENCRYPTED_PREFIXES = [prefixOf(secretKind)];

/** What a coordinator that leads others gets from the cluster. */
interface MemberEnvironment {
  openReplication(...input: [...Parameters<OpenReplication>, AppendObserver]): CommitReplication;
  /** Called when the store is open, before anything reads it. Rejects with `ExitError` if another coordinator leads. */
  begin(): Promise<void>;
  readonly frontDoor: LeaderDoor;
  readonly cluster: ClusterPort;
  readonly leadership: LeadershipProof;
  readonly coordinators: CoordinatorSource;
  /** The addresses that agents learn. */
  readonly addresses: CoordinatorList;
  readonly components: readonly Component[];
  /** Stores the fleet's keys for the other coordinators. */
  publishKeys(): Promise<void>;
}

export interface RunningCoordinator extends RunningComponents {
  /** `https://HOST:PORT` as in the kubeconfig. */
  readonly server: string;
}

/**
 * Resolves when the API serves. Throws `ExitError` for causes that an operator can fix: the port is in use, the
 * directory is not writable, or the database is damaged, newer or in use.
 */
export async function startCoordinator(
  settings: CoordinatorSettings,
  log: Logger,
  member?: MemberEnvironment,
): Promise<RunningCoordinator> {
  const clock = systemClock;
  const { data } = settings;
  const notifiers = notifiersOf(settings);
  const metrics = new Metrics();
  await waitForStartSpace({ dataDir: data, clock, log });
  const store = await openStore(settings, log, metrics, member);
  const { eventStore, objectMacKey, signingKeys } = await loadState(data, store, log).catch(closing(store));
  const certificates = servingCertificates(settings, log, member);
  const authority = authorityOf(certificates);
  const core = createCoordinatorCore({
    queueMeter: metrics.queues,
    onEviction: metrics.onEviction,
    ...settings,
    ...(member && { coordinatorList: member.addresses }),
    ...nodeGracePeriodsOf(settings),
    evictionRates: evictionRatesOf(settings),
    ...{ store, eventStore, objectMacKey, authority },
    credentials: { trust: certificates, signingKeys },
    clock,
    log,
  });
  const { registry, informers, hub, restore, activeRollouts, refusals, liveness } = core;
  const shared = { registry, informers, clock, log };
  const availability = new AvailabilityRecorder({ ...shared, storage: availabilityStorage(store) });
  followClockSteps(core, { certificates, availability, log });
  const backups = new BackupDownloads({ ...backupSettings(settings), clock, log });
  const releases = new ReleaseUploads(releasePaths(data), { clock, log });
  const api = new ApiComponent(settings, {
    ...{ ...shared, certificates, hub, restore, backups, releases },
    ...apiPartsOf(member),
    explainer: new DaemonSetExplainer({ informers, clock, rollouts: activeRollouts, refusals }),
    jobHosts: new DaemonJobHostView({ informers, clock }),
    effectiveValues: new EffectiveValueView({ informers, clock }),
    serviceExplainer: new ServiceExplainer({ informers, clock, sent: hub.services }),
    hosts: new HostIndex({ informers, liveness, clock }),
    availability,
    readings: readingSource(hub, new ConditionHistory({ informers, clock }), availability),
    planner: new ManifestPlanner({ registry, informers, clock }),
    hostEffects: new HostChangePreview({ informers, clock }),
    calendars: new PolicyCalendars({ informers, clock }),
    metrics: metricsPage(metrics, core, member),
  });
  const running = await startComponents(
    [
      { name: 'store', stop: () => store.close() },
      ...core.components,
      ...(member?.components ?? []),
      availability,
      backups,
      releases,
      ...notifiers({ ...shared, queueMeter: metrics.queues }),
      scheduledJobs({
        ...shared,
        ...{ store, eventStore, restore, sinceClockStepMs: () => core.clockSteps.sinceStepMs() },
        backups: backupSettings(settings),
        renewCertificate: certificates.renew,
      }),
      api,
      new StartReserve({ dataDir: data, clock, log }),
      // Last in the list, so it is stopped first: the port can close only after the hub has closed its sockets.
      { name: 'hub', stop: () => hub.stop() },
    ],
    log,
  );
  log.info({ server: api.server, version: VERSION }, 'coordinator serves');
  return { server: api.server, stop: () => running.stop() };
}

function metricsPage(
  metrics: Metrics,
  { informers, hub, registry }: CoordinatorCore,
  member: MemberEnvironment | undefined,
) {
  return metrics.page(
    {
      ...{ informers, connected: () => hub.connected, meters: hub.meters, services: hub.services },
      ...(member && { cluster: member.coordinators }),
    },
    new Set(registry.kinds.map(({ resource }) => resource)),
  );
}

function readingSource(
  { readings }: CoordinatorCore['hub'],
  conditions: ConditionHistory,
  availability: AvailabilityRecorder,
): HostReadingSource {
  return {
    of: (name) => {
      const ofHost = availability.of(name);
      const changes = conditions.of(name);
      return { ...readings.of(name), changes, ...(ofHost ? { availability: ofHost } : {}) };
    },
  };
}

type NotifierInput = { informers: Informers; queueMeter: QueueMeter; clock: Clock; log: Logger };

/** Reads the file before anything starts. Throws `ExitError` for an invalid one. */
function notifiersOf({ notificationFile }: CoordinatorSettings): (shared: NotifierInput) => Notifier[] {
  if (!notificationFile) return () => [];
  const settings = readNotificationFile(notificationFile);
  const { siteLabel } = settings;
  return (shared) => [new Notifier({ ...shared, siteLabel, receivers: webhookReceivers(settings) })];
}

function authorityOf(certificates: ServingCertificates): CertificateAuthority {
  const renew = () => certificates.renew();
  return new CertificateAuthority(() => certificates.pki, systemClock, renew);
}

/** Loads the keys of this directory, or creates them, and opens the store of Events. Throws `ExitError`. */
async function loadState(data: string, store: Store, log: Logger) {
  const pki = join(data, 'pki');
  return {
    objectMacKey: await loadObjectMacKey(pki),
    signingKeys: await loadSigningKeys(pki),
    eventStore: await openEventStore({ main: store, clock: systemClock, log }),
  };
}

function servingCertificates(
  settings: CoordinatorSettings,
  log: Logger,
  member: MemberEnvironment | undefined,
): ServingCertificates {
  if (!member) return new ServingCertificates({ settings, clock: systemClock, log });
  const otherNames = () => member.addresses.list().map((server) => new URL(server).hostname);
  const certificates = new ServingCertificates({
    ...{ settings, otherNames, clock: systemClock, log },
    publishKeys: () => member.publishKeys(),
  });
  member.addresses.onChange(() => {
    if (!certificates.isLoaded) return;
    certificates
      .renew()
      .catch((error: unknown) => log.error({ err: error }, 'failed to renew the certificate'));
  });
  return certificates;
}

function apiPartsOf(member: MemberEnvironment | undefined) {
  if (!member) return {};
  const { frontDoor, cluster, coordinators, leadership } = member;
  return { frontDoor, cluster, coordinators, leadership };
}

interface ClockStepFollowers {
  certificates: ServingCertificates;
  availability: AvailabilityRecorder;
  log: Logger;
}

/** A certificate that was issued with a wrong clock may have expired, or may not be valid yet. */
function followClockSteps(
  { clockSteps }: CoordinatorCore,
  { certificates, availability, log }: ClockStepFollowers,
): void {
  clockSteps.onStep(() => {
    availability.onClockStep();
    certificates
      .renew()
      .catch((error: unknown) => log.error({ err: error }, 'failed to renew the certificate'));
  });
}

/**
 * Closes the store if an error occurs before it is a started component. Otherwise its lock would outlive the failed
 * start.
 */
function closing(store: Store): (error: unknown) => Promise<never> {
  return async (error) => {
    await store.close();
    throw error;
  };
}

/** Opens the store. Throws `ExitError` for problems with the data. */
async function openStore(
  settings: CoordinatorSettings,
  log: Logger,
  metrics: Metrics,
  member: MemberEnvironment | undefined,
): Promise<Store> {
  const { data: dataDir } = settings;
  // After a failed write only a new start can find out what the disk contains.
  const onFailed = () => process.exit(EXIT_CODES.unexpected);
  const keyOption = settings.secretsKeyFile === undefined ? '--data' : '--secrets-key-file';
  const keys = await withExitErrors(
    () => loadEncryptionKeys(secretsKeyPath(settings, process.env)),
    keyOption,
  );
  const seal = new ValueEncryption(ENCRYPTED_PREFIXES, keys);
  const store = await withExitErrors(() =>
    openSqliteStore({
      ...{ dataDir, clock: systemClock, log, onFailed, encryption: seal },
      ...{ onCommit: metrics.onCommit, onFull: metrics.onFull },
      ...(member && replicationOf(member, metrics)),
    }),
  );
  await member?.begin().catch(closing(store));
  return store;
}

function replicationOf(member: MemberEnvironment, metrics: Metrics): { openReplication: OpenReplication } {
  const observer = metrics.observeAppends();
  return { openReplication: (position, database) => member.openReplication(position, database, observer) };
}

function backupSettings({
  data,
  backupSchedule,
  backupsKept,
  backupDir,
}: CoordinatorSettings): BackupSettings {
  return {
    schedule: backupSchedule,
    dataDir: data,
    directory: backupDir ?? join(data, BACKUPS_DIRECTORY),
    keep: backupsKept,
  };
}

function scheduledJobs(options: ScheduledJobsOptions): Component {
  let schedules: { stop(): void } | undefined;
  return {
    name: 'schedules',
    start: () => {
      schedules = startScheduledJobs(options);
    },
    stop: () => schedules?.stop(),
  };
}
