/** A revocation between the decision about an upgrade and the registration of the session. */
import { secretKind } from '../../../coordinator/kinds/index.js';
import {
  credentialSecretName,
  ENROLMENT_NAMESPACE,
} from '../../../shared/kube/nodes/node-credential-secret.js';
import { until } from '../basics/wait-until.js';
import type { HubFixture } from './hub-fixture.js';

/** Deletes the credential of the node after each verdict, and returns the verdict when the deletion was observed. */
export function revokeAfterVerdict({ hub, controlPlane }: HubFixture, node: string): void {
  const { upgrader } = hub;
  const { registry, informers } = controlPlane;
  const judge = upgrader.judge.bind(upgrader);
  const ref = { namespace: ENROLMENT_NAMESPACE, name: credentialSecretName(node) };
  upgrader.judge = async (...request) => {
    const verdict = await judge(...request);
    await registry.delete(secretKind, ref);
    await until(() => informers.secrets.get(ref) === undefined);
    return verdict;
  };
}
