/** Hosts that wait for approval. Operators decide with `kubectl certificate approve` or `deny`. */
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

export interface PendingHost {
  node: string;
  /** PKCS #10 in PEM. */
  csr: string;
  keyHash: string;
  /** The API user of the host: `system:bootstrap:TOKEN`, or its former node. */
  username: string;
  groups: readonly string[];
  /** The reason for the approval, displayed to operators. */
  why: string;
  address?: string | undefined;
  /** Labels from the host itself, for selecting requests. */
  labels: Readonly<Record<string, string>>;
  /** Rights that the token grants. Absent if the stored rights stay. */
  rights?: JoinRights;
}

export interface JoinRequestState {
  name: string;
  phase: RequestPhase;
  /** PEM, once issued. */
  certificate?: string;
}

export class PendingJoins {
  readonly #registry: Pick<Registry, 'get' | 'create' | 'delete'>;

  constructor(registry: Pick<Registry, 'get' | 'create' | 'delete'>) {
    this.#registry = registry;
  }

  /** Returns the request of the host with this key; undefined if there is none. */
  async find(keyHash: string): Promise<JoinRequestState | undefined> {
    const name = requestName(keyHash);
    const record = await orUndefined(() => this.#registry.get(certificateSigningRequestKind, { name }));
    return record && stateOf(record.object());
  }

  async delete({ name }: JoinRequestState): Promise<void> {
    await orUndefined(() => this.#registry.delete(certificateSigningRequestKind, { name }));
  }

  /** Files the host's request, or returns the existing one. */
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

/** One request per host: a repeated join finds it (like the kubelet's `node-csr-HASH`). */
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

/**
 * Returns the rights that the token of this request grants. Undefined if the hub did not file the request for a token.
 */
export function rightsOfRequest({ metadata, spec }: CertificateSigningRequest): JoinRights | undefined {
  const text = metadata.annotations?.[JOIN_RIGHTS_ANNOTATION];
  // The server sets the user name, so no other client can claim to be a token.
  if (text === undefined || !spec.username?.startsWith(BOOTSTRAP_USER_PREFIX)) return undefined;
  try {
    return readRights({ data: JSON.parse(text) });
  } catch {
    return undefined;
  }
}

/** Drops invalid labels, so that they do not prevent the request. */
function labelsThatFit(labels: Readonly<Record<string, string>>): Record<string, string> {
  const fitting = Object.entries(labels).filter(
    ([key, value]) => qualifiedNameProblems(key).length === 0 && labelValueProblems(value).length === 0,
  );
  return Object.fromEntries(fitting.slice(0, MAX_LABELS));
}
