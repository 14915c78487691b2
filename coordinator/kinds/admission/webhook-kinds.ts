/** admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration and MutatingWebhookConfiguration. */
import { isDeepStrictEqual } from 'node:util';
import { ADMISSION_GROUP } from '../../../shared/kube/admission/admission-policy-types.js';
import type {
  AdmissionWebhook,
  WebhookClientConfig,
  WebhookConfiguration,
} from '../../../shared/kube/admission/webhook-types.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { dnsSubdomainProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import {
  FAILURE_POLICIES,
  setMatchDefaults,
  validateMatchConditions,
  validateMatchPolicy,
  validateRule,
} from './admission-rule-validation.js';

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const REINVOCATIONS = ['IfNeeded', 'Never'];
const MAX_TIMEOUT_SECONDS = 30;
const DEFAULT_TIMEOUT_SECONDS = 10;
const HTTPS_PORT = 443;
const SCOPE = { hasParams: false, hasAuthorizer: true };

function validateWebhook(webhook: AdmissionWebhook, field: string): FieldError[] {
  const {
    name = '',
    rules = [],
    failurePolicy,
    sideEffects,
    timeoutSeconds = 1,
    reinvocationPolicy,
  } = webhook;
  const { namespaceSelector, objectSelector, matchConditions = [] } = webhook;
  const isQualified = name.split('.').length >= 3;
  const outside = timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS;
  const unsupported = (value: string | undefined, at: string, allowed: readonly string[]): FieldError[] =>
    value === undefined || allowed.includes(value) ? [] : [notSupported(`${field}.${at}`, value, allowed)];
  return [
    ...(isQualified
      ? invalidFor(`${field}.name`, name, dnsSubdomainProblems(name))
      : [
          invalidValue(
            `${field}.name`,
            name,
            'should be a domain with at least three segments separated by dots',
          ),
        ]),
    ...validateReviewVersions(webhook.admissionReviewVersions ?? [], `${field}.admissionReviewVersions`),
    ...rules.flatMap((rule, at) => validateRule(rule, `${field}.rules[${at}]`)),
    ...unsupported(failurePolicy, 'failurePolicy', FAILURE_POLICIES),
    ...validateMatchPolicy(webhook.matchPolicy, `${field}.matchPolicy`),
    ...(sideEffects === undefined
      ? [required(`${field}.sideEffects`, 'must specify one of None, NoneOnDryRun')]
      : unsupported(sideEffects, 'sideEffects', SIDE_EFFECTS)),
    ...(outside
      ? [
          invalidValue(
            `${field}.timeoutSeconds`,
            timeoutSeconds,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]
      : []),
    ...unsupported(reinvocationPolicy, 'reinvocationPolicy', REINVOCATIONS),
    ...validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`),
    ...validateLabelSelector(objectSelector, `${field}.objectSelector`),
    ...validateClientConfig(webhook.clientConfig ?? {}, `${field}.clientConfig`),
    ...validateMatchConditions(matchConditions, SCOPE, `${field}.matchConditions`),
  ];
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field, 'must specify one of v1, v1beta1')];
  if (versions.includes('v1')) return [];
  return [invalidValue(field, versions, 'must include v1: Everynode sends no older AdmissionReview')];
}

function validateClientConfig({ url, service }: WebhookClientConfig, field: string): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(field, 'exactly one of url or service is required')];
  }
  if (url !== undefined) return validateUrl(url, `${field}.url`);
  const { name = '', namespace = '', path, port = HTTPS_PORT } = service ?? {};
  const isPort = Number.isInteger(port) && port >= 1 && port <= 65_535;
  return [
    ...(name === '' ? [required(`${field}.service.name`, 'service name is required')] : []),
    ...(namespace === '' ? [required(`${field}.service.namespace`, 'service namespace is required')] : []),
    ...(isPort
      ? []
      : [
          invalidValue(
            `${field}.service.port`,
            port,
            'port is not valid: must be between 1 and 65535, inclusive',
          ),
        ]),
    ...(path !== undefined && !path.startsWith('/')
      ? [invalidValue(`${field}.service.path`, path, "must start with a '/'")]
      : []),
  ];
}

function validateUrl(url: string, field: string): FieldError[] {
  const form = 'desired format: https://host[/path]';
  if (!URL.canParse(url)) {
    return [required(field, `url must be a valid URL: parse ${JSON.stringify(url)}; ${form}`)];
  }
  const { protocol, host, username, search, hash } = new URL(url);
  return [
    ...(protocol === 'https:'
      ? []
      : [invalidValue(field, protocol.slice(0, -1), `'https' is the only allowed URL scheme; ${form}`)]),
    ...(host === '' ? [invalidValue(field, host, `host must be specified; ${form}`)] : []),
    ...(username === '' ? [] : [forbidden(field, `user information is not permitted in the URL`)]),
    ...(search === ''
      ? []
      : [invalidValue(field, search.slice(1), 'query parameters are not permitted in the URL')]),
    ...(hash === '' ? [] : [invalidValue(field, hash.slice(1), 'fragments are not permitted in the URL')]),
  ];
}

function validate({ webhooks = [] }: WebhookConfiguration): FieldError[] {
  const names = webhooks.map(({ name }) => name);
  return webhooks.flatMap((webhook, at) => [
    ...validateWebhook(webhook, `webhooks[${at}]`),
    ...(names.indexOf(webhook.name) < at ? [duplicate(`webhooks[${at}].name`, webhook.name)] : []),
  ]);
}

function setDefaults(configuration: WebhookConfiguration, isMutating: boolean): void {
  for (const webhook of configuration.webhooks ?? []) {
    webhook.failurePolicy ??= 'Fail';
    webhook.timeoutSeconds ??= DEFAULT_TIMEOUT_SECONDS;
    if (isMutating) webhook.reinvocationPolicy ??= 'Never';
    setMatchDefaults(webhook);
    for (const rule of webhook.rules ?? []) rule.scope ??= '*';
    if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= HTTPS_PORT;
  }
}

function webhookKind(kind: string, isMutating: boolean): Kind<WebhookConfiguration> {
  return {
    group: ADMISSION_GROUP,
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: ['api-extensions'],
    namespaced: false,
    verbs: STANDARD_VERBS,
    schema: `io.k8s.api.admissionregistration.v1.${kind}`,
    subresources: {},
    columns: [
      NAME_COLUMN,
      column('Webhooks', 'integer', 'Number of webhooks.', ({ webhooks }) => webhooks?.length ?? 0),
      AGE_COLUMN,
    ],
    fields: {},
    hasGeneration: true,
    nameRule: 'dnsSubdomain',
    setDefaults: (configuration) => setDefaults(configuration, isMutating),
    prepareForCreate: ({ metadata }) => {
      metadata.generation = 1;
    },
    prepareForUpdate: (next, current) => {
      const isChanged = !isDeepStrictEqual(next.webhooks, current.webhooks);
      next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
    },
    validate,
    validateUpdate: () => [],
    warnings: () => [],
  };
}

export const validatingWebhookConfigurationKind = webhookKind('ValidatingWebhookConfiguration', false);
export const mutatingWebhookConfigurationKind = webhookKind('MutatingWebhookConfiguration', true);
