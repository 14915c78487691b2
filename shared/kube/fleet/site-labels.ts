/** Which labels can name the sites of a fleet. The coordinator and the console must agree, so both use this rule. Pure. */

/**
 * `values`: the number of values that the label has. `hosts`: the number of hosts that have the label. A name of the host has
 * as many values as hosts, also if a host lacks it.
 */
export function canNameSites(values: number, hosts: number): boolean {
  return values > 1 && values < hosts;
}
