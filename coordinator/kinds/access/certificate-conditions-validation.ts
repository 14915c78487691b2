/** Conditions of a CertificateSigningRequest (pkg/apis/certificates/validation validateConditions). */
import type { CertificateSigningRequestCondition } from '../../../shared/kube/access/certificate-signing-request.js';
import type { FieldError } from '../kind.js';
import { duplicate, invalidValue, required } from '../validation/field-error.js';

const FIELD = 'status.conditions';
/** Conditions that are True or absent. */
const FINAL = new Set(['Approved', 'Denied', 'Failed']);

/** Returns all errors in the list: duplicate types, a missing type, a decision that is not True, or both decisions. */
export function validateConditions(conditions: readonly CertificateSigningRequestCondition[]): FieldError[] {
  const types = conditions.map(({ type }) => type);
  const isContradiction = types.includes('Approved') && types.includes('Denied');
  return conditions.flatMap((condition, index) => [
    ...validateCondition(condition, `${FIELD}[${index}]`),
    ...(types.indexOf(condition.type) < index ? [duplicate(`${FIELD}[${index}].type`, condition.type)] : []),
    ...(isContradiction && index === Math.max(types.indexOf('Approved'), types.indexOf('Denied'))
      ? [
          invalidValue(
            `${FIELD}[${index}].type`,
            condition.type,
            'Approved and Denied conditions are mutually exclusive',
          ),
        ]
      : []),
  ]);
}

function validateCondition(
  { type, status }: CertificateSigningRequestCondition,
  field: string,
): FieldError[] {
  if (!type) return [required(`${field}.type`)];
  if (!status) return [required(`${field}.status`)];
  if (FINAL.has(type) && status !== 'True') {
    return [invalidValue(`${field}.status`, status, `${type} condition may only be set to True`)];
  }
  return [];
}
