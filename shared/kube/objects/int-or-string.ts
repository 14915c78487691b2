/** A number, or a text such as `25%` or a port's name (apimachinery util/intstr). */
export type IntOrString = number | string;
