/** Rules of upstream's TestValidatePodSpec, TestValidateContainers, TestValidateVolumes and related tests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { validatePodSpec } from '../../../coordinator/kinds/pods/spec-validation/pod-spec-validation.js';
import { oneContainer, templateSpec } from '../../harness/objects/object-builders.js';

function causes(spec: object): string[] {
  const errors = validatePodSpec(templateSpec(spec), 'spec');
  return errors.map(({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`);
}

type Case = [rule: string, spec: object, expected: string[]];

function table(name: string, cases: Case[]): void {
  describe(name, () => {
    for (const [rule, spec, expected] of cases) test(rule, () => assert.deepEqual(causes(spec), expected));
  });
}

const C0 = 'spec.containers[0]';
const inContainer = (field: string) => (value: unknown) => oneContainer({ [field]: value });
const port = (fields: object) => oneContainer({ ports: [{ containerPort: 80, ...fields }] });
const env = (variable: object) => oneContainer({ env: [variable] });
const resources = inContainer('resources');
const readiness = inContainer('readinessProbe');
const security = inContainer('securityContext');
const withVolume = (volume: object, mount?: object) =>
  oneContainer(mount ? { volumeMounts: [mount] } : {}, { volumes: [volume] });
const inSpec = (fields: object) => oneContainer({}, fields);

table('containers', [
  ['a container is required', { containers: [] }, ['Required spec.containers']],
  ['a minimal container is valid', oneContainer(), []],
  [
    'names are unique',
    {
      containers: [
        { name: 'a', image: 'i' },
        { name: 'a', image: 'i' },
      ],
    },
    ['Duplicate spec.containers[1].name'],
  ],
  [
    'names are unique over init containers too',
    oneContainer({}, { initContainers: [{ name: 'c', image: 'i' }] }),
    ['Duplicate spec.initContainers[0].name'],
  ],
  ['a blank image is valid, because admission may fill it', oneContainer({ image: ' ' }), []],
  [
    'an unknown pull policy',
    oneContainer({ imagePullPolicy: 'Later' }),
    [`NotSupported ${C0}.imagePullPolicy`],
  ],
  [
    'an unknown termination message policy',
    oneContainer({ terminationMessagePolicy: 'Pipe' }),
    [`NotSupported ${C0}.terminationMessagePolicy`],
  ],
  [
    'a container restart policy on an ordinary container',
    oneContainer({ restartPolicy: 'Always' }),
    [`Forbidden ${C0}.restartPolicy`],
  ],
  [
    'an init container has no probes',
    oneContainer(
      {},
      { initContainers: [{ name: 'i', image: 'i', livenessProbe: { exec: { command: ['x'] } } }] },
    ),
    ['Forbidden spec.initContainers[0].livenessProbe'],
  ],
  [
    'a sidecar has probes',
    oneContainer(
      {},
      {
        initContainers: [
          { name: 'i', image: 'i', restartPolicy: 'Always', livenessProbe: { exec: { command: ['x'] } } },
        ],
      },
    ),
    [],
  ],
]);

table('ports', [
  ['a name', port({ name: 'http' }), []],
  ['a name of 16', port({ name: 'a'.repeat(16) }), [`Invalid ${C0}.ports[0].name`]],
  ['a port name without letters', port({ name: '80' }), [`Invalid ${C0}.ports[0].name`]],
  ['no number', port({ containerPort: 0 }), [`Required ${C0}.ports[0].containerPort`]],
  [
    'a port number that is too large',
    port({ containerPort: 65_536 }),
    [`Invalid ${C0}.ports[0].containerPort`],
  ],
  ['an unknown protocol', port({ protocol: 'ICMP' }), [`NotSupported ${C0}.ports[0].protocol`]],
  [
    'port names are unique in a container',
    oneContainer({
      ports: [
        { name: 'a', containerPort: 1 },
        { name: 'a', containerPort: 2 },
      ],
    }),
    [`Duplicate ${C0}.ports[1].name`],
  ],
  [
    'host ports on different addresses do not conflict',
    oneContainer({
      ports: [
        { containerPort: 1, hostPort: 1, hostIP: '127.0.0.1' },
        { containerPort: 2, hostPort: 1, hostIP: '127.0.0.2' },
      ],
    }),
    [],
  ],
  [
    'on the host network a host port equals the container port',
    { ...port({ hostPort: 81 }), hostNetwork: true },
    [`Invalid ${C0}.ports[0].hostPort`],
  ],
]);

table('environment', [
  ['any printable name without =', env({ name: 'a b.c-d/1' }), []],
  ['a name with =', env({ name: 'a=b' }), [`Invalid ${C0}.env[0].name`]],
  ['no name', env({ value: 'x' }), [`Required ${C0}.env[0].name`]],
  ['a field of the Pod', env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }), []],
  [
    'a label of the Pod',
    env({ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a/b']" } } }),
    [],
  ],
  [
    'an unknown field',
    env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }),
    [`Invalid ${C0}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    'a field that only volumes support',
    env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }),
    [`NotSupported ${C0}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    'an unknown resource',
    env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } }),
    [`NotSupported ${C0}.env[0].valueFrom.resourceFieldRef.resource`],
  ],
  [
    'a divisor that is not allowed',
    env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } }),
    [`Invalid ${C0}.env[0].valueFrom.resourceFieldRef.divisor`],
  ],
  [
    'a Secret without a name',
    env({ name: 'A', valueFrom: { secretKeyRef: { key: 'k' } } }),
    [`Invalid ${C0}.env[0].valueFrom.secretKeyRef.name`],
  ],
  [
    'two sources',
    env({
      name: 'A',
      valueFrom: { secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 's', key: 'k' } },
    }),
    [`Invalid ${C0}.env[0].valueFrom`],
  ],
  ['envFrom without a source', oneContainer({ envFrom: [{}] }), [`Invalid ${C0}.envFrom`]],
  [
    'envFrom without a name',
    oneContainer({ envFrom: [{ secretRef: {} }] }),
    [`Required ${C0}.envFrom[0].secretRef.name`],
  ],
]);

table('resources', [
  ['quantities as numbers and as strings', resources({ limits: { cpu: 1, memory: '1Gi' } }), []],
  [
    'a resource that containers do not have',
    resources({ limits: { pods: 1 } }),
    [`Invalid ${C0}.resources.limits[pods]`],
  ],
  ['a negative quantity', resources({ requests: { cpu: '-1' } }), [`Invalid ${C0}.resources.requests[cpu]`]],
  [
    'a request above the limit',
    resources({ limits: { cpu: 1 }, requests: { cpu: 2 } }),
    [`Invalid ${C0}.resources.requests`],
  ],
  ['an extended resource', resources({ limits: { 'example.com/gpu': 1 } }), []],
  [
    'a fraction of an extended resource',
    resources({ limits: { 'example.com/gpu': '500m' } }),
    [`Invalid ${C0}.resources.limits[example.com/gpu]`],
  ],
]);

table('probes', [
  [
    'two handlers',
    readiness({ exec: { command: ['x'] }, tcpSocket: { port: 1 } }),
    [`Forbidden ${C0}.readinessProbe.tcpSocket`],
  ],
  ['no command', readiness({ exec: {} }), [`Required ${C0}.readinessProbe.exec.command`]],
  ['a port by name', readiness({ httpGet: { port: 'http' } }), []],
  ['a port of 0', readiness({ tcpSocket: { port: 0 } }), [`Invalid ${C0}.readinessProbe.tcpSocket.port`]],
  [
    'an unknown scheme',
    readiness({ httpGet: { port: 1, scheme: 'ftp' } }),
    [`NotSupported ${C0}.readinessProbe.httpGet.scheme`],
  ],
  [
    'a negative delay',
    readiness({ tcpSocket: { port: 1 }, initialDelaySeconds: -1 }),
    [`Invalid ${C0}.readinessProbe.initialDelaySeconds`],
  ],
  [
    'a readiness probe cannot terminate the container',
    readiness({ tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 }),
    [`Invalid ${C0}.readinessProbe.terminationGracePeriodSeconds`],
  ],
  [
    'a liveness probe requires a success threshold of one',
    oneContainer({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
    [`Invalid ${C0}.livenessProbe.successThreshold`],
  ],
  [
    'a hook without a handler',
    oneContainer({ lifecycle: { preStop: {} } }),
    [`Required ${C0}.lifecycle.preStop`],
  ],
  [
    'a pause longer than the grace period',
    oneContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    [`Invalid ${C0}.lifecycle.preStop.sleep`],
  ],
]);

table('volumes', [
  ['a volume without a source is an emptyDir', withVolume({ name: 'v' }, { name: 'v', mountPath: '/v' }), []],
  ['a volume name with dots', withVolume({ name: 'a.b' }), ['Invalid spec.volumes[0].name']],
  [
    'a hostPath requires a path',
    withVolume({ name: 'v', hostPath: {} }),
    ['Required spec.volumes[0].hostPath.path'],
  ],
  [
    'an unknown hostPath type',
    withVolume({ name: 'v', hostPath: { path: '/', type: 'Tape' } }),
    ['NotSupported spec.volumes[0].hostPath.type'],
  ],
  [
    'an invalid volume cannot be mounted',
    withVolume({ name: 'v', hostPath: { path: '/..' } }, { name: 'v', mountPath: '/v' }),
    ['Invalid spec.volumes[0].hostPath.path', `NotFound ${C0}.volumeMounts[0].name`],
  ],
  [
    'a negative size',
    withVolume({ name: 'v', emptyDir: { sizeLimit: '-1' } }),
    ['Forbidden spec.volumes[0].emptyDir.sizeLimit'],
  ],
  [
    'a Secret needs a name',
    withVolume({ name: 'v', secret: {} }),
    ['Required spec.volumes[0].secret.secretName'],
  ],
  [
    'a mode beyond 0777',
    withVolume({ name: 'v', configMap: { name: 'c', defaultMode: 512 } }),
    ['Invalid spec.volumes[0].configMap.defaultMode'],
  ],
  [
    'keys are written to paths inside the volume',
    withVolume({ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: '../x' }] } }),
    ['Invalid spec.volumes[0].configMap.items[0].path'],
  ],
  [
    'a projected source has one type',
    withVolume({ name: 'v', projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'b' } }] } }),
    ['Forbidden spec.volumes[0].projected.sources[0]'],
  ],
  [
    'a claim requires a name',
    withVolume({ name: 'v', persistentVolumeClaim: {} }),
    ['Required spec.volumes[0].persistentVolumeClaim.claimName'],
  ],
]);

const V = { name: 'v' };
table('mounts', [
  ['a mount requires a path', withVolume(V, { name: 'v' }), [`Required ${C0}.volumeMounts[0].mountPath`]],
  [
    'a mount of an unknown volume',
    withVolume(V, { name: 'w', mountPath: '/w' }),
    [`NotFound ${C0}.volumeMounts[0].name`],
  ],
  [
    'a sub path stays inside the volume',
    withVolume(V, { name: 'v', mountPath: '/v', subPath: '../x' }),
    [`Invalid ${C0}.volumeMounts.subPath`],
  ],
  [
    'bidirectional propagation requires privilege',
    withVolume(V, { name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }),
    [`Forbidden ${C0}.volumeMounts.mountPropagation`],
  ],
  [
    'mount paths are unique',
    oneContainer(
      {
        volumeMounts: [
          { name: 'v', mountPath: '/v' },
          { name: 'v', mountPath: '/v' },
        ],
      },
      { volumes: [V] },
    ),
    [`Invalid ${C0}.volumeMounts[1].mountPath`],
  ],
]);

table('security', [
  ['a user below 0', security({ runAsUser: -1 }), [`Invalid ${C0}.securityContext.runAsUser`]],
  [
    'privileged without escalation',
    security({ privileged: true, allowPrivilegeEscalation: false }),
    [`Invalid ${C0}.securityContext`],
  ],
  [
    'a profile without a type',
    security({ seccompProfile: {} }),
    [`Required ${C0}.securityContext.seccompProfile.type`],
  ],
  [
    'a local profile without its name',
    inSpec({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    ['Required spec.securityContext.seccompProfile.localhostProfile'],
  ],
  [
    'sysctls twice',
    inSpec({ securityContext: { sysctls: [{ name: 'a.b' }, { name: 'a.b' }] } }),
    ['Duplicate spec.securityContext.sysctls[1].name'],
  ],
  [
    'a process namespace shared with the host and between containers',
    inSpec({ hostPID: true, shareProcessNamespace: true }),
    ['Invalid spec.securityContext.shareProcessNamespace'],
  ],
]);

const toleration = (fields: object) => inSpec({ tolerations: [fields] });
const requirement = (fields: object) =>
  inSpec({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [fields] }],
        },
      },
    },
  });
const REQUIREMENT =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]';

table('placement', [
  ['every taint', toleration({ operator: 'Exists' }), []],
  ['Equal without a key', toleration({ operator: 'Equal' }), ['Invalid spec.tolerations[0].operator']],
  [
    'an unknown effect',
    toleration({ key: 'a', effect: 'Maybe' }),
    ['NotSupported spec.tolerations[0].effect'],
  ],
  [
    'tolerationSeconds without NoExecute',
    toleration({ key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 }),
    ['Invalid spec.tolerations[0].effect'],
  ],
  ['Gt with a non-numeric value is accepted', requirement({ key: 'a', operator: 'Gt', values: ['x'] }), []],
  [
    'Gt with two values',
    requirement({ key: 'a', operator: 'Gt', values: ['1', '2'] }),
    [`Required ${REQUIREMENT}.values`],
  ],
  [
    'Exists with values',
    requirement({ key: 'a', operator: 'Exists', values: ['1'] }),
    [`Forbidden ${REQUIREMENT}.values`],
  ],
  [
    'selector values are label values',
    requirement({ key: 'a', operator: 'In', values: ['ok', 'a b'] }),
    [`Invalid ${REQUIREMENT}.values[1]`],
  ],
  [
    'a node selector holds label values',
    inSpec({ nodeSelector: { 'a b': 'c' } }),
    ['Invalid spec.nodeSelector'],
  ],
  ['an invalid node name', inSpec({ nodeName: 'A_B' }), ['Invalid spec.nodeName']],
  [
    'a topology without its key',
    inSpec({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } }),
    [
      'Required spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
      'Invalid spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
      'Invalid spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey',
    ],
  ],
  [
    'a weight of 101',
    inSpec({
      affinity: {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }] },
      },
    }),
    ['Invalid spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight'],
  ],
]);

table('other fields of a Pod spec', [
  ['an unknown restart policy', inSpec({ restartPolicy: 'Sometimes' }), ['NotSupported spec.restartPolicy']],
  ['a deadline of 0', inSpec({ activeDeadlineSeconds: 0 }), ['Invalid spec.activeDeadlineSeconds']],
  ['DNS policy None without nameservers', inSpec({ dnsPolicy: 'None' }), ['Required spec.dnsConfig']],
  [
    'an invalid address',
    inSpec({ dnsConfig: { nameservers: ['dns'] } }),
    ['Invalid spec.dnsConfig.nameservers[0]'],
  ],
  ['the root as a DNS search domain', inSpec({ dnsConfig: { searches: ['.'] } }), []],
  [
    'DNS search domains with a final dot, or with underscores in the middle or at the start of a label',
    inSpec({ dnsConfig: { searches: ['a.b.', 'a_b.c', '_sip._tcp.abc'] } }),
    [],
  ],
  [
    'an empty DNS search domain, malformed ones, and underscores at the end of a label or twice at its start',
    inSpec({ dnsConfig: { searches: ['', '..', 'A b', 'a_.b', '__a'] } }),
    [0, 1, 2, 3, 4].map((index) => `Invalid spec.dnsConfig.searches[${index}]`),
  ],
  [
    'a host alias without an address',
    inSpec({ hostAliases: [{ hostnames: ['a'] }] }),
    ['Invalid spec.hostAliases[0].ip'],
  ],
  ['a host name with dots', inSpec({ hostname: 'a.b' }), ['Invalid spec.hostname']],
]);

test('an unsupported value is rejected with the supported ones', () => {
  const [error] = validatePodSpec(templateSpec(inSpec({ restartPolicy: 'Maybe' })), 'spec');
  assert.equal(
    error?.message,
    'Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
  );
});
