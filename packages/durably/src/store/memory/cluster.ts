import type { ClusterStore } from '../cluster/cluster.ts'
import { assign, claimAssigned, claimOpen, findUnassigned, orphan } from './assign.ts'
import { findAudit } from './audit.ts'
import { deleteDefinition, findDefinitions, putDefinitions } from './definitions.ts'
import { deliverEvent, findEvents, forgetEvents, putEvent } from './inbox.ts'
import { lead, leader, resign } from './leaders.ts'
import { deleteSchedule, findSchedules, fireSchedule, putSchedule, switchSchedule, triggerSchedule } from './schedules.ts'
import { readSettings, writeSettings } from './settings.ts'
import type { Tables } from './tables.ts'
import { attend, leave, switchWorker, workers } from './workers.ts'

export function memoryCluster(tables: Tables): ClusterStore {
  const verb =
    <Args extends unknown[], Answer>(perform: (tables: Tables, ...args: Args) => Answer) =>
    async (...args: Args): Promise<Answer> => {
      tables.begin()
      return perform(tables, ...args)
    }
  return {
    lead: verb(lead),
    resign: verb(resign),
    leader: verb(leader),
    findSchedules: verb(findSchedules),
    putSchedule: verb(putSchedule),
    switchSchedule: verb(switchSchedule),
    deleteSchedule: verb(deleteSchedule),
    fireSchedule: verb(fireSchedule),
    triggerSchedule: verb(triggerSchedule),
    attend: verb(attend),
    leave: verb(leave),
    switchWorker: verb(switchWorker),
    workers: verb(workers),
    findUnassigned: verb(findUnassigned),
    assign: verb(assign),
    orphan: verb(orphan),
    claimAssigned: verb(claimAssigned),
    claimOpen: verb(claimOpen),
    putEvent: verb(putEvent),
    findEvents: verb(findEvents),
    deliverEvent: verb(deliverEvent),
    forgetEvents: verb(forgetEvents),
    findDefinitions: verb(findDefinitions),
    putDefinitions: verb(putDefinitions),
    deleteDefinition: verb(deleteDefinition),
    readSettings: verb(readSettings),
    writeSettings: verb(writeSettings),
    findAudit: verb(findAudit),
  }
}
