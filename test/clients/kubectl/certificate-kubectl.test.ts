/** Decisions on certificate signing requests by kubectl: certificate approve and deny, get csr. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import { certificateSigningRequestKind } from '../../../coordinator/kinds/index.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';

forEachKubectl('certificate signing requests', (fixture) => {
  for (const [verb, shown] of [
    ['approve', 'Approved'],
    ['deny', 'Denied'],
  ] as const) {
    test(`certificate ${verb} decides a signing request`, async () => {
      const name = `csr-${verb}`;
      const csr = await certificateRequest(await generateKeyPem(), 'n1');
      await fixture.api.registry.create(certificateSigningRequestKind, undefined, {
        metadata: { name },
        spec: {
          request: Buffer.from(csr).toString('base64'),
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          usages: ['digital signature', 'client auth'],
          username: 'system:bootstrap:abcdef',
        },
      });
      const before = await fixture.kubectl.run(['get', 'csr', name]);
      assert.match(before.stdout, /NAME\s+AGE\s+SIGNERNAME\s+REQUESTOR\s+REQUESTEDDURATION\s+CONDITION/);
      assert.match(before.stdout, /client-kubelet\s+system:bootstrap:abcdef\s+<none>\s+Pending/);
      assert.match(
        (await fixture.kubectl.run(['describe', 'csr', name])).stdout,
        /Common Name:\s+system:node:n1/,
      );
      const decided = await fixture.kubectl.run(['certificate', verb, name]);
      assert.equal(decided.code, 0, decided.stderr);
      assert.match((await fixture.kubectl.run(['get', 'csr', name])).stdout, new RegExp(`${shown}\\n$`));
    });
  }
});
