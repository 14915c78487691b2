/** networking.k8s.io/v1 Ingress and IngressClass: stored for ingress controllers that run in Pods. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { inertKind } from '../inert-kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE } from '../table-column.js';
import { required } from '../validation/field-error.js';
import { storedStatus } from './stored-status.js';

const GROUP = 'networking.k8s.io';
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

interface IngressRule {
  host?: string;
  http?: { paths?: { pathType?: string }[] };
}

interface Ingress extends KubeObject {
  spec?: { ingressClassName?: string; rules?: IngressRule[]; tls?: unknown[]; defaultBackend?: unknown };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}

interface IngressClass extends KubeObject {
  spec?: { controller?: string; parameters?: { apiGroup?: string; kind: string; name: string } };
}

/** At most three hosts, as pkg/printers/internalversion formatIngressHosts. */
function hostsText({ spec }: Ingress): string {
  const hosts = (spec?.rules ?? []).flatMap(({ host }) => host || []);
  if (hosts.length === 0) return '*';
  return hosts.length > 3 ? `${hosts.slice(0, 3).join(',')} + ${hosts.length - 3} more...` : hosts.join(',');
}

export const ingressKind = inertKind<Ingress>({
  ...{ group: GROUP, kind: 'Ingress', resource: 'ingresses', singular: 'ingress', namespaced: true },
  shortNames: ['ing'],
  schema: 'io.k8s.api.networking.v1.Ingress',
  ...storedStatus<Ingress>({ group: GROUP, kind: 'Ingress' }),
  columns: [
    NAME_COLUMN,
    column('Class', 'string', 'The IngressClass.', ({ spec, metadata }) => {
      return spec?.ingressClassName ?? metadata.annotations?.[CLASS_ANNOTATION] ?? NONE;
    }),
    column('Hosts', 'string', 'Hosts of the rules.', hostsText),
    column('Address', 'string', 'Addresses that an ingress controller has reported.', ({ status }) =>
      (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '').join(','),
    ),
    column('Ports', 'string', 'Ports of the rules.', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80')),
    AGE_COLUMN,
  ],
  validate: ({ spec }) => [
    ...(spec?.rules?.length || spec?.defaultBackend
      ? []
      : [required('spec', 'either `defaultBackend` or `rules` must be specified')]),
    ...(spec?.rules ?? []).flatMap(({ http }, rule) =>
      (http?.paths ?? []).flatMap(({ pathType }, path) =>
        pathType
          ? []
          : [required(`spec.rules[${rule}].http.paths[${path}].pathType`, 'pathType must be specified')],
      ),
    ),
  ],
  warnings: () => [
    'Ingress: Everynode routes no traffic for it: it has an effect only if an ingress controller runs, such as Traefik or ingress-nginx',
  ],
});

export const ingressClassKind = inertKind<IngressClass>({
  ...{ group: GROUP, kind: 'IngressClass', resource: 'ingressclasses', singular: 'ingressclass' },
  namespaced: false,
  schema: 'io.k8s.api.networking.v1.IngressClass',
  columns: [
    NAME_COLUMN,
    column('Controller', 'string', 'The controller of this class.', ({ spec }) => spec?.controller ?? ''),
    column('Parameters', 'string', 'The parameters of the controller.', ({ spec }) => {
      const { apiGroup, kind, name } = spec?.parameters ?? {};
      return kind === undefined ? NONE : `${apiGroup ? `${kind}.${apiGroup}` : kind}/${name}`;
    }),
    AGE_COLUMN,
  ],
  validate: ({ spec }) => (spec?.controller ? [] : [required('spec.controller')]),
  warnings: () => ['IngressClass: only an ingress controller that runs in Pods uses it'],
});
