/** Handles a hello: admits the agent and starts to send the desired state of its node, or refuses the agent. */

import { type Node, type NodeStatus, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { isConfigObject } from '../../../shared/kube/pods/config-reference.js';
import {
  CONFIG_OBJECTS,
  commonFeatures,
  PINNED_IMAGES,
  RETURN_OBJECTS,
} from '../../../shared/link/link-features.js';
import {
  HEARTBEAT_INTERVAL_MS,
  type Hello,
  type Welcome,
} from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
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
import type { RecordEvent } from '../reports/record-event.js';
import { isStorageFull, retryWhileStorageFull } from '../reports/storage-full-retry.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { PendingRestore } from '../restore/pending-restore.js';
import type { ResyncTracker } from '../restore/resync-tracker.js';
import type { ReturnedPods } from '../restore/returned-pods.js';
import { sendLinkPace } from './link-pace-sender.js';
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
  clusterUID: string;
  epoch: string;
  authority: { trustBundleToResend(): string | undefined };
  /** Returns the rights that the node's join granted. */
  rightsOf: (node: string) => Promise<JoinRights>;
  signer: ObjectSigner;
  restore?: PendingRestore | undefined;
  /** Records as `node-controller`. */
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

/**
 * After a start of the coordinator, first connection attempts are spread over time. A handshake with certificates and a
 * hello use up to 3 ms of a core.
 */
const SPREAD_MS_A_NODE = 4;
const RETRY_MS = 5_000;

/**
 * Clock differences when the hello arrived, in ms: the offset to add to the host's monotonic times, and the error of
 * its wall clock.
 */
interface HostTimes {
  offsetMs: number;
  skewMs: number | undefined;
}

export class HelloHandler {
  readonly #parts: HelloHandlerDeps;
  /** Handles one hello per node at a time. */
  readonly #lanes: PerNodeQueue;
  readonly #fanOut: SlicedQueue<Session>;

  constructor(parts: HelloHandlerDeps) {
    this.#parts = parts;
    this.#lanes = new PerNodeQueue(parts.informers);
    this.#fanOut = new SlicedQueue(parts.clock, (session) => session.sender?.flush());
  }

  handle(session: Session, hello: Hello): void {
    const { log, clock, liveness: presence, live } = this.#parts;
    const offsetMs = hostOffsetMs(clock.now(), hello.hostTimeMs);
    const skewMs = hello.wallTimeMs === undefined ? undefined : hello.wallTimeMs - clock.now();
    const { node } = session;
    this.#lanes
      .run(node, async () => {
        await this.#decide(session, hello, { offsetMs, skewMs });
        return 0;
      })
      .catch((error: unknown) => {
        log.error({ node, err: error }, 'hello could not be answered');
        session.goodbye({ reason: 'refused', message: 'the coordinator has trouble', retryMs: RETRY_MS });
      })
      .finally(() => {
        // The old session may have been closed for a new one that was then refused.
        if (!live.has(node)) presence.disconnected(node);
      });
  }

  async #decide(session: Session, hello: Hello, times: HostTimes): Promise<void> {
    const {
      registry,
      informers,
      clusterUID,
      epoch,
      recordEvent,
      signer: sealer,
      live,
      returnedPods: givenBack,
      clock,
      log,
    } = this.#parts;
    // While the caches are incomplete, a missing object would look deleted.
    await Promise.all([informers.pods.synced(), informers.nodes.synced()]);
    const verdict = await admitSession(
      {
        registry,
        clusterUID,
        epoch: epoch,
        clock,
        informers,
        sessionOf: (node) => live.sessionOf(node),
        releaseSession: (rival) => live.release(rival),
        rightsOf: this.#parts.rightsOf,
      },
      session,
      hello,
    );
    if ('welcome' in verdict && sealer.isAheadOfStore(hello)) {
      await givenBack.deleteNotHeld(session.node, hello.objects, sealer.receivedUpTo(hello));
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
    const { liveness: presence, live, nodeStatus: conditions, informers, log } = this.#parts;
    session.send({
      ...this.#welcomeFor(node, hello),
      ...(session.bearer ? { bearerToken: session.bearer } : {}),
    });
    this.#parts.resync.welcomed(
      session,
      hello.objects.map(([uid]) => uid),
    );
    const sender = new DesiredSender(
      hello.objects,
      this.#sourceFor(session.node, hello),
      (message) => session.send(message),
      () => this.#fanOut.add(session),
      () => this.#parts.resync.desiredStateSettled(session),
    );
    session.becomeLive(hello.instanceID, commonFeatures(hello.features), sender);
    const heldImages = hello.features.includes(PINNED_IMAGES) ? [] : undefined;
    const entry: LiveSession = { session, nodeUid: node.metadata.uid, offsetMs, prefetchImages: heldImages };
    live.set(session.node, entry);
    const ca = this.#parts.authority.trustBundleToResend();
    if (session.acceptsCertificates && ca !== undefined) session.send({ kind: 'certified', ca });
    // Reads the Node again: it may have changed after admission, when no session existed yet to notify.
    sendPrefetchImages(entry, informers.nodes.get({ name: session.node }) ?? node, informers.daemonSets);
    sendLinkPace(entry, informers.nodes.get({ name: session.node }) ?? node);
    presence.connected(session.node, () => session.quietMs());
    log.info({ node: session.node, version: hello.agentVersion }, 'agent connected');
    if (skewMs !== undefined) conditions.setClockSkew(session.node, skewMs);
    await this.#writeStatus(entry, hello.status);
  }

  /** A separate method, so that its closures do not keep the whole hello in memory for the lifetime of the session. */
  async #writeStatus(entry: LiveSession, status: NodeStatus): Promise<void> {
    const { nodeStatus: conditions, clock, log } = this.#parts;
    const { session } = entry;
    const write = () => conditions.write(session.node, status);
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
    const { clusterUID, epoch, clock, informers } = this.#parts;
    const { name, uid, labels, annotations } = metadata;
    return {
      kind: 'welcome',
      features: commonFeatures(hello.features),
      clusterUID,
      epoch: epoch,
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
    const { informers, signer: sealer, restore, objects, epoch } = this.#parts;
    // A host returns its objects at its first connection in an epoch. Once that is done, an object that the store lacks
    // was deleted.
    const wasHeard = informers.nodes.get({ name: node })?.metadata.annotations?.[RESYNCED_IN_EPOCH] === epoch;
    const isHostBeyond = !wasHeard && sealer.isAheadOfStore(hello);
    const canGiveBack = hello.features.includes(RETURN_OBJECTS);
    const kinds = { config: hello.features.includes(CONFIG_OBJECTS) };
    return {
      object: (uid) => objects.object(node, uid, kinds),
      objects: () => objects.objects(node, kinds),
      revision: () => informers.revision,
      encode: (object) =>
        isConfigObject(object) ? encodeConfig(object) : encodeDesired(object, node, sealer),
      unknownPodVerdict: (digest, wasAsked) =>
        unknownPodVerdict({
          isHostAhead: isHostBeyond,
          canBeAsked: canGiveBack && digest !== '' && !wasAsked,
          isUnconfirmed: restore?.unconfirmed() !== undefined,
        }),
    };
  }
}

/** Two hosts with one identity, because a disk was cloned. */
function cloneMessage(remoteAddress: string): string {
  const where = remoteAddress ? ` from ${remoteAddress}` : '';
  return `Another agent tried to connect${where} with the identity of this node and was refused`;
}
