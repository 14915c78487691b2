/** Items of the command palette for the typed text. Pure. */
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { NAV_PLACES } from '../layout/shell/navigation.js';
import { THEMES, type Theme } from '../layout/shell/theme-names.js';
import { t, translated } from '../texts/translate.js';

export type PaletteItem = { id: string; text: string; hint: string } & (
  | { go: string }
  | { theme: Theme }
  | { act: 'sign-out' | 'help' }
);

/** Objects and actions to offer. */
export interface PaletteObjects {
  daemonSets: readonly KubeObject[];
  rollouts: readonly KubeObject[];
  services: readonly KubeObject[];
  daemonJobs: readonly KubeObject[];
  cronDaemonJobs: readonly KubeObject[];
  hostValues: readonly KubeObject[];
  /** False for a session by client certificate. */
  maySignOut: boolean;
}

const MAX_ITEMS = 12;
/** Syntax of host names. */
const HOST_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/** Verbs of actions, each with its place in the address of the object's page. That page asks before it acts. */
const HOST_VERBS = ['cordon', 'uncordon', 'drain', 'maintenance'] as const;
const ROLLOUT_VERBS = ['approve', 'promote', 'pause', 'resume', 'freeze', 'abort', 'retry'] as const;

/** Returns matching items, best first. `cordon node-37` and `approve till` are actions. */
export function paletteItems(typed: string, objects: PaletteObjects): PaletteItem[] {
  const [first = '', ...rest] = typed.trim().split(/\s+/);
  const verb = first.toLowerCase();
  return [...actionItems(verb, rest.join(' '), objects), ...placeItems(typed, objects)];
}

/** Returns the actions that the typed text names. Empty if the first word is no verb. */
function actionItems(verb: string, target: string, { rollouts }: PaletteObjects): PaletteItem[] {
  const hostVerb = HOST_VERBS.find((each) => each === verb);
  if (hostVerb && HOST_NAME.test(target)) {
    const text = `${translated(capitalised(hostVerb))} ${target}…`;
    return [{ id: `act ${verb}`, text, hint: 'host', go: `/hosts/${target}?act=${verb}` }];
  }
  const rolloutVerb = ROLLOUT_VERBS.find((each) => each === verb);
  if (!rolloutVerb) return [];
  return rollouts
    .filter(({ metadata }) => target === '' || `${metadata.namespace}/${metadata.name}`.includes(target))
    .slice(0, MAX_ITEMS)
    .map((each) => {
      const { id, text, go } = objectItem('rollout', '/rollouts', each);
      const act = {
        id: `act ${id}`,
        text: `${translated(capitalised(rolloutVerb))} ${text}…`,
        hint: 'rollout',
      };
      return { ...act, go: `${go}?act=${verb}` };
    });
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function placeItems(typed: string, objects: PaletteObjects): PaletteItem[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ text, hint }: PaletteItem) => {
    const whole = `${text} ${hint}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  const begins = ({ text }: PaletteItem) => text.toLowerCase().startsWith(words[0] ?? '');
  const found = everything(objects).filter(fits);
  const ordered = [...found.filter(begins), ...found.filter((item) => !begins(item))];
  return [...ordered.slice(0, MAX_ITEMS), ...hostItems(typed.trim())];
}

function everything(objects: PaletteObjects): PaletteItem[] {
  const { daemonSets, rollouts, services, daemonJobs, cronDaemonJobs, hostValues, maySignOut } = objects;
  return [
    ...NAV_PLACES.map(({ path, name, key }) => ({
      id: path,
      text: translated(name),
      hint: `${t('page')} · g ${key}`,
      go: path,
    })),
    ...daemonSets.map((each) => objectItem('DaemonSet', '/daemonsets', each)),
    ...rollouts.map((each) => objectItem('rollout', '/rollouts', each)),
    ...services.map((each) => objectItem('Service', '/services', each)),
    ...cronDaemonJobs.map((each) => objectItem('scheduled job', '/jobs/scheduled', each)),
    ...daemonJobs.map((each) => objectItem('job', '/jobs', each)),
    ...hostValues.map((each) => objectItem('HostValues', '/values', each)),
    ...THEMES.map((theme) => ({
      id: `theme ${theme}`,
      text: t('Theme: {{name}}', { name: translated(theme) }),
      hint: 'this browser',
      theme,
    })),
    { id: 'help', text: t('Keyboard shortcuts'), hint: '?', act: 'help' },
    ...(maySignOut ? [{ id: 'sign-out', text: t('Sign out'), hint: '', act: 'sign-out' as const }] : []),
  ];
}

function objectItem(what: string, place: string, { metadata }: KubeObject): PaletteItem & { go: string } {
  const { namespace = '', name } = metadata;
  const go = `${place}/${namespace}/${name}`;
  return { id: go, text: `${namespace}/${name}`, hint: what, go };
}

/** Hosts are too many to list. Offers the typed text as a host name and as a filter. */
function hostItems(typed: string): PaletteItem[] {
  if (typed === '') return [];
  const filter = `/hosts?filter=${encodeURIComponent(typed)}`;
  return [
    ...(HOST_NAME.test(typed)
      ? [
          {
            id: 'host',
            text: t('Host {{name}}', { name: typed }),
            hint: 'open its page',
            go: `/hosts/${typed}`,
          },
        ]
      : []),
    { id: 'filter', text: t('Hosts that match “{{typed}}”', { typed }), hint: 'hosts, filtered', go: filter },
  ];
}
