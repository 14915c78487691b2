/** A volume could not be prepared. The message is that of the kubelet's FailedMount event. */
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
