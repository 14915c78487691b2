/**
 * Keys and certificates of the hosts of a hub fixture. They are proved inside the link, because the fixture's port has
 * no TLS.
 */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { base64 } from '../../../coordinator/hub/identity/new-join-token.js';
import { CREDENTIAL_SECRET_TYPE } from '../../../coordinator/kinds/config/secret-kind.js';
import { secretKind } from '../../../coordinator/kinds/index.js';
import { CertificateAuthority } from '../../../coordinator/pki/certificate-authority.js';
import { loadPki, type Pki } from '../../../coordinator/pki/load-pki.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { credentialSecretName } from '../../../shared/kube/nodes/node-credential-secret.js';
import { CERTIFICATE_HEADER } from '../../../shared/link/key-proof.js';
import { publicKeyHash } from '../../../shared/link/public-key-hash.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import type { Clock } from '../../../shared/process/time/clock.js';

/** PEM. */
export interface HostKey {
  key: string;
  certificate: string;
}

/**
 * One certificate authority for all fixtures of a process, because creating one is slow. All fixtures start at the same
 * time.
 */
let madePki: Promise<Pki> | undefined;

async function makePki(now: number): Promise<Pki> {
  const directory = await mkdtemp(join(tmpdir(), 'everynode-bench-pki-'));
  try {
    return await loadPki(directory, ['localhost'], now);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Returns the authority of a new fleet. */
export async function fixtureAuthority(clock: Clock): Promise<CertificateAuthority> {
  madePki ??= makePki(clock.now());
  const pki = await madePki;
  return new CertificateAuthority(
    () => pki,
    clock,
    async () => undefined,
  );
}

/** Creates each node's key on its first use, and registers it as a join does. */
export class FixtureHostKeys {
  readonly #authority: CertificateAuthority;
  readonly #registry: Pick<Registry, 'create'>;
  readonly #made = new Map<string, Promise<HostKey>>();

  constructor(authority: CertificateAuthority, registry: Pick<Registry, 'create'>) {
    this.#authority = authority;
    this.#registry = registry;
  }

  of(node: string): Promise<HostKey> {
    const known = this.#made.get(node);
    if (known) return known;
    const made = this.#make(node);
    this.#made.set(node, made);
    return made;
  }

  async #make(node: string): Promise<HostKey> {
    const key = await generateKeyPem();
    const { certificate } = await this.#authority.sign(await certificateRequest(key, node));
    const hash = publicKeyHash(new X509Certificate(certificate));
    await this.#registry.create(secretKind, 'kube-system', {
      metadata: { name: credentialSecretName(node) },
      type: CREDENTIAL_SECRET_TYPE,
      data: { key: base64(hash) },
    });
    return { key, certificate };
  }
}

/** Returns the header in which a host sends its certificate. */
export function certificateHeader({ certificate }: Pick<HostKey, 'certificate'>): Record<string, string> {
  return { [CERTIFICATE_HEADER]: new X509Certificate(certificate).raw.toString('base64') };
}
