/**
 * Signs approved CertificateSigningRequests for the built-in signers. Signing a node's request also registers its key.
 * Level-triggered: a request that was approved while the coordinator was down is signed at the next start.
 */
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  KUBELET_CLIENT_SIGNER,
  requestPhase,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { ApiError, isNotFound } from '../../../shared/kube/objects/api-status.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { signingVerdict } from '../../decisions/identity/signing-verdict.js';
import type { Informers } from '../../informers/informer.js';
import { certificateSigningRequestKind } from '../../kinds/index.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import type { SigningRequest } from '../../pki/client-certificates.js';
import type { Registry } from '../../registry/registry.js';
import type { JoinRights } from './join-rights.js';
import { base64 } from './new-join-token.js';
import type { NodeCredentials } from './node-credentials.js';
import { nodeOfSubject } from './node-subject.js';
import { rightsOfRequest } from './pending-joins.js';

const RETRY_MS = 5_000;

interface CertificateSignerDeps {
  registry: Pick<Registry, 'writeStatus'>;
  informers: Pick<Informers, 'certificateSigningRequests'>;
  authority: Pick<CertificateAuthority, 'read' | 'sign'>;
  credentials: NodeCredentials;
  clock: Clock;
  log: Logger;
}

export class CertificateSigner {
  readonly #deps: CertificateSignerDeps;
  readonly #busy = new Set<string>();
  #isStopped = false;

  constructor(deps: CertificateSignerDeps) {
    this.#deps = deps;
    deps.informers.certificateSigningRequests.onChange(({ current }) => {
      if (current && requestPhase(current) === 'approved') void this.#work(current);
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #work(request: CertificateSigningRequest): Promise<void> {
    const { name } = request.metadata;
    if (this.#isStopped || this.#busy.has(name)) return;
    this.#busy.add(name);
    try {
      await this.#decide(request);
    } catch (error) {
      if (isNotFound(error) || this.#isStopped) return;
      const { log, clock, informers } = this.#deps;
      log.warn({ request: name, err: error }, 'certificate request not signed, will retry');
      clock.after(RETRY_MS, () => {
        const current = informers.certificateSigningRequests.get({ name });
        if (current && requestPhase(current) === 'approved') void this.#work(current);
      });
    } finally {
      this.#busy.delete(name);
    }
  }

  async #decide(request: CertificateSigningRequest): Promise<void> {
    const { authority } = this.#deps;
    const csr = Buffer.from(request.spec.request, 'base64').toString();
    const subject = await authority.read(csr).catch((error: Error) => error);
    if (subject instanceof Error)
      return this.#fail(request, `the certificate signing request is invalid: ${subject.message}`);
    const verdict = signingVerdict(request.spec, subject);
    if (!verdict.ours) return;
    if (verdict.refusal !== undefined) return this.#fail(request, verdict.refusal);
    const { expirationSeconds } = request.spec;
    const wishedMs = expirationSeconds ? expirationSeconds * 1000 : undefined;
    const issued = await authority.sign(csr, { wishedMs });
    if (request.spec.signerName === KUBELET_CLIENT_SIGNER) {
      const refusal = await this.#register(subject, issued.notAfterMs, rightsOfRequest(request));
      if (refusal !== undefined) return this.#fail(request, refusal);
    }
    await this.#write(request, (status) => ({ ...status, certificate: base64(issued.certificate) }));
    this.#deps.log.info({ request: request.metadata.name, user: subject.commonName }, 'certificate issued');
  }

  /** Registers the key for the name in the certificate. Returns the reason if it was refused. */
  async #register(
    subject: SigningRequest,
    notAfterMs: number,
    rights: JoinRights | undefined,
  ): Promise<string | undefined> {
    const { credentials } = this.#deps;
    const node = nodeOfSubject(subject) ?? '';
    const credential = { hash: subject.keyHash, notAfterMs, ...(rights ? { rights } : {}) };
    try {
      await credentials.register(node, credential);
      await credentials.replace(node, credential);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'Forbidden') return error.message;
      throw error;
    }
  }

  #fail(request: CertificateSigningRequest, message: string): Promise<void> {
    const time = toTimestamp(this.#deps.clock.now());
    const condition: CertificateSigningRequestCondition = {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message,
      lastUpdateTime: time,
      lastTransitionTime: time,
    };
    return this.#write(request, (status) => ({
      ...status,
      conditions: [...(status?.conditions ?? []), condition],
    }));
  }

  async #write(
    { metadata }: CertificateSigningRequest,
    change: (status: CertificateSigningRequest['status']) => CertificateSigningRequest['status'],
  ): Promise<void> {
    const ref = { name: metadata.name };
    await this.#deps.registry.writeStatus(
      certificateSigningRequestKind,
      ref,
      (current) => (requestPhase(current) === 'approved' ? change(current.status) : undefined),
      metadata.uid ? { uid: metadata.uid } : {},
    );
  }
}
