/** Which labels can name the sites of a fleet. The coordinator and the console must agree, so both use this rule. Pure. */

/** `values`: the number of values that the label has among all `hosts`. A name of the host has as many values as hosts. */
export function canNameSites(values: number, hosts: number): boolean {
  return values > 1 && values < hosts;
}
