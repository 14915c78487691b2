/**
 * The Pod Security level that a namespace's labels require, and the check of a Pod (`pod-security.kubernetes.io/…`).
 */

import type { FieldError } from '../../kind.js';
import { invalidValue } from '../../validation/field-error.js';
import { BASELINE } from './baseline-standard.js';
import { REPLACED, RESTRICTED } from './restricted-standard.js';
import type { Check, SecuredPod } from './security-check.js';

const PREFIX = 'pod-security.kubernetes.io/';
const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
/** `latest`: the Kubernetes release whose API is served. */
const LATEST_MINOR = 35;

type Level = (typeof LEVELS)[number];

/** The reaction to a violation: refuse the Pod, warn the client, or write to the audit log. */
export type Mode = 'enforce' | 'warn' | 'audit';

const MODES: readonly Mode[] = ['enforce', 'warn', 'audit'];

/** A level and the version of its rules, from the labels: `baseline`, and `latest` or `v1.29`. */
interface LevelVersion {
  level: Level;
  version: string;
}

type Labels = Readonly<Record<string, string>>;

function isLevel(text: string): text is Level {
  return LEVELS.some((level) => level === text);
}

function isVersion(text: string): boolean {
  return text === 'latest' || /^v1\.\d{1,9}$/.test(text);
}

/** Returns the level for this mode. Invalid labels count as the strictest level, like upstream. */
export function levelFor(labels: Labels | undefined, mode: Mode): LevelVersion {
  const level = labels?.[PREFIX + mode] ?? 'privileged';
  const version = labels?.[`${PREFIX}${mode}-version`] ?? 'latest';
  return {
    level: isLevel(level) ? level : mode === 'enforce' ? 'restricted' : 'privileged',
    version: isVersion(version) ? version : 'latest',
  };
}

/** Returns the errors in these labels of a Namespace. */
export function validateLevelLabels(labels: Labels | undefined): FieldError[] {
  return MODES.flatMap((mode) => {
    const level = labels?.[PREFIX + mode];
    const version = labels?.[`${PREFIX}${mode}-version`];
    const field = (name: string) => `metadata.labels[${name}]`;
    return [
      ...(level === undefined || isLevel(level)
        ? []
        : [invalidValue(field(PREFIX + mode), level, `must be one of ${LEVELS.join(', ')}`)]),
      ...(version === undefined || isVersion(version)
        ? []
        : [invalidValue(field(`${PREFIX}${mode}-version`), version, 'must be "latest" or "v1.x"')]),
    ];
  });
}

function checksOf(level: Level, minor: number): Check[] {
  if (level === 'privileged') return [];
  const baseline = Object.entries(BASELINE);
  if (level === 'baseline') return baseline.map(([, check]) => check);
  const kept = baseline.filter(([name]) => !(minor >= (REPLACED[name] ?? Number.POSITIVE_INFINITY)));
  return [...kept.map(([, check]) => check), ...RESTRICTED];
}

/** Returns `violates PodSecurity "baseline:latest": …`, or undefined if the Pod complies. */
export function levelViolation(pod: SecuredPod, { level, version }: LevelVersion): string | undefined {
  const minor = version === 'latest' ? LATEST_MINOR : Number(version.slice(3));
  const violations = checksOf(level, minor).flatMap((check) => check(pod, minor) ?? []);
  if (violations.length === 0) return undefined;
  const list = violations.map(({ reason, detail }) => (detail ? `${reason} (${detail})` : reason));
  return `violates PodSecurity "${level}:${version}": ${list.join(', ')}`;
}
