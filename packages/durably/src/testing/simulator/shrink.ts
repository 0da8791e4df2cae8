// Shrinks a failing seed: leaves faults out, half of them first, then one by one, while it still fails.
import { type Simulated, type SimulateOptions, simulate } from './simulate.ts'

export async function shrink(failing: Simulated, options: Omit<SimulateOptions, 'seed' | 'without'> = {}): Promise<Simulated> {
  const { seed } = failing
  let smallest = failing
  const without = new Set<string>()
  for (let size = Math.ceil(failing.faults.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    let candidates = smallest.faults
    while (candidates.length > 0) {
      const tried = new Set([...without, ...candidates.slice(0, size)])
      candidates = candidates.slice(size)
      const again = await simulate({ ...options, seed, without: tried })
      if (again.violations.length === 0) continue
      for (const name of tried) without.add(name)
      smallest = again
      candidates = candidates.filter((name) => again.faults.includes(name))
    }
  }
  return smallest
}
