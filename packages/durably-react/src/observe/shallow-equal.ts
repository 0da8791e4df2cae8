/** Compares two objects with the same keys. */
export function isShallowEqual<T extends object>(one: T, other: T): boolean {
  return (Object.keys(one) as (keyof T)[]).every((key) => one[key] === other[key])
}
