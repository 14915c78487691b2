/**
 * Digests of HostValues objects by the keys that a template uses. The text about a host is kept while its values stay the
 * same object: otherwise a change of one of thousands of hosts would encode and sort all of them.
 */
import type { HostValue, HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';

type HostsOwn = Readonly<Record<string, string>>;

/** `names` are sorted. Equal indexes belong to one host. A host without one of the keys has the text ''. */
interface HostTexts {
  names: readonly string[];
  values: readonly (HostsOwn | undefined)[];
  texts: readonly string[];
}

const NO_TEXTS: HostTexts = { names: [], values: [], texts: [] };

/** The texts of one object and of the versions before it. */
export class ObjectTexts {
  #object: HostValues | undefined;
  readonly #keys: readonly string[];
  #text = '';
  #hosts = NO_TEXTS;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  /**
   * Returns all that the object says about the keys, or '' for an object that has none of them: it must not start a
   * rollout.
   */
  of(object: HostValues): string {
    if (this.#object === object) return this.#text;
    this.#object = object;
    this.#hosts = hostTexts(object.spec.hosts ?? {}, this.#keys, this.#hosts);
    this.#text = this.#textAbout(object);
    return this.#text;
  }

  #textAbout(object: HostValues): string {
    const { priority = 0, nodeSelector } = object.spec;
    const selected = this.#keys.flatMap((key) => {
      const value = valueIn(object, key);
      return value === undefined ? [] : [[key, value]];
    });
    const named = this.#hosts.texts.filter((text) => text !== '');
    if (selected.length === 0 && named.length === 0) return '';
    const scope = selected.length > 0 ? nodeSelector : undefined;
    const whole = JSON.stringify([object.metadata.name, priority, scope, selected, []]);
    return `${whole.slice(0, -2)}${named.join(',')}]]`;
  }
}

function hostTexts(
  hosts: Readonly<Record<string, HostsOwn>>,
  keys: readonly string[],
  known: HostTexts,
): HostTexts {
  const names = sortedNames(hosts, known.names);
  const values = names.map((name) => hosts[name]);
  const isSameFleet = names === known.names;
  const texts = names.map((name, index) => {
    const own = values[index];
    const text = isSameFleet && own === known.values[index] ? known.texts[index] : undefined;
    return text ?? hostText(name, own ?? {}, keys);
  });
  return { names, values, texts };
}

/** Returns `known` if the object still names exactly these hosts. */
function sortedNames(hosts: object, known: readonly string[]): readonly string[] {
  const names = Object.keys(hosts);
  if (names.length === known.length && known.every((name) => Object.hasOwn(hosts, name))) return known;
  return names.sort((a, b) => (a < b ? -1 : 1));
}

function hostText(host: string, values: HostsOwn, keys: readonly string[]): string {
  const own = keys.flatMap((key) => (Object.hasOwn(values, key) ? [[key, values[key]]] : []));
  return own.length > 0 ? JSON.stringify([host, own]) : '';
}

/** Returns what the object gives selected hosts for the key. */
export function valueIn({ spec }: Pick<HostValues, 'spec'>, key: string): HostValue | undefined {
  const text = ownValue(spec.values, key);
  if (text !== undefined) return text;
  const reference = ownValue(spec.secrets, key);
  // The order of the keys in the manifest must not change the text of the annotation.
  return reference && { secretKeyRef: { name: reference.name, key: reference.key } };
}
