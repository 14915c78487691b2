/** `GET …/pods/P/log`. */

import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { LogStreamRequest } from '../../../shared/link/messages/link-messages.js';
import { podKind } from '../../kinds/index.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { writePaced } from '../http/paced-writer.js';
import { isSwitchedOn } from '../http/request-info.js';
import { requestedRef } from './object-handlers.js';
import { chosenContainer } from './pod-container.js';
import { integerParameter } from './query-options.js';

/** The kubelet's text for a waiting container (`kubelet_pods.go` validateContainerLogStatus). */
function waitingText(reason: string | undefined): string {
  switch (reason) {
    case 'ErrImagePull':
      return "image can't be pulled";
    case 'ImagePullBackOff':
      return 'trying and failing to pull image';
    default:
      return reason ?? 'ContainerCreating';
  }
}

function containerStatus(pod: Pod, container: string): ContainerStatus | undefined {
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {};
  const statuses = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return statuses.find(({ name }) => name === container);
}

/** Returns the kubelet's message if the container has no log; undefined if it has one. */
export function missingLogReason(pod: Pod, container: string, previous: boolean): string | undefined {
  const which = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  const status = containerStatus(pod, container);
  if (!status) return `${which} is not available`;
  if (previous) return status.lastState?.terminated ? undefined : `previous terminated ${which} not found`;
  const { waiting } = status.state ?? {};
  if (!waiting || status.lastState?.terminated) return undefined;
  return `${which} is waiting to start: ${waitingText(waiting.reason)}`;
}

function sinceTime(query: URLSearchParams): string | undefined {
  const text = query.get('sinceTime');
  if (text && Number.isNaN(Date.parse(text)))
    throw badRequest(`sinceTime ${JSON.stringify(text)} is not RFC 3339`);
  return text || undefined;
}

/** Parses the query (core/v1 PodLogOptions). Throws 400. */
export function logOptions(query: URLSearchParams): Omit<LogStreamRequest, 'type' | 'podUid' | 'container'> {
  const tailLines = integerParameter(query, 'tailLines');
  const sinceSeconds = integerParameter(query, 'sinceSeconds', 1);
  const limitBytes = integerParameter(query, 'limitBytes', 1);
  const since = sinceTime(query);
  if (since && sinceSeconds)
    throw badRequest('at most one of `sinceTime` or `sinceSeconds` may be specified');
  return {
    follow: isSwitchedOn(query, 'follow'),
    previous: isSwitchedOn(query, 'previous'),
    timestamps: isSwitchedOn(query, 'timestamps'),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(since === undefined ? {} : { sinceTime: since }),
  };
}

/**
 * Generous, because a user may pause the output, and a paused stream costs no memory (kubelet
 * `streamingConnectionIdleTimeout`).
 */
const IDLE_MS = 4 * 3_600_000;

/** A text body at the pace of its reader. Returns early if the client disconnects. */
function textStream({ clock }: ApiDeps, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): ApiResponse {
  return {
    type: 'stream',
    contentType: 'text/plain',
    write: async (response) => {
      for await (const chunk of bytes) {
        await writePaced(response, chunk, clock, IDLE_MS);
        if (signal.aborted) return;
      }
    },
  };
}

/** Like in kube-apiserver, the response for a Pod without a node is empty. Throws 400, 404, 503. */
export async function handlePodLog(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request.info;
  const pod = (await deps.registry.get(podKind, requestedRef(request))).object();
  const container = chosenContainer(pod, query.get('container'));
  const options = logOptions(query);
  const { nodeName } = pod.spec;
  if (!nodeName) return { type: 'text', text: '' };
  const reason = missingLogReason(pod, container, options.previous);
  if (reason) throw badRequest(reason);
  const podUid = pod.metadata.uid ?? '';
  const stream: LogStreamRequest = { type: 'log', podUid, container, ...options };
  return textStream(deps, await deps.streams.logs(nodeName, stream, request.signal), request.signal);
}
