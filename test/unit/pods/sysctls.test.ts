/** The sysctls that a Pod may set. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podRejection } from '../../../agent/decisions/admission/pod-admission.js';
import {
  dottedSysctl,
  forbiddenSysctl,
  parseSysctlPatterns,
} from '../../../agent/decisions/container-spec/allowed-sysctls.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';
import { WHOLE_HOST } from '../../harness/pods/pod-views.js';

describe('sysctls', () => {
  const cases: [name: string, allowed: string, spec: Partial<PodSpec>, why: string | undefined][] = [
    ['net.ipv4.ip_local_port_range', '', {}, undefined],
    ['net/ipv4/ip_local_port_range', '', {}, undefined],
    ['kernel.shm_rmid_forced', '', {}, undefined],
    ['net.core.somaxconn', '', {}, '"net.core.somaxconn" not allowlisted'],
    ['net.core.somaxconn', 'net.core.somaxconn', {}, undefined],
    ['net.core.somaxconn', 'net.*', {}, undefined],
    ['kernel.msgmax', 'net.*', {}, '"kernel.msgmax" not allowlisted'],
    ['kernel.msgmax', 'kernel.msg*', { hostNetwork: true }, undefined],
    ['kernel.msgmax', 'kernel.msg*', { hostIPC: true }, '"kernel.msgmax" not allowed with host IPC enabled'],
    ['net.ipv4.tcp_rmem', '', { hostNetwork: true }, '"net.ipv4.tcp_rmem" not allowed with host Net enabled'],
  ];
  for (const [name, allowed, spec, why] of cases) {
    test(`${name} with "${allowed}" allowed and ${JSON.stringify(spec)}: ${why ?? 'may be set'}`, () => {
      assert.equal(forbiddenSysctl(name, parseSysctlPatterns(allowed), spec), why);
    });
  }

  test('slashes and dots are swapped only where the first separator is a slash', () => {
    assert.equal(dottedSysctl('net/ipv4/conf/eth0.1/rp_filter'), 'net.ipv4.conf.eth0/1.rp_filter');
    assert.equal(dottedSysctl('net.ipv4.conf.eth0/1.rp_filter'), 'net.ipv4.conf.eth0/1.rp_filter');
  });

  test('a sysctl of the whole host cannot be allowed', () => {
    assert.throws(() => parseSysctlPatterns('net.*,vm.swappiness'), /not vm.swappiness/);
  });
});

describe('Pods that a host rejects', () => {
  test('an unsafe sysctl', () => {
    const pod = podOf('a', { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } });
    assert.deepEqual(podRejection(pod, WHOLE_HOST), {
      reason: 'SysctlForbidden',
      message: 'forbidden sysctl: "kernel.msgmax" not allowlisted',
    });
    assert.equal(podRejection(pod, { ...WHOLE_HOST, allowedUnsafeSysctls: ['kernel.msg*'] }), undefined);
  });

  test('an AppArmor profile where there is no AppArmor', () => {
    const withProfile = (type: string) =>
      podOf('a', {
        containers: [{ name: 'app', image: 'app:1', securityContext: { appArmorProfile: { type } } }],
      });
    const bare = { ...WHOLE_HOST, appArmor: false };
    assert.deepEqual(podRejection(withProfile('RuntimeDefault'), bare), {
      reason: 'AppArmor',
      message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    });
    assert.equal(podRejection(withProfile('Unconfined'), bare), undefined);
    assert.equal(podRejection(podOf('a'), bare), undefined);
    assert.equal(podRejection(withProfile('RuntimeDefault'), WHOLE_HOST), undefined);
  });
});
