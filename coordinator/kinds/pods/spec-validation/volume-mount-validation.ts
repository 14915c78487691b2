/** Validation of volume mounts. */
import type { Container } from '../../../../shared/kube/pods/pod-types.js';
import type { VolumeDevice, VolumeMount } from '../../../../shared/kube/pods/volume-types.js';
import type { FieldError } from '../../kind.js';
import { forbidden, invalidValue, missing, notSupported, required } from '../../validation/field-error.js';
import { validateDescendingPath, validateNoBacksteps } from './value-validation.js';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE_READ_ONLY = ['Disabled', 'Enabled', 'IfPossible'];

function validatePropagation(mount: VolumeMount, container: Container, field: string): FieldError[] {
  const mode = mount.mountPropagation;
  if (mode === undefined) return [];
  if (!PROPAGATIONS.includes(mode)) return [notSupported(field, mode, PROPAGATIONS)];
  if (mode !== 'Bidirectional' || container.securityContext?.privileged) return [];
  return [forbidden(field, 'Bidirectional mount propagation is available only to privileged containers')];
}

function validateRecursiveReadOnly(mount: VolumeMount, field: string): FieldError[] {
  const mode = mount.recursiveReadOnly;
  if (mode === undefined || mode === 'Disabled') return [];
  if (!RECURSIVE_READ_ONLY.includes(mode)) return [notSupported(field, mode, RECURSIVE_READ_ONLY)];
  const errors = mount.readOnly ? [] : [forbidden(field, 'may only be specified when readOnly is true')];
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    errors.push(forbidden(field, 'may only be specified when mountPropagation is None or not specified'));
  }
  return errors;
}

function validateSubPaths(mount: VolumeMount, index: number, field: string): FieldError[] {
  const errors = mount.subPath ? validateDescendingPath(mount.subPath, `${field}.subPath`) : [];
  if (!mount.subPathExpr) return errors;
  if (mount.subPath) {
    const path = `${field}[${index}].subPathExpr`;
    errors.push(invalidValue(path, mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
  }
  return [...errors, ...validateDescendingPath(mount.subPathExpr, `${field}.subPathExpr`)];
}

function validateMountPath(mount: VolumeMount, earlier: ReadonlySet<string>, field: string): FieldError[] {
  if (!mount.mountPath) return [required(field)];
  return earlier.has(mount.mountPath) ? [invalidValue(field, mount.mountPath, 'must be unique')] : [];
}

function validateDeviceOverlap(
  mount: VolumeMount,
  devices: readonly VolumeDevice[],
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (devices.some((device) => device.name === mount.name)) {
    errors.push(invalidValue(`${field}.name`, mount.name, 'must not already exist in volumeDevices'));
  }
  if (devices.some((device) => device.devicePath === mount.mountPath)) {
    const detail = 'must not already exist as a path in volumeDevices';
    errors.push(invalidValue(`${field}.mountPath`, mount.mountPath, detail));
  }
  return errors;
}

/** The name must belong to a valid volume. */
function validateVolumeName(
  name: string | undefined,
  volumes: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const errors = name ? [] : [required(field)];
  return volumes.has(name ?? '') ? errors : [...errors, missing(field, name ?? '')];
}

/**
 * Validates the mounts of one container; `volumes` are the names of valid volumes. Upstream omits the index from the
 * paths of sub-paths, propagation and recursiveReadOnly.
 */
export function validateVolumeMounts(
  container: Container,
  volumes: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const paths = new Set<string>();
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const path = `${field}[${index}]`;
    const pathErrors = validateMountPath(mount, paths, `${path}.mountPath`);
    paths.add(mount.mountPath);
    return [
      ...validateVolumeName(mount.name, volumes, `${path}.name`),
      ...pathErrors,
      ...validateDeviceOverlap(mount, container.volumeDevices ?? [], path),
      ...validateSubPaths(mount, index, field),
      ...validatePropagation(mount, container, `${field}.mountPropagation`),
      ...validateRecursiveReadOnly(mount, `${field}.recursiveReadOnly`),
    ];
  });
}

/** A device must not have the name or path of a mount. */
function validateMountOverlap(
  device: VolumeDevice,
  mounts: readonly VolumeMount[],
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (mounts.some((mount) => mount.name === device.name)) {
    errors.push(invalidValue(`${field}.name`, device.name, 'must not already exist in volumeMounts'));
  }
  if (mounts.some((mount) => mount.mountPath === device.devicePath)) {
    const detail = 'must not already exist as a path in volumeMounts';
    errors.push(invalidValue(`${field}.devicePath`, device.devicePath, detail));
  }
  return errors;
}

function validateDevicePath(device: VolumeDevice, earlier: ReadonlySet<string>, field: string): FieldError[] {
  const { devicePath } = device;
  if (!devicePath) return [required(field)];
  const errors = earlier.has(devicePath) ? [invalidValue(field, devicePath, 'must be unique')] : [];
  if (validateNoBacksteps(devicePath, field).length === 0) return errors;
  return [...errors, invalidValue(field, devicePath, "can not contain backsteps ('..')")];
}

/** Validates block devices of one container, with unique names and paths. */
export function validateVolumeDevices(
  container: Container,
  volumes: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const names = new Set<string>();
  const paths = new Set<string>();
  return (container.volumeDevices ?? []).flatMap((device, index) => {
    const path = `${field}[${index}]`;
    const errors = [
      ...validateVolumeName(device.name, volumes, `${path}.name`),
      ...(names.has(device.name) ? [invalidValue(`${path}.name`, device.name, 'must be unique')] : []),
      ...validateDevicePath(device, paths, `${path}.devicePath`),
      ...validateMountOverlap(device, container.volumeMounts ?? [], path),
    ];
    names.add(device.name);
    paths.add(device.devicePath);
    return errors;
  });
}
