/** admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding. */
import type { KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';

export const ADMISSION_GROUP = 'admissionregistration.k8s.io';

/** Which requests a rule matches. `*` matches everything. */
export interface AdmissionRule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
  /** Policies only. */
  resourceNames?: string[];
}

export interface MatchResources {
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: AdmissionRule[];
  excludeResourceRules?: AdmissionRule[];
  matchPolicy?: string;
}

export interface MatchCondition {
  name?: string;
  expression?: string;
}

export interface PolicyValidation {
  expression?: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
}

interface PolicyVariable {
  name?: string;
  expression?: string;
}

export interface PolicyAuditAnnotation {
  key?: string;
  valueExpression?: string;
}

export interface ValidatingAdmissionPolicy extends KubeObject {
  spec?: {
    paramKind?: { apiVersion?: string; kind?: string };
    matchConstraints?: MatchResources;
    matchConditions?: MatchCondition[];
    variables?: PolicyVariable[];
    validations?: PolicyValidation[];
    auditAnnotations?: PolicyAuditAnnotation[];
    failurePolicy?: string;
  };
  status?: { observedGeneration?: number; typeChecking?: Record<string, unknown>; conditions?: unknown[] };
}

export interface ParamRef {
  name?: string;
  namespace?: string;
  selector?: LabelSelector;
  parameterNotFoundAction?: string;
}

export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  spec?: {
    policyName?: string;
    paramRef?: ParamRef;
    matchResources?: MatchResources;
    validationActions?: string[];
  };
}
