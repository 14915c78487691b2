/** Expectations about nodes, and about the output of the step's command. */

import type { Status } from '../../../shared/kube/objects/api-status.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { requireKeys } from '../tables/conformance-table.js';
import { type Check, expectEqual, expectTrue } from './scenario-check.js';

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Rows of a printed table, split at two or more spaces. */
function rowsOf(output: string | undefined): string[][] {
  return (output ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trimEnd().split(/\s{2,}/));
}

const inOrder: Check = (expected, { outcome }) => {
  let rest = collapse(outcome.output ?? '');
  for (const part of expected as string[]) {
    const at = rest.indexOf(collapse(part));
    if (at < 0) return { got: outcome.output };
    rest = rest.slice(at + collapse(part).length);
  }
  return undefined;
};

const outputLines: Check = (expected, { outcome }) => {
  const lines = (outcome.output ?? '').split('\n').map(collapse).values();
  const missing = (expected as string[]).filter((wanted) => {
    for (const line of lines) if (line === collapse(wanted)) return false;
    return true;
  });
  return expectTrue(missing.length === 0, outcome.output);
};

const row: Check = (expected, { outcome }) => {
  const [header = [], ...rows] = rowsOf(outcome.output);
  const wanted = Object.entries(expected as Record<string, string>);
  const found = rows.some((cells) =>
    wanted.every(([column, cell]) => cells[header.indexOf(column)] === cell),
  );
  return expectTrue(found, outcome.output);
};

const rejected: Check = (expected, { outcome }) => {
  requireKeys(expected, ['code', 'field'], 'rejected');
  const { code, field } = expected as { code?: number; field?: string };
  const causes = (outcome.answer?.body as Status | undefined)?.details?.causes ?? [];
  const fine =
    outcome.answer?.code === code && (field === undefined || causes.some((cause) => cause.field === field));
  return expectTrue(fine, { code: outcome.answer?.code, causes });
};

const nodeTaints: Check = (expected, { now }) => {
  const got: Record<string, string[]> = {};
  const fine = Object.entries(expected as Record<string, string[]>).map(([name, wanted]) => {
    const taints = now.nodes.find((node) => node.metadata.name === name)?.spec?.taints ?? [];
    got[name] = taints.map(({ key, effect }) => `${key}:${effect}`).sort();
    return expectEqual([...wanted].sort(), got[name]) === undefined;
  });
  return expectTrue(fine.every(Boolean), got);
};

export const COMMAND_CHECKS: Readonly<Record<string, Check>> = {
  nodeReady: (expected, { now }) => {
    const names = Object.keys(expected as object);
    const got = names.map((name) => {
      const node = now.nodes.find((one) => one.metadata.name === name);
      return [name, findCondition(node?.status?.conditions, 'Ready')?.status];
    });
    return expectEqual(expected, Object.fromEntries(got));
  },
  nodeTaints,
  rejected,
  exitCode: (expected, { outcome }) =>
    expectTrue(outcome.exitCode === expected, `${outcome.exitCode}: ${outcome.output}`),
  outputContains: (expected, { outcome }) =>
    expectTrue(collapse(outcome.output ?? '').includes(collapse(String(expected))), outcome.output),
  outputContainsInOrder: inOrder,
  outputLines,
  columns: (expected, { outcome }) => expectEqual(expected, rowsOf(outcome.output)[0]),
  row,
  count: (expected, { outcome }) => expectEqual(expected, outcome.listed),
};
