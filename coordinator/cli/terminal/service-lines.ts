/** The endpoints of a Service as lines on a terminal. */
import type {
  EndpointExplanation,
  ServiceReasonsDocument,
} from '../../../shared/kube/fleet/service-explanation-types.js';
import { countText } from '../../../shared/kube/objects/meta.js';
import { hostPortText } from '../../../shared/kube/services/host-port-text.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import { namesText } from './name-list.js';

/** Endpoints are few in most Services. `-o json` prints all. */
const MOST_ENDPOINTS = 50;

export function serviceLines(document: ServiceReasonsDocument): string[] {
  const { namespace, name, summary, endpoints, source, knownBy } = document;
  const shown = endpoints.slice(0, MOST_ENDPOINTS);
  const hidden = endpoints.length - shown.length;
  const table = tableLines([['CODE', 'NODE', 'POD', 'ADDRESS', 'REASON'], ...shown.map(rowOf)]);
  return [
    `${namespace}/${name}: ${summary}`,
    ...(shown.length > 0 ? table : []),
    ...(hidden > 0 ? [`and ${countText(hidden, 'more endpoint')} (-o json prints all)`] : []),
    ...(source === 'externalName' ? [] : [knownText(knownBy)]),
  ];
}

function rowOf({ code, node, pod, because, listed }: EndpointExplanation): string[] {
  return [code, node || '-', pod || '-', listed ? hostPortText(listed) : '-', because];
}

function knownText(hosts: readonly string[]): string {
  if (hosts.length === 0)
    return 'No connected host has asked for it. A host asks when one of its Pods looks it up.';
  const verb = hosts.length === 1 ? 'has' : 'have';
  return `${countText(hosts.length, 'host')} ${verb} it: ${namesText(hosts)}`;
}
