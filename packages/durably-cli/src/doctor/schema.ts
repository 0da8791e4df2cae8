import { type SchemaState, schemaState } from '@coji/durably/schema'
import { AdvisedCommands } from '../advised-commands.ts'
import { dialectOf, type Place } from '../place.ts'
import { bad, type Finding, ok } from './finding.ts'

/** The first check: without the right tables no other one makes sense. */
export async function checkSchema(place: Place): Promise<Finding> {
  const { tablePrefix } = place
  const state = await schemaState({ dialect: dialectOf(place), ...(tablePrefix !== undefined && { tablePrefix }) })
  return findingOf(state, place)
}

function findingOf({ version, known, oldestCode, isUsable }: SchemaState, place: Place): Finding {
  const migrate = new AdvisedCommands(place).migrate()
  if (version === 0) return bad('schema', 'there are no tables', migrate)
  if (oldestCode > known)
    return bad(
      'schema',
      `version ${version} is too new for this program, which knows ${known}`,
      'npm install @coji/durably@latest @coji/durably-cli@latest',
    )
  if (version < known)
    return bad('schema', `version ${version}, this program needs ${known}`, `${migrate}\nwith --print it shows the statements first`)
  return ok('schema', `version ${version}${isUsable && version > known ? `, usable by this program, which knows ${known}` : ''}`)
}
