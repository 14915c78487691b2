/**
 * Many objects that are alike: admitted and encoded once, then each made of the same parts. They differ in what the
 * server gives (name, uid, time) and in one text of their maker's choice, e.g. the node that a Pod is bound to.
 */
import { type KubeObject, type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { mountServiceAccountToken } from '../admission/service-account-admission.js';
import { placeInNamespace } from '../admission/typed-body.js';
import { admitCreate, generateName, readObject } from '../admission/write-admission.js';
import { copyJson } from '../encoding/json-value.js';
import { EncodedObject } from '../encoding/object-encoding.js';
import type { Customize, ObjectTemplate, RegistryDeps, Rendered } from '../registry.js';

/** What only one of the objects has. */
interface Own extends Readonly<Record<string, string>> {
  name: string;
  uid: string;
  creationTimestamp: Timestamp;
  text: string;
}

/** Stand where an object's own texts go; nothing that passes admission looks like them. */
const HOLES: Own = { name: '\0name', uid: '\0uid', creationTimestamp: '\0time', text: '\0text' };

type Making = Pick<RegistryDeps, 'clock' | 'random' | 'findAccount'>;

/** One of the objects that are to be made. */
interface TemplateSource<T extends KubeObject> {
  kind: Kind<T>;
  namespace: string | undefined;
  /** With a generateName and no name. */
  body: T;
  /** Writes the text that they differ in. */
  customize: Customize<T>;
  text: string;
}

export class AdmittedTemplate<T extends KubeObject> implements ObjectTemplate<T> {
  readonly #model: T;
  readonly #fit: Customize<T>;
  readonly #encoded: EncodedObject;
  readonly #parts: Making;
  readonly kind: Kind<T>;

  /** Throws what a create of the example would: 400 and 422. */
  constructor({ kind, namespace, body, customize: fit, text }: TemplateSource<T>, parts: Making) {
    const { clock, random: chance } = parts;
    this.#parts = parts;
    this.kind = kind;
    const model = readObject(kind, copyJson(fit(body, text)), {});
    placeInNamespace(kind, model, namespace);
    mountServiceAccountToken(model, parts.findAccount, chance.random);
    const generate = (base: string) => generateName(base, chance.random);
    admitCreate(kind, model, { now: clock.now(), uid: chance.uuid(), generateName: generate }, {});
    this.#model = model;
    this.#fit = fit;
    this.#encoded = new EncodedObject(this.#withOwn(HOLES), HOLES);
  }

  render(text: string): Rendered<T> {
    const { clock, random: chance } = this.#parts;
    const own: Own = {
      name: generateName(this.#model.metadata.generateName ?? '', chance.random),
      uid: chance.uuid(),
      creationTimestamp: toTimestamp(clock.now()),
      text,
    };
    return { object: this.#withOwn(own), encoded: this.#encoded.fill(own) };
  }

  #withOwn({ text, ...metadata }: Own): T {
    const object = this.#fit(this.#model, text);
    return { ...object, metadata: { ...object.metadata, ...metadata } };
  }
}
