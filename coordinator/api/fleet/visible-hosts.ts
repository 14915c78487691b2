/** Removes from hosts the names of failing Pods in namespaces that the reader may not read. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { podKind } from '../../kinds/index.js';
import { readRights } from '../auth/read-rights.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import type { HostText } from '../ports.js';

interface ShownHosts {
  hostFor(host: Host): Host;
  textFor(text: HostText): HostText;
}

/** Pods that are left out are still counted. */
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
      // All watches share the text of a host, and most of them can send it as it is.
      if (text.json === undefined || text.json.includes(NONE_FAILS)) return text;
      if (mayRead(podKind, IN_ALL_NAMESPACES)) return text;
      return { name: text.name, json: JSON.stringify(hostFor(JSON.parse(text.json) as Host)) };
    },
  };
}

/** Within a JSON string the quotes would be escaped: no value of a host looks like this. */
const NONE_FAILS = '"failing":[]';
const IN_ALL_NAMESPACES = { name: '' };
