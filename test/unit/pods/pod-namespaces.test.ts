/** Namespaces, host names and resolvers of Pods. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  hostnameRefusal,
  namespacesOf,
} from '../../../agent/decisions/container-spec/container-namespaces.js';
import { parseResolvConf, type Resolver } from '../../../agent/decisions/container-spec/dns-resolver.js';
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
