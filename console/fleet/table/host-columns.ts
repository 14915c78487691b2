/** Columns of the host table, and their representation in the URL. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { HOST_HEALTH_NAMES, HOST_HEALTH_STATES, hostHealth } from '../../layout/status/host-health.js';

export interface HostColumn {
  /** Id in the URL: `name`, or `label:site`. */
  id: string;
  name: string;
  /** Sort key. */
  order: (host: Host) => string | number;
  text: (host: Host) => string;
}

const DAY_MS = 86_400_000;

/** In display order. */
export const COLUMNS: readonly HostColumn[] = [
  { id: 'name', name: 'Name', order: ({ metadata }) => metadata.name, text: ({ metadata }) => metadata.name },
  {
    id: 'condition',
    name: 'Condition',
    order: (host) => HOST_HEALTH_STATES.indexOf(hostHealth(host)),
    text: (host) => HOST_HEALTH_NAMES[hostHealth(host)],
  },
  {
    id: 'since',
    name: 'Since',
    order: ({ status }) => status.since ?? '',
    text: ({ status }) => momentText(status.since),
  },
  {
    id: 'pods',
    name: 'Pods ready',
    order: ({ status }) => status.pods.ready - status.pods.total,
    text: ({ status }) => `${status.pods.ready}/${status.pods.total}`,
  },
  {
    id: 'issue',
    name: 'Issue',
    order: (host) => issueOf(host),
    text: (host) => issueOf(host),
  },
  {
    id: 'version',
    name: 'Agent',
    order: ({ status }) => status.agentVersion,
    text: ({ status }) => status.agentVersion,
  },
  {
    id: 'scheduling',
    name: 'Scheduling',
    order: ({ status }) => Number(status.unschedulable),
    text: ({ status }) => (status.unschedulable ? 'Cordoned' : ''),
  },
  {
    id: 'taints',
    name: 'Taints',
    order: ({ status }) => status.taints,
    text: ({ status }) => (status.taints > 0 ? String(status.taints) : ''),
  },
  {
    id: 'certificate',
    name: 'Certificate ends',
    order: ({ status }) => status.certificateEnds ?? '~',
    text: ({ status }) => momentText(status.certificateEnds),
  },
  {
    id: 'joined',
    name: 'Joined',
    order: ({ metadata }) => metadata.creationTimestamp ?? '',
    text: ({ metadata }) => momentText(metadata.creationTimestamp ?? undefined),
  },
];

const FIRST_SHOWN = ['name', 'condition', 'since', 'pods', 'issue'];
const LABEL = 'label:';

export function labelColumn(key: string): HostColumn {
  const value = ({ metadata }: Host) => ownValue(metadata.labels, key) ?? '';
  return { id: LABEL + key, name: key, order: value, text: value };
}

/** Returns the columns in the URL, or the default ones. Always contains the name. Pure. */
export function parseColumns(text: string | null): HostColumn[] {
  const ids = text ? text.split(',') : FIRST_SHOWN;
  const found = ids.flatMap((id) => {
    if (id.startsWith(LABEL)) return [labelColumn(id.slice(LABEL.length))];
    return COLUMNS.filter((column) => column.id === id);
  });
  const others = found.filter(({ id }) => id !== 'name');
  return [...COLUMNS.filter(({ id }) => id === 'name'), ...others];
}

/** Returns the columns for the URL. Empty for the default ones. */
export function columnsText(columns: readonly HostColumn[]): string {
  const text = columns.map(({ id }) => id).join(',');
  return text === FIRST_SHOWN.join(',') ? '' : text;
}

export interface Sort {
  column: string;
  down: boolean;
}

/** Parses `since`, or `-since` for descending order. Default: by health. */
export function parseSort(text: string | null): Sort {
  if (!text) return { column: 'condition', down: false };
  return text.startsWith('-') ? { column: text.slice(1), down: true } : { column: text, down: false };
}

/** Returns the sort order for the URL after a click on a column header. */
export function toggledSort({ column, down }: Sort, id: string): string {
  return column === id && !down ? `-${id}` : id;
}

function issueOf({ status }: Host): string {
  return status.failing[0]?.message ?? status.pressures[0] ?? status.message ?? status.clockSkew ?? '';
}

/** Includes the date unless the time is within the last 24 hours. */
function momentText(at: string | undefined): string {
  if (!at) return '';
  const date = new Date(at);
  const isRecent = Math.abs(Date.now() - date.getTime()) < DAY_MS;
  return isRecent ? date.toLocaleTimeString() : date.toLocaleString();
}
