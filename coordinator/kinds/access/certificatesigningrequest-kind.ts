/** certificates.k8s.io/v1 CertificateSigningRequest. Rules: pkg/apis/certificates/validation, pkg/registry/certificates. */
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  JOIN_RIGHTS_ANNOTATION,
  REQUESTED_NODE_ANNOTATION,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { durationText } from '../duration-text.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE } from '../table-column.js';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../validation/field-error.js';
import { dnsSubdomainProblems } from '../validation/name-rules.js';
import { keepServerAnnotation } from '../validation/object-meta-validation.js';
import { validateConditions } from './certificate-conditions-validation.js';

const GROUP = 'certificates.k8s.io';
/** Annotations that only the hub may set, on requests that it files for a host. */
const HUB_ANNOTATIONS = [JOIN_RIGHTS_ANNOTATION, REQUESTED_NODE_ANNOTATION];
const MIN_EXPIRATION_SECONDS = 600;
const PEM_REQUEST =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE REQUEST-----\s*$/;

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

const EMPTY_SPEC = { request: '', signerName: '' };

function validateRequest(request: string): FieldError[] {
  const text = Buffer.from(request, 'base64').toString('latin1');
  const isPem = PEM_REQUEST.test(text);
  return isPem ? [] : [invalidValue('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST')];
}

function validateUsages(usages: readonly string[]): FieldError[] {
  if (usages.length === 0) return [required('spec.usages')];
  return usages.flatMap((usage, index) => {
    const field = `spec.usages[${index}]`;
    if (!USAGES.includes(usage)) return [notSupported(field, usage, USAGES)];
    return usages.indexOf(usage) < index ? [duplicate(field, usage)] : [];
  });
}

function validateSignerName(name: string): FieldError[] {
  const field = 'spec.signerName';
  if (!name) return [required(field)];
  const [domain = '', ...path] = name.split('/');
  const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  if (path.length !== 1 || !path[0] || !domain) return [invalidValue(field, name, form)];
  if (!domain.includes('.')) {
    return [invalidValue(field, domain, 'should be a domain with at least two segments separated by dots')];
  }
  if (name === 'kubernetes.io/legacy-unknown') {
    return [invalidValue(field, name, 'the legacy signerName is not allowed via this API version')];
  }
  return dnsSubdomainProblems(domain).map((problem) => invalidValue(field, domain, problem));
}

function validateExpiration(seconds: number | undefined): FieldError[] {
  if (seconds === undefined || seconds >= MIN_EXPIRATION_SECONDS) return [];
  const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
  return [invalidValue('spec.expirationSeconds', seconds, detail)];
}

function validate({ spec, status }: CertificateSigningRequest): FieldError[] {
  return [
    ...validateRequest(spec.request),
    ...validateUsages(spec.usages ?? []),
    ...validateSignerName(spec.signerName),
    ...validateExpiration(spec.expirationSeconds),
    ...validateConditions(status?.conditions ?? []),
  ];
}

const isDecision = ({ type }: CertificateSigningRequestCondition) => type === 'Approved' || type === 'Denied';

/** Reverts the conditions of the types in `kept` to their stored state. */
function keepConditions(
  next: CertificateSigningRequest,
  current: CertificateSigningRequest,
  kept: (condition: CertificateSigningRequestCondition) => boolean,
): void {
  const conditionsOf = (request: CertificateSigningRequest) => request.status?.conditions ?? [];
  const conditions = [
    ...conditionsOf(current).filter(kept),
    ...conditionsOf(next).filter((condition) => !kept(condition)),
  ];
  next.status = { ...next.status, conditions };
}

/** A condition cannot be removed (ValidateCertificateSigningRequestUpdate) and a certificate cannot change. */
function validateChange(next: CertificateSigningRequest, current: CertificateSigningRequest): FieldError[] {
  const types = new Set(next.status?.conditions?.map(({ type }) => type));
  const gone = (current.status?.conditions ?? []).filter(({ type }) => !types.has(type));
  const { certificate } = current.status ?? {};
  return [
    ...gone.map(({ type }) =>
      forbidden('status.conditions', `updates may not remove a condition of type ${JSON.stringify(type)}`),
    ),
    ...(certificate && next.status?.certificate !== certificate
      ? [forbidden('status.certificate', 'updates may not set certificate content to a different value')]
      : []),
    ...validateConditions(next.status?.conditions ?? []),
  ];
}

/** Returns the condition column of `kubectl get csr` (printers: extractCSRStatus). */
function conditionText({ status }: CertificateSigningRequest): string {
  const has = (type: string) => status?.conditions?.some((each) => each.type === type) ?? false;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

const SUBRESOURCE = { group: GROUP, version: 'v1', kind: 'CertificateSigningRequest', verbs: STATUS_VERBS };

export const certificateSigningRequestKind: Kind<CertificateSigningRequest> = {
  group: GROUP,
  version: 'v1',
  kind: 'CertificateSigningRequest',
  resource: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  categories: [],
  namespaced: false,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.certificates.v1.CertificateSigningRequest',
  subresources: { approval: SUBRESOURCE, status: SUBRESOURCE },
  columns: [
    NAME_COLUMN,
    AGE_COLUMN,
    column(
      'SignerName',
      'string',
      'The signer that the request is for.',
      ({ spec }) => spec.signerName || NONE,
    ),
    column('Requestor', 'string', 'Who asked.', ({ spec }) => spec.username ?? ''),
    column('RequestedDuration', 'string', 'Requested validity of the certificate.', ({ spec }) =>
      spec.expirationSeconds === undefined ? NONE : durationText(spec.expirationSeconds * 1000),
    ),
    column('Condition', 'string', 'State of the request.', conditionText),
  ],
  fields: { 'spec.signerName': ({ spec }) => spec.signerName },
  hasGeneration: false,
  nameRule: 'pathSegment',
  // Go's zero values. Validation then reports the fields as missing.
  setDefaults: (request) => {
    request.spec = { ...EMPTY_SPEC, ...request.spec };
  },
  prepareForCreate: (request, { user, groups }) => {
    request.status = {};
    // The hub names the requesting host itself.
    if (user === undefined) return;
    const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...spec } = request.spec;
    request.spec = { ...spec, username: user, groups: [...(groups ?? [])] };
    for (const key of HUB_ANNOTATIONS) delete request.metadata.annotations?.[key];
  },
  prepareForUpdate: (next, current, context) => {
    for (const key of HUB_ANNOTATIONS) keepServerAnnotation(key, next, current, context);
    next.spec = current.spec;
    next.status = current.status ?? {};
  },
  prepareForStatusUpdate: (next, current, context) => {
    for (const key of HUB_ANNOTATIONS) keepServerAnnotation(key, next, current, context);
    next.spec = current.spec;
    keepConditions(next, current, isDecision);
  },
  prepareForApproval: (next, current, context) => {
    for (const key of HUB_ANNOTATIONS) keepServerAnnotation(key, next, current, context);
    next.spec = current.spec;
    const { certificate } = current.status ?? {};
    next.status = { conditions: next.status?.conditions ?? [], ...(certificate ? { certificate } : {}) };
    keepConditions(next, current, (condition) => !isDecision(condition));
  },
  validate,
  validateUpdate: () => [],
  validateStatusUpdate: validateChange,
  warnings: () => [],
};
