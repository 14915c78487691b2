/** Assertions of test/e2e/apimachinery about the garbage collector and the deletion of Namespaces. */
import { daemonSet, pod, type Step, type UpstreamCase } from './upstream-case.js';

const NAMESPACE_FILE = 'apimachinery/namespace.go';
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'service' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};
const DEPLOYMENT = { ...daemonSet('owner', 'app:1'), kind: 'Deployment' };
const CONTROLLER = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'rc' },
  spec: { replicas: 2, selector: { app: 'rc' }, template: pod('rc') },
};

/** Makes a Pod a dependent of another. */
function ownedBy(name: string, owner: string): readonly Step[] {
  const reference = { apiVersion: 'v1', kind: 'Pod', name: owner, uid: 'LAST', controller: true };
  const patch = { metadata: { ownerReferences: [{ ...reference, blockOwnerDeletion: true }] } };
  return [
    [`get pod ${owner} -o jsonpath={.metadata.uid}`, /^(\S+)$/],
    [`patch pod ${name} -p ${JSON.stringify(patch)}`, /patched/],
  ];
}

export const DELETION_CASES: readonly UpstreamCase[] = [
  {
    title: '[sig-api-machinery] Garbage collector should delete pods created by rc when not orphaning',
    file: 'apimachinery/garbage_collector.go',
    deviation: '**Kinds without objects.**',
    steps: [['!create -f -', /MethodNotAllowed/, CONTROLLER]],
  },
  {
    title: '[sig-api-machinery] Garbage collector should delete RS created by deployment when not orphaning',
    file: 'apimachinery/garbage_collector.go',
    needs: ['deployments.apps', 'replicasets.apps'],
    steps: [
      ['create -f -', /created/, DEPLOYMENT],
      ['~get replicasets -l app=owner -o name', /^replicaset\S+$/],
      ['delete deployment owner --cascade=background', /deleted/],
      ['~get replicasets -l app=owner -o name', /^$/],
    ],
  },
  {
    title:
      '[sig-api-machinery] Garbage collector should orphan RS created by deployment when deleteOptions.PropagationPolicy is Orphan',
    file: 'apimachinery/garbage_collector.go',
    needs: ['deployments.apps', 'replicasets.apps'],
    steps: [
      ['create -f -', /created/, DEPLOYMENT],
      ['~get replicasets -l app=owner -o name', /^replicaset\S+$/],
      ['delete deployment owner --cascade=orphan', /deleted/],
      [
        '~get replicasets -l app=owner -o jsonpath={.items[*].metadata.ownerReferences}x{.items[*].kind}',
        /^xReplicaSet$/,
      ],
    ],
  },
  {
    title: '[sig-api-machinery] Garbage collector should not be blocked by dependency circle',
    file: 'apimachinery/garbage_collector.go',
    steps: [
      [
        'create -f -',
        /created/,
        { apiVersion: 'v1', kind: 'List', items: [pod('pod1'), pod('pod2'), pod('pod3')] },
      ],
      ...ownedBy('pod1', 'pod3'),
      ...ownedBy('pod2', 'pod1'),
      ...ownedBy('pod3', 'pod2'),
      ['delete pod pod1 --wait=false', /deleted/],
      ['~get pods -o name', /^$/],
    ],
  },
  {
    title: '[sig-api-machinery] Namespaces [Serial] should apply a finalizer to a Namespace',
    file: NAMESPACE_FILE,
    steps: [
      [
        'replace --raw /api/v1/namespaces/NS/finalize -f -',
        /e2e\.example\.com\/fake/,
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'NS' },
          spec: { finalizers: ['kubernetes', 'e2e.example.com/fake'] },
        },
      ],
      ['get namespace NS -o jsonpath={.spec.finalizers}', /fake/],
      [
        'replace --raw /api/v1/namespaces/NS/finalize -f -',
        /"kubernetes"/,
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'NS' },
          spec: { finalizers: ['kubernetes'] },
        },
      ],
      ['get namespace NS -o jsonpath={.spec.finalizers}', /^\["kubernetes"\]$/],
    ],
  },
  {
    title: '[sig-api-machinery] Namespaces [Serial] should apply an update to a Namespace',
    file: NAMESPACE_FILE,
    steps: [
      ['label namespace NS NS=updated', /labeled/],
      ['get namespace NS -o jsonpath={.metadata.labels.NS}', /^updated$/],
    ],
  },
  {
    title: '[sig-api-machinery] Namespaces [Serial] should apply changes to a namespace status',
    file: NAMESPACE_FILE,
    steps: [
      ['get namespace NS -o jsonpath={.status.phase}', /^Active$/],
      [
        'patch namespace NS --subresource=status --type=merge -p {"status":{"conditions":[{"type":"StatusPatch","status":"True","reason":"E2E","message":"Patched"}]}}',
        /patched/,
      ],
      ['get namespace NS -o jsonpath={.status.conditions[*].type}', /StatusPatch/],
    ],
  },
  {
    title: '[sig-api-machinery] Namespaces [Serial] should patch a Namespace',
    file: NAMESPACE_FILE,
    steps: [
      ['patch namespace NS -p {"metadata":{"labels":{"testLabel":"testValue"}}}', /patched/],
      ['get namespace NS --show-labels', /testLabel=testValue/],
    ],
  },
  {
    title:
      '[sig-api-machinery] Namespaces [Serial] should ensure that all services are removed when a namespace is deleted',
    file: NAMESPACE_FILE,
    steps: [
      ['create -f -', /created/, SERVICE],
      ['delete namespace NS --timeout=60s', /deleted/],
      ['create namespace NS', /created/],
      ['get services', /No resources found/],
    ],
  },
  {
    title:
      '[sig-api-machinery] Namespaces [Serial] should ensure that all pods are removed when a namespace is deleted',
    file: NAMESPACE_FILE,
    steps: [
      ['create -f -', /created/, pod('removed')],
      ['wait pod removed --for=condition=Ready --timeout=60s', /condition met/],
      ['delete namespace NS --timeout=60s', /deleted/],
      ['create namespace NS', /created/],
      ['get pods', /No resources found/],
    ],
  },
];
