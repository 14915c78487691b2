/** The watched list of hosts that ask to join. */
import { KUBELET_CLIENT_SIGNER } from '../../shared/kube/access/certificate-signing-request.js';

export const SIGNING_REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Also includes requests that were decided. */
export const JOIN_REQUESTS = `${SIGNING_REQUESTS}?fieldSelector=${encodeURIComponent(`spec.signerName=${KUBELET_CLIENT_SIGNER}`)}`;
