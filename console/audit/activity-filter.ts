/** The filter in the address of the activity page as parameters of the API and of the command. Pure. */
import { shellWord } from '../layout/text/shell-words.js';

const PARAMETERS = ['user', 'verb', 'resource', 'namespace', 'name', 'code'] as const;

/** Returns names and values. `object` is `NAME` or `NAMESPACE/NAME`. */
export function auditFilters(params: URLSearchParams): [name: string, value: string][] {
  const object = params.get('object')?.trim() ?? '';
  const slash = object.indexOf('/');
  const ofObject: Record<string, string> = {
    ...(slash > 0 ? { namespace: object.slice(0, slash) } : {}),
    name: object.slice(slash + 1),
  };
  return PARAMETERS.flatMap((name) => {
    const value = params.get(name)?.trim() || ofObject[name];
    return value ? [[name, value] as [string, string]] : [];
  });
}

/** Returns the command with the same filter. A link can contain text that a shell would run. */
export function auditCommand(filters: readonly [name: string, value: string][]): string {
  return ['everynode audit', ...filters.map(([name, value]) => `--${name} ${shellWord(value)}`)].join(' ');
}
