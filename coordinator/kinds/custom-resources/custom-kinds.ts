/** The custom kinds that are served now. It changes while the coordinator runs. */
import {
  type CustomResourceDefinition,
  type CustomResourceVersion,
  isEstablished,
  type JsonSchema,
  type ScaleSubresource,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { Kind } from '../kind.js';
import { kindOf, schemaOfVersion } from './custom-kind.js';
import { compareVersions } from './version-order.js';

/** One served version of a custom kind. */
export interface CustomResource {
  readonly kind: Kind;
  /** As stored in the definition. */
  readonly schema: JsonSchema;
  readonly scale?: ScaleSubresource;
  /** True while the definition is deleted: nothing can be created. */
  readonly isTerminating: boolean;
  /** Sent with each response of a deprecated version. */
  readonly deprecation?: string;
}

function deprecationOf(
  { group, kind }: Pick<Kind, 'group' | 'kind'>,
  { name, deprecated, deprecationWarning }: CustomResourceVersion,
): string | undefined {
  return deprecated ? (deprecationWarning ?? `${group}/${name} ${kind} is deprecated`) : undefined;
}

function resourcesOf(definition: CustomResourceDefinition): CustomResource[] {
  if (!isEstablished(definition)) return [];
  const served = definition.spec.versions.filter((version) => version.served);
  return served
    .toSorted((a, b) => compareVersions(a.name, b.name))
    .map((version) => {
      const kind = kindOf(definition, version) as Kind;
      const scale = version.subresources?.scale;
      const deprecation = deprecationOf(kind, version);
      return {
        ...{ kind, schema: schemaOfVersion(version) },
        isTerminating: definition.metadata.deletionTimestamp !== undefined,
        ...(scale ? { scale } : {}),
        ...(deprecation === undefined ? {} : { deprecation }),
      };
    });
}

/** Returns the kind in the version in which objects are stored, so that its writes convert none of them. */
function storedKind(definition: CustomResourceDefinition): Kind[] {
  const { versions } = definition.spec;
  const version = versions.find(({ storage }) => storage) ?? versions[0];
  return version && isEstablished(definition) ? [kindOf(definition, version) as Kind] : [];
}

interface DefinitionKinds {
  revision: string;
  resources: readonly CustomResource[];
  stored: readonly Kind[];
}

function nameOf({ group, version, resource }: Pick<Kind, 'group' | 'version' | 'resource'>): string {
  return `${group}/${version}/${resource}`;
}

export class CustomKinds {
  readonly #byDefinition = new Map<string, DefinitionKinds>();
  readonly #byName = new Map<string, CustomResource>();
  #changes = 0;

  /** Increases with each change, so that documents of all kinds can be cached. */
  get changes(): number {
    return this.#changes;
  }

  /** All served versions, by group. The preferred version of a kind is first. */
  list(): CustomResource[] {
    const all = [...this.#byDefinition.values()].flatMap(({ resources }) => resources);
    return all.sort(
      ({ kind: a }, { kind: b }) =>
        a.group.localeCompare(b.group) ||
        compareVersions(a.version, b.version) ||
        a.resource.localeCompare(b.resource),
    );
  }

  find(name: Pick<Kind, 'group' | 'version' | 'resource'>): CustomResource | undefined {
    return this.#byName.get(nameOf(name));
  }

  /** Returns the kinds of all served versions of this one. */
  versions({ group, resource }: Pick<Kind, 'group' | 'resource'>): Kind[] {
    return (this.#byDefinition.get(`${resource}.${group}`)?.resources ?? []).map(({ kind }) => kind);
  }

  /** Returns each kind in the version in which its objects are stored. */
  stored(): Kind[] {
    return [...this.#byDefinition.values()].flatMap(({ stored }) => stored);
  }

  /** Adds or replaces the kinds of a definition. */
  put(definition: CustomResourceDefinition): void {
    const { name, resourceVersion = '' } = definition.metadata;
    const known = this.#byDefinition.get(name);
    if (known && known.revision === resourceVersion) return;
    this.#replace(name, {
      revision: resourceVersion,
      resources: resourcesOf(definition),
      stored: storedKind(definition),
    });
  }

  remove(name: string): void {
    this.#replace(name, undefined);
  }

  #replace(name: string, next: DefinitionKinds | undefined): void {
    const before = this.#byDefinition.get(name)?.resources ?? [];
    for (const { kind } of before) this.#byName.delete(nameOf(kind));
    if (next) this.#byDefinition.set(name, next);
    else this.#byDefinition.delete(name);
    for (const resource of next?.resources ?? []) this.#byName.set(nameOf(resource.kind), resource);
    if (before.length > 0 || (next && next.resources.length > 0)) this.#changes += 1;
  }
}
