/** `DATA/member.json`: this data directory belongs to a coordinator that shares its fleet with others. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import { MEMBER_FILE, PENDING_MEMBER_FILE } from '../store/data-files.js';

const FORMAT = 1;

export interface MemberFile {
  /** 8 hex digits. */
  readonly memberId: string;
  readonly clusterUID: string;
  /** Name of the log that the database follows. */
  readonly generation: string;
  /** `https://HOST:PORT` for kubectl, agents and other members. */
  readonly server: string;
  /** Host name of the machine. */
  readonly name: string;
}

/** `damaged`: the file is not readable as a member file. `newer`: a newer version wrote it. */
export class MemberFileError extends Error {
  override name = 'MemberFileError';
  constructor(
    readonly code: 'damaged' | 'newer',
    message: string,
  ) {
    super(message);
  }
}

/** Returns the content, or undefined for the data directory of a single coordinator. Throws MemberFileError. */
export function readMemberFile(dataDir: string): Promise<MemberFile | undefined> {
  return readFileNamed(MEMBER_FILE, dataDir);
}

/** Returns the member that an interrupted `clusterize` began to make. Throws MemberFileError. */
export function readPendingMember(dataDir: string): Promise<MemberFile | undefined> {
  return readFileNamed(PENDING_MEMBER_FILE, dataDir);
}

async function readFileNamed(name: string, dataDir: string): Promise<MemberFile | undefined> {
  const path = join(dataDir, name);
  const text = await readIfPresent(path);
  return text === undefined ? undefined : parseMemberFile(text, path);
}

/** Throws MemberFileError, which names `path`. Pure. */
export function parseMemberFile(text: string, path: string): MemberFile {
  const value = parsed(text);
  const { format, memberId, clusterUID, generation, server, name } = value;
  if (typeof format === 'number' && format > FORMAT) {
    throw new MemberFileError(
      'newer',
      `${path} was written by a newer version: start that version or a later one`,
    );
  }
  const wrong =
    (format !== FORMAT && 'format') ||
    (!isMemberId(memberId) && 'memberId') ||
    (!isText(clusterUID) && 'clusterUID') ||
    (!isText(generation) && 'generation') ||
    (!isMemberServer(server) && 'server') ||
    (!isText(name) && 'name');
  if (wrong || !isMemberId(memberId) || !isText(clusterUID) || !isText(generation)) {
    throw damaged(path, String(wrong));
  }
  if (!isMemberServer(server) || !isText(name)) throw damaged(path, String(wrong));
  return { memberId, clusterUID, generation, server, name };
}

export async function writeMemberFile(dataDir: string, member: MemberFile): Promise<void> {
  await writePrivateFile(join(dataDir, MEMBER_FILE), textOf(member));
}

export async function writePendingMember(dataDir: string, member: MemberFile): Promise<void> {
  await writePrivateFile(join(dataDir, PENDING_MEMBER_FILE), textOf(member));
}

export async function removePendingMember(dataDir: string): Promise<void> {
  await rm(join(dataDir, PENDING_MEMBER_FILE), { force: true });
}

function textOf(member: MemberFile): string {
  return `${JSON.stringify({ format: FORMAT, ...member }, null, 2)}\n`;
}

export async function removeMemberFile(dataDir: string): Promise<void> {
  await rm(join(dataDir, MEMBER_FILE), { force: true });
}

export function isMemberId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}$/.test(value);
}

/** True for `https://HOST:PORT` without path, user or query. */
export function isMemberServer(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 300 || !URL.canParse(value)) return false;
  const { protocol, origin, port } = new URL(value);
  // URL drops the default port of https.
  return protocol === 'https:' && (origin === value || (port === '' && `${origin}:443` === value));
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 253;
}

function damaged(path: string, field: string): MemberFileError {
  return new MemberFileError(
    'damaged',
    `${path} is damaged (${field}): restore it, or remove this coordinator with "everynode coordinator remove" on another one and join again with an empty data directory`,
  );
}
