/** What changes of Nodes and of their credentials mean for the links: who is expected, told anew, or sent away. */

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
  /** All with an open socket, live or not. */
  sessions: Iterable<Session>;
  credentials: NodeCredentials;
  /** Who keeps something of each node, besides its presence. */
  forgetters: readonly { forget(node: string): void }[];
  clusterUID: string;
  /** As a kubelet. */
  recordEvent: RecordEvent;
  log: Logger;
}

/** A revoked host may have been given a new credential by its next try. */
const REVOKED = {
  reason: 'refused',
  message: 'the credential of this node was revoked',
  retryMs: 10_000,
} as const;
/** Of a host that has changed to another credential itself. */
const REPLACED = {
  reason: 'refused',
  message: 'another credential of this node took the place of the one that was shown',
  retryMs: 500,
} as const;
/** The socket is closed within a second, whether the host listens or not. */
const REVOKED_DRAIN_MS = 500;

export class NodeChangeHandler {
  readonly #parts: NodeChangeHandlerDeps;

  constructor(parts: NodeChangeHandlerDeps) {
    this.#parts = parts;
  }

  /** Hears of every change from now on. */
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
    // Deleted and made anew: the news of the deletion is old.
    if (entry && entry.nodeUid !== uid) return;
    presence.forget(name);
    for (const each of forgetters) each.forget(name);
    entry?.session.goodbye(nodeDeletedGoodbye(clusterUID));
  }

  /** Who is connected by a credential that is its node's no more has to prove itself anew. */
  #secretChanged({ previous, current }: ObjectChange<Secret>): void {
    const node = previous && nodeOfCredential(previous.metadata);
    if (node === undefined) return;
    if (!current) this.#cutOff(node, undefined);
    else void this.#parts.credentials.get(node).then((stored) => this.#cutOff(node, stored?.hash));
  }

  /** Ends every session of a node that was begun by another credential than this one. */
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
