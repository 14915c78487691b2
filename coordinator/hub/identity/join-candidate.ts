/** Parses and checks the request of a host that wants a certificate. */
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import {
  mapOf,
  optional,
  ProtocolError,
  record,
  type Schema,
  text,
} from '../../../shared/link/encoding/schema-combinators.js';
import type { JoinRequest } from '../../../shared/link/messages/link-messages.js';
import { dnsSubdomainProblems } from '../../kinds/validation/name-rules.js';
import type { CertificateAuthority } from '../../pki/certificate-authority.js';
import { nodeOfSubject, subjectOfNode } from './node-subject.js';

/** A POST request of a joining host: the whole `Authorization` header and the decoded JSON body. */
export interface JoinCall {
  authorization?: string;
  body: unknown;
  remoteAddress?: string;
}

const joinRequest: Schema<JoinRequest> = record<JoinRequest>({
  node: text(253),
  csr: text(16_384),
  labels: optional(mapOf(text(63))),
});

export interface JoinCandidate {
  node: string;
  /** PKCS #10 in PEM. */
  csr: string;
  /** SHA-256 of the requested key, in lower-case hex. */
  hash: string;
  labels: Readonly<Record<string, string>>;
  address?: string | undefined;
}

type Reader = Pick<CertificateAuthority, 'read'>;

/** Parses a join request. Throws ApiError 400, 422. */
export async function readJoinCandidate(
  authority: Reader,
  { body, remoteAddress: address }: JoinCall,
): Promise<JoinCandidate> {
  const { node, csr, labels = {} } = parseJoin(body);
  checkNodeName(node);
  const { keyHash } = await readNodeRequest(authority, csr, node);
  return { node, labels, address, csr, hash: keyHash };
}

/** Checks that the request is for this node's certificate and nothing else. Throws ApiError 400. */
export async function readNodeRequest(
  authority: Reader,
  csr: string,
  node: string,
): Promise<{ keyHash: string }> {
  const request = await authority.read(csr).catch((error: Error) => {
    throw badRequest(`the certificate signing request is invalid: ${error.message}`);
  });
  if (request.requestsMore || nodeOfSubject(request) !== node) {
    throw badRequest(`the certificate signing request must contain only the subject ${subjectOfNode(node)}`);
  }
  return request;
}

/** Refuses names that are invalid for a Node. */
function checkNodeName(node: string): void {
  const [problem] = dnsSubdomainProblems(node);
  if (problem === undefined) return;
  throw new ApiError(
    'Invalid',
    `Node "${node}" is invalid: metadata.name: Invalid value: "${node}": ${problem}`,
  );
}

function parseJoin(body: unknown): JoinRequest {
  try {
    return joinRequest(body, 'join');
  } catch (error) {
    if (error instanceof ProtocolError) throw badRequest(error.message);
    throw error;
  }
}
