/** Applies changes of Nodes and credentials to the links, and closes links of deleted or revoked nodes. */

import { nodeOfCredential } from '../../../shared/kube/nodes/node-credential-secret.js';
import { ownGraceMs } from '../../../shared/kube/nodes/node-grace-period.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { schedulableEvent } from '../../decisions/nodes/node-status-events.js';
import type { Informers, ObjectChange } from '../../informers/informer.js';
import { sendPrefetchImages } from '../desired/prefetch-images.js';
import {
  cachedKeyHash,
  isSameHash,
  type NodeCredentials,
  secretField,
} from '../identity/node-credentials.js';
import type { LiveSessions } from './live-sessions.js';
import type { NodeLiveness } from './node-liveness.js';
import type { Session } from './session.js';
import { nodeDeletedGoodbye } from './session-admission.js';

interface NodeChangeHandlerDeps {
  informers: Informers;
  liveness: NodeLiveness;
  live: LiveSessions;
  /** All sessions with an open socket, live or not. */
  sessions: Iterable<Session>;
  credentials: NodeCredentials;
  /** Other components that keep state per node. */
  perNodeState: readonly { forget(node: string): void }[];
  clusterUID: string;
  recordEvent: RecordEvent;
  log: Logger;
}

/** A revoked host may have a new credential at its next attempt. */
const REVOKED = {
  reason: 'refused',
  message: 'the credential of this node was revoked',
  retryMs: 10_000,
} as const;
/** Goodbye for a link whose host has meanwhile registered a newer credential. */
const REPLACED = {
  reason: 'refused',
  message: 'this node has a newer credential',
  retryMs: 500,
} as const;
/** Goodbye for a link that can be neither confirmed nor refused. */
const UNREADABLE = {
  reason: 'draining',
  message: 'the credential of this node cannot be read',
  retryMs: 1_000,
} as const;
/** The socket closes within a second, even if the host does not respond. */
const REVOKED_DRAIN_MS = 500;

export class NodeChangeHandler {
  readonly #deps: NodeChangeHandlerDeps;

  constructor(deps: NodeChangeHandlerDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { informers } = this.#deps;
    informers.nodes.onChange((change) => this.#nodeChanged(change));
    informers.secrets.onChange((change) => this.#secretChanged(change));
  }

  /**
   * Closes a session whose credential is no longer that of its node. The credential of a new session can change between
   * its authentication and its registration, when `#secretChanged` does not find the session. So call this in the same
   * turn of the event loop as the registration: `#secretChanged` finds the session for each change that the cache does
   * not show yet. The store is read only if the cache lacks the credential, for example because the host has just joined.
   * Before the first list there are no changes, so the store is read after it.
   */
  async recheckCredential(session: Session): Promise<void> {
    const { node } = session;
    if (isSameHash(cachedKeyHash(this.#deps.informers.secrets, node), session.keyHash)) return;
    try {
      await this.#deps.informers.secrets.synced();
      const stored = await this.#deps.credentials.get(node);
      if (stored?.hash === session.keyHash) return;
      if (!stored) this.#deps.liveness.stopAwaiting(node);
      this.#closeLink(session, stored?.hash);
    } catch (error) {
      this.#deps.log.error({ node, err: error }, 'link closed: its credential cannot be read');
      session.goodbye(UNREADABLE);
    }
  }

  #nodeChanged({ previous, current }: ObjectChange<Node>): void {
    const { liveness, live, informers } = this.#deps;
    if (current) {
      liveness.expect(current.metadata.name);
      if (previous && ownGraceMs(previous.metadata) !== ownGraceMs(current.metadata))
        liveness.graceChanged(current.metadata.name);
      if (previous) this.#recordSchedulable(previous, current);
      const session = live.get(current.metadata.name);
      if (!session) return;
      sendPrefetchImages(session, current, informers.daemonSets);
      session.session.setPace(current);
    } else if (previous) this.#nodeDeleted(previous);
  }

  #recordSchedulable(previous: Node, current: Node): void {
    const reason = schedulableEvent(previous.spec, current.spec);
    if (!reason) return;
    const text = `Node ${current.metadata.name} status is now: ${reason}`;
    this.#deps.recordEvent(current, 'Normal', reason, text);
  }

  #nodeDeleted({ metadata: { name, uid } }: Node): void {
    const { liveness, live, perNodeState, clusterUID } = this.#deps;
    const entry = live.get(name);
    // The Node was deleted and created again, so this deletion is outdated.
    if (entry && entry.nodeUid !== uid) return;
    liveness.forget(name);
    for (const each of perNodeState) each.forget(name);
    entry?.session.goodbye(nodeDeletedGoodbye(clusterUID));
  }

  /** A host that is connected with a replaced credential has to authenticate again. */
  #secretChanged({ previous, current }: ObjectChange<Secret>): void {
    if (!previous) return;
    const node = nodeOfCredential(previous.metadata);
    if (node === undefined) return;
    const { live, liveness, sessions } = this.#deps;
    const hash = current && secretField(current, 'key');
    const isRenewed = hash !== undefined && hash === secretField(previous, 'key');
    if (isRenewed && live.get(node)?.session.keyHash === hash) return;
    if (hash === undefined) liveness.stopAwaiting(node);
    for (const session of sessions) {
      // The session may use a newer credential: a host can join again before the cache shows that it was deleted.
      if (session.node === node && session.keyHash !== hash) void this.recheckCredential(session);
    }
  }

  #closeLink(session: Session, hash: string | undefined): void {
    const goodbye = hash === undefined ? REVOKED : REPLACED;
    this.#deps.log.warn({ node: session.node, reason: goodbye.message }, 'link closed');
    session.goodbye(goodbye, REVOKED_DRAIN_MS);
  }
}
