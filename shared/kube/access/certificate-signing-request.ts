/** certificates.k8s.io/v1 CertificateSigningRequest: a key that asks to be certified, and what became of it. */
import type { KubeObject, Timestamp } from '../objects/meta.js';

/** Signs client certificates of nodes. */
export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
/** Signs client certificates of people and programs. */
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/**
 * Annotation: what the host gets with its name, in JSON. Written by the hub when it files the request, kept by the kind whoever
 * else writes, and believed of requests that the hub filed.
 */
export const JOIN_RIGHTS_ANNOTATION = 'everynode.dev/join-rights';

/** Annotation of a request that the hub filed for a host: the Node's name, by which people are asked to let it in. */
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
  /** Who asked: written by the server. */
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

/** How a request stands. */
export type RequestPhase = 'pending' | 'approved' | 'denied' | 'failed' | 'issued';

/** A refusal outlasts an approval; a certificate that was issued stays issued. */
export function requestPhase({ status }: Pick<CertificateSigningRequest, 'status'>): RequestPhase {
  const has = (type: string) => status?.conditions?.some((each) => each.type === type) ?? false;
  if (has('Denied')) return 'denied';
  if (has('Failed')) return 'failed';
  if (status?.certificate) return 'issued';
  return has('Approved') ? 'approved' : 'pending';
}

/** A person's word on a request, as `PUT …/approval` takes it. `by`: who says so; `time`: when. */
export function withApprovalDecision(
  request: CertificateSigningRequest,
  type: 'Approved' | 'Denied',
  by: string,
  time: Timestamp,
): CertificateSigningRequest {
  const condition = {
    type,
    status: 'True' as const,
    reason: `EverynodeNode${type}`,
    message: `This CSR was ${type.toLowerCase()} by ${by}.`,
    lastUpdateTime: time,
    lastTransitionTime: time,
  };
  const conditions = [...(request.status?.conditions ?? []), condition];
  return { ...request, status: { ...request.status, conditions } };
}
