/**
 * Applies changes of Nodes and credentials to the links: expects new nodes, sends changed settings, and closes links of
 * deleted or revoked nodes.
 */

import { nodeOfCredential } from '../../../shared/kube/nodes/node-credential-secret.js';
import { ownGraceMs } from '../../../shared/kube/nodes/node-grace-period.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { schedulableEvent } from '../../decisions/nodes/node-status-events.js';
import type { Informers, ObjectChange } from '../../informers/informer.js';
import { sendPrefetchImages } from '../desired/prefetch-images.js';
import type { NodeCredentials } from '../identity/node-credentials.js';
import type { RecordEvent } from '../reports/record-event.js';
import { sendLinkPace } from './link-pace-sender.js';
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
  forgetters: readonly { forget(node: string): void }[];
  clusterUID: string;
  /** Records as the kubelet. */
  recordEvent: RecordEvent;
  log: Logger;
}

/** A revoked host may have a new credential at its next attempt. */
const REVOKED = {
  reason: 'refused',
  message: 'the credential of this node was revoked',
  retryMs: 10_000,
} as const;
/** For a host that has switched to another credential itself. */
const REPLACED = {
  reason: 'refused',
  message: 'another credential of this node took the place of the one that was shown',
  retryMs: 500,
} as const;
/** The socket closes within a second, even if the host does not respond. */
const REVOKED_DRAIN_MS = 500;

export class NodeChangeHandler {
  readonly #parts: NodeChangeHandlerDeps;

  constructor(parts: NodeChangeHandlerDeps) {
    this.#parts = parts;
  }

  /** Subscribes to the informers. */
  start(): void {
    const { informers } = this.#parts;
    informers.nodes.onChange((change) => this.#nodeChanged(change));
    informers.secrets.onChange((change) => this.#secretChanged(change));
  }

  #nodeChanged({ previous, current }: ObjectChange<Node>): void {
    const { liveness: presence, live, informers } = this.#parts;
    if (current) {
      presence.expect(current.metadata.name);
      if (previous && ownGraceMs(previous.metadata) !== ownGraceMs(current.metadata))
        presence.graceChanged(current.metadata.name);
      if (previous) this.#tellSchedulable(previous, current);
      const session = live.get(current.metadata.name);
      if (!session) return;
      sendPrefetchImages(session, current, informers.daemonSets);
      sendLinkPace(session, current);
    } else if (previous) this.#nodeGone(previous);
  }

  #tellSchedulable(previous: Node, current: Node): void {
    const reason = schedulableEvent(previous.spec, current.spec);
    if (!reason) return;
    const text = `Node ${current.metadata.name} status is now: ${reason}`;
    this.#parts.recordEvent(current, 'Normal', reason, text);
  }

  #nodeGone({ metadata: { name, uid } }: Node): void {
    const { liveness: presence, live, forgetters, clusterUID } = this.#parts;
    const entry = live.get(name);
    // The Node was deleted and created again, so this deletion is outdated.
    if (entry && entry.nodeUid !== uid) return;
    presence.forget(name);
    for (const each of forgetters) each.forget(name);
    entry?.session.goodbye(nodeDeletedGoodbye(clusterUID));
  }

  /** A host that is connected with a replaced credential has to authenticate again. */
  #secretChanged({ previous, current }: ObjectChange<Secret>): void {
    const node = previous && nodeOfCredential(previous.metadata);
    if (node === undefined) return;
    if (!current) this.#cutOff(node, undefined);
    else void this.#parts.credentials.get(node).then((stored) => this.#cutOff(node, stored?.hash));
  }

  /** Closes every session of a node that uses another credential. */
  #cutOff(node: string, hash: string | undefined): void {
    const { live, liveness: presence, sessions, log } = this.#parts;
    if (hash !== undefined && live.get(node)?.session.keyHash === hash) return;
    if (hash === undefined) presence.stopAwaiting(node);
    for (const session of sessions) {
      if (session.node !== node || session.keyHash === hash) continue;
      const goodbye = hash === undefined ? REVOKED : REPLACED;
      log.warn({ node, reason: goodbye.message }, 'link closed');
      session.goodbye(goodbye, REVOKED_DRAIN_MS);
    }
  }
}
