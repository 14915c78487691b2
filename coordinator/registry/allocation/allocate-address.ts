/** The address of one Service. */
import { internalError, invalid } from '../../../shared/kube/objects/api-status.js';
import {
  HEADLESS,
  isHeadless,
  needsClusterIP,
  type Service,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';
import { serviceKind } from '../../kinds/index.js';
import type { FieldError } from '../../kinds/kind.js';
import { validateHeadlessType } from '../../kinds/services/service-address-validation.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { addressOf, chooseFree, contains, type NumberRange, numberOfAddress } from './number-range.js';

interface FreeAddresses {
  /** Undefined: Services get no addresses. */
  range: NumberRange | undefined;
  /** True for addresses of other Services. */
  isUsed: (address: string) => boolean;
  random: () => number;
}

/** Sets the address in place, unless the Service already has one. Throws a 422, or a 500 if the range is full. */
export function allocateAddress(next: Service, current: Service | undefined, free: FreeAddresses): void {
  const { spec = {} } = next;
  const hasAddress = current?.spec && needsClusterIP(current.spec) && current.spec.clusterIP;
  if (!needsClusterIP(spec) || hasAddress) return;
  const errors = isHeadless(spec) ? validateHeadlessType(spec) : requestErrors(spec, free);
  if (errors.length > 0) throw invalid(serviceKind, next.metadata.name, errors);
  spec.clusterIP ||= freeAddress(free);
  spec.clusterIPs ??= [spec.clusterIP];
}

function requestErrors(
  { clusterIP: address, clusterIPs }: ServiceSpec,
  { range, isUsed }: FreeAddresses,
): FieldError[] {
  if (!address) return [];
  const refusal = (why: string) => [
    invalidValue('spec.clusterIPs', clusterIPs, `failed to allocate IP ${address}: ${why}`),
  ];
  if (!range) return refusal('Services get no addresses from this coordinator (--service-cidr off)');
  if (!contains(range, numberOfAddress(address)))
    return refusal(
      `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.text}`,
    );
  return isUsed(address) ? refusal('provided IP is already allocated') : [];
}

/** Without addresses a Service is headless: clients such as `helm --wait` would wait for an address. */
function freeAddress({ range, isUsed, random }: FreeAddresses): string {
  if (!range) return HEADLESS;
  const number = chooseFree(range, (candidate) => isUsed(addressOf(candidate)), random);
  if (number === undefined) throw internalError('failed to allocate a serviceIP: range is full');
  return addressOf(number);
}
