/** admissionregistration.k8s.io/v1 webhook configurations, and admission.k8s.io/v1 AdmissionReview. */
import type { KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';
import type { AdmissionRule, MatchCondition } from './admission-policy-types.js';

export interface WebhookService {
  namespace?: string;
  name?: string;
  path?: string;
  port?: number;
}

export interface WebhookClientConfig {
  url?: string;
  service?: WebhookService;
  /** PEM in base64. Absent: the system's authorities. */
  caBundle?: string;
}

export interface AdmissionWebhook {
  name?: string;
  clientConfig?: WebhookClientConfig;
  rules?: AdmissionRule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  sideEffects?: string;
  timeoutSeconds?: number;
  admissionReviewVersions?: string[];
  matchConditions?: MatchCondition[];
  /** Mutating webhooks only. */
  reinvocationPolicy?: string;
}

export interface WebhookConfiguration extends KubeObject {
  webhooks?: AdmissionWebhook[];
}

/** The answer of a webhook. Not validated. */
export interface AdmissionResponse {
  uid?: string;
  allowed?: boolean;
  status?: { message?: string; reason?: string; code?: number };
  /** JSON Patch in base64. */
  patch?: string;
  patchType?: string;
  warnings?: string[];
  auditAnnotations?: Record<string, string>;
}
