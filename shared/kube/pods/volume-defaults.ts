/** Defaults of volumes (`pkg/apis/core/v1/defaults.go`). */
import type { Volume } from './volume-types.js';

/** 0644. JSON carries it as a decimal number. */
const FILE_MODE = 0o644;
const TOKEN_LIFETIME_SECONDS = 3600;

/** Default fields by volume source. Also for sources that are stored but not supported. */
const SOURCE_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', kind: 'Shared', readOnly: false },
  configMap: { defaultMode: FILE_MODE },
  downwardAPI: { defaultMode: FILE_MODE },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  projected: { defaultMode: FILE_MODE },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
  secret: { defaultMode: FILE_MODE },
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function setMissing(target: Record<string, unknown>, defaults: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(defaults)) target[field] ??= value;
}

function setFieldVersions(items: { fieldRef?: { apiVersion?: string } }[] | undefined): void {
  for (const item of items ?? []) if (item.fieldRef) item.fieldRef.apiVersion ||= 'v1';
}

function setProjectionDefaults(volume: Volume): void {
  for (const source of volume.projected?.sources ?? []) {
    setFieldVersions(source.downwardAPI?.items);
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= TOKEN_LIFETIME_SECONDS;
  }
}

/** Sets the defaults of a volume. A volume without a source becomes an emptyDir. */
export function setVolumeDefaults(volume: Volume): void {
  if (Object.keys(volume).every((field) => field === 'name')) volume.emptyDir = {};
  for (const [source, defaults] of Object.entries(SOURCE_DEFAULTS)) {
    const present = volume[source];
    if (isObject(present)) setMissing(present, defaults);
  }
  setFieldVersions(volume.downwardAPI?.items);
  setProjectionDefaults(volume);
}
