/** Static tokens in a file, like kube-apiserver's `--token-auth-file`: `token,user,uid,"group1,group2"`, one per line. */
import { createHash } from 'node:crypto';
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { withAuthenticated } from './user-groups.js';

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/** Splits a CSV line. Returns undefined for an unclosed quote. */
function cellsOf(line: string): string[] | undefined {
  const cells = [...line.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(?:,|$)/g)];
  const consumed = cells.reduce((length, [text]) => length + text.length, 0);
  if (consumed < line.length) return undefined;
  const values = cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '');
  // The pattern also matches the empty string after the last cell.
  return line.endsWith(',') ? values : values.slice(0, -1);
}

/** Reads the text of a token file. Throws `ExitError` with the line number, without the line's content. */
export function readTokenFile(text: string, path: string): (token: string) => UserInfo | undefined {
  const users = new Map<string, UserInfo>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [token, username, uid, groups = ''] = cellsOf(line) ?? [];
    if (!token || !username || uid === undefined) {
      const sentence = `line ${index + 1} of ${path} is not of the form TOKEN,USER,UID[,"GROUP,…"].`;
      throw new ExitError(EXIT_CODES.usage, sentence);
    }
    const named = groups.split(',').flatMap((group) => group.trim() || []);
    users.set(hashOf(token), { username, ...(uid ? { uid } : {}), groups: withAuthenticated(named) });
  }
  // Look up by hash, so that the response time does not depend on how much of a guess is right.
  return (token) => users.get(hashOf(token));
}
