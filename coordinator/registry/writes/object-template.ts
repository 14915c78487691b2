/**
 * Templates for many similar objects: validated and encoded once. The objects differ in name, uid, creation time and
 * texts that the caller chooses, such as the node of a Pod.
 */
import { type KubeObject, type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { limitCheck, refuseBeyondLimits, setLimitDefaults } from '../admission/limit-range-admission.js';
import { priorityCheck, setPodPriority } from '../admission/priority-admission.js';
import { mountServiceAccountToken } from '../admission/service-account-admission.js';
import { placeInNamespace } from '../admission/typed-body.js';
import { admitCreate, generateName, readObject } from '../admission/write-admission.js';
import { copyJson } from '../encoding/json-value.js';
import { EncodedObject } from '../encoding/object-encoding.js';
import type { ObjectTemplate, RegistryDeps, TemplateSource } from '../registry.js';

/** The values of one object. */
interface Own extends Readonly<Record<string, string>> {
  name: string;
  uid: string;
  creationTimestamp: Timestamp;
  text: string;
  detail: string;
}

/** Placeholders for an object's own values. No admitted value contains NUL. */
const HOLES: Own = {
  name: '\0name',
  uid: '\0uid',
  creationTimestamp: '\0time',
  text: '\0text',
  detail: '\0detail',
};

/** See `Registry.prepareTemplate`. */
export function prepareTemplate<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  namespace: string | undefined,
  { body, customize, text, detail = '' }: TemplateSource<T>,
): ObjectTemplate<T> {
  const { clock, random, findAccount, priorityClasses } = deps;
  const nameFrom = (base: string) => generateName(base, random.random);
  const example = readObject(kind, copyJson(customize(body, text, detail)), {});
  placeInNamespace(kind, example, namespace);
  mountServiceAccountToken(example, findAccount, random.random);
  const hasPriority = priorityCheck(example, priorityClasses);
  const hasLimits = limitCheck(deps, example);
  setPodPriority(example, priorityClasses);
  setLimitDefaults(deps, example);
  admitCreate(kind, example, { now: clock.now(), uid: random.uuid(), generateName: nameFrom }, {});
  const withOwn = ({ text: own, detail: ownDetail, ...metadata }: Own): T => {
    const object = customize(example, own, ownDetail);
    return { ...object, metadata: { ...object.metadata, ...metadata } };
  };
  const encoded = new EncodedObject(withOwn(HOLES), HOLES);
  refuseBeyondLimits(deps, kind, example);
  return {
    kind,
    isCurrent: () => hasPriority() && hasLimits(),
    render: (own, ownDetail = '') => {
      const name = nameFrom(example.metadata.generateName ?? '');
      const fields: Own = {
        name,
        uid: random.uuid(),
        creationTimestamp: toTimestamp(clock.now()),
        text: own,
        detail: ownDetail,
      };
      return { object: withOwn(fields), encoded: encoded.fill(fields) };
    },
  };
}
