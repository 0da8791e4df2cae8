// A run and a child of it, for the chapters about children.
import type { RunRow } from '../../model/run.ts'
import type { World } from './chapter.ts'
import { create, held, LEASE_MS, type Owner, park } from './world.ts'

export const CHILD = 'send-mail'
export const FOR_A_CHILD = park([{ name: 'mail', kind: 'child', dueAt: null }])

/** A run that holds its slot, and a child of it with an owner. */
export async function family(world: World): Promise<{ parent: Owner; child: Owner }> {
  const parent = await held(world)
  return { parent, child: await held(world, { jobName: CHILD, parentRunId: parent.run.id, deadlineAt: world.env.wall() + LEASE_MS }) }
}

export function below(world: World, parentRunId: string, jobName: string): Promise<RunRow> {
  return create(world, { jobName, parentRunId })
}
