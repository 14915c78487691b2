/** Assertions of test/e2e/common, node, storage, network and instrumentation. */
import { configMap, pod, type UpstreamCase } from './upstream-case.js';

const READY = /condition met/;

export const OBJECT_CASES: readonly UpstreamCase[] = [
  {
    title: '[sig-node] ConfigMap should run through a ConfigMap lifecycle',
    file: 'common/node/configmap.go',
    steps: [
      ['create -f -', /created/, configMap('life')],
      ['patch configmap life -p {"data":{"a":"2"}}', /patched/],
      [
        'get configmaps -A -l app=e2e --field-selector=metadata.namespace=NS -o jsonpath={.items[*].data.a}',
        /^2$/,
      ],
      ['delete configmaps -l app=e2e', /deleted/],
      ['!get configmap life', /NotFound/],
    ],
  },
  {
    title: '[sig-node] ConfigMap should fail to create ConfigMap with empty key',
    file: 'common/node/configmap.go',
    steps: [['!create -f -', /Invalid value: ""/, configMap('empty', { data: { '': '1' } })]],
  },
  {
    title: '[sig-storage] ConfigMap should be immutable if `immutable` field is set',
    file: 'common/storage/configmap_volume.go',
    steps: [
      ['create -f -', /created/, configMap('fixed')],
      ['patch configmap fixed -p {"immutable":true}', /patched/],
      ['!patch configmap fixed -p {"data":{"a":"2"}}', /field is immutable when `immutable` is set/],
      ['!patch configmap fixed -p {"immutable":false}', /field is immutable when `immutable` is set/],
      ['patch configmap fixed -p {"metadata":{"labels":{"a":"b"}}}', /patched/],
      ['delete configmap fixed', /deleted/],
    ],
  },
  {
    title: '[sig-node] Secrets should fail to create secret due to empty secret key',
    file: 'common/node/secrets.go',
    steps: [
      [
        '!create -f -',
        /Invalid value: ""/,
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'empty' }, data: { '': 'YQ==' } },
      ],
    ],
  },
  {
    title: '[sig-node] Secrets should patch a secret',
    file: 'common/node/secrets.go',
    steps: [
      ['create secret generic patched --from-literal=key=value', /created/],
      ['patch secret patched -p {"metadata":{"labels":{"e2e":"s"}},"data":{"key":"dmFsdWUx"}}', /patched/],
      ['get secrets -A -l e2e=s -o jsonpath={.items[*].data.key}', /^dmFsdWUx$/],
      ['delete secrets -l e2e=s', /deleted/],
    ],
  },
  {
    title: '[sig-storage] Secrets should be immutable if `immutable` field is set',
    file: 'common/storage/secrets_volume.go',
    steps: [
      ['create secret generic fixed --from-literal=a=1', /created/],
      ['patch secret fixed -p {"immutable":true}', /patched/],
      ['!patch secret fixed -p {"data":{"a":"Mg=="}}', /field is immutable when `immutable` is set/],
    ],
  },
  {
    title: '[sig-node] Lease lease API should be available',
    file: 'common/node/lease.go',
    steps: [
      [
        'create -f -',
        /created/,
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { name: 'lease', labels: { e2e: 'lease' } },
          spec: { holderIdentity: 'holder', leaseDurationSeconds: 30, leaseTransitions: 0 },
        },
      ],
      [
        'patch lease lease --type=merge -p {"spec":{"holderIdentity":"holder2","leaseTransitions":1}}',
        /patched/,
      ],
      ['get lease lease -o jsonpath={.spec.holderIdentity},{.spec.leaseTransitions}', /^holder2,1$/],
      ['delete leases -l e2e=lease', /deleted/],
      ['!get lease lease', /NotFound/],
    ],
  },
  {
    title: '[sig-node] Pods should be submitted and removed',
    file: 'common/node/pods.go',
    steps: [
      ['create -f -', /created/, pod('submitted')],
      ['wait pod submitted --for=condition=Ready --timeout=60s', READY],
      ['delete pod submitted --timeout=60s', /deleted/],
      ['get pods -l app=submitted', /No resources found/],
    ],
  },
  {
    title: '[sig-node] Pods should be updated',
    file: 'common/node/pods.go',
    steps: [
      ['create -f -', /created/, pod('updated')],
      ['label pod updated time=now', /labeled/],
      ['get pods -l time=now -o name', /^pod\/updated$/],
    ],
  },
  {
    title: '[sig-node] Pods should get a host IP',
    file: 'common/node/pods.go',
    steps: [
      ['create -f -', /created/, pod('host-ip')],
      ['~get pod host-ip -o jsonpath={.status.hostIP}', /^[\d.:a-f]+$/],
    ],
  },
  {
    title: '[sig-node] Pods should delete a collection of pods',
    file: 'common/node/pods.go',
    steps: [
      ['create -f -', /created/, pod('c1', {}, { labels: { type: 'Testing' } })],
      ['create -f -', /created/, pod('c2', {}, { labels: { type: 'Testing' } })],
      ['delete pods -l type=Testing --timeout=60s', /deleted/],
      ['get pods -l type=Testing', /No resources found/],
    ],
  },
  {
    title: '[sig-node] Pods should run through the lifecycle of Pods and PodStatus',
    file: 'common/node/pods.go',
    steps: [
      ['create -f -', /created/, pod('life')],
      ['wait pod life --for=condition=Ready --timeout=60s', READY],
      [
        'patch pod life -p {"metadata":{"labels":{"e2e":"patched"}},"spec":{"containers":[{"name":"main","image":"app:2"}]}}',
        /patched/,
      ],
      ['get pod life --subresource=status -o jsonpath={.status.phase}', /^Running$/],
      ['delete pods -l e2e=patched --timeout=60s', /deleted/],
    ],
  },
  {
    title:
      '[sig-node] Pods Extended Pods Set QOS Class should be set on Pods with matching resource requests and limits for memory and cpu',
    file: 'node/pods.go',
    steps: [
      [
        'create -f -',
        /created/,
        pod('qos', {
          containers: [
            {
              name: 'main',
              image: 'app:1',
              resources: { requests: { cpu: '10m', memory: '10Mi' }, limits: { cpu: '10m', memory: '10Mi' } },
            },
          ],
        }),
      ],
      ['get pod qos -o jsonpath={.status.qosClass}', /^Guaranteed$/],
    ],
  },
  {
    title:
      '[sig-node] Sysctls [LinuxOnly] [NodeConformance] should reject invalid sysctls [MinimumKubeletVersion:1.21]',
    file: 'common/node/sysctl.go',
    steps: [
      [
        '!create -f -',
        /Invalid value: "foo-"[\s\S]*Invalid value: "bar\.\."/,
        pod('sysctl', {
          securityContext: {
            sysctls: [
              { name: 'foo-', value: 'b' },
              { name: 'bar..', value: '42' },
            ],
          },
        }),
      ],
    ],
  },
];
