// The routes of schedules, and of the process that fires them.
import { DurablyError } from '../model/errors.ts'
import type { Schedule } from '../model/schedule.ts'
import { answerTriggered } from './answer-run.ts'
import { forbidden } from './authorize.ts'
import type { Call, Serve } from './call.ts'
import { commandOptions } from './command-options.ts'
import { emptyResponse, jsonResponse } from './json-response.ts'
import { principalOf, withOwnKeys } from './principal.ts'
import { PAGE_CHARS_MAX, queryParameter, readLimit, refuseUnknown } from './query.ts'
import { readBody } from './read-body.ts'
import { shownTo } from './shown-run.ts'
import { ofAll } from './visible-run.ts'
import { mayWith, noSuchSchedule, ofSchedule } from './visible-schedule.ts'

/** Schedules that the caller may not read are left out, so a page may be short; only `nextCursor` says whether it is the last. */
export const listSchedules = ofAll('schedules:list', async (call) => {
  const { query, server } = call
  refuseUnknown(query, ['limit', 'cursor'])
  const limit = readLimit(query)
  const cursor = queryParameter(query, 'cursor')
  const page = await server.durably.schedules.list({ limit, ...(cursor !== null && { cursor }) })
  const shown = await shownTo(call)
  const { codec } = server.engine.trigger
  const schedules: Schedule[] = []
  let nextCursor = page.length < limit ? null : page.at(-1)?.id
  let chars = 0
  for (const schedule of page) {
    if (!(await mayWith(call, 'schedules:read', schedule))) continue
    schedules.push(shown.schedule(schedule))
    chars += codec.encode(schedule.payload, 'payload')?.length ?? 0
    if (chars <= PAGE_CHARS_MAX) continue
    nextCursor = schedule.id
    break
  }
  return jsonResponse(200, { schedules, nextCursor })
})

export const getSchedule = ofSchedule('schedules:read', async (call, schedules, id) => {
  const schedule = await schedules.get(id)
  if (!schedule) throw noSuchSchedule(id)
  return answerSchedule(call, schedule)
})

/** Only the body names the job, so the request is authorized once its body was read: for the job that it has, and for the job that it gets. */
export const putSchedule: Serve = async (call) => {
  const { server, request, params } = call
  const id = params.id ?? ''
  const { job, ...options } = await readBody(request, server.config)
  if (typeof job !== 'string') throw new DurablyError('invalid_argument', 'job must be the name of a job')
  let isNew = true
  const check = async (known: Schedule | null) => {
    isNew = known === null
    if (known && !(await mayWith(call, 'schedules:read', known))) throw forbidden('schedules:write')
    if (known && !(await mayWith(call, 'schedules:write', known))) throw forbidden('schedules:write')
    if (known?.jobName !== job && !(await mayWith(call, 'schedules:write', known, job))) throw forbidden('schedules:write')
    if (isNew && request.headers.has('If-Match')) throw noSuchSchedule(id)
  }
  const schedules = await server.engine.cluster.schedules.checkedBy(check)
  const schedule = await schedules.put(id, { job, ...withOwnKeys(await principalOf(call), options) }, await commandOptions(call))
  return answerSchedule(call, schedule, isNew ? 201 : 200)
}

export const deleteSchedule = ofSchedule('schedules:write', async (call, schedules, id) => {
  await schedules.delete(id, await commandOptions(call))
  return emptyResponse(204)
})

export const pauseSchedule = ofSchedule('schedules:write', async (call, schedules, id) =>
  answerSchedule(call, await schedules.pause(id, await commandOptions(call))),
)

export const resumeSchedule = ofSchedule('schedules:write', async (call, schedules, id) =>
  answerSchedule(call, await schedules.resume(id, await commandOptions(call))),
)

export const triggerSchedule = ofSchedule('schedules:trigger', async (call, schedules, id) =>
  answerTriggered(call, await schedules.trigger(id, await commandOptions(call)), true),
)

export const getNextTimes = ofSchedule('schedules:read', async ({ query }, schedules, id) => {
  refuseUnknown(query, ['count'])
  const count = queryParameter(query, 'count')
  return jsonResponse(200, { times: await schedules.next(id, count === null ? undefined : Number(count || Number.NaN)) })
})

export const getLeader = ofAll('cluster:read', async ({ server }) => jsonResponse(200, { leader: await server.durably.leader() }))

async function answerSchedule(call: Call, schedule: Schedule, status = 200): Promise<Response> {
  return jsonResponse(status, (await shownTo(call)).schedule(schedule), { ETag: `"${schedule.version}"` })
}
