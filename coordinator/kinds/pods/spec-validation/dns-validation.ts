/** Validation of a Pod's name resolution. */
import type { PodDNSConfig, PodSpec } from '../../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../../kind.js';
import { validateIp } from '../../validation/address-rules.js';
import { invalidValue, notSupported, required } from '../../validation/field-error.js';
import { dnsSubdomainProblems, searchDomainProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';

const POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

/** Unlike a host name, a search domain may end with a dot and contain underscores. */
function validateSearch(search: string, field: string): FieldError[] {
  if (search === '.') return [];
  return invalidFor(field, search, searchDomainProblems(search.replace(/\.$/, '')));
}

function validateSearches(searches: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > MAX_SEARCHES) {
    errors.push(invalidValue(field, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    errors.push(invalidValue(field, searches, detail));
  }
  return [...errors, ...searches.flatMap((search, index) => validateSearch(search, `${field}[${index}]`))];
}

function validateConfig(config: PodDNSConfig, field: string): FieldError[] {
  const nameservers = config.nameservers ?? [];
  const tooMany = `must not have more than ${MAX_NAMESERVERS} nameservers`;
  return [
    ...(nameservers.length > MAX_NAMESERVERS
      ? [invalidValue(`${field}.nameservers`, nameservers, tooMany)]
      : []),
    ...nameservers.flatMap((address, index) => validateIp(address, `${field}.nameservers[${index}]`)),
    ...validateSearches(config.searches ?? [], `${field}.searches`),
    ...(config.options ?? []).flatMap((option, index) =>
      option.name ? [] : [required(`${field}.options[${index}]`, 'must not be empty')],
    ),
  ];
}

/** The policy `None` needs at least one name server. */
function validateNone(config: PodDNSConfig | undefined, field: string): FieldError[] {
  if (!config) return [required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  if (config.nameservers?.length) return [];
  return [
    required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
  ];
}

function validateConfigFor(policy: string, config: PodDNSConfig | undefined, field: string): FieldError[] {
  const errors = policy === 'None' ? validateNone(config, field) : [];
  if (errors.length > 0 || !config) return errors;
  return validateConfig(config, field);
}

/** Validates `dnsPolicy` and `dnsConfig` of a Pod. */
export function validateDns(spec: PodSpec, field: string): FieldError[] {
  const policy = spec.dnsPolicy ?? '';
  const config = `${field}.dnsConfig`;
  return [
    ...(POLICIES.includes(policy) ? [] : [notSupported(`${field}.dnsPolicy`, policy, POLICIES)]),
    ...validateConfigFor(policy, spec.dnsConfig, config),
  ];
}

/** Validates additional lines of /etc/hosts. */
export function validateHostAliases(aliases: PodSpec['hostAliases'], field: string): FieldError[] {
  return (aliases ?? []).flatMap((alias, index) => [
    ...validateIp(alias.ip ?? '', `${field}[${index}].ip`),
    ...(alias.hostnames ?? []).flatMap((name, position) =>
      invalidFor(`${field}[${index}].hostnames[${position}]`, name, dnsSubdomainProblems(name)),
    ),
  ]);
}
