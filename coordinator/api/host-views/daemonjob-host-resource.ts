/**
 * `GET …/namespaces/NS/daemonjobs/NAME/hosts`: counts by state, and hosts, failed ones first, filtered by `state=A,B` or
 * `node=NAME`, paged by `limit` and `continue`. With `names=true` the states contain the names of all hosts.
 * `GET …/hosts/NAME/jobs`: what one host does for the DaemonJobs that the caller may read.
 * `POST …/namespaces/NS/daemonjobpreviews`: the hosts on which a DaemonJob would run. The body is the DaemonJob. Nothing is
 * stored.
 */
import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { JOB_HOST_STATES, type JobHostState } from '../../../shared/kube/fleet/daemonjob-host-types.js';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { daemonJobKind } from '../../kinds/index.js';
import { readRights } from '../auth/read-rights.js';
import { requiredBody } from '../bodies/write-body.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { hostNotFound } from '../fleet/hosts-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { requestedRef } from '../resources/object-handlers.js';
import { integerParameter, requireKnownParameters, writeOptions } from '../resources/query-options.js';

const DEFAULT_LIMIT = 100;
const MOST = 1_000;
const PARAMETERS = ['state', 'limit', 'continue', 'names', 'node'];
const API_VERSION = `${FLEET_GROUP}/v1`;

export const DAEMON_JOB_PREVIEW_RESOURCE: DiscoveredResource = {
  ...computedResource('DaemonJobPreview', 'daemonjobpreviews', ['create']),
  namespaced: true,
};

/** Throws ApiError: 400 for an invalid query, 404 for an unknown name. */
export async function handleDaemonJobHosts({ jobHosts }: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request.info;
  requireKnownParameters(query, PARAMETERS);
  const token = query.get('continue');
  const node = query.get('node');
  const hosts = await jobHosts.hostsOf(requestedRef(request), {
    states: statesIn(query),
    ...(token ? { after: hostAfter(token) } : {}),
    limit: Math.min(MOST, integerParameter(query, 'limit') ?? DEFAULT_LIMIT),
    ...(node ? { node } : {}),
    withNames: query.get('names') === 'true',
  });
  return ok({ kind: 'DaemonJobHosts', apiVersion: API_VERSION, ...hosts });
}

/** Throws 400: a misspelt state would select nothing, and look as if no host had it. */
function statesIn(query: URLSearchParams): JobHostState[] {
  const texts = query
    .getAll('state')
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '');
  return texts.map((text) => stateOf(text, 'state'));
}

function stateOf(text: string, parameter: string): JobHostState {
  const state = JOB_HOST_STATES.find((each) => each === text);
  if (state) return state;
  throw badRequest(`${parameter}: "${text}" is not one of ${JOB_HOST_STATES.join(', ')}`);
}

/** Reads the position of the last host of a page: `STATE/NODE`. Throws 400. */
function hostAfter(token: string): { state: JobHostState; node: string } {
  const at = token.indexOf('/');
  return { state: stateOf(token.slice(0, Math.max(0, at)), 'continue'), node: token.slice(at + 1) };
}

/** Throws ApiError: 400 for an unknown parameter, 404 for an unknown host. */
export async function handleJobsOfHost(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  requireKnownParameters(request.info.query, []);
  const { name } = requestedRef(request);
  if (!(await deps.hosts.get(name))) throw hostNotFound(name);
  const { mayRead } = readRights(deps.identities.authorizer, request.user);
  const jobs = deps.jobHosts.jobsOn(name, ({ metadata }) => mayRead(daemonJobKind, metadata));
  return ok({ kind: 'JobsOfHost', apiVersion: API_VERSION, ...jobs });
}

/** Throws ApiError: the same as the creation of the DaemonJob. */
export async function handleDaemonJobPreview(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const options = { ...writeOptions(request.info, request.headers.userAgent, request.warn), dryRun: true };
  const record = await deps.registry.create(
    daemonJobKind,
    request.info.namespace,
    requiredBody(request) as DaemonJob,
    options,
  );
  const preview = await deps.jobHosts.preview(record.object());
  return ok({ kind: 'DaemonJobPreview', apiVersion: API_VERSION, ...preview });
}
