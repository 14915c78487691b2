/** Charges of concurrent writes of one object, as the informers see them late. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuotaLedger } from '../../../coordinator/controllers/policy/quota-ledger.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { serviceKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { Service } from '../../../shared/kube/services/service-types.js';

type Change = { previous?: object; current?: object };

const SERVICES = serviceKind as unknown as Kind;

function service(name: string, nodePorts: number, resourceVersion: string): Service {
  const ports = Array.from({ length: nodePorts }, (_, i) => ({ port: 80 + i }));
  const metadata = { namespace: 'n', name, uid: name, resourceVersion };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: 'NodePort', ports } } as Service;
}

/** A ledger of a quota of four node ports. `see`: the informers report a Service. */
function ledgerOfFour() {
  const listeners: Record<string, (change: Change) => void> = {};
  const informer = (name: string) => ({
    onChange: (listener: (change: Change) => void) => {
      listeners[name] = listener;
    },
    indexed: () => [],
  });
  const informers = {
    resourceQuotas: informer('quotas'),
    ofKind: () => informer('services'),
    onCustomKind: () => undefined,
    // The informers never reach the revision of a write by themselves.
    waitFor: () => new Promise<void>(() => undefined),
  };
  const ledger = new QuotaLedger(informers as unknown as Informers, [SERVICES]);
  const metadata = { namespace: 'n', name: 'q', uid: 'q' };
  listeners.quotas?.({ current: { metadata, spec: { hard: { 'services.nodeports': '4' } } } });
  const charge = (next: Service, current?: Service) => ledger.charge(SERVICES, next, current);
  return { charge, see: (change: Change) => listeners.services?.(change) };
}

const EXCEEDED = /exceeded quota: q/;

test('the charge of a write that is stored stays when a concurrent write of the object fails', () => {
  const { charge } = ledgerOfFour();
  const before = service('a', 0, '5');
  const stored = charge(service('a', 2, '5'), before);
  charge(service('a', 1, '5'), before).settle();
  stored.settle(6);
  assert.throws(() => charge(service('c', 3, '')), EXCEEDED);
});

test('an older change of the object does not end the charge of a newer write', () => {
  const { charge, see } = ledgerOfFour();
  const before = service('a', 0, '5');
  charge(service('a', 2, '5'), before);
  see({ current: before });
  assert.throws(() => charge(service('c', 3, '')), EXCEEDED);
});

test('the change that contains a write ends its charge, and so does a deletion', () => {
  for (const change of [
    { previous: service('a', 0, '5'), current: service('a', 2, '6') },
    { previous: service('a', 0, '5') },
  ]) {
    const { charge, see } = ledgerOfFour();
    charge(service('a', 2, '5'), service('a', 0, '5'));
    see(change);
    charge(service('c', 2, ''));
  }
});
