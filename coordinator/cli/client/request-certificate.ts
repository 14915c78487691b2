/** Gets a user's client certificate by a CertificateSigningRequest, like `kubectl certificate approve` after a create. */
import { X509Certificate } from 'node:crypto';
import {
  type CertificateSigningRequest,
  CLIENT_SIGNER,
  requestPhase,
  withApprovalDecision,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import type { IssuedCertificate } from '../../pki/client-certificates.js';
import type { ApiClient } from './api-http-client.js';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const POLL_MS = 100;
const TIMEOUT_MS = 30_000;

/**
 * Creates and approves the request, and resolves with the certificate that the coordinator signs. The request stays,
 * as a record of who issued it, until the coordinator deletes old requests. The coordinator may shorten the lifetime.
 * Throws like `ApiClient.request`, and `ExitError` if the coordinator refuses to sign or does not sign in time.
 */
export async function requestCertificate(
  api: ApiClient,
  requestPem: string,
  lifetimeMs: number,
): Promise<IssuedCertificate> {
  const created = await api.request<CertificateSigningRequest>('POST', REQUESTS, {
    metadata: { generateName: 'user-' },
    spec: {
      request: Buffer.from(requestPem).toString('base64'),
      signerName: CLIENT_SIGNER,
      expirationSeconds: Math.floor(lifetimeMs / 1000),
      usages: ['client auth'],
    },
  });
  const path = `${REQUESTS}/${encodeURIComponent(created.metadata.name)}`;
  const approved = withApprovalDecision(created, 'Approved', 'everynode user', toTimestamp(Date.now()));
  await api.request('PUT', `${path}/approval`, approved);
  const certificate = await untilSigned(api, path);
  return { certificate, notAfterMs: Date.parse(new X509Certificate(certificate).validTo) };
}

async function untilSigned(api: ApiClient, path: string): Promise<string> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const request = await api.request<CertificateSigningRequest>('GET', path);
    const phase = requestPhase(request);
    if (phase === 'issued') return Buffer.from(request.status?.certificate ?? '', 'base64').toString();
    const name = request.metadata.name;
    if (phase === 'failed' || phase === 'denied') {
      const last = request.status?.conditions?.at(-1)?.message ?? 'no reason was given';
      throw new ExitError(EXIT_CODES.refused, `The coordinator did not sign ${name}: ${last}.`);
    }
    if (performance.now() > deadline) {
      const check = `kubectl describe csr ${name}`;
      throw new ExitError(EXIT_CODES.unfinished, `${name} was not signed within 30 s. Check it: ${check}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
