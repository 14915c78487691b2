/** A number, or a string such as `25%` or the name of a port (apimachinery util/intstr). */
export type IntOrString = number | string;
