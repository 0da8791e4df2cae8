// The run that a path names, if the caller may read it.
import { DurablyError } from '../model/errors.ts'
import { NAME_BYTES_MAX } from '../model/name.ts'
import { type Run, type RunRow, toRun } from '../model/run.ts'
import { type Action, demand, isAllowed } from './authorize.ts'
import type { Call, Serve, Server } from './call.ts'

export interface VisibleRun {
  row: RunRow
  run: Run
}

/** `null` when there is no such run, or the caller may not read it (A2). */
export async function visibleRun(server: Server, request: Request, id: string): Promise<VisibleRun | null> {
  const { engine, config } = server
  const row = await findRow(engine, id)
  if (!row) return null
  const run = toRun(row, engine.trigger.codec, engine.env.wall())
  return (await isAllowed(config.authorize, request, 'runs:read', run)) ? { row, run } : null
}

export async function findRow({ store }: Pick<Server['engine'], 'store'>, id: string): Promise<RunRow | null> {
  // Some databases reject a query with such a text.
  return id.includes('\0') || id.length > NAME_BYTES_MAX ? null : store.runs.get(id)
}

/** A route of one run: the caller must be allowed to read the run, and then to do this. */
export function ofRun(action: Action, serve: (call: Call, run: Run) => Promise<Response>): Serve {
  return async (call) => {
    const id = call.params.id ?? ''
    const seen = await visibleRun(call.server, call.request, id)
    if (!seen) throw noSuchRun(id)
    if (action !== 'runs:read') await demand(call.server.config.authorize, call.request, action, seen.run)
    return serve(call, seen.run)
  }
}

/** A route that is about no single run. */
export function ofAll(action: Action, serve: Serve): Serve {
  return async (call) => {
    await demand(call.server.config.authorize, call.request, action)
    return serve(call)
  }
}

export function noSuchRun(id: string): DurablyError {
  return new DurablyError('run_not_found', `there is no run ${JSON.stringify(id)}`, { runId: id })
}
