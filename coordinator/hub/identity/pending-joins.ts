/** Hosts that wait for a person's word: each is a CertificateSigningRequest, decided by `kubectl certificate approve` or deny. */
import {
  type CertificateSigningRequest,
  JOIN_RIGHTS_ANNOTATION,
  KUBELET_CLIENT_SIGNER,
  REQUESTED_NODE_ANNOTATION,
  type RequestPhase,
  requestPhase,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { ApiError, orUndefined } from '../../../shared/kube/objects/api-status.js';
import { certificateSigningRequestKind } from '../../kinds/index.js';
import { labelValueProblems, qualifiedNameProblems } from '../../kinds/validation/name-rules.js';
import type { Registry } from '../../registry/registry.js';
import { encodeRights, type JoinRights, readRights } from './join-rights.js';
import { base64 } from './new-join-token.js';
import { BOOTSTRAP_USER_PREFIX } from './node-subject.js';

const MAX_LABELS = 64;
const HASH_CHARACTERS = 32;

/** A host that waits. */
export interface PendingHost {
  node: string;
  /** PKCS #10 in PEM. */
  csr: string;
  keyHash: string;
  /** Who it is to the API: `system:bootstrap:TOKEN`, or the node that it was. */
  username: string;
  groups: readonly string[];
  /** Why it has to wait, for people. */
  why: string;
  address?: string | undefined;
  /** What the host says of itself, to be selected by. */
  labels: Readonly<Record<string, string>>;
  /** What comes with the token that it asks by; absent where it has what it had. */
  rights?: JoinRights;
}

/** How a host's request stands. */
export interface JoinRequestState {
  name: string;
  phase: RequestPhase;
  /** PEM, when issued. */
  certificate?: string;
}

export class PendingJoins {
  readonly #registry: Pick<Registry, 'get' | 'create' | 'delete'>;

  constructor(registry: Pick<Registry, 'get' | 'create' | 'delete'>) {
    this.#registry = registry;
  }

  /** The request of the host that has this key; undefined when it has none. */
  async find(keyHash: string): Promise<JoinRequestState | undefined> {
    const name = requestName(keyHash);
    const record = await orUndefined(() => this.#registry.get(certificateSigningRequestKind, { name }));
    return record && stateOf(record.object());
  }

  /** Takes a request away that is over. */
  async delete({ name }: JoinRequestState): Promise<void> {
    await orUndefined(() => this.#registry.delete(certificateSigningRequestKind, { name }));
  }

  /** Files the host's request, once. */
  async create(host: PendingHost): Promise<JoinRequestState> {
    try {
      const record = await this.#registry.create(certificateSigningRequestKind, undefined, requestOf(host));
      return stateOf(record.object());
    } catch (error) {
      const state =
        error instanceof ApiError && error.reason === 'AlreadyExists' && (await this.find(host.keyHash));
      if (state) return state;
      throw error;
    }
  }
}

/** One host has one request: asking again finds it (as the kubelet's `node-csr-HASH`). */
function requestName(keyHash: string): string {
  return `node-csr-${keyHash.slice(0, HASH_CHARACTERS)}`;
}

function stateOf(request: CertificateSigningRequest): JoinRequestState {
  const { certificate } = request.status ?? {};
  const phase = requestPhase(request);
  return {
    name: request.metadata.name,
    phase,
    ...(phase === 'issued' && certificate
      ? { certificate: Buffer.from(certificate, 'base64').toString() }
      : {}),
  };
}

function requestOf({
  node,
  csr,
  keyHash,
  username,
  groups,
  why,
  address,
  labels,
  rights,
}: PendingHost): object {
  const mark = labelValueProblems(node).length === 0 ? { [REQUESTED_NODE_ANNOTATION]: node } : {};
  return {
    metadata: {
      name: requestName(keyHash),
      labels: { ...labelsThatFit(labels), ...mark },
      annotations: {
        [REQUESTED_NODE_ANNOTATION]: node,
        'everynode.dev/reason': why,
        ...(rights ? { [JOIN_RIGHTS_ANNOTATION]: JSON.stringify(encodeRights(rights)) } : {}),
        ...(address ? { 'everynode.dev/remote-address': address } : {}),
      },
    },
    spec: {
      request: base64(csr),
      signerName: KUBELET_CLIENT_SIGNER,
      usages: ['digital signature', 'client auth'],
      username,
      groups: [...groups],
    },
  };
}

/** What the token of this request gives; undefined for a request that the hub did not file for a token. */
export function rightsOfRequest({ metadata, spec }: CertificateSigningRequest): JoinRights | undefined {
  const text = metadata.annotations?.[JOIN_RIGHTS_ANNOTATION];
  // The user is written by the server: nobody else can ask as a token.
  if (text === undefined || !spec.username?.startsWith(BOOTSTRAP_USER_PREFIX)) return undefined;
  try {
    return readRights({ data: JSON.parse(text) });
  } catch {
    return undefined;
  }
}

/** A host's words about itself keep no request from being filed. */
function labelsThatFit(labels: Readonly<Record<string, string>>): Record<string, string> {
  const fitting = Object.entries(labels).filter(
    ([key, value]) => qualifiedNameProblems(key).length === 0 && labelValueProblems(value).length === 0,
  );
  return Object.fromEntries(fitting.slice(0, MAX_LABELS));
}
