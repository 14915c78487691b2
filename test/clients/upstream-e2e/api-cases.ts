/** Assertions of test/e2e/apimachinery, but for those of deletion-cases.ts. */
import { configMap, daemonSet, pod, type UpstreamCase } from './upstream-case.js';

const QUOTA_FILE = 'apimachinery/resource_quota.go';
const WATCH_FILE = 'apimachinery/watch.go';
const MAPS = '/api/v1/namespaces/NS/configmaps';
const DAEMON_SETS = '/apis/apps/v1/namespaces/NS/daemonsets?fieldValidation=Strict';

/** The JSON of a DaemonSet with `text` before its spec. */
function typedObject(text: string): string {
  return JSON.stringify(daemonSet('typed', 'app:1')).replace('"spec":', `${text},"spec":`);
}

function quota(hard: object): object {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' }, spec: { hard } };
}

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.e2e.example.com' },
  spec: {
    group: 'e2e.example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

export const API_CASES: readonly UpstreamCase[] = [
  {
    title: '[sig-api-machinery] AggregatedDiscovery should support aggregated discovery interface',
    file: 'apimachinery/aggregated_discovery.go',
    steps: [['api-resources -v=9 --cached=false', /APIGroupDiscoveryList[\s\S]*daemonsets/]],
  },
  {
    title: '[sig-api-machinery] Discovery should locate the groupVersion and a resource within each APIGroup',
    file: 'apimachinery/discovery.go',
    steps: [
      ['get --raw /apis/apps/v1', /"groupVersion":"apps\/v1".*"daemonsets"/],
      ['get --raw /apis/rbac.authorization.k8s.io/v1', /"rbac.authorization.k8s.io\/v1".*"roles"/],
      ['get --raw /apis/coordination.k8s.io/v1', /"coordination.k8s.io\/v1".*"leases"/],
      ['get --raw /apis/events.k8s.io/v1', /"events.k8s.io\/v1".*"events"/],
    ],
  },
  {
    title: '[sig-api-machinery] Discovery should validate PreferredVersion for each APIGroup',
    file: 'apimachinery/discovery.go',
    steps: [
      ['get --raw /apis', /"name":"apps".*"preferredVersion":\{"groupVersion":"apps\/v1","version":"v1"\}/],
      ['get --raw /apis/apps', /"preferredVersion":\{"groupVersion":"apps\/v1","version":"v1"\}/],
    ],
  },
  {
    title: '[sig-api-machinery] FieldValidation should detect unknown and duplicate fields of a typed object',
    file: 'apimachinery/field_validation.go',
    steps: [
      [
        `!create --raw ${DAEMON_SETS} -f -`,
        /strict decoding error: .*unknown field "unknown"/,
        typedObject('"unknown":1'),
      ],
      [`!create --raw ${DAEMON_SETS} -f -`, /duplicate field "kind"/, typedObject('"kind":"DaemonSet"')],
    ],
  },
  {
    title: '[sig-api-machinery] FieldValidation should detect unknown metadata fields of a typed object',
    file: 'apimachinery/field_validation.go',
    steps: [
      [
        `!create --raw ${DAEMON_SETS} -f -`,
        /unknown field "metadata\.unknownMeta"/,
        JSON.stringify(daemonSet('typed', 'app:1')).replace('"metadata":{', '"metadata":{"unknownMeta":"x",'),
      ],
    ],
  },
  {
    title: '[sig-api-machinery] ResourceQuota should be able to update and delete ResourceQuota.',
    file: QUOTA_FILE,
    needs: ['resourcequotas'],
    steps: [
      ['create -f -', /created/, quota({ cpu: '1' })],
      ['patch resourcequota quota --type=merge -p {"spec":{"hard":{"cpu":"2"}}}', /patched/],
      ['get resourcequota quota -o jsonpath={.spec.hard.cpu}', /^2$/],
      ['delete resourcequota quota', /deleted/],
      ['!get resourcequota quota', /NotFound/],
    ],
  },
  {
    title:
      '[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a configMap.',
    file: QUOTA_FILE,
    needs: ['resourcequotas'],
    steps: [
      ['create -f -', /created/, quota({ configmaps: '5' })],
      ['~get resourcequota quota -o jsonpath={.status.used.configmaps}', /^1$/],
      ['create -f -', /created/, configMap('counted')],
      ['~get resourcequota quota -o jsonpath={.status.used.configmaps}', /^2$/],
      ['delete configmap counted', /deleted/],
      ['~get resourcequota quota -o jsonpath={.status.used.configmaps}', /^1$/],
    ],
  },
  {
    title:
      '[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a secret.',
    file: QUOTA_FILE,
    needs: ['resourcequotas'],
    steps: [
      ['create -f -', /created/, quota({ secrets: '5' })],
      ['~get resourcequota quota -o jsonpath={.status.used.secrets}', /^0$/],
      ['create secret generic counted --from-literal=a=1', /created/],
      ['~get resourcequota quota -o jsonpath={.status.used.secrets}', /^1$/],
      ['delete secret counted', /deleted/],
      ['~get resourcequota quota -o jsonpath={.status.used.secrets}', /^0$/],
    ],
  },
  {
    title:
      '[sig-api-machinery] Servers with support for API chunking should return chunks of results for list calls',
    file: 'apimachinery/chunking.go',
    steps: [
      [
        'create -f -',
        /created/,
        { apiVersion: 'v1', kind: 'List', items: ['a', 'b', 'c'].map((name) => configMap(name)) },
      ],
      [`get --raw ${MAPS}?limit=2&labelSelector=app%3De2e`, /"continue":"[^"]+"/],
      ['get configmaps -l app=e2e --chunk-size=2 -o name', /a\s+\S+b\s+\S+c$/],
    ],
  },
  {
    title: '[sig-api-machinery] Servers with support for Table transformation should return pod details',
    file: 'apimachinery/table_conversion.go',
    steps: [
      ['create -f -', /created/, pod('table')],
      ['get pod table -v=9', /"kind\\?":\\?"Table[\s\S]*"name\\?":\\?"Name[\s\S]*PartialObjectMetadata/],
    ],
  },
  {
    title:
      '[sig-api-machinery] Servers with support for Table transformation should return generic metadata details across all namespaces for nodes',
    file: 'apimachinery/table_conversion.go',
    steps: [
      ['get nodes -A -v=9', /"kind\\?":\\?"Table[\s\S]*"name\\?":\\?"Name[\s\S]*PartialObjectMetadata/],
    ],
  },
  {
    title:
      '[sig-api-machinery] Watchers should observe add, update, and delete watch notifications on configmaps',
    file: WATCH_FILE,
    steps: [
      ['create -f -', /created/, configMap('watched')],
      ['patch configmap watched -p {"data":{"mutation":"1"}}', /patched/],
      ['delete configmap watched', /deleted/],
      [
        `get --raw ${MAPS}?watch=1&timeoutSeconds=1&resourceVersion=1&fieldSelector=metadata.name%3Dwatched`,
        /"ADDED"[\s\S]*"MODIFIED"[\s\S]*"mutation":"1"[\s\S]*"DELETED"/,
      ],
    ],
  },
  {
    title:
      '[sig-api-machinery] Watchers should observe an object deletion if it stops meeting the requirements of the selector',
    file: WATCH_FILE,
    steps: [
      ['create -f -', /created/, configMap('selected')],
      ['label configmap selected app=other --overwrite', /labeled/],
      [
        `get --raw ${MAPS}?watch=1&timeoutSeconds=1&resourceVersion=1&labelSelector=app%3De2e`,
        /"ADDED"[\s\S]*"DELETED"/,
      ],
    ],
  },
  {
    title: '[sig-api-machinery] server version should find the server version',
    file: 'apimachinery/server_version.go',
    steps: [['get --raw /version', /"major": ?"1"[\s\S]*"minor": ?"\d+/]],
  },
  {
    title: '[sig-api-machinery] health handlers should contain necessary checks',
    file: 'apimachinery/health_handlers.go',
    steps: [
      ['get --raw /livez?verbose', /\[\+\]ping ok/],
      ['get --raw /readyz?verbose', /\[\+\]ping ok/],
    ],
  },
  {
    title:
      '[sig-api-machinery] CustomResourceDefinition resources [Privileged:ClusterAdmin] Simple CustomResourceDefinition creating/deleting custom resource definition objects works',
    file: 'apimachinery/custom_resource_definition.go',
    needs: ['customresourcedefinitions.apiextensions.k8s.io'],
    steps: [
      ['create -f -', /created/, CRD],
      ['wait crd widgets.e2e.example.com --for=condition=Established --timeout=60s', /condition met/],
      ['delete crd widgets.e2e.example.com --timeout=60s', /deleted/],
      ['!get crd widgets.e2e.example.com', /NotFound/],
    ],
  },
  {
    title:
      '[sig-api-machinery] CustomResourceDefinition resources [Privileged:ClusterAdmin] should include custom resource definition resources in discovery documents',
    file: 'apimachinery/custom_resource_definition.go',
    needs: ['customresourcedefinitions.apiextensions.k8s.io'],
    steps: [
      ['get --raw /apis', /"apiextensions.k8s.io\/v1"/],
      ['get --raw /apis/apiextensions.k8s.io', /"apiextensions.k8s.io\/v1"/],
      ['get --raw /apis/apiextensions.k8s.io/v1', /"customresourcedefinitions"/],
    ],
  },
];
