/** Calls one webhook and reads its answer (apiserver pkg/admission/plugin/webhook/request, errors). */
import type { AdmissionResponse, AdmissionWebhook } from '../../../shared/kube/admission/webhook-types.js';
import { ApiError, badRequest, type StatusReason } from '../../../shared/kube/objects/api-status.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import type { AdmissionWebhooks } from '../registry.js';
import type { WriteOptions } from '../registry-options.js';
import type { AdmissionRequest } from './admission-matching.js';
import { requestDocument } from './policy-request.js';

const DEFAULT_TIMEOUT_SECONDS = 10;

/** The webhook did not answer as it must. The failure policy decides. */
class CallFailed extends Error {}

type CallOptions = Pick<WriteOptions, 'user' | 'groups' | 'dryRun' | 'warn' | 'annotate'>;

interface WebhookCall {
  webhook: AdmissionWebhook;
  isMutating: boolean;
  /** Position among the called webhooks, for the audit log. */
  index: number;
}

/**
 * Returns the patch of a webhook that admits the request, or undefined for none. Throws the webhook's refusal; a 400 if it
 * has side effects and the request is a dry run; a 500 if the call fails and the failure policy is Fail.
 */
export async function callWebhook(
  webhooks: AdmissionWebhooks,
  call: WebhookCall,
  request: AdmissionRequest,
  options: CallOptions,
): Promise<unknown[] | undefined> {
  const { webhook, isMutating, index } = call;
  const { name = '', sideEffects } = webhook;
  if (options.dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') {
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
  }
  try {
    const response = await answerOf(webhooks, webhook, request, options);
    for (const [key, value] of Object.entries(response.auditAnnotations ?? {})) {
      options.annotate?.(`${name}/${key}`, value);
    }
    for (const warning of response.warnings ?? []) options.warn?.(warning);
    if (response.allowed !== true) throw refused(name, response.status ?? {});
    return patchOf(response, isMutating);
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    if (webhook.failurePolicy === 'Ignore') {
      const plugin = isMutating ? 'mutation' : 'validating';
      options.annotate?.(`failed-open.${plugin}.webhook.admission.k8s.io/round_0_index_${index}`, name);
      return undefined;
    }
    const text = `failed calling webhook ${JSON.stringify(name)}: ${error.message}`;
    throw new ApiError('InternalError', `Internal error occurred: ${text}`, { causes: [{ message: text }] });
  }
}

async function answerOf(
  webhooks: AdmissionWebhooks,
  webhook: AdmissionWebhook,
  request: AdmissionRequest,
  options: CallOptions,
): Promise<AdmissionResponse> {
  const uid = webhooks.uid();
  const { object = null, oldObject = null } = request;
  const document = { uid, ...requestDocument(request, options), object, oldObject, options: null };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: document };
  const timeoutMs = (webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  let answer: unknown;
  try {
    answer = await webhooks.call(webhook.clientConfig ?? {}, review, timeoutMs);
  } catch (error) {
    throw new CallFailed(`failed to call webhook: ${(error as Error).message}`);
  }
  return verified(answer, uid);
}

function verified(answer: unknown, uid: string): AdmissionResponse {
  const invalid = (why: string) => new CallFailed(`received invalid webhook response: ${why}`);
  if (typeof answer !== 'object' || answer === null) throw invalid('webhook response was absent');
  const { apiVersion, kind, response } = answer as Record<string, unknown>;
  if (typeof response !== 'object' || response === null) throw invalid('webhook response was absent');
  const found = response as AdmissionResponse;
  if (found.uid !== uid) {
    throw invalid(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(found.uid ?? '')}`);
  }
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    const expected = 'admission.k8s.io/v1, Kind=AdmissionReview';
    throw invalid(
      `expected webhook response of ${expected}, got ${String(apiVersion)}, Kind=${String(kind)}`,
    );
  }
  return found;
}

function patchOf({ patch, patchType }: AdmissionResponse, isMutating: boolean): unknown[] | undefined {
  const invalid = (why: string) => new CallFailed(`received invalid webhook response: ${why}`);
  if (!patch && patchType === undefined) return undefined;
  if (!isMutating) throw invalid('validating webhook may not return response.patch');
  if (!patch) throw invalid('webhook returned response.patchType but not response.patch');
  if (patchType === undefined) throw invalid('webhook returned response.patch but not response.patchType');
  if (patchType !== 'JSONPatch') throw invalid(`unexpected patch type ${JSON.stringify(patchType)}`);
  try {
    const operations: unknown = JSON.parse(Buffer.from(patch, 'base64').toString('utf8'));
    if (Array.isArray(operations)) return operations;
  } catch {
    // Reported below, like a patch that is no list.
  }
  throw invalid('response.patch is not a JSON Patch');
}

/** Applies a webhook's patch. Throws a 500: the patch does not fit the object. */
export function patched(object: object, patch: unknown[], name: string): object {
  try {
    return applyJsonPatch(object as Parameters<typeof applyJsonPatch>[0], patch);
  } catch (error) {
    const text = `webhook ${JSON.stringify(name)} attempted to apply an invalid patch: ${(error as Error).message}`;
    throw new ApiError('InternalError', `Internal error occurred: ${text}`, { causes: [{ message: text }] });
  }
}

const REASONS: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** A refusal has an error code, whatever the webhook sent. */
function refused(
  name: string,
  { message, reason, code = 400 }: NonNullable<AdmissionResponse['status']>,
): ApiError {
  const deniedBy = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = message || reason;
  return new ApiError(
    REASONS[code] ?? (code >= 500 ? 'InternalError' : 'BadRequest'),
    why ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`,
  );
}
