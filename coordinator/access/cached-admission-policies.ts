/** The admission policies in the informers. Their `authorizer` asks RBAC. */
import type { Informers } from '../informers/informer.js';
import type { AdmissionPolicies, AdmissionWebhooks } from '../registry/registry.js';
import { RbacAuthorizer, type RbacInformers } from './rbac-authorizer.js';

type PolicyInformers = RbacInformers & Pick<Informers, 'admissionPolicies' | 'admissionPolicyBindings'>;

/** The webhook configurations in the informers. `call` is the client that calls them. */
export function cachedAdmissionWebhooks(
  informers: () => Pick<Informers, 'mutatingWebhooks' | 'validatingWebhooks'>,
  client: Pick<AdmissionWebhooks, 'call' | 'uid'>,
): AdmissionWebhooks {
  return {
    ...client,
    mutating: () => informers().mutatingWebhooks.list(),
    validating: () => informers().validatingWebhooks.list(),
  };
}

/** `informers` is a function, because the informers follow the registry that reads the policies. */
export function cachedAdmissionPolicies(informers: () => PolicyInformers): AdmissionPolicies {
  return {
    bindings: () => informers().admissionPolicyBindings.list(),
    policy: (name) => informers().admissionPolicies.get({ name }),
    ask: (user, { path, ...access }) => {
      const question = path === undefined ? access : { verb: access.verb, path };
      return new RbacAuthorizer(informers()).decide(user, question);
    },
  };
}
