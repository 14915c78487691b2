/** Whether a signer of ours signs an approved request (pkg/controller/certificates/signer, pkg/apis/certificates helpers). */
import {
  type CertificateSigningRequestSpec,
  CLIENT_SIGNER,
  KUBELET_CLIENT_SIGNER,
} from '../../../shared/kube/access/certificate-signing-request.js';

/** What a request asks for, as its PKCS #10 says. */
interface RequestedSubject {
  commonName: string;
  organizations: readonly string[];
  /** True when it asks for more than a name. */
  requestsMore: boolean;
}

/** `ours`: false for a signer that somebody else has to play. `refusal`: why it is not signed, for the Failed condition. */
type SigningVerdict = { ours: false } | { ours: true; refusal?: string };

const NODE_USER = 'system:node:';
const NODE_USAGES = new Set(['digital signature', 'key encipherment', 'client auth']);

/** Pure. */
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
  if (subject.organizations.length !== 1 || subject.organizations[0] !== 'system:nodes') {
    return 'subject organization is not system:nodes';
  }
  if (subject.requestsMore) return 'subjectAltNames are not allowed';
  if (!subject.commonName.startsWith(NODE_USER) || subject.commonName === NODE_USER) {
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
  // Nodes have a signer of their own, and keys that are registered.
  if (subject.commonName.startsWith(NODE_USER) || subject.organizations.includes('system:nodes')) {
    return `a node's certificate is signed by ${KUBELET_CLIENT_SIGNER}`;
  }
  return undefined;
}
