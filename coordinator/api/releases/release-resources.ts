/**
 * Releases of the agent, for `everynode release` with a kubeconfig. Whoever may `create` `releases` decides which
 * program runs as root on every host, so only cluster administrators have this right.
 *
 * `POST …/releases` with the signed list begins an upload, `?upload=ID&file=NAME&at=BYTES` sends the next piece of a file,
 * and `?upload=ID` adds the release. `…/releasetrust`: GET returns the trusted key and the floor, POST changes one.
 */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { compareVersions, VERSION } from '../../../shared/process/release-version.js';
import { isJsonMap, type JsonMap } from '../../registry/encoding/json-value.js';
import { requiredBody } from '../bodies/write-body.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { integerParameter, requireKnownParameters } from '../resources/query-options.js';
import type { ReleaseList } from './accepted-list.js';
import {
  fingerprint,
  installScriptRefused,
  type ReleaseTrust,
  releaseKey,
  type TrustChange,
  type TrustUpdate,
} from './release-trust.js';

export const RELEASE_RESOURCE = computedResource('Release', 'releases', ['create']);
export const RELEASE_TRUST_RESOURCE = computedResource('ReleaseTrust', 'releasetrust', ['create', 'list']);

const API_VERSION = `${FLEET_GROUP}/v1`;
/** Recommended size of a piece. A body may have 3 MiB, and a slow line must send it in 60 s. */
const PIECE_BYTES = 2 ** 20;

/** The response to the list of a release. */
export interface ReleaseUploadDocument {
  kind: 'ReleaseUpload';
  apiVersion: string;
  /** Names the upload in the requests that follow. */
  upload: string;
  version: string;
  /** The files to send. Other files of the release are not for hosts. */
  files: readonly string[];
  pieceBytes: number;
}

/** The response to the end of an upload. */
export interface ReleaseDocument {
  kind: 'Release';
  apiVersion: string;
  version: string;
  /** Fingerprint of the key that signed it. */
  key: string;
  isFirstKey: boolean;
}

export interface ReleaseTrustDocument {
  kind: 'ReleaseTrust';
  apiVersion: string;
  /** Fingerprint of the trusted key. Absent before the first release. */
  key?: string;
  /** Absent: every version is allowed. */
  floor?: string;
}

/** Throws ApiError: 400, 404, 409, 503. */
export async function handleReleases(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request.info;
  requireKnownParameters(query, ['upload', 'file', 'at']);
  const [id, file] = [query.get('upload'), query.get('file')];
  const upload = { id: id ?? '', user: request.user.username };
  if (id === null) return beginUpload(deps, request);
  if (file !== null) {
    const at = integerParameter(query, 'at') ?? 0;
    await deps.releases.receive(upload, { file, at, bytes: request.body ?? Buffer.alloc(0) });
    return ok({ kind: 'ReleaseUpload', apiVersion: API_VERSION });
  }
  const { trust, ...added } = await deps.releases.finish(upload);
  request.onCreated(added.version);
  // The first key decides which releases are accepted from now on.
  if (added.isFirstKey) recordTrust(request, trust);
  warnOfOtherCoordinators(deps, request);
  return ok({ kind: 'Release', apiVersion: API_VERSION, ...added } satisfies ReleaseDocument);
}

async function beginUpload({ releases }: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { list, sizes } = readList(requiredBody(request));
  const started = await releases.begin(request.user.username, list, sizes);
  request.onCreated(started.version);
  const about = { kind: 'ReleaseUpload', apiVersion: API_VERSION, pieceBytes: PIECE_BYTES } as const;
  return ok({ ...about, ...started } satisfies ReleaseUploadDocument);
}

/** Throws ApiError: 400, 503. */
export async function handleReleaseTrust(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  requireKnownParameters(request.info.query, []);
  if (request.info.verb === 'list') return ok(trustDocument(await deps.releases.trust()));
  const trust = await deps.releases.changeTrust(readChange(requiredBody(request)));
  recordTrust(request, trust);
  warnOfFloor(request, trust.after);
  warnOfOtherCoordinators(deps, request);
  return ok(trustDocument(trust.after));
}

function recordTrust({ onChange }: ApiRequest, { before, after }: TrustUpdate): void {
  onChange({ isSecret: false, before: recorded(before), after: recorded(after) });
}

/** `install.sh` installs the agent of the coordinator's own version. */
function warnOfFloor({ warn }: ApiRequest, { floor }: ReleaseTrust): void {
  if (floor !== undefined && compareVersions(VERSION, floor) < 0) warn(installScriptRefused(VERSION));
}

/** Releases and their trust are files of one coordinator. */
function warnOfOtherCoordinators({ cluster }: ApiDeps, { warn }: ApiRequest): void {
  if (!cluster) return;
  warn(
    'only the coordinator that leads has changed: run the same command with --data on the machines of the others',
  );
}

function readList(body: unknown): { list: ReleaseList; sizes: ReadonlyMap<string, number> } {
  const { sums, signature, key, sizes } = fieldsOf(body, ['sums', 'signature', 'key', 'sizes']);
  if (typeof sums !== 'string') throw badRequest('sums: must be the text of SHA256SUMS');
  if (typeof signature !== 'string') throw badRequest('signature: must be the text of SHA256SUMS.sig');
  if (key !== undefined && typeof key !== 'string') throw badRequest('key: must be the text of release.pub');
  if (!isJsonMap(sizes)) throw badRequest('sizes: must be a map of file names to bytes');
  const numbers = Object.entries(sizes).map(([name, size]): [string, number] => [name, Number(size)]);
  return { list: { sums, signature, ...(key === undefined ? {} : { key }) }, sizes: new Map(numbers) };
}

function readChange(body: unknown): TrustChange {
  const { key, floor } = fieldsOf(body, ['key', 'floor']);
  if (typeof key === 'string' && floor === undefined) return { key };
  if (typeof floor === 'string' && key === undefined) return { floor };
  throw badRequest('must have either key, a public key in PEM, or floor, a version such as 1.2.3');
}

function fieldsOf(body: unknown, known: readonly string[]): JsonMap {
  if (!isJsonMap(body)) throw badRequest('the body of the request must be a JSON object');
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown === undefined) return body;
  throw badRequest(`unknown field ${JSON.stringify(unknown)}: supported fields are ${known.join(', ')}`);
}

function trustDocument(trust: ReleaseTrust): ReleaseTrustDocument {
  return { kind: 'ReleaseTrust', apiVersion: API_VERSION, ...shown(trust) };
}

/** The audit log hides fields that are named `key`. A fingerprint is public. */
function recorded(trust: ReleaseTrust): KubeObject {
  const { key: signedBy, floor } = shown(trust);
  const spec = { ...(signedBy ? { signedBy } : {}), ...(floor ? { floor } : {}) };
  const named = { kind: 'ReleaseTrust', apiVersion: API_VERSION, metadata: { name: 'releasetrust' } };
  return { ...named, spec } as KubeObject;
}

function shown({ key, floor }: ReleaseTrust): Pick<ReleaseTrustDocument, 'key' | 'floor'> {
  return {
    ...(key === undefined ? {} : { key: fingerprint(releaseKey(key)) }),
    ...(floor === undefined ? {} : { floor }),
  };
}
