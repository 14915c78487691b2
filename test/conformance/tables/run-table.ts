/** Runs one table file and lists its failed cases. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ConformanceCase, OpenTable, Table, Verdict } from './conformance-table.js';
import { TABLES } from './table-index.js';

/** The expected and the actual result of a case. */
interface FailedCase {
  name: string;
  expected: unknown;
  got: unknown;
}

/** `total`: number of cases in the file. */
export interface TableResult {
  table: string;
  total: number;
  failed: FailedCase[];
}

async function verdictOf(table: OpenTable, testCase: ConformanceCase): Promise<Verdict> {
  try {
    return await table.run(testCase);
  } catch (error) {
    return { passed: false, got: error instanceof Error ? error.message : String(error) };
  }
}

async function runCases(table: Table, cases: readonly ConformanceCase[]): Promise<FailedCase[]> {
  const open = await table.open();
  const failed: FailedCase[] = [];
  const queue = cases.values();
  const worker = async () => {
    for (const testCase of queue) {
      const { passed, got } = await verdictOf(open, testCase);
      if (!passed) failed.push({ name: testCase.name, expected: testCase.expected, got });
    }
  };
  try {
    await Promise.all(Array.from({ length: table.concurrency }, worker));
  } finally {
    await open.close();
  }
  return failed;
}

function isCase(value: unknown): value is ConformanceCase {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/**
 * A file without an adapter fails with all its cases, so that nothing is skipped. Throws if the file is no list of
 * cases.
 */
export async function runTable(file: string): Promise<TableResult> {
  const name = basename(file, '.json');
  const cases: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(cases) || !cases.every(isCase)) throw new Error(`${file} is no list of named cases`);
  const table = TABLES[name];
  const failed = table
    ? await runCases(table, cases)
    : cases.map((one) => ({ name: one.name, expected: one.expected, got: 'left out' }));
  return { table: name, total: cases.length, failed };
}
