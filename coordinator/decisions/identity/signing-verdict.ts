/** Decides on approved requests for the built-in signers (pkg/controller/certificates/signer). */

import {
  type CertificateSigningRequestSpec,
  CLIENT_SIGNER,
  KUBELET_CLIENT_SIGNER,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { NODE_USER_PREFIX, NODES_GROUP } from '../../../shared/kube/access/node-identity.js';

/** The content of a PKCS #10 request. */
interface RequestedSubject {
  commonName: string;
  organizations: readonly string[];
  /** True if the request contains more than a subject. */
  requestsMore: boolean;
}

/** `ours`: false for a foreign signer. `refusal`: the reason for the Failed condition. */
type SigningVerdict = { ours: false } | { ours: true; refusal?: string };

const NODE_USAGES = new Set(['digital signature', 'key encipherment', 'client auth']);

export function signingVerdict(
  { signerName, usages = [] }: Pick<CertificateSigningRequestSpec, 'signerName' | 'usages'>,
  subject: RequestedSubject,
): SigningVerdict {
  if (signerName === KUBELET_CLIENT_SIGNER) return refusedFor(nodeRefusal(usages, subject));
  if (signerName === CLIENT_SIGNER) return refusedFor(clientRefusal(usages, subject));
  return { ours: false };
}

function refusedFor(refusal: string | undefined): SigningVerdict {
  return { ours: true, ...(refusal === undefined ? {} : { refusal }) };
}

function nodeRefusal(usages: readonly string[], subject: RequestedSubject): string | undefined {
  if (subject.organizations.length !== 1 || subject.organizations[0] !== NODES_GROUP) {
    return 'subject organization is not system:nodes';
  }
  if (subject.requestsMore) return 'subjectAltNames are not allowed';
  if (!subject.commonName.startsWith(NODE_USER_PREFIX) || subject.commonName === NODE_USER_PREFIX) {
    return 'subject common name does not begin with system:node:';
  }
  const needed = ['digital signature', 'client auth'];
  const isAllowed =
    usages.every((usage) => NODE_USAGES.has(usage)) && needed.every((each) => usages.includes(each));
  return isAllowed ? undefined : `usages did not match: ${usages.join(', ')}`;
}

function clientRefusal(usages: readonly string[], subject: RequestedSubject): string | undefined {
  const wrong = usages.find((usage) => !NODE_USAGES.has(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  if (!usages.includes('client auth')) return 'the usage "client auth" is required';
  if (!subject.commonName) return 'subject common name is required';
  // The admission plugin CertificateSubjectRestriction.
  if (subject.organizations.includes('system:masters')) {
    return `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`;
  }
  // Nodes have their own signer, which registers their keys.
  if (subject.commonName.startsWith(NODE_USER_PREFIX) || subject.organizations.includes(NODES_GROUP)) {
    return `a node's certificate is signed by ${KUBELET_CLIENT_SIGNER}`;
  }
  return undefined;
}
