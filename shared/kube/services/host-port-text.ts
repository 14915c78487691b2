/** An endpoint's addresses and ports as text, for people. */

/** Returns `10.0.0.1:80,443`, one for each address. Ports that the endpoint lacks are left out. */
export function hostPortText({
  addresses,
  ports,
}: {
  addresses: readonly string[];
  ports: readonly number[];
}): string {
  const numbers = ports.filter((port) => port > 0).join();
  return addresses.map((address) => addressText(address, numbers)).join(' ');
}

function addressText(address: string, ports: string): string {
  if (ports === '') return address;
  return address.includes(':') ? `[${address}]:${ports}` : `${address}:${ports}`;
}
