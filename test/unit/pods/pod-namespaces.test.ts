/** Namespaces, host names and resolvers of Pods. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  hostnameRefusal,
  namespacesOf,
} from '../../../agent/decisions/container-spec/container-namespaces.js';
import {
  type ClusterDnsState,
  parseResolvConf,
  podDns,
  type Resolver,
} from '../../../agent/decisions/container-spec/dns-resolver.js';
import { needsSandbox } from '../../../agent/decisions/pods/sandbox-need.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

const HOST: Resolver = {
  nameservers: ['127.0.0.53', '192.0.2.53'],
  searches: ['host.example'],
  options: ['ndots:1', 'rotate'],
};
const of = (spec: Partial<PodSpec>, sandboxID?: string) =>
  namespacesOf(podOf('web', spec), sandboxID, { host: HOST, clusterDns: { state: 'off' } });
const init = { name: 'first', image: 'first:1' };
const side = { ...init, restartPolicy: 'Always' };
const one = { name: 'app', image: 'app:1' };
const two = [one, { name: 'other', image: 'other:1' }];

describe('whether a Pod needs a sandbox', () => {
  const cases: [string, Partial<PodSpec>, boolean][] = [
    ['one container: no', {}, false],
    ['by several', { containers: two }, true],
    [
      'several containers on network and IPC of the host: no',
      { containers: two, hostNetwork: true, hostIPC: true },
      false,
    ],
    ['an init container, whose network the other containers share', { initContainers: [init] }, true],
    [
      'an init container on the network of the host: no',
      { initContainers: [init], hostNetwork: true },
      false,
    ],
    ['by a sidecar', { initContainers: [side], hostNetwork: true }, true],
    ['shared process namespace', { shareProcessNamespace: true, hostNetwork: true, hostIPC: true }, true],
  ];
  for (const [it, spec, needed] of cases) {
    test(it, () => assert.equal(needsSandbox(podOf('web', spec)), needed));
  }
});

describe('processes', () => {
  test('namespaces are private, the host’s, or the sandbox’s', () => {
    assert.deepEqual(of({}).pid, { kind: 'private' });
    assert.deepEqual(of({ hostPID: true }, 'sandbox').pid, { kind: 'host' });
    assert.deepEqual(of({ containers: two }, 'sandbox').pid, { kind: 'private' });
    assert.deepEqual(of({ shareProcessNamespace: true }, 'sandbox').pid, {
      kind: 'container',
      id: 'sandbox',
    });
    assert.deepEqual(of({ shareProcessNamespace: true }).pid, { kind: 'private' });
  });
});

describe('names', () => {
  const named = (spec: Partial<PodSpec>) => {
    const { hostname, domainname } = of(spec);
    return { hostname, ...(domainname ? { domainname } : {}) };
  };
  test('the host name is the Pod’s own, or the one in its spec', () => {
    assert.deepEqual(named({}), { hostname: 'web' });
    assert.deepEqual(named({ hostname: 'shop' }), { hostname: 'shop' });
    const domainname = 'sub.default.svc.cluster.local';
    assert.deepEqual(named({ hostname: 'shop', subdomain: 'sub' }), { hostname: 'shop', domainname });
    assert.deepEqual(named({ subdomain: 'sub', setHostnameAsFQDN: true }), { hostname: `web.${domainname}` });
    assert.deepEqual(named({ setHostnameAsFQDN: true }), { hostname: 'web' });
  });
  test('the host name is the host’s on its network, with the host aliases of the Pod', () => {
    const hostAliases = [{ ip: '192.0.2.1', hostnames: ['a', 'b'] }];
    const { hostname, extraHosts } = of({ hostNetwork: true, hostAliases });
    assert.deepEqual([hostname, extraHosts], [undefined, ['a:192.0.2.1', 'b:192.0.2.1']]);
  });
  test('containers in a sandbox resolve its names', () => {
    const { hostname, extraHosts } = of({ hostAliases: [{ ip: '192.0.2.1', hostnames: ['a'] }] }, 'sandbox');
    assert.deepEqual([hostname, extraHosts], [undefined, undefined]);
  });
  test('a full name that is too long for the kernel is rejected', () => {
    const pod = podOf('web', { subdomain: 's'.repeat(50), setHostnameAsFQDN: true });
    assert.match(
      hostnameRefusal(pod) ?? '',
      /is too long \(64 characters is the max, 80 characters requested\)/,
    );
    assert.equal(hostnameRefusal(podOf('web', { subdomain: 's', setHostnameAsFQDN: true })), undefined);
  });
});

describe('resolver', () => {
  const dnsConfig = {
    nameservers: ['192.0.2.1'],
    searches: ['pod.example'],
    options: [{ name: 'ndots', value: '5' }, { name: 'edns0' }],
  };
  test('without settings the engine passes the host’s resolver on', () => {
    assert.equal(of({ dnsPolicy: 'ClusterFirst' }).resolver, undefined);
  });
  test("policy None uses the Pod's settings only", () => {
    assert.deepEqual(of({ dnsPolicy: 'None', dnsConfig }).resolver, {
      nameservers: ['192.0.2.1'],
      searches: ['pod.example'],
      options: ['ndots:5', 'edns0'],
    });
  });
  test('other policies extend the host’s settings, without unreachable servers', () => {
    assert.deepEqual(of({ dnsPolicy: 'Default', dnsConfig }).resolver, {
      nameservers: ['192.0.2.53', '192.0.2.1'],
      searches: ['host.example', 'pod.example'],
      options: ['ndots:5', 'rotate', 'edns0'],
    });
  });
  test('without servers the engine uses the host’s', () => {
    assert.deepEqual(of({ dnsConfig: { searches: ['pod.example'] } }).resolver?.nameservers, []);
  });
  test('a resolv.conf is parsed', () => {
    const text =
      '# of the host\nnameserver 192.0.2.1 ; first\nnameserver fd00::1\ndomain old\nsearch a.example b.example\noptions ndots:2\n';
    assert.deepEqual(parseResolvConf(text), {
      nameservers: ['192.0.2.1', 'fd00::1'],
      searches: ['a.example', 'b.example'],
      options: ['ndots:2'],
    });
  });
});

describe('the cluster DNS', () => {
  const served = { state: 'served', address: '169.254.20.53' } as const;
  const dnsOf = (spec: Partial<PodSpec>, clusterDns: ClusterDnsState = served) =>
    podDns(podOf('web', spec), { host: HOST, clusterDns });
  const cluster = {
    nameservers: ['169.254.20.53'],
    searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'host.example'],
    options: ['ndots:5'],
  };
  const cases: [string, Partial<PodSpec>, Resolver | undefined][] = [
    ['without a policy', {}, cluster],
    ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, cluster],
    ['ClusterFirst on the network of the host', { dnsPolicy: 'ClusterFirst', hostNetwork: true }, undefined],
    ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    ['Default', { dnsPolicy: 'Default' }, undefined],
    [
      'None',
      { dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.1'] } },
      { nameservers: ['192.0.2.1'], searches: [], options: [] },
    ],
    [
      'ClusterFirst with own settings, which are appended',
      {
        dnsConfig: {
          nameservers: ['192.0.2.1', '169.254.20.53'],
          searches: ['pod.example', 'cluster.local'],
          options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
        },
      },
      {
        nameservers: ['169.254.20.53', '192.0.2.1'],
        searches: [...cluster.searches, 'pod.example'],
        options: ['ndots:2', 'edns0'],
      },
    ],
  ];
  for (const [policy, spec, expected] of cases)
    test(`policy: ${policy}`, () => assert.deepEqual(dnsOf(spec), { resolver: expected, warnings: [] }));

  test('a host that cannot serve it uses its own resolver, with the Event of the kubelet', () => {
    const { resolver, warnings } = dnsOf({}, { state: 'missing' });
    assert.equal(resolver, undefined);
    const message =
      'pod: "web_default(uid-web)". kubelet does not have ClusterDNS IP configured and cannot create Pod using ' +
      '"ClusterFirst" policy. Falling back to "Default" policy.';
    assert.deepEqual(warnings, [{ reason: 'MissingClusterDNS', message }]);
    assert.deepEqual(dnsOf({ hostNetwork: true }, { state: 'missing' }).warnings, []);
  });
  test('if the operator does not want it, no Event reports it', () => {
    assert.deepEqual(dnsOf({}, { state: 'off' }), { resolver: undefined, warnings: [] });
  });
  test('only three servers are used', () => {
    const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const { resolver, warnings } = dnsOf({ dnsConfig: { nameservers } });
    assert.deepEqual(resolver?.nameservers, ['169.254.20.53', '192.0.2.1', '192.0.2.2']);
    assert.deepEqual(warnings, [
      {
        reason: 'DNSConfigForming',
        message:
          'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 169.254.20.53 192.0.2.1 192.0.2.2',
      },
    ]);
  });
  test('a search list that is too long is shortened at its end', () => {
    const domain = (index: number) => `${'d'.repeat(50)}${index}.example`;
    for (const [count, kept] of [
      [29, 28],
      [28, 28],
    ] as const) {
      const searches = Array.from({ length: count }, (_, index) => `s${index}.example`);
      const { resolver, warnings } = dnsOf({ dnsConfig: { searches } });
      assert.deepEqual([resolver?.searches.length, warnings.length], [4 + kept, count - kept]);
    }
    const searches = [...Array.from({ length: 28 }, (_, index) => domain(index)), 'x'.repeat(254)];
    const { resolver } = dnsOf({
      dnsConfig: { searches: [...searches, ...searches.map((each) => `a${each}`)] },
    });
    assert.ok((resolver?.searches.join(' ').length ?? 0) <= 2048);
    assert.ok(resolver?.searches.every((each) => each.length <= 253));
  });
});
