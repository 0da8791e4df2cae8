import type { DefinitionQuery, DefinitionRow, NewDefinition } from '../cluster/definitions.ts'
import type { Tables } from './tables.ts'

export function findDefinitions({ definitions }: Tables, { names, subscribed, after = '', limit }: DefinitionQuery): DefinitionRow[] {
  return Array.from(definitions.values())
    .filter(({ name, subscriptions }) => (!names || names.includes(name)) && (!subscribed || subscriptions !== null) && name > after)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map((row) => ({ ...row }))
}

export function putDefinitions({ definitions, nowMs }: Tables, given: readonly NewDefinition[]): void {
  for (const { name, input, subscriptions } of given) {
    const known = definitions.get(name)
    if (known?.input === input && known.subscriptions === subscriptions) continue
    definitions.set(name, { name, input, subscriptions, version: (known?.version ?? 0) + 1, updatedAt: nowMs })
  }
}

export function deleteDefinition({ definitions }: Tables, name: string): boolean {
  return definitions.delete(name)
}
