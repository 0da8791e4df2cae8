// Chance by name: every decision is a pure function of the seed and the decision's own name,
// so leaving one fault out changes no other, and a failing seed can be shrunk fault by fault.

/** Uniform in [0, 1). */
export function chance(seed: number, name: string): number {
  let hash = (seed ^ 0x9e3779b9) >>> 0
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** A whole number from `min` to `max`, both included. */
export function pick(seed: number, name: string, min: number, max: number): number {
  return min + Math.floor(chance(seed, name) * (max - min + 1))
}

export function oneOf<T>(seed: number, name: string, items: readonly [T, ...T[]]): T {
  return items[pick(seed, name, 0, items.length - 1)] ?? items[0]
}
