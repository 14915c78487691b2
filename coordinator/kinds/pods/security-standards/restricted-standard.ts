/** The level `restricted`: current best practice for hardened Pods. Checks are in the order of upstream's messages. */
import type { Container } from '../../../../shared/kube/pods/pod-types.js';
import type { Volume } from '../../../../shared/kube/pods/volume-types.js';
import { badSeccompSetters } from './baseline-standard.js';
import {
  type Check,
  containerNames,
  containersThat,
  everyContainer,
  plural,
  quoted,
  type SecuredPod,
  setters,
  sortedSet,
} from './security-check.js';

const VOLUME_TYPES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

/** These settings have no effect on Windows. Since 1.25 they are not required there. */
function isWindows({ spec }: SecuredPod, minor: number): boolean {
  return minor >= 25 && spec.os?.name === 'windows';
}

const allowPrivilegeEscalation: Check = (pod, minor) => {
  if (minor < 8 || isWindows(pod, minor)) return undefined;
  const names = containersThat(
    pod,
    ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  );
  if (names.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containerNames(names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const capabilities: Check = (pod, minor) => {
  if (minor < 22 || isWindows(pod, minor)) return undefined;
  const dropsAll = ({ securityContext }: Container) =>
    securityContext?.capabilities?.drop?.includes('ALL') ?? false;
  const added = ({ securityContext }: Container) =>
    (securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE');
  const keeping = containersThat(pod, (container) => !dropsAll(container));
  const adding = everyContainer(pod).filter((container) => added(container).length > 0);
  const details = [
    ...(keeping.length > 0
      ? [`${containerNames(keeping)} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(adding.length > 0
      ? [
          `${containerNames(adding.map(({ name }) => name))} must not include ${quoted(sortedSet(adding.flatMap(added)))} in securityContext.capabilities.add`,
        ]
      : []),
  ];
  return details.length > 0 ? { reason: 'unrestricted capabilities', detail: details.join('; ') } : undefined;
};

/** Returns the source of a volume. Upstream calls a volume without a source `unknown`. */
function typeOf(volume: Volume): string {
  return Object.keys(volume).find((key) => key !== 'name' && volume[key] !== undefined) ?? 'unknown';
}

const restrictedVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !VOLUME_TYPES.has(typeOf(volume)));
  if (bad.length === 0) return undefined;
  const names = `${plural('volume', bad.length)} ${quoted(bad.map(({ name }) => name))}`;
  const types = sortedSet(bad.map(typeOf));
  const detail = `${names} ${bad.length === 1 ? 'uses' : 'use'} restricted volume ${plural('type', types.length)} ${quoted(types)}`;
  return { reason: 'restricted volume types', detail };
};

const runAsNonRoot: Check = (pod) => {
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const of = ({ securityContext }: Container) => securityContext?.runAsNonRoot;
  const refusing = setters(
    ofPod === false,
    containersThat(pod, (container) => of(container) === false),
  );
  const reason = 'runAsNonRoot != true';
  if (refusing) return { reason, detail: `${refusing} must not set securityContext.runAsNonRoot=false` };
  const silent = containersThat(pod, (container) => of(container) === undefined && ofPod !== true);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containerNames(silent)} must set securityContext.runAsNonRoot=true` };
};

const runAsUser: Check = (pod, minor) => {
  if (minor < 23) return undefined;
  const names = containersThat(pod, ({ securityContext }) => securityContext?.runAsUser === 0);
  const who = setters(pod.spec.securityContext?.runAsUser === 0, names);
  return who ? { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` } : undefined;
};

const seccompProfile: Check = (pod, minor) => {
  if (minor < 19 || isWindows(pod, minor)) return undefined;
  const bad = badSeccompSetters(pod);
  if (bad) return bad;
  if (pod.spec.securityContext?.seccompProfile?.type) return undefined;
  const silent = containersThat(pod, ({ securityContext }) => !securityContext?.seccompProfile?.type);
  if (silent.length === 0) return undefined;
  const detail = `pod or ${containerNames(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason: 'seccompProfile', detail };
};

/** Applied together with the checks of `baseline` that are not in `REPLACED`. */
export const RESTRICTED: readonly Check[] = [
  allowPrivilegeEscalation,
  capabilities,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompProfile,
];

/** Checks of `baseline` that a stricter check replaces, with the minor version since which it does. */
export const REPLACED: Readonly<Record<string, number>> = {
  capabilities: 22,
  hostPathVolumes: 0,
  seccompProfile: 19,
};
