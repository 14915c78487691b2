/**
 * Decides which hosts may join. A host joins with a token: its key is registered under its name, and its certificate is
 * signed. From then on the certificate and the registered key identify the host.
 */

import { NODE_USER_PREFIX, NODES_GROUP } from '../../../shared/kube/access/node-identity.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { JoinResponse } from '../../../shared/link/messages/link-messages.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import type { Registry } from '../../registry/registry.js';
import { signJoin } from '../restore/join-signature.js';
import type { ObjectSigner } from '../restore/object-signer.js';
import type { PendingRestore } from '../restore/returned-pods.js';
import { bearerTokenOf, unauthorized } from './bearer-token.js';
import { type JoinCall, type JoinCandidate, readJoinCandidate, readNodeRequest } from './join-candidate.js';
import { type JoinRights, NO_RIGHTS } from './join-rights.js';
import { JoinTokenChecker } from './join-token-checker.js';
import { type NameInUseDeps, rejectNameInUse } from './name-in-use.js';
import {
  isSameHash,
  keyRevokedError,
  type NodeCredentials,
  removalCommand,
  type StoredCredential,
} from './node-credentials.js';
import { BOOTSTRAP_USER_PREFIX } from './node-subject.js';
import { type JoinRequestState, type PendingHost, PendingJoins } from './pending-joins.js';

/**
 * No certificate of Everynode can have expired before this date. An earlier end was signed with a wrong clock, for
 * example 1970 after a flat battery.
 */
const FIRST_MADE_MS = Date.parse('2025-01-01T00:00:00Z');

/** `waiting`: an operator has to approve `request`, a CertificateSigningRequest. */
export type JoinOutcome =
  | { state: 'joined'; answer: JoinResponse }
  | { state: 'waiting'; request: string; message: string };

export interface EnrolmentDeps extends NameInUseDeps {
  registry: Registry;
  clock: Clock;
  clusterUID: string;
  signer: ObjectSigner;
  authority: Pick<CertificateAuthority, 'read' | 'sign' | 'trustBundle'>;
  credentials: NodeCredentials;
  /** True if an operator has to approve each new node. */
  approveNodes?: boolean | undefined;
  restore?: PendingRestore | undefined;
}

/** The user that files the request, and the reason why approval is needed. */
type Waiting = Pick<PendingHost, 'username' | 'groups' | 'why' | 'rights'>;

export class Enrolment {
  readonly #deps: EnrolmentDeps;
  readonly #tokens: JoinTokenChecker;
  readonly #credentials: NodeCredentials;
  readonly #pending: PendingJoins;

  constructor(deps: EnrolmentDeps) {
    this.#deps = deps;
    this.#tokens = new JoinTokenChecker(deps.registry, deps.clock);
    this.#credentials = deps.credentials;
    this.#pending = new PendingJoins(deps.registry);
  }

  /**
   * Joins a host by token: registers and signs its key if the name has none, or files a request if an operator has to
   * approve. Repeating the call returns the same outcome. Throws ApiError: 400; 401 for a wrong or expired token; 403
   * for a refused host; 409 for a name in use; 422 for an invalid name; 503 while the name's last Pods are removed.
   */
  async join(call: JoinCall): Promise<JoinOutcome> {
    const token = await this.#tokens.check(bearerTokenOf(call.authorization));
    const candidate = await readJoinCandidate(this.#deps.authority, call);
    this.#tokens.checkName(token, candidate.node);
    const stored = await this.#credentials.get(candidate.node);
    refuseOther(candidate.node, stored, candidate);
    if (!stored) await this.#refuseReuse(candidate);
    await this.#tokens.redeem(token, candidate.hash);
    if (!this.#deps.approveNodes || this.#isMember(stored)) return this.#admit(candidate, token.rights);
    return this.#wait(candidate, {
      username: `${BOOTSTRAP_USER_PREFIX}${token.id}`,
      groups: ['system:bootstrappers', 'system:authenticated'],
      why: 'new nodes need approval',
      rights: token.rights,
    });
  }

  /**
   * Issues a certificate to a host with a registered key. The key signs the request. If the certificate has expired, an
   * operator has to approve. Throws ApiError 400, 401, 403.
   */
  async certify(call: JoinCall): Promise<JoinOutcome> {
    const candidate = await readJoinCandidate(this.#deps.authority, call);
    const { node, csr } = candidate;
    const stored = await this.#credentials.get(node);
    if (isSameHash(stored?.hash, candidate.hash)) {
      if (this.#isMember(stored)) return this.#certified(node, csr);
      return this.#wait(candidate, {
        username: `${NODE_USER_PREFIX}${node}`,
        groups: [NODES_GROUP, 'system:authenticated'],
        why: `the certificate of this node has expired${stored ? endText(stored) : ''}`,
      });
    }
    const request = await this.#pending.find(candidate.hash);
    if (request) return this.#outcomeOf(candidate, request);
    if (await this.#credentials.isRevoked(node, candidate.hash))
      throw refused('the key of this host was revoked');
    throw unauthorized();
  }

  /** Refuses revoked keys, and refuses the name of a revoked host until its Node and Pods are gone. */
  async #refuseReuse({ node, hash }: JoinCandidate): Promise<void> {
    if (await this.#credentials.isRevoked(node, hash)) throw keyRevokedError(node);
    await rejectNameInUse(this.#deps, node);
  }

  /** Returns the rights that the node's join granted. */
  async rightsOf(node: string): Promise<JoinRights> {
    return (await this.#credentials.get(node))?.rights ?? NO_RIGHTS;
  }

  /** Returns a new certificate for a key that the node's link has proved. Throws ApiError 400, 401. */
  async renew(node: string, csr: string): Promise<string> {
    const { keyHash } = await readNodeRequest(this.#deps.authority, csr, node);
    const { notAfterMs } = (await this.#credentials.get(node)) ?? {};
    const issued = await this.#deps.authority.sign(csr, { formerEndMs: notAfterMs });
    const isOurs = await this.#credentials.replace(
      node,
      { hash: keyHash, notAfterMs: issued.notAfterMs },
      keyHash,
    );
    if (!isOurs) throw unauthorized();
    return issued.certificate;
  }

  /** Issues a certificate to a registered host. Refuses a host that was revoked in the meantime. */
  async #certified(node: string, csr: string): Promise<JoinOutcome> {
    const certificate = await this.renew(node, csr);
    const stored = await this.#credentials.get(node);
    if (!stored) throw unauthorized();
    return { state: 'joined', answer: this.#answer(node, stored, certificate) };
  }

  /**
   * True while the newest certificate of a node is valid. An end before the first release was signed with a wrong clock
   * and does not count as expired.
   */
  #isMember(stored: StoredCredential | undefined): boolean {
    if (stored?.notAfterMs === undefined) return false;
    return this.#deps.clock.now() < stored.notAfterMs || stored.notAfterMs < FIRST_MADE_MS;
  }

  /** Registers the key and signs it. All checks have passed. */
  async #admit(candidate: JoinCandidate, rights?: JoinRights): Promise<JoinOutcome> {
    const { node, csr } = candidate;
    const { certificate, notAfterMs } = await this.#deps.authority.sign(csr);
    const credential = { hash: candidate.hash, notAfterMs, ...(rights ? { rights } : {}) };
    const stored = await this.#credentials.register(node, credential);
    if (!stored) throw deletedMeanwhile(node);
    refuseOther(node, stored, candidate);
    const isNewer = stored.notAfterMs !== notAfterMs;
    if (isNewer && !(await this.#credentials.replace(node, credential, stored.hash)))
      throw deletedMeanwhile(node);
    return { state: 'joined', answer: this.#answer(node, stored, certificate) };
  }

  /** Finds the pending request of the host, or files one. */
  async #wait(candidate: JoinCandidate, reason: Waiting): Promise<JoinOutcome> {
    const { node, csr, hash: keyHash, labels, address } = candidate;
    const found = await this.#pending.find(keyHash);
    // A request from an earlier join: its certificate was issued and has expired.
    const isOver = found?.phase === 'issued' && !this.#isMember(await this.#credentials.get(node));
    if (found && isOver) await this.#pending.delete(found);
    const request =
      found && !isOver
        ? found
        : await this.#pending.create({ node, csr, keyHash, labels, address, ...reason });
    return this.#outcomeOf(candidate, request);
  }

  async #outcomeOf(candidate: JoinCandidate, request: JoinRequestState): Promise<JoinOutcome> {
    const { node } = candidate;
    if (request.phase === 'denied') throw refused(`request ${request.name} of node "${node}" was denied`);
    if (request.phase === 'failed')
      throw refused(`request ${request.name} of node "${node}" cannot be signed`);
    const stored = await this.#credentials.get(node);
    if (request.certificate !== undefined && stored && isSameHash(stored.hash, candidate.hash)) {
      return { state: 'joined', answer: this.#answer(node, stored, request.certificate) };
    }
    const message = `node "${node}" waits for approval: kubectl certificate approve ${request.name}`;
    return { state: 'waiting', request: request.name, message };
  }

  #answer(node: string, { hash, revision }: StoredCredential, certificate: string): JoinResponse {
    const { clusterUID, signer, authority } = this.#deps;
    const joinMac = signJoin(signer, node, hash, revision);
    return { node, clusterUID, joinMac, certificate, ca: authority.trustBundle() };
  }
}

function endText({ notAfterMs }: StoredCredential): string {
  return notAfterMs === undefined ? '' : ` on ${toTimestamp(notAfterMs)}`;
}

function deletedMeanwhile(node: string): ApiError {
  return new ApiError('Conflict', `the credential of node "${node}" was deleted during the join`);
}

function refused(message: string): ApiError {
  return new ApiError('Forbidden', message);
}

function refuseOther(node: string, stored: StoredCredential | undefined, { hash }: JoinCandidate): void {
  if (!stored || isSameHash(stored.hash, hash)) return;
  throw new ApiError(
    'AlreadyExists',
    `node "${node}" has already joined; to let another host use the name: ${removalCommand(node)}`,
  );
}
