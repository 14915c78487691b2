/** A volume that cannot be had; the message is what a kubelet's FailedMount event says. */
export class VolumeError extends Error {
  constructor(
    readonly volume: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'VolumeError';
  }
}
