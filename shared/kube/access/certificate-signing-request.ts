/** certificates.k8s.io/v1 CertificateSigningRequest. */
import type { KubeObject, Timestamp } from '../objects/meta.js';

/** Signs client certificates of nodes. */
export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
/** Signs client certificates of users and programs. */
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/**
 * Annotation: the rights that the host receives together with its name, in JSON. The hub writes it when it files the
 * request. The registry preserves it on writes by others, and the signer trusts it only on requests that the hub filed.
 */
export const JOIN_RIGHTS_ANNOTATION = 'everynode.dev/join-rights';

/** Annotation on requests that the hub filed: the Node's name, which is shown to the operator who approves. */
export const REQUESTED_NODE_ANNOTATION = 'everynode.dev/node';

export interface CertificateSigningRequestCondition {
  /** `Approved`, `Denied` or `Failed`. */
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastUpdateTime?: Timestamp | null;
  lastTransitionTime?: Timestamp | null;
}

export interface CertificateSigningRequestSpec {
  /** PKCS #10 in PEM, base64. */
  request: string;
  signerName: string;
  /** At least 600. */
  expirationSeconds?: number;
  usages?: string[];
  /** The requesting user. Set by the server. */
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

export interface CertificateSigningRequestStatus {
  conditions?: CertificateSigningRequestCondition[];
  /** PEM, base64. */
  certificate?: string;
}

export interface CertificateSigningRequest extends KubeObject {
  spec: CertificateSigningRequestSpec;
  status?: CertificateSigningRequestStatus;
}

export type RequestPhase = 'pending' | 'approved' | 'denied' | 'failed' | 'issued';

/** Denial takes precedence over approval. A request with a certificate stays `issued`. */
export function requestPhase({ status }: Pick<CertificateSigningRequest, 'status'>): RequestPhase {
  const has = (type: string) => status?.conditions?.some((each) => each.type === type) ?? false;
  if (has('Denied')) return 'denied';
  if (has('Failed')) return 'failed';
  if (status?.certificate) return 'issued';
  return has('Approved') ? 'approved' : 'pending';
}

/** Returns the body for `PUT …/approval`: the request with the decision of operator `by`. */
export function withApprovalDecision(
  request: CertificateSigningRequest,
  type: 'Approved' | 'Denied',
  by: string,
  time: Timestamp,
): CertificateSigningRequest {
  const condition = {
    type,
    status: 'True' as const,
    reason: type === 'Approved' ? 'EverynodeApprove' : 'EverynodeDeny',
    message: `This CSR was ${type.toLowerCase()} by ${by}.`,
    lastUpdateTime: time,
    lastTransitionTime: time,
  };
  const conditions = [...(request.status?.conditions ?? []), condition];
  return { ...request, status: { ...request.status, conditions } };
}
