/** Removes the names of failing Pods from hosts if the caller may not read Pods in their namespaces. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { podKind } from '../../kinds/index.js';
import { readRights } from '../auth/read-rights.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import type { ObjectText } from '../ports.js';

interface ShownHosts {
  hostFor(host: Host): Host;
  textFor(text: ObjectText): ObjectText;
}

/** The removed Pods are still counted. */
export function visibleHosts(
  { identities }: Pick<ApiDeps, 'identities'>,
  { user }: Pick<ApiRequest, 'user'>,
): ShownHosts {
  const { mayRead } = readRights(identities.authorizer, user);
  const hostFor = (host: Host): Host => {
    const failing = host.status.failing.filter((pod) => mayRead(podKind, pod));
    if (failing.length === host.status.failing.length) return host;
    return { ...host, status: { ...host.status, failing } };
  };
  return {
    hostFor,
    textFor: (text) => {
      // All watches share the text of a host, and most of them can send it unchanged.
      if (text.json === undefined || text.json.includes(NONE_FAILS)) return text;
      if (mayRead(podKind, IN_ALL_NAMESPACES)) return text;
      return { name: text.name, json: JSON.stringify(hostFor(JSON.parse(text.json) as Host)) };
    },
  };
}

/** In a JSON string the quotes would be escaped, so no value of a host contains this text. */
const NONE_FAILS = '"failing":[]';
const IN_ALL_NAMESPACES = { name: '' };
