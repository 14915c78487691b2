/**
 * Authorization to approve and sign certificate requests (admission plugins CertificateApproval and CertificateSigning,
 * `pkg/certauthorization`): the verbs `approve` and `sign` on `signers`, by the signer's name or `DOMAIN/*`.
 */
import type { CertificateSigningRequest } from '../../shared/kube/access/certificate-signing-request.js';
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';
import { ApiError, qualifiedResource } from '../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { certificateSigningRequestKind } from '../kinds/access/certificatesigningrequest-kind.js';
import type { Kind } from '../kinds/kind.js';
import { semanticallyEqual } from '../kinds/validation/semantic-equality.js';
import type { Authorizer } from './rbac-authorizer.js';

/** A write of a subresource. */
interface SubresourceWrite {
  kind: Kind;
  subresource: string | undefined;
  next: KubeObject;
  current: KubeObject | undefined;
}

/** Throws 403 if the user may not approve or sign requests to the stored object's signer. */
export function refuseUnauthorizedSigner(
  authorizer: Authorizer,
  user: UserInfo,
  { kind, subresource, next, current }: SubresourceWrite,
): void {
  if (kind.group !== certificateSigningRequestKind.group) return;
  if (kind.resource !== certificateSigningRequestKind.resource || !current) return;
  const [before, after] = [current, next] as [CertificateSigningRequest, CertificateSigningRequest];
  const isAnswer = subresource === 'status' && !isSameAnswer(before, after);
  const verb = subresource === 'approval' ? 'approve' : isAnswer ? 'sign' : undefined;
  const { signerName } = before.spec;
  if (verb === undefined || mayServe(authorizer, user, verb, signerName)) return;
  const { name } = before.metadata;
  throw new ApiError(
    'Forbidden',
    `${qualifiedResource(kind)} "${name}" is forbidden: user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`,
    { name, group: kind.group, kind: kind.resource },
  );
}

function isSameAnswer(before: CertificateSigningRequest, after: CertificateSigningRequest): boolean {
  const [had, has] = [before.status, after.status];
  const isSameCertificate = (had?.certificate ?? '') === (has?.certificate ?? '');
  return isSameCertificate && semanticallyEqual(had?.conditions ?? [], has?.conditions ?? []);
}

function mayServe(authorizer: Authorizer, user: UserInfo, verb: string, signerName: string): boolean {
  const [domain] = signerName.split('/');
  const { group } = certificateSigningRequestKind;
  return [signerName, `${domain}/*`].some(
    (name) =>
      authorizer.decide(user, { verb, group, resource: 'signers', subresource: '', namespace: '', name })
        .allowed,
  );
}
