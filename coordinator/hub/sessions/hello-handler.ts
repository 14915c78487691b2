/** Handles a hello: admits the agent and starts to send the desired state of its node, or refuses the agent. */

import { type Node, type NodeStatus, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { isConfigObject } from '../../../shared/kube/pods/config-reference.js';
import { commonFeatures, SERVICES } from '../../../shared/link/link-features.js';
import {
  HEARTBEAT_INTERVAL_MS,
  type Hello,
  type Welcome,
} from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { unknownPodVerdict } from '../../decisions/restore/unknown-pod.js';
import type { Informers } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import { encodeConfig, encodeDesired } from '../desired/desired-object.js';
import { DesiredSender, type DesiredSource } from '../desired/desired-sender.js';
import type { NodeObjects } from '../desired/node-objects.js';
import { sendPrefetchImages } from '../desired/prefetch-images.js';
import type { JoinRights } from '../identity/join-rights.js';
import { hostOffsetMs } from '../reports/host-time.js';
import type { NodeStatusWriter } from '../reports/node-status-writer.js';
import { isStorageFull, retryWhileStorageFull } from '../reports/storage-full-retry.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { ResyncTracker } from '../restore/resync-tracker.js';
import type { PendingRestore, ReturnedPods } from '../restore/returned-pods.js';
import type { ServicePublisher } from '../services/service-publisher.js';
import type { CoordinatorListSender } from './coordinator-list-sender.js';
import type { LiveSession, LiveSessions } from './live-sessions.js';
import type { NodeLiveness } from './node-liveness.js';
import { PerNodeQueue } from './per-node-queue.js';
import type { Session } from './session.js';
import { admitSession } from './session-admission.js';
import { SlicedQueue } from './sliced-queue.js';

interface HelloHandlerDeps {
  registry: Registry;
  informers: Informers;
  live: LiveSessions;
  liveness: NodeLiveness;
  nodeStatus: NodeStatusWriter;
  returnedPods: ReturnedPods;
  resync: ResyncTracker;
  objects: NodeObjects;
  services: Pick<ServicePublisher, 'connected'>;
  /** Absent if there is one coordinator. */
  coordinators?: CoordinatorListSender | undefined;
  clusterUID: string;
  epoch: string;
  authority: { trustBundleToResend(): string | undefined };
  /** Returns the rights that the node's join granted. */
  rightsOf: (node: string) => Promise<JoinRights>;
  signer: ObjectSigner;
  restore?: PendingRestore | undefined;
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/**
 * After a start of the coordinator, first connection attempts are spread over time. A returning host uses about 1.5 ms
 * of the main thread. The queue for TLS handshakes delays hosts that are due earlier than the coordinator can serve them.
 */
const SPREAD_MS_A_NODE = 2;
const RETRY_MS = 5_000;

/** Clock differences at the hello, in ms: offset of the monotonic clock, and error of the wall clock. */
interface HostTimes {
  offsetMs: number;
  skewMs: number | undefined;
}

export class HelloHandler {
  readonly #deps: HelloHandlerDeps;
  /** Handles one hello per node at a time. */
  readonly #queue: PerNodeQueue;
  readonly #flushes: SlicedQueue<Session>;

  constructor(deps: HelloHandlerDeps) {
    this.#deps = deps;
    this.#queue = new PerNodeQueue(deps.informers);
    this.#flushes = new SlicedQueue(deps, 'desired state', (session) => session.sender?.flush());
  }

  handle(session: Session, hello: Hello): void {
    const { log, clock, liveness, live } = this.#deps;
    const offsetMs = hostOffsetMs(clock.now(), hello.hostTimeMs);
    const skewMs = hello.wallTimeMs === undefined ? undefined : hello.wallTimeMs - clock.now();
    const { node } = session;
    this.#queue
      .run(node, async () => {
        await this.#decide(session, hello, { offsetMs, skewMs });
        return 0;
      })
      .catch((error: unknown) => {
        log.error({ node, err: error }, 'hello not handled');
        session.goodbye({
          reason: 'refused',
          message: 'the coordinator has an internal error',
          retryMs: RETRY_MS,
        });
      })
      .finally(() => {
        // The old session may have been closed for a new one that was then refused.
        if (!live.has(node)) liveness.disconnected(node);
      });
  }

  async #decide(session: Session, hello: Hello, times: HostTimes): Promise<void> {
    const { registry, informers, clusterUID, epoch, recordEvent, signer, live, returnedPods, clock, log } =
      this.#deps;
    // While the caches are incomplete, a missing object would look deleted.
    await Promise.all([informers.pods.synced(), informers.nodes.synced()]);
    const verdict = await admitSession(
      {
        registry,
        clusterUID,
        epoch,
        clock,
        informers,
        sessionOf: (node) => live.sessionOf(node),
        releaseSession: (rival) => live.release(rival),
        rightsOf: this.#deps.rightsOf,
      },
      session,
      hello,
    );
    if ('welcome' in verdict && signer.isAheadOfStore(hello)) {
      await returnedPods.deleteNotHeld(session.node, hello.objects, signer.receivedUpTo(hello));
    }
    if (session.phase !== 'greeting') return;
    if ('welcome' in verdict) {
      await this.#welcome(session, hello, verdict.welcome, times);
      return;
    }
    const node = informers.nodes.get({ name: session.node });
    const { remoteAddress } = session;
    if (verdict.isClone && node) recordEvent(node, 'Warning', 'DuplicateAgent', cloneMessage(remoteAddress));
    log.warn({ node: session.node, remoteAddress, ...verdict.goodbye }, 'agent refused');
    session.goodbye(verdict.goodbye);
  }

  async #welcome(session: Session, hello: Hello, node: Node, times: HostTimes): Promise<void> {
    const { offsetMs, skewMs } = times;
    const { liveness, live, nodeStatus, informers, log } = this.#deps;
    session.send({
      ...this.#welcomeFor(node, hello),
      ...(session.bearer ? { bearerToken: session.bearer } : {}),
      ...this.#deps.coordinators?.welcomeField(hello.features),
    });
    this.#deps.resync.welcomed(
      session,
      hello.objects.map(([uid]) => uid),
    );
    const sender = new DesiredSender(
      hello.objects,
      this.#sourceFor(session.node, hello),
      (message) => session.send(message),
      (delayMs) => this.#flushAfter(session, delayMs),
      () => this.#deps.resync.desiredStateSettled(session),
    );
    session.becomeLive(hello, sender);
    const entry: LiveSession = { session, nodeUid: node.metadata.uid, offsetMs, prefetchImages: [] };
    live.set(session.node, entry);
    this.#deps.coordinators?.connected(entry, hello.features);
    const ca = this.#deps.authority.trustBundleToResend();
    if (ca !== undefined) session.send({ kind: 'certified', ca });
    // Reads the Node again: it may have changed after admission, when there was no session to notify.
    const current = informers.nodes.get({ name: session.node }) ?? node;
    sendPrefetchImages(entry, current, informers.daemonSets);
    session.setPace(current);
    if (hello.features.includes(SERVICES)) this.#deps.services.connected(session);
    liveness.connected(session.node, () => session.quietMs());
    log.info({ node: session.node, version: hello.agentVersion }, 'agent connected');
    if (skewMs !== undefined) nodeStatus.setClockSkew(session.node, skewMs);
    await this.#writeStatus(entry, hello.status);
  }

  #flushAfter(session: Session, delayMs = 0): void {
    if (delayMs === 0) this.#flushes.add(session);
    else this.#deps.clock.after(delayMs, () => this.#flushes.add(session));
  }

  /** A separate method, so that its closures do not keep the whole hello in memory for the lifetime of the session. */
  async #writeStatus(entry: LiveSession, status: NodeStatus): Promise<void> {
    const { nodeStatus, clock, log } = this.#deps;
    const { session } = entry;
    const write = () => nodeStatus.write(session.node, status);
    await write().catch((error: unknown) => {
      if (!isStorageFull(error)) throw error;
      // Later reports of this node are newer and must not wait for this one.
      const isWanted = () => session.phase === 'live' && !entry.hasReportedStatus;
      void retryWhileStorageFull(write, isWanted, clock).catch((why: unknown) =>
        log.debug({ node: session.node, err: why }, 'status of the hello not written'),
      );
    });
  }

  #welcomeFor({ metadata }: Node, hello: Hello): Welcome {
    const { clusterUID, epoch, clock, informers } = this.#deps;
    const { name, uid, labels, annotations } = metadata;
    return {
      kind: 'welcome',
      features: commonFeatures(hello.features),
      clusterUID,
      epoch,
      heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
      reconnectSpreadMs: informers.nodes.size * SPREAD_MS_A_NODE,
      serverTimeMs: clock.now(),
      node: {
        metadata: {
          name,
          ...(uid && { uid }),
          ...(labels && { labels }),
          ...(annotations && { annotations }),
        },
      },
    };
  }

  #sourceFor(node: string, hello: Hello): DesiredSource {
    const { informers, signer, restore, objects, epoch } = this.#deps;
    // A host returns its objects at its first connection in an epoch. Once that is done, an object that the store lacks
    // was deleted.
    const wasResynced =
      informers.nodes.get({ name: node })?.metadata.annotations?.[RESYNCED_IN_EPOCH] === epoch;
    const isHostAhead = !wasResynced && signer.isAheadOfStore(hello);
    return {
      object: (uid) => objects.object(node, uid),
      objects: () => objects.objects(node),
      revision: () => informers.revision,
      encode: (object) =>
        isConfigObject(object) ? encodeConfig(object) : encodeDesired(object, node, signer),
      unknownPodVerdict: (digest, wasAsked) =>
        unknownPodVerdict({
          isHostAhead: isHostAhead,
          canBeAsked: digest !== '' && !wasAsked,
          isUnconfirmed: restore?.unconfirmed() !== undefined,
        }),
    };
  }
}

/** Two hosts with one identity, because a disk was cloned. */
function cloneMessage(remoteAddress: string): string {
  const where = remoteAddress ? ` from ${remoteAddress}` : '';
  return `Another agent with the identity of this node tried to connect${where} and was refused`;
}
