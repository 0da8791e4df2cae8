import type { DefinitionQuery, DefinitionRow, DefinitionStore } from '../store/cluster/definitions.ts'
import { allOf, pagesOf } from '../store/pages-of.ts'
import type { RowPage } from '../store/row-page.ts'

type Query = Omit<DefinitionQuery, 'after' | 'limit'>

export async function allDefinitions(cluster: DefinitionStore, query: Query, page?: RowPage): Promise<DefinitionRow[]> {
  const read = async ({ after = '', limit = 1 }) => {
    const rows = await cluster.findDefinitions({ ...query, after, limit })
    return rows.map((row) => ({ ...row, id: row.name }))
  }
  return (await allOf(pagesOf(read, page))) ?? []
}
