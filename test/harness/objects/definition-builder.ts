/** Builds CustomResourceDefinitions for tests. */
import type {
  CustomResourceDefinition,
  CustomResourceVersion,
  JsonSchema,
} from '../../../shared/kube/objects/custom-resource-definition.js';

/** Returns a served version that is stored. */
export function definitionVersion(
  schema: JsonSchema,
  change: Partial<CustomResourceVersion> = {},
): CustomResourceVersion {
  return { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...change };
}

/** Returns `widgets.example.com` with these versions. */
export function widgetDefinition(
  versions: CustomResourceVersion[],
  change: Partial<CustomResourceDefinition['spec']> = {},
): CustomResourceDefinition {
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names, versions },
      conversion: { strategy: 'None' },
      ...change,
    },
    status: { storedVersions: versions.filter(({ storage }) => storage).map(({ name }) => name) },
  };
}
