/** rbac.authorization.k8s.io/v1: roles and bindings. `access/rbac-authorizer.ts` evaluates them. */
import { RBAC_GROUP, type Role, type RoleBinding } from '../../../shared/kube/access/rbac-types.js';
import { inertKind } from '../inert-kind.js';
import type { FieldError } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from '../table-column.js';
import { invalidValue, notSupported, required } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'];

function validateRole({ rules = [] }: Role): FieldError[] {
  return rules.flatMap(({ verbs = [] }, index) =>
    verbs.length > 0 ? [] : [required(`rules[${index}].verbs`, 'verbs must contain at least one value')],
  );
}

/** Upstream's defaults for omitted fields of a binding's references. */
function setBindingDefaults({ roleRef, subjects = [] }: RoleBinding): void {
  if (roleRef) roleRef.apiGroup ||= RBAC_GROUP;
  for (const subject of subjects) {
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= RBAC_GROUP;
  }
}

function validateBinding(
  { roleRef = {}, subjects = [] }: RoleBinding,
  roles: readonly string[],
): FieldError[] {
  const { kind = '', name } = roleRef;
  return [
    ...(roles.includes(kind) ? [] : [notSupported('roleRef.kind', kind, roles)]),
    ...(name ? [] : [required('roleRef.name')]),
    ...subjects.flatMap((subject, index) => [
      ...(subject.name ? [] : [required(`subjects[${index}].name`)]),
      ...(SUBJECT_KINDS.includes(subject.kind)
        ? []
        : [notSupported(`subjects[${index}].kind`, subject.kind, SUBJECT_KINDS)]),
    ]),
  ];
}

/** The role of a binding cannot change: delete the binding and create a new one. */
function validateBindingUpdate(next: RoleBinding, current: RoleBinding): FieldError[] {
  if (semanticallyEqual(next.roleRef, current.roleRef)) return [];
  return [invalidValue('roleRef', next.roleRef, 'cannot change roleRef')];
}

const ROLE_COLUMNS = [
  NAME_COLUMN,
  column(
    'Created At',
    'string',
    'When the server first stored it.',
    (role) => role.metadata.creationTimestamp ?? '',
  ),
];

function subjectsOf(kind: string): (binding: RoleBinding) => string {
  return ({ subjects = [] }) =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(({ namespace, name }) => (namespace ? `${namespace}/${name}` : name))
      .join(', ');
}

const BINDING_COLUMNS = [
  NAME_COLUMN,
  column<RoleBinding>(
    'Role',
    'string',
    'The role that it grants.',
    ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`,
  ),
  AGE_COLUMN,
  wideColumn('Users', 'string', 'Users that receive the role.', subjectsOf('User')),
  wideColumn('Groups', 'string', 'Groups that receive the role.', subjectsOf('Group')),
  wideColumn(
    'ServiceAccounts',
    'string',
    'ServiceAccounts that receive the role.',
    subjectsOf('ServiceAccount'),
  ),
];

export const roleKind = inertKind<Role>({
  group: RBAC_GROUP,
  kind: 'Role',
  resource: 'roles',
  singular: 'role',
  namespaced: true,
  nameRule: 'pathSegment',
  schema: 'io.k8s.api.rbac.v1.Role',
  columns: ROLE_COLUMNS,
  warnings: () => [],
  validate: validateRole,
});

export const clusterRoleKind = inertKind<Role>({
  group: RBAC_GROUP,
  kind: 'ClusterRole',
  resource: 'clusterroles',
  singular: 'clusterrole',
  namespaced: false,
  nameRule: 'pathSegment',
  schema: 'io.k8s.api.rbac.v1.ClusterRole',
  columns: ROLE_COLUMNS,
  warnings: () => [],
  validate: validateRole,
});

export const roleBindingKind = inertKind<RoleBinding>({
  group: RBAC_GROUP,
  kind: 'RoleBinding',
  resource: 'rolebindings',
  singular: 'rolebinding',
  namespaced: true,
  nameRule: 'pathSegment',
  schema: 'io.k8s.api.rbac.v1.RoleBinding',
  columns: BINDING_COLUMNS,
  warnings: () => [],
  setDefaults: setBindingDefaults,
  validate: (binding) => validateBinding(binding, ['Role', 'ClusterRole']),
  validateUpdate: validateBindingUpdate,
});

export const clusterRoleBindingKind = inertKind<RoleBinding>({
  group: RBAC_GROUP,
  kind: 'ClusterRoleBinding',
  resource: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  namespaced: false,
  nameRule: 'pathSegment',
  schema: 'io.k8s.api.rbac.v1.ClusterRoleBinding',
  columns: BINDING_COLUMNS,
  warnings: () => [],
  setDefaults: setBindingDefaults,
  validate: (binding) => validateBinding(binding, ['ClusterRole']),
  validateUpdate: validateBindingUpdate,
});
