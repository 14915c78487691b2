/** What `everynode doctor` has found out about a coordinator's machine. Times are ms, sizes bytes. */
import type { CertificateFact, DiskFact } from '../../../shared/doctor/finding.js';

export interface CoordinatorFacts {
  now: number;
  system: { isRoot: boolean; hasSystemd: boolean; node: string; kernel: string };
  /** Files that one process may open. */
  openFiles: number;
  clock: ClockFact;
  disk: DiskFact;
  fileSystem: { isRemote: boolean; type: string };
  sync: SyncFact;
  dataDirectory: DataDirectoryFact;
  port: PortFact;
  certificates: readonly ServingCertificateFact[];
  names: readonly NameFact[];
  proxy: ProxyFact;
  etcd: EtcdFact;
  backup: BackupFact;
}

interface ClockFact {
  /** Whether the kernel's clock follows a time server; undefined if systemd cannot be asked. */
  isSynchronized: boolean | undefined;
  /** Time of the last write to the database; undefined before the first start. */
  lastWriteAt: number | undefined;
}

/** The time that the disk takes to store a small file durably. */
export type SyncFact =
  | { state: 'measured'; medianMs: number; worstMs: number }
  | { state: 'failed'; reason: string; code: string | undefined };

export type DataDirectoryFact = { path: string } & (
  | { state: 'absent' }
  | { state: 'unreadable'; reason: string }
  | {
      state: 'present';
      /** Files below it that users other than the owner can read or write. */
      exposed: readonly string[];
      /** Files of another owner than the directory's, which the coordinator may be unable to read. */
      foreign: readonly string[];
    }
);

export type PortFact = { address: string } & (
  | { state: 'free' }
  /** This directory's coordinator serves there. */
  | { state: 'own' }
  | { state: 'refused'; reason: string; code: string | undefined }
);

/** `missingNames`: names of this machine that clients may use and that the certificate lacks. */
export type ServingCertificateFact =
  | (CertificateFact & {
      startsAt: number;
      missingNames: readonly string[];
      /** The coordinator renews its own certificates. The operator supplies the others. */
      isOwn: boolean;
    })
  | { what: string; reason: string };

/** A name that the settings contain, and its addresses. */
export type NameFact = { name: string; setting: string } & (
  | { addresses: readonly string[] }
  | { reason: string; code: string | undefined }
);

/** `through`: servers that commands of this machine reach through the proxy. */
export type ProxyFact =
  | { state: 'none' }
  | { state: 'invalid'; reason: string }
  | { state: 'set'; proxy: string; through: readonly string[] };

export type EtcdFact =
  | { state: 'none' }
  /** A coordinator would not start with it. */
  | { state: 'refused'; reason: string }
  | { state: 'answers'; warnings: readonly string[]; members: readonly EtcdMemberFact[] };

export type EtcdMemberFact = { endpoint: string } & (
  | { reason: string }
  | {
      version: string;
      answeredAfter: number;
      dbBytes: number;
      /** Undefined if its version does not report it (before etcd 3.6). */
      quotaBytes: number | undefined;
    }
);

export type BackupFact =
  /** Nothing is stored yet. */
  | { state: 'noData' }
  | { state: 'off'; newestAt: number | undefined }
  | {
      state: 'scheduled';
      directory: string;
      newestAt: number | undefined;
      /** Time at which a second backup is due after the newest one; undefined if the pattern never matches again. */
      missedAt: number | undefined;
    };
