/** Limits of resolv.conf (pkg/kubelet/network/dns/dns.go formDNSConfigFitsLimits, pkg/apis/core/validation). */

interface LimitedResolver {
  nameservers: string[];
  searches: string[];
  options: string[];
}

interface ResolverWarning {
  reason: string;
  message: string;
}

/** libc reads no more. */
const MAX_NAMESERVERS = 3;
const MAX_SEARCH_PATHS = 32;
const MAX_SEARCH_CHARACTERS = 2048;
/** Old versions of glibc abort if a domain is longer. */
const MAX_DOMAIN = 253;

/** Returns the resolver within the limits, with a warning for each list that was shortened. */
export function fitResolver<R extends LimitedResolver>(
  resolver: R,
): { resolver: R; warnings: ResolverWarning[] } {
  const nameservers = resolver.nameservers.slice(0, MAX_NAMESERVERS);
  const searches = fittingSearches(resolver.searches);
  const warnings: ResolverWarning[] = [];
  if (nameservers.length < resolver.nameservers.length)
    warnings.push(
      warning(
        `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${nameservers.join(' ')}`,
      ),
    );
  if (searches.length < resolver.searches.length)
    warnings.push(
      warning(
        `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(' ')}`,
      ),
    );
  return { resolver: { ...resolver, nameservers, searches }, warnings };
}

function fittingSearches(searches: readonly string[]): string[] {
  const fitting = searches.slice(0, MAX_SEARCH_PATHS).filter((domain) => domain.length <= MAX_DOMAIN);
  while (fitting.join(' ').length > MAX_SEARCH_CHARACTERS) fitting.pop();
  return fitting;
}

function warning(message: string): ResolverWarning {
  return { reason: 'DNSConfigForming', message };
}
