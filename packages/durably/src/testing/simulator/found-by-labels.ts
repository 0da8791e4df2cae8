import type { Labels } from '../../model/labels.ts'
import type { RunRow } from '../../model/run.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'

/** I37: by each label, and by all of a run together, exactly the runs are found that have them. */
export async function checkFoundByLabels({ runs: store }: Store, runs: readonly RunRow[]): Promise<Violation[]> {
  const all = runs.map(({ labels }) => JSON.parse(labels ?? '{}') as Labels)
  const single = all.flatMap(Object.entries<string>).map((label) => Object.fromEntries([label]))
  const asked = new Set([...all, ...single].map((labels) => JSON.stringify(labels)))
  const violations: Violation[] = []
  for (const text of asked) {
    const labels = JSON.parse(text) as Labels
    const wanted = Object.entries(labels)
    const found = (await store.list({ labels })).map(({ id }) => id)
    const there = runs.filter((_, i) => wanted.every(([name, value]) => all[i]?.[name] === value)).map(({ id }) => id)
    if (found.sort().join() !== there.sort().join())
      violations.push({
        invariant: 'I37',
        runId: null,
        what: `by ${text} ${found.length} runs are found, and ${there.length} have these labels`,
      })
  }
  return violations
}
